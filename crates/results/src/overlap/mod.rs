//! What of an exchange hides behind a computation (CoMet, section 3.3.7).

pub mod assemble;
mod figure;
mod files;
mod findings;
mod schema;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};

use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::with_plots;

pub use schema::{Overlap, OverlapBatches, OverlapPoint};

impl Shown for Overlap {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let mut quantities = Vec::new();
        for point in &self.points {
            let of = format!("overlap over {}, {}", self.transport, point.place());
            let found = point.quantities();
            quantities.extend(found.map(|(what, found)| (format!("{of}: {what}"), found)));
        }
        quantities
    }

    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        with_plots(text::page(self, layout), &self.figures(among), layout)
    }

    fn figures(&self, _: &Among<'_>) -> Vec<Figure> {
        figure::figures(self)
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        files::files(self, &self.figures(among), among)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Doubtful where a time scatters more than was asked for.
    fn verdict(&self) -> Verdict {
        let of =
            |point: &OverlapPoint| format!("overlap over {}, {}", self.transport, point.place());
        let named = |point| {
            let of = of(point);
            OverlapPoint::times(point).map(|(what, time)| (format!("{of}: {what}"), time))
        };
        Verdict::on(self.points.iter().flat_map(named))
    }
}

#[cfg(test)]
pub(crate) mod tests;
