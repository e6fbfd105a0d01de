//! The time of one point, estimated from its batches.

use bandgap_record::{Evidence, Quantity, RecordError};
use bandgap_stats::{Interval, Point};
use bandgap_units::{Ns, Rate};

use bandgap_campaign::Key;
use bandgap_campaign::judge::Judged;

/// How points are estimated.
pub(super) const ESTIMATOR: &str = "mean of batch means inside the MAD fence, t interval";

/// A time in nanoseconds, and what it rests on.
pub(super) struct Estimated {
    value: f64,
    interval: Option<Interval>,
    batches: usize,
    converged: bool,
}

impl Estimated {
    pub(super) fn new(point: &Point, converged: bool) -> Self {
        let Point { value, interval, batches, .. } = *point;
        Self { value, interval: Some(interval), batches, converged }
    }

    /// The value of a single batch, which has no interval of its own.
    pub(super) fn single(value: f64, converged: bool) -> Self {
        Self { value, interval: None, batches: 1, converged }
    }

    /// One part of `parts`: the cost of a message, where the time is that of many.
    pub(super) fn per(&self, parts: f64) -> Result<Quantity, RecordError> {
        Quantity::time(
            Ns(self.value / parts),
            self.interval.map(|i| (Ns(i.low / parts), Ns(i.high / parts))),
            Evidence::new(ESTIMATOR, self.batches as u64, self.converged),
        )
    }
}

/// The time of `key`; `None` for fewer than two batches. In virtual time all has converged.
pub(super) fn estimated(judged: &Judged<'_>, key: &Key, virtual_time: bool) -> Option<Quantity> {
    let point = judged.point(key)?;
    Estimated::new(&point, virtual_time || judged.converged(key)).per(1.0).ok()
}

/// n/t(n), with the interval of the time turned over where that is possible; `None` for no bytes.
pub(super) fn bandwidth(bytes: u64, time: &Quantity) -> Result<Option<Quantity>, RecordError> {
    if bytes == 0 || time.value.0 <= 0.0 {
        return Ok(None);
    }
    let rate = |seconds: f64| Rate(bytes as f64 / seconds);
    let positive = time.interval().filter(|(low, _)| *low > 0.0);
    let bounds = positive.map(|(low, high)| (rate(high), rate(low)));
    let evidence = Evidence::new(format!("n / ({})", time.estimator), time.samples, time.converged);
    Quantity::rate(rate(time.value.0), bounds, evidence).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_batch_has_no_interval_and_so_has_its_bandwidth() {
        let time = Estimated::single(250.0, false).per(1.0).unwrap();
        assert_eq!((time.interval(), time.samples), (None, 1));
        let rate = bandwidth(500, &time).unwrap().unwrap();
        // 500 B in 250 ns.
        assert!((rate.value.0 / 2e9 - 1.0).abs() < 1e-9);
        assert_eq!(rate.interval(), None);
        assert!(!rate.converged);
    }

    #[test]
    fn a_time_that_may_be_zero_has_a_bandwidth_without_interval() {
        let bounds = Some((Ns(-50.0), Ns(550.0)));
        let time = Quantity::time(Ns(250.0), bounds, Evidence::new("mean", 2, false)).unwrap();
        let rate = bandwidth(500, &time).unwrap().unwrap();
        assert!((rate.value.0 / 2e9 - 1.0).abs() < 1e-9);
        assert_eq!(rate.interval(), None);
        assert_eq!(bandwidth(0, &time).unwrap(), None);
    }
}
