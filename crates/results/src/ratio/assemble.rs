//! A layer over its floor, from batches of both.

use bandgap_campaign::floors::key;
use bandgap_campaign::judge::Judged;
use bandgap_comm::Floor as Measured;
use bandgap_record::RecordError;

use super::Ratio;
use crate::measured::{Launches, Ratios};

/// Time of a layer over time of its floor, of so many launches begun.
pub(crate) fn ratio(
    layer: &Measured,
    over: &str,
    judged: &Judged<'_>,
    begun: u32,
) -> Result<Option<Ratio>, RecordError> {
    let above = key(&layer.name);
    let Some(ratios) = Ratios::of(&above, &key(over), judged) else { return Ok(None) };
    let measured = judged.table().batches(&above).iter().map(|batch| batch.launch);
    let ratio = ratios.recorded("layer", "floor")?;
    let Launches { lost, findings } = Launches::of_points(begun, measured, &[ratios.launches]);
    Ok(Some(Ratio {
        name: layer.name.to_string(),
        over: over.to_owned(),
        ratio,
        lost_launches: lost,
        state: judged.label(),
        findings,
    }))
}
