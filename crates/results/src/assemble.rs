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

use bandgap_campaign::Task;
use bandgap_campaign::{Setting, Table};

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
    setting: &Setting,
    task: &Task,
    table: &Table,
) -> Result<(Vec<Outcome>, Vec<String>), AssembleError> {
    if table.is_empty() {
        return Err(AssembleError::Empty);
    }
    let (plan, fan_in) = match task {
        Task::Signature { plan, fan_in, .. } => (plan, fan_in),
        Task::Series(plan) => {
            let judged = plan.judge(table);
            let measured = series::Measured { setting, plan, table, judged: &judged };
            return Ok((measured.results()?, Vec::new()));
        }
        Task::Bulk(plan) => return surface::results(setting, plan, table),
        Task::Floors(_) => return Ok((Vec::new(), Vec::new())),
    };
    let judged = plan.judge(table);
    let mut results = Vec::new();
    if fan_in.is_some() {
        let contention = contention::contention(&judged, setting, table)?;
        results.push(Outcome::Contention(contention));
        return Ok((results, Vec::new()));
    }
    let judged = &judged;
    let measured = logp::Measured { setting, plan, table, judged, empty: None };
    results.push(Outcome::Logp(Box::new(measured.logp()?)));
    if let Some(pairs) = pairs::rtt_pairs(setting, judged, table)? {
        results.push(Outcome::RttPairs(pairs));
    }
    Ok((results, Vec::new()))
}

/// Batches that no fit could be made of, as they were measured: kind `batches`.
pub fn unfitted(setting: &Setting, table: &Table, reason: &AssembleError) -> Outcome {
    let batches: Vec<serde_json::Value> = table
        .iter()
        .flat_map(|(key, batches)| {
            batches.iter().map(move |batch| serde_json::json!({ "of": key, "batch": batch }))
        })
        .collect();
    Outcome::Other(serde_json::json!({
        "kind": "batches",
        "transport": setting.transport,
        "reason": reason.to_string(),
        "unit": "ns",
        "batches": batches,
    }))
}
