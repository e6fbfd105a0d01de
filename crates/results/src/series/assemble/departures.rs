//! Where what was measured departs from the plan.

use bandgap_campaign::series::{Part, Step, key};
use bandgap_kernels::Extent;

use super::task::{Kind, Measured};
use crate::measured::{Which, size_in_words};

impl Measured<'_> {
    /// Where a step is among those of its kind, in words.
    pub(super) fn place(&self, kind: &Kind, step: &Step, is_one_pair: bool) -> String {
        let measure = &kind.measure;
        let planned = self.planned(kind);
        let several = planned.iter().any(|other| other.ranks != step.ranks);
        let which = Which {
            ranks: (several && measure.of_all).then_some(step.ranks as u32),
            pair: (!is_one_pair && !measure.of_all).then(|| step.pair.map(|rank| rank as u32)),
            variant: step.variant.clone(),
        };
        let size = || size_in_words(measure.extent, step.size.into());
        let size = (measure.extent != Extent::None).then(size);
        let which = Some(which.words()).filter(|words| !words.is_empty());
        let words: Vec<String> = [size, which].into_iter().flatten().collect();
        if words.is_empty() { measure.name.to_owned() } else { words.join(", ") }
    }

    /// How many points were done by the usual algorithm, since there was no time for looks.
    pub(super) fn unlooked(&self, kind: &Kind, singles: &[Step]) -> Option<String> {
        let is_usual = |step: &&Step| {
            let key = key(step, Part::Whole);
            step.variant.is_none() && !self.judged.table().batches(&key).is_empty()
        };
        let count = singles.iter().filter(is_usual).count();
        (kind.measure.by_algorithm() && count > 0).then(|| {
            format!(
                "At {count} of {} points the usual algorithm was taken: the looks for the fastest had used \
                 up their share of the time budget.",
                singles.len()
            )
        })
    }
}
