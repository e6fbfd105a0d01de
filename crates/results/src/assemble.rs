//! From batches to results, whatever the task.

mod bulk;
mod timed;

use bandgap_campaign::floors::FloorPlan;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::series::SeriesPlan;
use bandgap_campaign::signature::SignaturePlan;
use bandgap_campaign::{Setting, Table};
use bandgap_record::RecordError;

use crate::Outcome;
use crate::batches;
use crate::error::AssembleError;
use crate::floor::assemble::{floor, measured};
use crate::logp;
use crate::ratio::assemble::ratio;
use crate::rtt_pairs::assemble::rtt_pairs;
use crate::verification::assemble::verification;

pub use bulk::bulk;

pub use crate::hockney::assemble::Fitting;
pub use crate::logp::assemble::fitted;
pub use crate::measured::TABLE;
pub use crate::series::Tabled;

/// Results, and warnings on what is missing among them; or that too little was measured.
pub type Assembled = Result<(Vec<Outcome>, Vec<String>), AssembleError>;

/// The signature of a table, with the round trips of pairs where they were measured.
///
/// # Errors
/// Too little was measured.
pub fn signature(setting: &Setting, plan: &SignaturePlan, table: &Table) -> Assembled {
    let judged = &plan.judge(table);
    let measured = logp::assemble::Measured { setting, plan, table, judged, empty: None };
    let mut results: Vec<Outcome> = vec![measured.logp()?.into()];
    results.extend(rtt_pairs(setting, judged, table)?.map(Outcome::from));
    results.extend(verification("signature", setting, table).map(Outcome::from));
    Ok((results, Vec::new()))
}

/// The round trips of all pairs of a table.
///
/// # Errors
/// Too little was measured.
pub fn pairs(setting: &Setting, judged: &Judged<'_>, table: &Table) -> Assembled {
    let pairs = rtt_pairs(setting, judged, table)?.ok_or(AssembleError::Empty)?;
    let mut results: Vec<Outcome> = vec![pairs.into()];
    results.extend(verification("pairs", setting, table).map(Outcome::from));
    Ok((results, Vec::new()))
}

/// The gaps under contention of a table.
///
/// # Errors
/// Too little was measured.
pub fn contention(setting: &Setting, judged: &Judged<'_>, table: &Table) -> Assembled {
    let gaps = crate::contention::assemble::contention(judged, setting, table)?;
    let mut results: Vec<Outcome> = vec![gaps.into()];
    results.extend(verification("contention", setting, table).map(Outcome::from));
    Ok((results, Vec::new()))
}

/// The series of a table, each before its fits.
///
/// # Errors
/// Too little was measured.
pub fn series(setting: &Setting, plan: &SeriesPlan, table: &Table) -> Assembled {
    let judged = &plan.judge(table);
    let measured = crate::series::assemble::Measured { setting, plan, table, judged };
    Ok((timed::outcomes(&measured)?, Vec::new()))
}

/// Batches that no fit could be made of, as they were measured: kind `batches`.
pub fn unfitted(setting: &Setting, table: &Table, reason: &AssembleError) -> Outcome {
    batches::assemble::unfitted(setting, table, reason).into()
}

/// What came of a measurement of floors.
pub struct Floors {
    /// Floors, then layers over floors.
    pub results: Vec<Outcome>,
    /// Floors that this machine does not let be measured, with the reason.
    pub unavailable: Vec<String>,
}

/// The results of a floors task.
///
/// # Errors
/// A number cannot be recorded.
pub fn floors(table: &Table, plan: &FloorPlan) -> Result<Floors, RecordError> {
    let judged = plan.judge(table);
    let (mut results, mut unavailable) = (Vec::new(), Vec::new());
    for of in measured(plan, table) {
        match floor(of, table, &judged, plan)? {
            Ok(floor) => results.push(floor.into()),
            Err(reason) => unavailable.push(reason),
        }
    }
    for layer in measured(plan, table) {
        for over in &*layer.over {
            results.extend(ratio(layer, over, table, &judged, plan)?.map(Outcome::from));
        }
    }
    Ok(Floors { results, unavailable })
}
