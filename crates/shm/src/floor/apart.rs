//! A line between two processes that inherited nothing in common: ranks of an MPI on one host.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{Bare, CommError, Floor, Measuring, Rendezvous, Timer};

use super::{FloorArea, PLACES, cache_line, failed, unavailable};

/// One rank's hold of the first rank's memory.
pub struct LineApart {
    area: FloorArea,
    epoch: u64,
}

impl Bare for LineApart {
    const NAME: &'static str = "mpi";
    #[rustfmt::skip] // One line.
    const FLOORS: &'static [Floor] = &[
        Floor::new("mpi_line", "cache_line between ranks of an MPI on one host", HalfRoundTrip, 160).samples(PLACES as u32).compared(&["breakdown"]),
    ];

    /// The second rank opens what the first one has, by its descriptor.
    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self, CommError> {
        let own = FloorArea::create()?;
        let at = format!("/proc/{}/fd/{}", std::process::id(), own.fd().as_raw_fd());
        let path = (meeting.exchange)(at)?.swap_remove(0);
        let open = || {
            let file = File::options().read(true).write(true).open(&path)?;
            FloorArea::from_fd(file.into()).map_err(io::Error::other)
        };
        let area = if meeting.rank == 0 { Ok(own) } else { open() };
        let area = area.map_err(|error| format!("open {path}: {error}"));
        let told = area.as_ref().err().map_or(path, Clone::clone);
        let all = (meeting.exchange)(told)?;
        // Each has said the same, or the second what it lacks.
        match area {
            Ok(area) if all[0] == all[1] => Ok(Self { area, epoch: 0 }),
            _ => Err(unavailable(all[1].clone())),
        }
    }

    fn measure(
        &mut self,
        _floor: &str,
        _bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>, CommError> {
        self.epoch += 1;
        cache_line(&self.area, self.epoch, with).map_err(failed)
    }
}
