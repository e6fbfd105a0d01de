//! One operation over sizes, ranks and distances: ping-pong, broadcast, barrier, store and others.

pub mod assemble;
mod derived;
mod expected;
mod fastest;
mod figure;
mod files;
mod fits;
mod growth;
pub(crate) mod loaded;
mod modelled;
mod ranks_figure;
mod sawtooth;
mod schema;
mod summary;
mod tabled;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout, plot};

use crate::hockney::Hockney;
use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::{TABLE, with_plots};

pub use derived::{Fastest, FoundBy, Look, LookedAt, RankGrowth, SizeGrowth};
pub use modelled::{MESSAGE_COSTS, MESSAGES};
pub use schema::{Series, SeriesPoint};
pub(crate) use summary::summary;
pub use tabled::tabled;

impl Shown for Series {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let mut quantities = Vec::new();
        for point in &self.points {
            let of = format!("{}{}", self.subject(), self.place(point));
            let found = point.quantities();
            quantities.extend(found.map(|(what, found)| (format!("{of}: {what}"), found)));
        }
        quantities
    }

    /// The points as a table, and its plots. The points of a table are the reader's own; its plot
    /// shows where the lines miss them.
    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        let figures = self.figures(among);
        if self.transport == TABLE {
            return figures.first().map(|figure| plot(figure, layout)).unwrap_or_default();
        }
        with_plots(text::page(self, layout), &figures, layout)
    }

    /// Its time, and its bandwidth where it has one, with the fits that are of it.
    fn figures(&self, among: &Among<'_>) -> Vec<Figure> {
        figure::figures(self, &among.of::<Hockney>().collect::<Vec<_>>())
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        files::files(self, &self.figures(among), among)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Doubtful where a time scatters more than was asked for.
    fn verdict(&self) -> Verdict {
        let scatters = |point: &&SeriesPoint| !point.converged && !point.clock_limited;
        let name = |point| format!("{}{}", self.subject(), self.place(point));
        Verdict::doubtful(self.points.iter().filter(scatters).map(name))
    }
}

#[cfg(test)]
pub(crate) mod tests;
