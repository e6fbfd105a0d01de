//! A series over the floors that were measured beside it.

use bandgap_campaign::series::{Part, Step, key};
use bandgap_units::Bytes;

use super::task::{Kind, Measured};
use crate::error::AssembleError;
use crate::measured::FloorRatio;

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
        for floor in
            self.setting.beside.iter().filter(|beside| beside.results.iter().any(|of| of == name))
        {
            let mut alike: Option<(Step, u64)> = None;
            for done in singles.iter().flat_map(Step::done) {
                let bytes = done.bytes()?;
                let between = kind.taking_part(&done) == 2 && done.pair == [0, 1];
                let measured = !self.judged.table().batches(&key(&done, Part::Whole)).is_empty();
                // The longest of those that are no longer than a word.
                let longer = alike.as_ref().is_none_or(|(_, known)| *known < bytes);
                if between && measured && longer && floor.is_of(name, bytes) {
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
            match FloorRatio::of(&key(&done, Part::Whole), 1.0, Some(bytes), floor, &judged)? {
                Ok(ratio) => ratios.push(ratio),
                Err(reason) => without.push(format!("A message of {} is {reason}.", Bytes(bytes))),
            }
        }
        Ok((ratios, without))
    }
}
