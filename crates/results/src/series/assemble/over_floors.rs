//! A series over the floors that were measured beside it.

use bandgap_campaign::beside::{Beside, WORD};
use bandgap_campaign::series::{Part, Step, key};
use bandgap_comm::Yields;

use super::task::{Kind, Measured};
use crate::error::AssembleError;
use crate::measured::{FloorRatio, called, conditions, one, wake_up};

/// Why none of these steps of a series is like a floor.
fn why_none(floor: &Beside, steps: &[Step]) -> Result<String, AssembleError> {
    let Some(first) = steps.first() else { return Ok("nothing of it was planned".to_owned()) };
    if first.kernel()?.1.of_all {
        if steps.iter().all(|step| step.ranks != 2) {
            return Ok("it is between two ranks, and more took part".to_owned());
        }
    } else if steps.iter().all(|step| step.pair != [0, 1]) {
        return Ok("it is between ranks 0 and 1, and other ranks took part".to_owned());
    }
    let moved = floor.floor.yields.bytes();
    let like = called(&first.series, Some(moved.unwrap_or(WORD)));
    let less = if moved.is_some() || first.bytes()? == 0 { "" } else { " or less" };
    Ok(format!("no {like}{less} was measured between ranks 0 and 1"))
}

impl Measured<'_> {
    /// Messages over floors of as many bytes, between the two ranks that floors are measured between; and why there is
    /// none.
    pub(super) fn floor_ratios(
        &self,
        kind: &Kind,
        singles: &[Step],
    ) -> Result<(Vec<FloorRatio>, Vec<String>), AssembleError> {
        let (mut ratios, mut without) = (Vec::new(), Vec::new());
        let name = kind.measure.name;
        for beside in self.setting.floors_of(name) {
            let mut alike: Option<(Step, u64)> = None;
            for done in singles.iter().flat_map(Step::done) {
                let bytes = done.bytes()?;
                let measured = !self.judged.table().batches(&key(&done, Part::Whole)).is_empty();
                // The longest of those that are no longer than a word.
                let longer = alike.as_ref().is_none_or(|(_, known)| *known < bytes);
                if measured && longer && done.is_like(beside)? {
                    alike = Some((done, bytes));
                }
            }
            let Some((done, bytes)) = alike else {
                let floor = &beside.floor.name;
                let why = why_none(beside, singles)?;
                without.push(format!("Nothing is compared with the floor {floor}: {why}."));
                continue;
            };
            let judged = self.view(&done);
            // A floor of whole operations is compared with whole ones, of which t may be a part.
            let parts = match beside.floor.yields {
                Yields::Operation => 1.0 / f64::from(kind.measure.parts),
                _ => 1.0,
            };
            match FloorRatio::of(&key(&done, Part::Whole), parts, Some(bytes), beside, &judged)? {
                Ok(ratio) => ratios.push(ratio),
                Err(reason) => without.push(format!("{} is {reason}.", one(name, Some(bytes)))),
            }
        }
        without.extend(conditions(self.setting, name));
        without.extend(wake_up(self.setting).filter(|_| !ratios.is_empty()));
        Ok((ratios, without))
    }
}
