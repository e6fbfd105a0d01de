//! Stamps inside an MPI that uses UCX.

use std::cell::RefCell;

use bandgap_comm::{AtBorder, Result, Timed};
use bandgap_probe::{CALLBACK, Counted, Place, Probe, Word, point};

use crate::{MpiError, World};

/// Takes stamps on the way of this rank's messages ([`bandgap_probe`]).
pub struct Inside<'a> {
    world: &'a World,
    probe: &'a RefCell<Probe>,
}

impl World {
    /// Finds what MPI has loaded while it was initialised. The world stays where it is from now on.
    pub(crate) fn complete(&self) -> crate::Result<()> {
        let Some(probe) = &self.probe else { return Ok(()) };
        // SAFETY: the words stay as long as the world, whose functions have these types; only the thread that has the
        // world calls them.
        unsafe { Ok(probe.borrow_mut().complete(self.api.stamped().map(|at| Word::of(at)))?) }
    }

    /// Stamps inside the library; `None` if it was not started for them.
    pub fn inside(&self) -> Option<Inside<'_>> {
        Some(Inside { world: self, probe: self.probe.as_ref()? })
    }
}

impl Inside<'_> {
    /// Runs messages, and says what they passed, as bits of [`bandgap_probe::PASSES`].
    ///
    /// # Errors
    /// They do not pass through UCX, the system refused, or `run` failed.
    pub fn learn(&self, run: impl FnOnce() -> Result<()>) -> Result<u32> {
        self.probe.borrow_mut().learn().map_err(MpiError::from)?;
        let ran = run();
        let passed = self.probe.borrow_mut().learnt().map_err(MpiError::from)?;
        ran?;
        Ok(passed.ok_or_else(|| MpiError::Elsewhere(self.world.loaded.name()))?)
    }

    /// Stamps and inserts what `at` says, until [`Inside::end`].
    ///
    /// # Errors
    /// The system refused.
    pub fn begin(&self, at: AtBorder) -> Result<()> {
        let work = at.inserted.map(|(place, computation)| (place, computation.iterations));
        Ok(self.probe.borrow_mut().stamp(at.point, work).map_err(MpiError::from)?)
    }

    /// Every word that stamps ever change.
    pub fn words(&self) -> Vec<Word> {
        self.probe.borrow().words()
    }

    /// Counts from now on.
    pub fn reset(&self) {
        self.probe.borrow().reset();
    }

    /// Removes all stamps, and gives their times; no intervals if they do not belong together. `passed`: what the
    /// same kind of messages passed.
    ///
    /// # Errors
    /// The system refused.
    pub fn end(&self, at: AtBorder, passed: u32) -> Result<Timed> {
        let counted = self.probe.borrow_mut().restore().map_err(MpiError::from)?;
        Ok(times(counted, at.point, passed))
    }
}

/// The times of what was counted at a point.
fn times(Counted { ticks, begun, ended, strangers }: Counted, at: u8, passed: u32) -> Timed {
    // What the two parts around a callback add up to is known from them.
    if passed & CALLBACK != 0 && at == point::interval(Place::Handler, Place::Received) {
        return Timed::default();
    }
    // The last interval of a rank may end with the next batch.
    let missing = u64::from(!point::crosses(at));
    let is_whole = (ended..=ended + missing).contains(&begun);
    // What another thread stamps belongs to no message.
    let times = if strangers { 2 } else { 1 };
    let count = if is_whole { ended } else { 0 };
    Timed { ticks, count, begun: times * begun.max(ended), passed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_count_if_they_belong_together() {
        let within = point::interval(Place::Send, Place::UcpSend);
        let across = point::interval(Place::Operation, Place::Handler);
        for (at, begun, ended, strangers, expected) in [
            (within, 9, 9, false, (9, 9)),
            (within, 9, 8, false, (8, 9)),
            (within, 9, 7, false, (0, 9)),
            (within, 8, 9, false, (0, 9)),
            (within, 9, 9, true, (9, 18)),
            (across, 9, 9, false, (9, 9)),
            (across, 9, 8, false, (0, 9)),
            (across, 8, 9, false, (0, 9)),
        ] {
            let Timed { ticks, count, begun, passed } =
                times(Counted { ticks: 5, begun, ended, strangers }, at, 1);
            assert_eq!((ticks, passed, (count, begun)), (5, 1, expected));
        }
        let both = point::interval(Place::Handler, Place::Received);
        let counted = Counted { begun: 9, ended: 9, ..Counted::default() };
        assert_eq!([0, CALLBACK].map(|passed| times(counted, both, passed).count), [9, 0]);
    }
}
