//! Shared memory as a transport.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bandgap_comm::{
    Bare, BareEnd, BothEnds, Can, CommError, Floor, Rendezvous, Timer, Together, Transport,
    Yardstick,
};

use crate::floor::{FLOORS, FloorArea, Lines, YARDSTICKS, local_lines};
use crate::segment::segment_bytes;
use crate::{DEFAULT_SLOTS, Exposed, MAX_RANKS, Readable, Result, Segment, ShmEndpoint, ShmError};

/// Slot rings in memory that all ranks map.
pub struct Shm;

impl Transport for Shm {
    type Endpoint = ShmEndpoint;

    const NAME: &'static str = "shm";
    const MEANING: &'static str = "slot rings in shared memory";
    const CAN: Can = Can { ranks: MAX_RANKS, compared: true, ..Can::USUAL };

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
        meeting: &mut dyn Rendezvous,
    ) -> Result<ShmEndpoint, CommError> {
        let mut inherited = inherited.into_iter();
        let segment = Segment::from_fd(next(&mut inherited)?)?;
        let mut endpoint = ShmEndpoint::attach(&segment, meeting.rank(), meeting.size())?;
        if let Some(exposed) = inherited.next() {
            endpoint = endpoint.exposing(Exposed::from_fd(exposed)?)?;
        }
        let readable = Readable::meet(meeting)?;
        Ok(endpoint.reading(readable))
    }
}

impl Together for Shm {
    const LINE: &'static str = "ring_lines";

    fn both_ends<T: Timer>() -> Result<BothEnds<ShmEndpoint, T>, CommError> {
        let segment = Segment::create(2, DEFAULT_SLOTS)?;
        let ends = [ShmEndpoint::attach(&segment, 0, 2)?, ShmEndpoint::attach(&segment, 1, 2)?];
        let lines =
            Box::new(move |rounds, blocks, timer: &T| local_lines(&segment, rounds, blocks, timer));
        Ok(BothEnds { ends, lines })
    }
}

impl Bare for Shm {
    const FLOORS: &'static [Floor] = FLOORS;
    const YARDSTICKS: &'static [Yardstick] = YARDSTICKS;

    fn prepare_bare(own: &[OwnedFd]) -> Result<Vec<OwnedFd>, CommError> {
        let rings = own.first().ok_or_else(nothing)?;
        Ok(vec![owned(FloorArea::create()?.fd())?, owned(rings.as_fd())?])
    }

    fn bare<T: Timer>(
        inherited: Vec<OwnedFd>,
        _meeting: &mut dyn Rendezvous,
    ) -> Result<Box<dyn BareEnd<T>>, CommError> {
        let mut inherited = inherited.into_iter();
        let area = FloorArea::from_fd(next(&mut inherited)?)?;
        let rings = Segment::from_fd(next(&mut inherited)?)?;
        Ok(Box::new(Lines::over(area, rings)))
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

fn next(inherited: &mut impl Iterator<Item = OwnedFd>) -> Result<OwnedFd> {
    inherited.next().ok_or_else(nothing)
}

fn nothing() -> ShmError {
    ShmError::NotOurs { what: "shared memory", reason: "none came".into() }
}

fn owned(descriptor: BorrowedFd<'_>) -> Result<OwnedFd> {
    descriptor.try_clone_to_owned().map_err(ShmError::system("duplicate a descriptor"))
}
