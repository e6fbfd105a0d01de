//! From batches to what is recorded: states, parameters, points, tables.

mod contention;
mod estimated;
mod findings;
mod fitted;
mod floors;
mod hockney;
mod launches;
mod logp;
mod pairs;
mod parameters;
mod points;
mod series;
mod shape;
mod states;
mod summary;
mod surface;
mod tabled;

use bandgap_record::{Outcome, RecordError};

use crate::collect::{Collected, Stage};
use crate::launch::Task;
use crate::measure::data::Table;
use crate::target::Target;

pub use fitted::fitted;
pub use floors::floors;
pub use hockney::Fitting;
pub use tabled::{TABLE, Tabled};

/// Why nothing could be assembled.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// What was measured does not hold what the model needs.
    #[error(transparent)]
    Model(#[from] bandgap_model::ModelError),
    /// A number cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Nothing was measured.
    #[error("find a measured batch")]
    Empty,
}

/// The results of a signature or of a series, and warnings on what is missing among them.
///
/// # Errors
/// Too little was measured.
pub fn results(
    stage: &Stage,
    target: &Target,
    ranks: usize,
    task: &Task,
    collected: &Collected,
) -> Result<(Vec<Outcome>, Vec<String>), AssembleError> {
    if collected.table.is_empty() {
        return Err(AssembleError::Empty);
    }
    let (plan, fan_in) = match task {
        Task::Signature { plan, fan_in, .. } => (plan, fan_in),
        Task::Series(plan) => {
            let judged = plan.judge(&collected.table);
            let measured =
                series::Measured { stage, target, ranks, plan, collected, judged: &judged };
            return Ok((measured.results()?, Vec::new()));
        }
        Task::Bulk(plan) => return surface::results(stage, target, ranks, plan, collected),
        Task::Floors(_) => return Ok((Vec::new(), Vec::new())),
    };
    let judged = plan.judge(&collected.table);
    let mut results = Vec::new();
    if fan_in.is_some() {
        let contention = contention::contention(&judged, target, &collected.table)?;
        results.push(Outcome::Contention(contention));
        return Ok((results, Vec::new()));
    }
    let (table, empty) = (&collected.table, None);
    let judged = &judged;
    let measured = logp::Measured { stage, target, ranks, plan, collected, table, judged, empty };
    results.push(Outcome::Logp(Box::new(measured.logp()?)));
    if let Some(pairs) = pairs::rtt_pairs(stage, judged, target, collected)? {
        results.push(Outcome::RttPairs(pairs));
    }
    Ok((results, Vec::new()))
}

/// Batches that no fit could be made of, as they were measured: kind `batches`.
pub fn unfitted(target: &Target, table: &Table, reason: &AssembleError) -> Outcome {
    let batches: Vec<serde_json::Value> = table
        .iter()
        .flat_map(|(key, batches)| {
            batches.iter().map(move |batch| serde_json::json!({ "of": key, "batch": batch }))
        })
        .collect();
    Outcome::Other(serde_json::json!({
        "kind": "batches",
        "transport": target.to_string(),
        "reason": reason.to_string(),
        "unit": "ns",
        "batches": batches,
    }))
}
