//! What one kind of measurement says of itself. The campaign does the rest.

use std::ops::RangeInclusive;

use bandgap_kernels::Order;

use crate::control::Control;
use crate::data::{Described, Rejected};
use crate::judge::Judged;
use crate::key::Key;
use crate::runner::{Executed, Runner, Stop};

/// Rounds over all points at least, whatever the budget: without them there is nothing to fit.
pub const LEAST_ROUNDS: u32 = 2;

/// Samples of a batch in virtual time, where they are all alike.
pub const VIRTUAL_SAMPLES: u32 = 2;

/// One of the things that are measured side by side, and that rounds visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What its batches are kept under; where a batch has several keys, the one that must
    /// converge.
    pub key: Key,
    /// What it is, where results are made of it alone.
    pub described: Option<Described>,
    /// Its batch. The campaign adds the probes, and takes [`VIRTUAL_SAMPLES`] in virtual time.
    pub order: Order,
    /// Batches in a round.
    pub visits: u32,
    /// The computation that is timed by itself before and after each batch.
    pub control: Option<Control>,
    /// The batch in which its messages are compared, with fewer samples; a raw floor has none.
    pub checked: Option<Order>,
}

impl Point {
    /// A point that is visited once a round, and whose messages can be compared.
    pub fn new(key: Key, order: Order) -> Self {
        let checked = Some(order.clone());
        Self { key, described: None, order, visits: 1, control: None, checked }
    }

    /// The same, whose messages are compared only if they can be.
    pub fn checked_if(self, can_be: bool) -> Self {
        Self { checked: self.checked.filter(|_| can_be), ..self }
    }

    /// The same with what it is.
    pub fn described(self, as_what: Described) -> Self {
        Self { described: Some(as_what), ..self }
    }
}

/// One kind of measurement: which points there are, how a batch splits, when enough is known.
///
/// Nothing here is timed, so trait objects suffice.
pub trait Experiment {
    /// The points. May run batches for a first look, which are not kept.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop>;

    /// The samples of a batch under their keys, in nanoseconds of what the experiment reports: of
    /// one message, say, where the batch timed many.
    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)>;

    /// Why a batch does not count, beyond what the campaign sees itself: it is then kept as rejected, and
    /// made again.
    fn rejects(&self, _point: &Point, _done: &Executed) -> Option<Rejected> {
        None
    }

    /// The points that need more batches, by index. Asked after 8, 11, 15, 21, … rounds (see `stopping.rs`), and
    /// not before the least; the campaign ends when there are none. In between the same points go on.
    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        not_converged(judged, points)
    }

    /// These points with the batches that each gets in a round: of a fraction, on average.
    fn visits(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<(usize, f64)> {
        let usual = |at: usize| (at, f64::from(points[at].visits));
        self.open(judged, points).into_iter().map(usual).collect()
    }

    /// How many rounds there are at least, whatever the budget, and at most. Not in virtual time,
    /// which takes [`LEAST_ROUNDS`]. Where they end before the eighth, [`Experiment::open`] is never asked.
    fn rounds(&self) -> RangeInclusive<u32> {
        LEAST_ROUNDS..=u32::MAX
    }
}

/// The points whose key has neither converged nor come to the clock's limit. All are judged each time: which placement state is
/// looked from may have changed.
pub fn not_converged(judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
    (0..points.len()).filter(|&at| !judged.convergence(&points[at].key).is_enough()).collect()
}

/// All points, while one of them is not known well enough: for those that are compared round by round.
pub fn all_or_none(judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
    match not_converged(judged, points).is_empty() {
        true => Vec::new(),
        false => (0..points.len()).collect(),
    }
}
