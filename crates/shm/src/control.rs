//! Memory through which the processes of a run on one machine stop each other, whatever transport
//! they measure.
//!
//! ```text
//! 0      identity: magic
//! 128    poison: which rank failed first, and its status
//! 256    stop
//! 384    the report of the probe's responder
//! 4096   a page for each place of the placement probe, with two lines in it
//! ```
//! The neighbour of every line is never written, since processors fetch lines in pairs.

use std::os::fd::{BorrowedFd, OwnedFd};

use bandgap_comm::Rank;

use crate::Result;
use crate::mapping::{Mapping, PAGE, SegmentKind};
use crate::places::pair_at;
use crate::sync::{AtomicU64, Ordering};

const KIND: SegmentKind = SegmentKind {
    file: "bandgap-control",
    what: "the control page of a run",
    magic: *b"bg-ctrl3",
    populate: true,
};
/// Places of the placement probe.
pub(crate) const PROBE_PLACES: usize = 24;
const PLACES_AT: usize = PAGE;
const BYTES: usize = PLACES_AT + PROBE_PLACES * PAGE;
const POISON_AT: usize = 128;
const STOP_AT: usize = 256;
const REPORT_AT: usize = 384;

/// Set in every poison, so that rank 0 with status 0 is not 0.
const POISONED: u64 = 1 << 63;

/// The control page of a run.
#[derive(Debug)]
pub struct Control {
    mapping: Mapping,
}

impl Control {
    /// Creates a page.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn create() -> Result<Self> {
        Ok(Self { mapping: Mapping::create(&KIND, BYTES, &[])? })
    }

    /// Opens the page of a descriptor that the launcher passed to this process.
    ///
    /// # Errors
    /// The descriptor does not belong to a control page.
    pub fn from_fd(fd: OwnedFd) -> Result<Self> {
        Ok(Self { mapping: Mapping::from_fd(&KIND, fd, BYTES)? })
    }

    /// The descriptor, to pass to the rank processes. It closes on exec.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    /// Notes that `rank` failed with `status`. Only the first note is kept, since later failures
    /// are mostly its consequences. Returns whether this was the first.
    pub fn poison(&self, rank: Rank, status: i32) -> bool {
        let note = POISONED | (rank as u64 & 0x7fff_ffff) << 32 | u64::from(status as u32);
        // The note is all there is: it orders no other memory.
        self.mapping
            .word(POISON_AT)
            .compare_exchange(0, note, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The rank that failed first, and its status. A peer wrote them, so show them, but do not use
    /// the rank as an index.
    #[inline]
    pub fn poisoned(&self) -> Option<(Rank, i32)> {
        let note = self.mapping.word(POISON_AT).load(Ordering::Relaxed);
        if note == 0 {
            return None;
        }
        Some(((note >> 32 & 0x7fff_ffff) as Rank, note as u32 as i32))
    }

    /// Asks all ranks to end.
    pub fn stop(&self) {
        self.mapping.word(STOP_AT).store(1, Ordering::Relaxed);
    }

    /// Whether the ranks were asked to end.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.mapping.word(STOP_AT).load(Ordering::Relaxed) != 0
    }

    /// The probe's lines at each place: the initiator's, and the responder's.
    pub(crate) fn probe_lines(&self) -> [[&AtomicU64; 2]; PROBE_PLACES] {
        std::array::from_fn(|place| pair_at(place).map(|at| self.mapping.word(PLACES_AT + at)))
    }

    /// The line in which the probe's responder reports.
    pub(crate) fn report_line(&self) -> &AtomicU64 {
        self.mapping.word(REPORT_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShmError;

    fn other_end(control: &Control) -> Control {
        Control::from_fd(control.fd().try_clone_to_owned().unwrap()).unwrap()
    }

    #[test]
    fn the_first_failure_is_the_one_all_see() {
        let here = Control::create().unwrap();
        let there = other_end(&here);
        assert_eq!(there.poisoned(), None);
        assert!(here.poison(3, -9));
        assert!(!there.poison(1, 2));
        assert_eq!(there.poisoned(), Some((3, -9)));
        assert_eq!(here.poisoned(), Some((3, -9)));
    }

    #[test]
    fn rank_0_with_status_0_is_a_failure_too() {
        let control = Control::create().unwrap();
        control.poison(0, 0);
        assert_eq!(control.poisoned(), Some((0, 0)));
    }

    #[test]
    fn stopping_is_seen_by_all_and_is_no_failure() {
        let here = Control::create().unwrap();
        let there = other_end(&here);
        assert!(!there.stopped());
        here.stop();
        assert!(there.stopped());
        assert_eq!(there.poisoned(), None);
    }

    #[test]
    fn other_memory_is_refused() {
        let rings = crate::Segment::create(2, 4).unwrap();
        let fd = rings.fd().try_clone_to_owned().unwrap();
        assert!(matches!(Control::from_fd(fd), Err(ShmError::NotOurs { .. })));
    }
}
