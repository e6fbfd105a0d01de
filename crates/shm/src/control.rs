//! Memory through which the processes of a run on one machine stop each other, whatever transport
//! they measure.
//!
//! ```text
//! 0      identity: magic, ranks
//! 128    poison: which rank failed first, and its status
//! 256    stop; and whether a rank asks who gets on
//! 384    the report of the probe's responder
//! 512    how often such a question was answered
//! 640    nanoseconds that all ranks were stopped on purpose
//! 1024   for each rank, whether it waits outside all timing
//! 4096   a page for each place of the placement probe, with two lines in it
//! ```
//! The neighbour of every line is never written, since processors fetch lines in pairs.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use bandgap_comm::Rank;

use crate::ShmError;
use crate::limits::MAX_RANKS;
use crate::mapping::{Kind, Mapping, PAGE};
use crate::places::pair_at;
use crate::sync::{AtomicU64, Ordering};

const KIND: Kind = Kind {
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
/// In the line of `stop`, which every rank that waits reads anyway.
const ASKED_AT: usize = STOP_AT + 8;
const REPORT_AT: usize = 384;
const ANSWERS_AT: usize = 512;
const PAUSED_AT: usize = 640;
const IDLE_AT: usize = 1024;
const _: () = assert!(IDLE_AT + MAX_RANKS * 8 <= PLACES_AT);

/// Set in every poison, so that rank 0 with status 0 is not 0.
const POISONED: u64 = 1 << 63;

/// The control page of a run.
#[derive(Debug)]
pub struct Control {
    mapping: Mapping,
    size: usize,
}

impl Control {
    /// Creates a page for a run of `size` ranks.
    ///
    /// # Errors
    /// `size` is out of range, or the operating system refused.
    pub fn create(size: usize) -> Result<Self, ShmError> {
        ShmError::check_size(size)?;
        let mapping = Mapping::create(&KIND, BYTES, &[size])?;
        Ok(Self { mapping, size })
    }

    /// Opens the page behind a descriptor that the launcher passed to this process.
    ///
    /// # Errors
    /// The descriptor is not that of a control page.
    pub fn from_fd(fd: OwnedFd) -> Result<Self, ShmError> {
        let mapping = Mapping::from_fd(&KIND, fd, BYTES)?;
        let size = mapping.number(0);
        ShmError::check_size(size)?;
        Ok(Self { mapping, size })
    }

    /// The descriptor, to pass to the rank processes. It closes on exec.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    /// Number of ranks of the run.
    pub fn size(&self) -> usize {
        self.size
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

    /// Asks whether any rank gets on. Those that do answer before long.
    pub fn ask(&self) {
        self.mapping.word(ASKED_AT).store(1, Ordering::Relaxed);
    }

    /// Answers for a rank that gets on, if any asks.
    #[inline]
    pub fn answer(&self) {
        let asked = self.mapping.word(ASKED_AT);
        if asked.load(Ordering::Relaxed) != 0 {
            asked.store(0, Ordering::Relaxed);
            self.mapping.word(ANSWERS_AT).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often ranks have answered.
    pub fn answers(&self) -> u64 {
        self.mapping.word(ANSWERS_AT).load(Ordering::Relaxed)
    }

    /// Notes whether `rank` waits, outside all timing, for what others may take long to come to.
    pub fn set_idle(&self, rank: Rank, idle: bool) {
        if rank < self.size {
            self.mapping.word(IDLE_AT + rank * 8).store(idle.into(), Ordering::Relaxed);
        }
    }

    /// Whether `rank` waits so.
    pub fn is_idle(&self, rank: Rank) -> bool {
        rank < self.size && self.mapping.word(IDLE_AT + rank * 8).load(Ordering::Relaxed) != 0
    }

    /// Whether any rank does not.
    pub fn any_works(&self) -> bool {
        (0..self.size).any(|rank| !self.is_idle(rank))
    }

    /// Adds to the time that all ranks were stopped on purpose.
    pub fn add_pause(&self, pause: Duration) {
        let nanoseconds = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        self.mapping.word(PAUSED_AT).fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// How long that was so far.
    pub fn paused(&self) -> Duration {
        Duration::from_nanos(self.mapping.word(PAUSED_AT).load(Ordering::Relaxed))
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

    fn other_end(control: &Control) -> Control {
        Control::from_fd(control.fd().try_clone_to_owned().unwrap()).unwrap()
    }

    #[test]
    fn the_first_failure_is_the_one_all_see() {
        let here = Control::create(4).unwrap();
        let there = other_end(&here);
        assert_eq!(there.size(), 4);
        assert_eq!(there.poisoned(), None);
        assert!(here.poison(3, -9));
        assert!(!there.poison(1, 2));
        assert_eq!(there.poisoned(), Some((3, -9)));
        assert_eq!(here.poisoned(), Some((3, -9)));
    }

    #[test]
    fn rank_0_with_status_0_is_a_failure_too() {
        let control = Control::create(1).unwrap();
        control.poison(0, 0);
        assert_eq!(control.poisoned(), Some((0, 0)));
    }

    #[test]
    fn stopping_is_seen_by_all_and_is_no_failure() {
        let here = Control::create(2).unwrap();
        let there = other_end(&here);
        assert!(!there.stopped());
        here.stop();
        assert!(there.stopped());
        assert_eq!(there.poisoned(), None);
    }

    #[test]
    fn who_asks_is_answered_once_by_those_that_get_on() {
        let here = Control::create(2).unwrap();
        let there = other_end(&here);
        there.answer();
        assert_eq!(here.answers(), 0);
        here.ask();
        there.answer();
        there.answer();
        assert_eq!(here.answers(), 1);
    }

    #[test]
    fn ranks_see_who_works_and_how_long_all_were_stopped() {
        let here = Control::create(2).unwrap();
        let there = other_end(&here);
        assert!(here.any_works());
        there.set_idle(1, true);
        assert!(here.is_idle(1) && !here.is_idle(0) && here.any_works());
        there.set_idle(0, true);
        there.set_idle(2, true);
        assert!(!here.any_works() && !here.is_idle(2));
        there.set_idle(1, false);
        assert!(here.any_works());
        here.add_pause(Duration::from_millis(1500));
        here.add_pause(Duration::from_secs(1));
        assert_eq!(there.paused(), Duration::from_millis(2500));
    }

    #[test]
    fn other_memory_is_refused() {
        let rings = crate::Segment::create(2, 4).unwrap();
        let fd = rings.fd().try_clone_to_owned().unwrap();
        assert!(matches!(Control::from_fd(fd), Err(ShmError::NotOurs { .. })));
        assert!(matches!(Control::create(0), Err(ShmError::Size { size: 0 })));
    }
}
