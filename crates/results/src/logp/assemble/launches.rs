//! The signature of one state over all launches.

use bandgap_campaign::data::Table;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::signature::QUICK_RESAMPLES;
use bandgap_model::{Estimate, ModelError, Signature};

use crate::error::AssembleError;

/// Resamples of the bootstrap behind recorded intervals.
const RESAMPLES: usize = 1000;

/// The signature of one state: of one launch by bootstrap over batches; of several launches the
/// mean of theirs, with the t interval over launches, which holds both variances. Where `reply` is
/// given, that of transfers.
pub(super) fn signature(
    judged: &Judged<'_>,
    table: &Table,
    launches: u32,
    confidence: f64,
    reply: Option<&Estimate>,
) -> Result<Signature, AssembleError> {
    let of = |judged: &Judged<'_>, resamples| -> Result<Signature, ModelError> {
        match reply {
            Some(reply) => judged.transfers(resamples, reply),
            None => judged.signature(resamples),
        }
    };
    let whole = of(judged, RESAMPLES)?;
    if launches < 2 {
        return Ok(whole);
    }
    let each: Vec<Signature> = (0..launches)
        .filter_map(|launch| {
            let part = table.of_launch(launch);
            of(&judged.over(&part), QUICK_RESAMPLES).ok()
        })
        .collect();
    Ok(whole.over_launches(&each, confidence))
}
