//! `bandgap comet`: CoMet's kernels, as series and as experiments of their own.

use std::time::Duration;

use bandgap_kernels::{Over, facts};
use bandgap_launch::{Exit, Failure};
use bandgap_results::assemble::MESSAGE_COSTS;

use super::comms::{LeftOut, Names, Planned, planned};
use super::measure::Session;
use super::overlap::{self, Overlapping};
use super::passing::{Comms, Ways};
use super::{applies, contention};
use crate::args::{Measure, Output};

/// What `bandgap comet` measures: series of message passing, and experiments of their own.
pub fn passing() -> Vec<&'static str> {
    let passing = facts().into_iter().filter(|fact| fact.over == Over::Comm);
    let series = passing.flat_map(|fact| fact.series.iter().map(|series| series.name));
    series.filter(|name| !APART.contains(name)).chain(APART).collect()
}

/// CoMet's kernels that are experiments of their own.
const APART: [&str; 2] = [contention::NAME, overlap::NAME];

/// CoMet's kernels, in its order (CoMet, sections 3.3.1 to 3.3.11), and what models of them need.
const COMET: [&str; 12] = [
    "echo",
    "exchange",
    "broadcast",
    "global_sum",
    "barrier",
    "update_guard",
    "shift_north",
    "shift_east",
    "transpose",
    "row_broadcast",
    "column_broadcast",
    MESSAGE_COSTS,
];

/// `bandgap comet`: the series of message passing of these names, or all of CoMet's.
///
/// # Errors
/// They could not be measured, or not be written.
pub fn comet(
    names: &[String],
    comms: &Comms,
    ways: &Ways,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let named: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = named.is_empty();
    if !all {
        applies::check(&named, &passing(), comms, ways)?;
    }
    let wanted = |name| named.is_empty() || named.contains(&name);
    let series: Vec<&str> = named.iter().copied().filter(|name| !APART.contains(name)).collect();
    let asked = Names { all, names: if all { &COMET } else { &series } };
    let series = (!asked.names.is_empty()).then(|| planned(&asked, comms, ways, measure));
    let series = series.transpose()?;
    let overlap = wanted(overlap::NAME).then(|| Overlapping::planned(comms, ways, measure));
    let overlap = overlap.transpose()?;
    let contention = wanted(contention::NAME).then(|| contention::planned(comms, measure));
    let (contention, refused) = match contention.transpose()?.map(contention::Planned::checked) {
        Some(Err(refused)) if all => (None, Some(refused)),
        checked => (checked.transpose()?, None),
    };
    let kernels = series.as_ref().map_or(0, Planned::kernels);
    let weight = |measured: bool| if measured { SEVERAL } else { 0 };
    let weights = [kernels, weight(overlap.is_some()), weight(contention.is_some())];
    let measured = kernels + weights[1..].iter().filter(|weight| **weight > 0).count();
    let mut session = Session::open("comet", measure, output)?;
    session.sink.summary = measured > 1;
    let budgets = shares(measure.time_budget.map(|_| measure.budget()), measure.budget(), weights);
    series.as_ref().map_or(Ok(()), |series| series.check(&session))?;
    overlap.as_ref().map_or(Ok(()), |overlap| overlap.check(&session))?;
    contention.as_ref().map_or(Ok(()), |contention| contention.check(&session))?;
    if let Some(refused) = refused {
        let mut left_out = LeftOut::default();
        left_out.add(contention::NAME, &refused);
        left_out.sentences().for_each(|sentence| session.sink.warn(&sentence));
    }
    if let Some(series) = series {
        session.budget = budgets[0];
        series.measure(&mut session, comms, measure)?;
    }
    if let Some(overlap) = overlap.filter(|_| !session.failed()) {
        session.budget = budgets[1];
        overlap.measure(&mut session)?;
    }
    if let Some(contention) = contention.filter(|_| !session.failed()) {
        session.budget = budgets[2];
        contention.measure(&mut session)?;
    }
    session.close()
}

/// As how many kernels overlap and contention count each, which time several things at each size.
const SEVERAL: usize = 3;

/// The times of measurements, in seconds: what was `given` for all, or what is `usual` for one times as
/// many as there are, shared by their weights.
fn shares(given: Option<Duration>, usual: Duration, weights: [usize; 3]) -> [f64; 3] {
    let measurements = weights.iter().filter(|weight| **weight > 0).count();
    let all = given.map_or(usual.as_secs_f64() * measurements as f64, |given| given.as_secs_f64());
    let sum = weights.iter().sum::<usize>().max(1);
    weights.map(|weight| all * weight as f64 / sum as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_that_of_all_kernels_together() {
        let seconds = Duration::from_secs;
        assert_eq!(shares(Some(seconds(34)), seconds(34), [11, 3, 3]), [22.0, 6.0, 6.0]);
        assert_eq!(shares(None, seconds(8), [6, 3, 3]), [12.0, 6.0, 6.0]);
        assert_eq!(shares(None, seconds(8), [3, 0, 0]), [8.0, 0.0, 0.0]);
        assert_eq!(shares(Some(seconds(4)), seconds(4), [0, 3, 0]), [0.0, 4.0, 0.0]);
    }
}
