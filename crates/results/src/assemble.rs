//! From batches to results: what commands make of their tables.

mod bulk;

use bandgap_campaign::breakdown::BreakdownPlan;
use bandgap_campaign::contention::ContentionPlan;
use bandgap_campaign::floors::{FloorPlan, key};
use bandgap_campaign::judge::Judged;
use bandgap_campaign::overlap::OverlapPlan;
use bandgap_campaign::series::SeriesPlan;
use bandgap_campaign::signature::SignaturePlan;
use bandgap_campaign::{Setting, Table};

use crate::Outcome;
use crate::error::AssembleError;
use crate::floor::assemble::floor;
use crate::logp;
use crate::ratio::assemble::ratio;
use crate::rtt_pairs::assemble::rtt_pairs;
use crate::series::loaded;
use crate::verification::assemble::verification;

pub use bulk::bulk;

use crate::batches::assemble::without_value;

pub use crate::batches::assemble::unfitted_alone;
pub use crate::hockney::assemble::Fitting;
pub use crate::logp::assemble::fitted;
pub use crate::measured::TABLE;
pub use crate::series::{MESSAGE_COSTS, MESSAGES, tabled};

/// Results, and warnings on what is missing among them; or that too little was measured.
pub type Assembled = Result<(Vec<Outcome>, Vec<String>), AssembleError>;

/// The signature of a table, with the round trips of pairs where they were measured.
///
/// # Errors
/// Too little was measured.
pub fn signature(setting: &Setting, plan: &SignaturePlan, table: &Table) -> Assembled {
    let judged = &plan.asked.judge(table);
    let measured = logp::assemble::Measured { setting, plan, judged, empty: None };
    let mut results: Vec<Outcome> = vec![measured.logp()?.into()];
    results.extend(rtt_pairs(setting, judged).map(Outcome::from));
    Ok(verified("signature", setting, judged, results))
}

/// The round trips of all pairs.
///
/// # Errors
/// Too little was measured.
pub fn pairs(setting: &Setting, judged: &Judged<'_>) -> Assembled {
    let pairs = rtt_pairs(setting, judged).ok_or(AssembleError::Empty)?;
    Ok(verified("pairs", setting, judged, vec![pairs.into()]))
}

/// The gaps under contention.
///
/// # Errors
/// Too little was measured.
pub fn contention(setting: &Setting, judged: &Judged<'_>) -> Assembled {
    let gaps = crate::contention::assemble::contention(judged, setting)?;
    Ok(verified("contention", setting, judged, vec![gaps.into()]))
}

/// Results, and how many of the messages behind them were compared.
fn verified(
    name: &str,
    setting: &Setting,
    judged: &Judged<'_>,
    mut results: Vec<Outcome>,
) -> (Vec<Outcome>, Vec<String>) {
    results.extend(verification(name, setting, judged.table()).map(Outcome::from));
    (results, Vec::new())
}

/// The series of a table, each before its fits.
///
/// # Errors
/// Too little was measured.
pub fn series(setting: &Setting, plan: &SeriesPlan, table: &Table) -> Assembled {
    let judged = &plan.asked.judge(table);
    let measured = crate::series::assemble::Measured { setting, plan, judged };
    Ok((measured.outcomes()?, Vec::new()))
}

/// What of an exchange hides behind a computation.
///
/// # Errors
/// Too little was measured.
pub fn overlap(setting: &Setting, plan: &OverlapPlan, table: &Table) -> Assembled {
    let overlap = crate::overlap::assemble::overlap(setting, plan, &plan.asked.judge(table))?;
    Ok((vec![overlap.into()], Vec::new()))
}

/// Where the time of a message goes.
///
/// # Errors
/// Too little was measured.
pub fn breakdown(setting: &Setting, plan: &BreakdownPlan, table: &Table) -> Assembled {
    let judged = &plan.judge(table);
    let breakdown = crate::breakdown::measured::measured(setting, plan, judged)?;
    Ok(verified("breakdown", setting, judged, vec![breakdown.into()]))
}

/// Ranks that take part where an echo has a load beside it.
const ECHO_AND_LOAD: u32 = 4;

/// Echo without a load and under loads, with what they change.
///
/// # Errors
/// Too little was measured.
pub fn contended(setting: &Setting, plan: &ContentionPlan, table: &Table) -> Assembled {
    let judged = &plan.asked.judge(table);
    let (mut results, warnings) = series(setting, &plan.series(), table)?;
    // Under a load the time is no line over the size.
    results.retain(|result| !matches!(result, Outcome::Hockney(_)));
    for result in &mut results {
        if let Outcome::Series(series) = result {
            // Those of the load too.
            series.ranks = ECHO_AND_LOAD;
            series.points.iter_mut().for_each(|point| point.ranks = ECHO_AND_LOAD);
            series.findings.extend(loaded::findings(plan, judged));
        }
    }
    Ok((results, warnings))
}

/// Floors of so many launches begun, then layers over floors, then the batches of those that have no value; and which of them have
/// none, with the reason. A ratio that cannot be recorded is among the reasons.
pub fn floors(launches: u32, table: &Table, plan: &FloorPlan) -> (Vec<Outcome>, Vec<String>) {
    let judged = plan.judge(table);
    let measured = || plan.floors.iter().filter(|of| !table.batches(&key(&of.name)).is_empty());
    let (mut results, mut missing, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for of in measured() {
        match floor(of, &judged, launches) {
            Ok(floor) => results.push(floor.into()),
            Err(reason) => {
                missing.push(reason);
                alone.push(key(&of.name));
            }
        }
    }
    let kept = without_value(table, &alone, &missing);
    for layer in measured() {
        for over in &*layer.over {
            match ratio(layer, over, &judged, launches) {
                Ok(found) => results.extend(found.map(Outcome::from)),
                Err(error) => missing.push(format!("{} over {over}: {error}", layer.name)),
            }
        }
    }
    results.extend(kept.map(Outcome::from));
    (results, missing)
}

#[cfg(test)]
mod tests;
