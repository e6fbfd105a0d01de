//! The interface of an experiment. The campaign does the rest.

use std::ops::RangeInclusive;

use bandgap_kernels::{Order, WHOLE};

use crate::control::Control;
use crate::data::{Described, Rejected};
use crate::judge::Judged;
use crate::key::Key;
use crate::runner::{Executed, Runner, Stop};

/// Smallest number of rounds, whatever the budget: with fewer there is nothing to fit.
pub const LEAST_ROUNDS: u32 = 2;

/// Samples per batch in virtual time, where all are equal.
pub const VIRTUAL_SAMPLES: u32 = 2;

/// A point of a campaign, which its rounds visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The key of its batches. If a batch has several keys, the one that must converge.
    pub key: Key,
    /// Its description, if results are made from it alone.
    pub described: Option<Described>,
    /// Its batch. The campaign adds the probes, and takes [`VIRTUAL_SAMPLES`] in virtual time.
    pub order: Order,
    /// Batches per round.
    pub visits: u32,
    /// The computation that is timed alone before and after each batch.
    pub control: Option<Control>,
    /// The batch in which its messages are compared; `None` if it has no messages, as a floor.
    pub checked: Option<Order>,
}

impl Point {
    /// A point with one batch per round, whose messages can be compared.
    pub fn new(key: Key, order: Order) -> Self {
        let checked = Some(order.clone());
        Self { key, described: None, order, visits: 1, control: None, checked }
    }

    /// The same point; its messages are compared only if they can be.
    pub fn checked_if(self, can_be: bool) -> Self {
        Self { checked: self.checked.filter(|_| can_be), ..self }
    }

    /// The same point with a description.
    pub fn described(self, as_what: Described) -> Self {
        Self { described: Some(as_what), ..self }
    }

    /// The time of one operation in each sample: the whole time, divided by what the description says is timed together.
    pub fn once(&self, done: &Executed) -> Vec<f64> {
        let timed = self.described.as_ref().map_or(1.0, |of| of.timed);
        done.column(WHOLE).iter().map(|time| time / timed).collect()
    }
}

/// A kind of measurement: its points, how a batch is split into samples, and when enough is known.
///
/// Nothing here is timed, so trait objects suffice.
pub trait Experiment {
    /// The points. It may run batches for a first look, which are not kept.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop>;

    /// The samples of a batch by key, in nanoseconds per reported unit: for example per message, if
    /// the batch timed many. By default [`Point::once`].
    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        vec![(point.key.clone(), point.once(done))]
    }

    /// A reason to reject a batch that the campaign itself does not see. The batch is kept as
    /// rejected and repeated.
    fn rejects(&self, _point: &Point, _done: &Executed) -> Option<Rejected> {
        None
    }

    /// The indices of the points that need more batches. The campaign asks after 8, 11, 15, 21, …
    /// rounds (see `stopping.rs`), but not before the least number of rounds, and ends when there
    /// are none. In between the same points go on.
    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        not_converged(judged, points)
    }

    /// These points and their numbers of batches per round. A fraction is met on average.
    fn visits(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<(usize, f64)> {
        let usual = |at: usize| (at, f64::from(points[at].visits));
        self.open(judged, points).into_iter().map(usual).collect()
    }

    /// Whether [`Experiment::visits`] says from the third round on how to go on. It ends nothing before the eighth.
    fn plans_early(&self) -> bool {
        false
    }

    /// The smallest number of rounds, whatever the budget, and the largest. Virtual time always has
    /// [`LEAST_ROUNDS`].
    fn rounds(&self) -> RangeInclusive<u32> {
        LEAST_ROUNDS..=u32::MAX
    }
}

/// The points whose key has neither converged nor reached the clock's limit. All are judged each
/// time, since the main placement state may have changed.
pub fn not_converged(judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
    (0..points.len()).filter(|&at| !judged.convergence(&points[at].key).is_enough()).collect()
}

/// All points while any is not known well enough, else none: for points that are compared round by
/// round.
pub fn all_or_none(judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
    match not_converged(judged, points).is_empty() {
        true => Vec::new(),
        false => (0..points.len()).collect(),
    }
}
