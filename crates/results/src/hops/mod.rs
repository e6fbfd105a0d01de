//! A fit of t(n, k) = t_startup + n·t_byte + (k − 1)·h to a series that was measured over distances.

pub mod assemble;
mod figure;
mod files;
mod schema;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};

use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::{over, with_plots};
use crate::series::Series;

pub use schema::{Hops, HopsPlane, HopsSegment};

impl Hops {
    /// The series that is fitted and its transport.
    fn subject(&self) -> String {
        over(&self.name, &self.transport)
    }

    /// The series that is fitted, if it is among them.
    fn series<'a>(&self, among: &Among<'a>) -> Option<&'a Series> {
        among
            .of::<Series>()
            .find(|series| (&series.name, &series.transport) == (&self.name, &self.transport))
    }
}

impl Shown for Hops {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let mut quantities = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            let of = format!("{} over hops, segment {}", self.subject(), at + 1);
            let named = segment.found().map(|(symbol, found)| (format!("{of}: {symbol}"), found));
            quantities.extend(named);
        }
        quantities
    }

    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        // The points are in the plot of their series.
        let figures = match self.series(among) {
            Some(_) => Vec::new(),
            None => self.figures(among),
        };
        with_plots(text::page(self, layout), &figures, layout)
    }

    /// Time against message size, a curve for each distance.
    fn figures(&self, among: &Among<'_>) -> Vec<Figure> {
        figure::figure(self, self.series(among)).into_iter().collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        files::files(self, &self.figures(among), among)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// What the data do not support is missing with a finding.
    fn verdict(&self) -> Verdict {
        Verdict::on(self.quantities())
    }
}

#[cfg(test)]
pub(crate) mod tests;
