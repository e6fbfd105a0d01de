//! A series over the floors that were measured beside it.

use bandgap_campaign::series::{Part, Step, key};
use bandgap_comm::Yields;
use bandgap_units::Bytes;

use super::task::{Kind, Measured};
use crate::error::AssembleError;
use crate::measured::{FloorRatio, unfloored, wake_up};

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
        for floor in self.setting.floors_of(name) {
            let mut alike: Option<(Step, u64)> = None;
            for done in singles.iter().flat_map(Step::done) {
                let bytes = done.bytes()?;
                let measured = !self.judged.table().batches(&key(&done, Part::Whole)).is_empty();
                // The longest of those that are no longer than a word.
                let longer = alike.as_ref().is_none_or(|(_, known)| *known < bytes);
                if measured && longer && done.is_like(floor)? {
                    alike = Some((done, bytes));
                }
            }
            let Some((done, bytes)) = alike else {
                let floor = &floor.floor.name;
                without.push(format!(
                    "Nothing is compared with the floor {floor}: no message of as many bytes went between ranks 0 \
                     and 1."
                ));
                continue;
            };
            let judged = self.view(&done);
            // A floor of whole operations is compared with whole ones, of which t may be a part.
            let parts = match floor.floor.yields {
                Yields::Operation => 1.0 / f64::from(kind.measure.parts),
                _ => 1.0,
            };
            match FloorRatio::of(&key(&done, Part::Whole), parts, Some(bytes), floor, &judged)? {
                Ok(ratio) => ratios.push(ratio),
                Err(reason) => without.push(format!("A message of {} is {reason}.", Bytes(bytes))),
            }
        }
        without.extend(unfloored(self.setting, name));
        without.extend(wake_up(self.setting).filter(|_| !ratios.is_empty()));
        Ok((ratios, without))
    }
}
