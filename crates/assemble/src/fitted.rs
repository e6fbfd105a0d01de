//! Series with the lines that they follow, and what is measured beside them.

use bandgap_campaign::Table;
use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::load::Load;
use bandgap_campaign::signature::of_load;
use bandgap_model::hockney::Breaks;

use crate::hockney::hockney;
use crate::logp::logp;
use crate::made::Made;
use crate::series::series;
use crate::{AssembleError, Measured};

/// Segments of a line at most, where none are given.
const SEGMENTS: usize = 5;

/// The series of a table, each with its fits; segments end at `breaks`, or are found where there are none.
///
/// # Errors
/// Too little was measured, or the breaks do not fit.
pub fn fitted(of: &Measured<'_>, breaks: &[u64]) -> Result<Made, AssembleError> {
    let breaks = match breaks {
        [] => Breaks::Automatic { most: SEGMENTS },
        given => Breaks::At(given.to_vec()),
    };
    Ok(series(of)?.and(hockney(of, &breaks)?))
}

/// Stores and gets over their lengths, and their signatures at a few.
///
/// # Errors
/// As [`fitted`]; a signature that cannot be had is left out.
pub fn bulk(of: &Measured<'_>, plan: &BulkPlan) -> Result<Made, AssembleError> {
    let mut made = fitted(of, &[])?;
    let part = |load: Load| -> Table { of_load(of.judged.table, load) };
    for plan in &plan.surface {
        let (own, empty) = (part(plan.load), part(plan.load.with(0)));
        let (own, empty) = (of.judged.over(&own), of.judged.over(&empty));
        let measured = Measured { judged: &own, ..*of };
        if let Ok(signature) = logp(&measured, plan, Some(&empty)) {
            made = made.and(signature);
        }
    }
    Ok(made)
}
