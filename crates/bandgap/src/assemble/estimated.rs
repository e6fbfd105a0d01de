//! The time of one point, estimated from its batches.

use bandgap_record::{Evidence, Quantity, RecordError};
use bandgap_stats::{Interval, Point};
use bandgap_units::Ns;

use crate::measure::data::Key;
use crate::measure::judge::Judged;

/// How points are estimated.
pub(super) const ESTIMATOR: &str = "mean of batch means inside the MAD fence, t interval";

/// A time in nanoseconds, and what it rests on.
pub(super) struct Estimated {
    value: f64,
    interval: Interval,
    batches: usize,
    converged: bool,
}

impl Estimated {
    pub(super) fn new(point: &Point, converged: bool) -> Self {
        let Point { value, interval, batches, .. } = *point;
        Self { value, interval, batches, converged }
    }

    /// The value of a single batch, which has no interval of its own.
    pub(super) fn single(value: f64, converged: bool) -> Self {
        let interval = Interval { low: value, high: value };
        Self { value, interval, batches: 1, converged }
    }

    /// One part of `parts`: the cost of a message, where the time is that of many.
    pub(super) fn per(&self, parts: f64) -> Result<Quantity, RecordError> {
        Quantity::time(
            Ns(self.value / parts),
            Some((Ns(self.interval.low / parts), Ns(self.interval.high / parts))),
            Evidence::new(ESTIMATOR, self.batches as u64, self.converged),
        )
    }
}

/// The time of `key`; `None` for fewer than two batches. In virtual time all has converged.
pub(super) fn estimated(judged: &Judged<'_>, key: &Key, virtual_time: bool) -> Option<Quantity> {
    let point = judged.point(key)?;
    Estimated::new(&point, virtual_time || judged.converged(key)).per(1.0).ok()
}
