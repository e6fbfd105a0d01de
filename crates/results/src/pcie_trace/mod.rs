//! A PCIe analyser's trace: times between packets, and the hardware's components.

pub mod assemble;
pub mod components;
mod figure;
mod files;
mod schema;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};

use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::with_plots;

pub use schema::{DerivedTime, MissingTime, PcieTrace, TraceBin, TraceFile, TraceTime};

impl Shown for PcieTrace {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let named = |what: &str| format!("trace {}: {what}", self.name);
        let derived = self.derived.iter().map(|one| (named(&one.name), &one.time));
        let times = self.times.iter().flat_map(|one| {
            [(one.name.clone(), &one.mean), (format!("{}, median", one.name), &one.median)]
        });
        derived.chain(times.map(|(name, time)| (named(&name), time))).collect()
    }

    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        with_plots(text::page(self, layout), &self.figures(among), layout)
    }

    fn figures(&self, _: &Among<'_>) -> Vec<Figure> {
        figure::distribution(self).into_iter().collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        files::files(self, &self.figures(among), among)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// What follows counts.
    fn verdict(&self) -> Verdict {
        if self.derived.is_empty() {
            return Verdict::Missing;
        }
        let named = |one: &DerivedTime| format!("trace {}: {}", self.name, one.name);
        Verdict::on(self.derived.iter().map(|one| (named(one), &one.time)))
    }
}

#[cfg(test)]
pub(crate) mod tests;
