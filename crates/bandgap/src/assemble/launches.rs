//! The signature of one state over all launches.

use bandgap_model::Signature;

use super::AssembleError;
use crate::collect::Collected;
use crate::measure::judge::{Judged, QUICK_RESAMPLES};

/// Resamples of the bootstrap behind recorded intervals.
const RESAMPLES: usize = 1000;

/// The signature of one state: of one launch by bootstrap over batches; of several launches the
/// mean of theirs, with the t interval over launches, which holds both variances.
pub(super) fn signature(
    judged: &Judged<'_>,
    collected: &Collected,
    confidence: f64,
) -> Result<Signature, AssembleError> {
    let whole = judged.signature(RESAMPLES)?;
    if collected.launches < 2 {
        return Ok(whole);
    }
    let each: Vec<Signature> = (0..collected.launches)
        .filter_map(|launch| {
            let part = collected.table.of_launch(launch);
            judged.over(&part).signature(QUICK_RESAMPLES).ok()
        })
        .collect();
    Ok(whole.over_launches(&each, confidence))
}
