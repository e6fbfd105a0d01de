//! A layer over its floor, from batches of both.

use std::collections::BTreeMap;

use bandgap_campaign::data::Batch;
use bandgap_campaign::floors;
use bandgap_campaign::judge::Judged;
use bandgap_comm::Floor as Measured;
use bandgap_record::{Convergence, Evidence, Quantity, RecordError};
use bandgap_stats::launches::widened;
use bandgap_stats::quantile::{median, sorted};
use bandgap_stats::{Interval, batch_value, interval::quantile_interval};

use super::Ratio;
use crate::measured::Launches;

/// Time of a layer over time of its floor: the median over the rounds in which both were measured
/// in the state seen from, so that each ratio compares neighbours in time. Of several launches, so many
/// begun, the interval holds the variance of their medians.
pub(crate) fn ratio(
    layer: &Measured,
    over: &str,
    judged: &Judged<'_>,
    begun: u32,
) -> Result<Option<Ratio>, RecordError> {
    let below = judged.table().batches(&floors::key(over));
    let usable = |batch: &Batch| judged.counts(batch) && !batch.samples.is_empty();
    let beside = |batch: &Batch| {
        let round = (batch.launch, batch.round);
        below.iter().find(|below| (below.launch, below.round) == round && usable(below))
    };
    let above = judged.table().batches(&floors::key(&layer.name));
    let mut launches = BTreeMap::<u32, Vec<f64>>::new();
    for batch in above.iter().filter(|batch| usable(batch)) {
        let Some(beside) = beside(batch) else { continue };
        let ratio = batch_value(&batch.samples) / batch_value(&beside.samples);
        if ratio.is_finite() {
            launches.entry(batch.launch).or_default().push(ratio);
        }
    }
    let ratios: Vec<f64> = launches.values().flatten().copied().collect();
    if ratios.is_empty() {
        return Ok(None);
    }
    let value = median(&ratios);
    let medians: Vec<f64> = launches.values().map(|of| median(of)).collect();
    let bounds = quantile_interval(&sorted(&ratios), 0.5, judged.confidence());
    let bounds = bounds.map(|within| widened(value, within, &medians, judged.confidence()));
    let rule = judged.rule().without_clock();
    let judge = |bounds: &Interval| rule.judge(bounds.half_width(), value);
    let convergence = bounds.as_ref().map_or(Convergence::No, judge);
    let estimator = match (bounds, medians.len()) {
        (None, _) => "median over rounds of layer / floor, too few for an interval",
        (Some(_), 0 | 1) => "median over rounds of layer / floor, order-statistic interval",
        _ => {
            "median over rounds of layer / floor, the wider of the order-statistic interval over rounds \
             and the t interval over the launches' medians"
        }
    };
    let evidence = Evidence::new(estimator, ratios.len() as u64, convergence);
    let measured = above.iter().map(|batch| batch.launch);
    let seen = launches.into_keys().collect();
    let Launches { lost, findings } = Launches::of_points(begun, measured, &[seen]);
    Ok(Some(Ratio {
        name: layer.name.to_string(),
        over: over.to_owned(),
        ratio: Quantity::number(value, bounds.map(|b| (b.low, b.high)), evidence)?,
        lost_launches: lost,
        state: judged.label(),
        findings,
    }))
}
