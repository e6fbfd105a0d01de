//! What a change of components would bring: before and after, a ranking, and speed-ups over reductions.

pub mod assemble;
mod curves;
mod figure;
mod files;
mod findings;
mod schema;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};

use crate::breakdown::Within;
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

    /// What would be is no better than the model that says it: one that may be further than 5 % from what was observed is
    /// off.
    fn verdict(&self) -> Verdict {
        let off = |model: &&ModelChange| !matches!(model.within, None | Some(Within::Yes));
        let named = |model: &ModelChange| format!("what if, of {}: {}", self.name, model.name);
        Verdict::doubtful(self.models.iter().filter(off).map(named))
    }
}

#[cfg(test)]
pub(crate) mod tests;
