//! What a change of components would bring: before and after, a ranking, and speed-ups over reductions.

pub mod assemble;
mod figure;
mod files;
mod schema;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};

use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::with_plots;

pub use schema::{
    ChangeMade, ModelChange, RankedComponent, Ranking, SpeedUpCurve, SpeedUpPoint, SpeedUps, WhatIf,
};

impl Shown for WhatIf {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let named = |what: &str, name: &str| format!("{}, {what} {name}", self.name);
        let changed = self.models.iter().flat_map(|model| {
            let name = &model.name;
            [(named("changed", name), &model.after), (named("speed-up of", name), &model.speedup)]
        });
        changed.collect()
    }

    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        with_plots(text::page(self, layout), &self.figures(among), layout)
    }

    /// Speed-up against reduction.
    fn figures(&self, _: &Among<'_>) -> Vec<Figure> {
        self.curves.iter().map(|curves| figure::figure(self, curves)).collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        files::files(self, &self.figures(among), among)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// What would be is neither right nor wrong.
    fn verdict(&self) -> Verdict {
        Verdict::Good
    }
}

#[cfg(test)]
pub(crate) mod tests;
