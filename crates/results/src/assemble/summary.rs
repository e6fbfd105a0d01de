//! The distribution of samples as it is recorded.

use bandgap_record::{Evidence, Quantity, Summary};
use bandgap_units::Ns;

use super::AssembleError;

pub(super) fn summary(samples: &[f64], confidence: f64) -> Result<Summary, AssembleError> {
    let summary = bandgap_stats::Summary::of(samples, confidence).ok_or(AssembleError::Empty)?;
    let median = summary.median_interval.map(|i| (Ns(i.low), Ns(i.high)));
    Ok(Summary {
        mean: Ns(summary.mean).into(),
        median: Quantity::time(
            Ns(summary.median),
            median,
            Evidence::new(
                "median, order-statistic interval over samples",
                summary.samples as u64,
                true,
            ),
        )?,
        min: Ns(summary.min).into(),
        p90: Ns(summary.p90).into(),
        p99: Ns(summary.p99).into(),
        p999: Ns(summary.p99_9).into(),
        max: Ns(summary.max).into(),
        samples: summary.samples as u64,
    })
}
