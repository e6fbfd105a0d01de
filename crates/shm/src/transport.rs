//! Shared memory as a transport.

use std::os::fd::OwnedFd;

use bandgap_comm::{BothEnds, Can, CommError, Rendezvous, Timer, Together, Transport};

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

/// Slots of a ring between `size` ranks. There are size² rings, so of more ranks each has fewer.
fn slots(size: usize) -> usize {
    match size {
        0..=64 => DEFAULT_SLOTS,
        65..=128 => DEFAULT_SLOTS / 2,
        _ => DEFAULT_SLOTS / 4,
    }
}
