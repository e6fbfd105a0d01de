//! Shared memory as a transport.

use std::os::fd::OwnedFd;

use bandgap_comm::division::{AtBorder, BothEnds};
use bandgap_comm::{Can, CommError, Division, Rendezvous, Timer, Together, Transport};

use crate::division::{DIVISION, LINES};
use crate::floor::local_lines;
use crate::mapping::{next, owned};
use crate::segment::segment_bytes;
use crate::{DEFAULT_SLOTS, Exposed, MAX_RANKS, Readable, Segment, ShmEndpoint};

/// Slot rings in memory that all ranks map.
pub struct Shm;

impl Transport for Shm {
    type Endpoint = ShmEndpoint;

    const NAME: &'static str = "shm";
    const MEANING: &'static str = "slot rings in shared memory";
    const CAN: Can = Can { ranks: MAX_RANKS, compared: true, reads: true, ..Can::USUAL };

    fn shared(size: usize) -> usize {
        segment_bytes(size, slots(size)).unwrap_or(0)
    }

    fn prepare(size: usize, exposed: usize) -> Result<Vec<OwnedFd>, CommError> {
        let segment = Segment::create(size, slots(size))?;
        let mut descriptors = vec![owned(segment.fd())?];
        if exposed > 0 {
            descriptors.push(owned(Exposed::create(size, exposed)?.fd())?);
        }
        Ok(descriptors)
    }

    fn connect(
        inherited: Vec<OwnedFd>,
        _exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<ShmEndpoint, CommError> {
        let mut inherited = inherited.into_iter();
        let segment = Segment::from_fd(next(&mut inherited)?)?;
        let mut endpoint = ShmEndpoint::attach(&segment, meeting.rank, meeting.size)?;
        if let Some(exposed) = inherited.next() {
            endpoint = endpoint.exposing(Exposed::from_fd(exposed)?)?;
        }
        let readable = Readable::meet(meeting)?;
        Ok(endpoint.reading(readable))
    }
}

impl Together for Shm {
    const DIVISION: &'static Division = DIVISION;

    fn both_ends<T: Timer>() -> Result<BothEnds<ShmEndpoint, T>, CommError> {
        let segment = Segment::create(2, DEFAULT_SLOTS)?;
        let ends = [ShmEndpoint::attach(&segment, 0, 2)?, ShmEndpoint::attach(&segment, 1, 2)?];
        let bare = move |at: AtBorder, rounds, timer: &T| {
            (at.point == LINES).then(|| local_lines(&segment, rounds, at.iterations(), timer))
        };
        Ok((ends, Box::new(bare)))
    }
}

/// Slots of a ring between `size` ranks. There are size² rings, so of more ranks each has fewer.
fn slots(size: usize) -> usize {
    match size {
        0..=64 => DEFAULT_SLOTS,
        65..=128 => DEFAULT_SLOTS / 2,
        _ => DEFAULT_SLOTS / 4,
    }
}
