//! A layer over its floor, from batches of both.

use bandgap_campaign::data::Batch;
use bandgap_campaign::floors;
use bandgap_campaign::judge::Judged;
use bandgap_comm::Floor as Measured;
use bandgap_record::{Evidence, Quantity, RecordError};
use bandgap_stats::quantile::{median, sorted};
use bandgap_stats::{batch_value, interval::quantile_interval};

use super::Ratio;

/// Time of a layer over time of its floor: the median over the rounds in which both were measured
/// in the state seen from, so that each ratio compares neighbours in time.
pub(crate) fn ratio(
    layer: &Measured,
    over: &str,
    judged: &Judged<'_>,
) -> Result<Option<Ratio>, RecordError> {
    let below = judged.table().batches(&floors::key(over));
    let usable = |batch: &Batch| judged.counts(batch) && !batch.samples.is_empty();
    let beside = |batch: &Batch| {
        let round = (batch.launch, batch.round);
        below.iter().find(|below| (below.launch, below.round) == round && usable(below))
    };
    let ratios: Vec<f64> = judged
        .table()
        .batches(&floors::key(&layer.name))
        .iter()
        .filter(|batch| usable(batch))
        .filter_map(|batch| Some((batch, beside(batch)?)))
        .map(|(a, b)| batch_value(&a.samples) / batch_value(&b.samples))
        .filter(|ratio| ratio.is_finite())
        .collect();
    if ratios.is_empty() {
        return Ok(None);
    }
    let value = median(&ratios);
    let bounds = quantile_interval(&sorted(&ratios), 0.5, judged.confidence());
    let converged = bounds.as_ref().is_some_and(|b| b.half_width() <= judged.precision() * value);
    let estimator = match bounds {
        Some(_) => "median over rounds of layer / floor, order-statistic interval",
        None => "median over rounds of layer / floor, too few for an interval",
    };
    let evidence = Evidence::new(estimator, ratios.len() as u64, converged);
    Ok(Some(Ratio {
        name: layer.name.to_string(),
        over: over.to_owned(),
        ratio: Quantity::number(value, bounds.map(|b| (b.low, b.high)), evidence)?,
        state: judged.label(),
    }))
}
