//! Where the time of a message goes: components, models over them, and what follows.

pub mod assemble;
mod figure;
mod files;
mod findings;
pub(crate) mod measured;
mod measured_text;
mod schema;
mod table;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};

use crate::kind::{Among, File, Shown, Verdict};

pub use schema::{
    Arrivals, BarFigure, Breakdown, ComponentTime, Divided, Inserted, Measured, ModelRounds,
    ModelTime, PartTime, StackedBar, Within,
};

impl Shown for Breakdown {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let named = |what: &str, name: &str| format!("{}, {what} {name}", self.name);
        let components = self.components.iter();
        let times = components.map(|one| (named("component", &one.name), &one.time));
        let models = self.models.iter().flat_map(|model| {
            let error = model.error.as_ref().map(|error| (named("error of", &model.name), error));
            [(named("model", &model.name), &model.modelled)].into_iter().chain(error)
        });
        times.chain(models).collect()
    }

    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        text::page(self, layout)
    }

    fn figures(&self, _: &Among<'_>) -> Vec<Figure> {
        figure::arrivals(self).into_iter().collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        files::files(self, among)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// A model that may be further than 5 % from what was observed is off.
    fn verdict(&self) -> Verdict {
        let off = |model: &ModelTime| !matches!(model.within, None | Some(Within::Yes));
        let named = |model: &ModelTime| format!("breakdown of {}: {}", self.name, model.name);
        Verdict::doubtful(self.models.iter().filter(|model| off(model)).map(named))
    }
}

#[cfg(test)]
pub(crate) mod tests;
