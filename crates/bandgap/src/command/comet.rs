//! `bandgap comet`: CoMet's kernels, as series and as experiments of their own.

use bandgap_kernels::{Over, facts};
use bandgap_launch::{Exit, Failure};

use super::comms::{Names, planned};
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

/// CoMet's kernels, in its order (CoMet, sections 3.3.1 to 3.3.11).
const COMET: [&str; 11] = [
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
    let mut session = Session::open("comet", measure, output)?;
    if let Some(refused) = refused {
        session.sink.warn(&format!("{} is left out: {}", contention::NAME, refused.what));
    }
    if let Some(series) = series {
        series.measure(&mut session, comms, measure)?;
    }
    if let Some(overlap) = overlap.filter(|_| !session.failed()) {
        overlap.measure(&mut session)?;
    }
    if let Some(contention) = contention.filter(|_| !session.failed()) {
        contention.measure(&mut session)?;
    }
    session.close()
}
