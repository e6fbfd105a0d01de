//! Shared memory as a transport.

use std::os::fd::{BorrowedFd, OwnedFd};

use bandgap_comm::passing::Tuning;
use bandgap_comm::{Bare, Can, CommError, Connected, Floor, Rendezvous, Timer, Transport};

use crate::floor::{FLOORS, FloorArea, Lines};
use crate::{DEFAULT_SLOTS, Exposed, MAX_RANKS, Segment, ShmEndpoint, ShmError};

/// Slot rings in memory that all ranks map.
#[derive(Debug)]
pub struct Shm;

impl Transport for Shm {
    const NAME: &'static str = "shm";
    const MEANING: &'static str = "slot rings in shared memory";
    const CAN: Can = Can {
        block: false,
        ranks: MAX_RANKS,
        tuning: Tuning::DEFAULT,
        compared: true,
        floor: "cache_line",
    };

    const FLOORS: &'static [Floor] = FLOORS;

    fn prepare(size: usize, exposed: usize) -> Result<Vec<OwnedFd>, CommError> {
        let segment = Segment::create(size, DEFAULT_SLOTS).map_err(set_up)?;
        let mut descriptors = vec![owned(segment.fd())?];
        if exposed > 0 {
            descriptors.push(owned(Exposed::create(size, exposed).map_err(set_up)?.fd())?);
        }
        Ok(descriptors)
    }

    fn connect<C: Connected>(
        inherited: Vec<OwnedFd>,
        _exposed: usize,
        meeting: &mut dyn Rendezvous,
        then: C,
    ) -> Result<C::Output, CommError> {
        let mut inherited = inherited.into_iter();
        let nothing =
            || set_up(ShmError::NotOurs { what: "a segment", reason: "none came".into() });
        let segment = Segment::from_fd(inherited.next().ok_or_else(nothing)?).map_err(set_up)?;
        let mut endpoint =
            ShmEndpoint::attach(&segment, meeting.rank(), meeting.size()).map_err(set_up)?;
        if let Some(exposed) = inherited.next() {
            let exposed = Exposed::from_fd(exposed).map_err(set_up)?;
            endpoint = endpoint.exposing(exposed).map_err(set_up)?;
        }
        Ok(then.endpoint(endpoint))
    }

    fn prepare_bare() -> Result<Vec<OwnedFd>, CommError> {
        Ok(vec![owned(FloorArea::create().map_err(set_up)?.fd())?])
    }

    fn bare<T: Timer + 'static>(
        inherited: Vec<OwnedFd>,
        _meeting: &mut dyn Rendezvous,
    ) -> Result<Box<dyn Bare<T>>, CommError> {
        let area = inherited.into_iter().next().ok_or_else(nothing)?;
        Ok(Box::new(Lines::over(FloorArea::from_fd(area).map_err(set_up)?)))
    }
}

fn nothing() -> CommError {
    set_up(ShmError::NotOurs { what: "shared memory", reason: "none came".into() })
}

fn set_up(error: ShmError) -> CommError {
    CommError::SetUp(Box::new(error))
}

fn owned(descriptor: BorrowedFd<'_>) -> Result<OwnedFd, CommError> {
    descriptor
        .try_clone_to_owned()
        .map_err(|source| CommError::System { operation: "duplicate a descriptor", source })
}
