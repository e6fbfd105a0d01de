//! A LogP signature: points (M, Δ), and the parameters read from them. Those of transfers of several
//! lengths n are shown together, as the surface over (M, Δ, n).

pub mod assemble;
pub mod components;
mod figure;
mod files;
mod parameter;
mod schema;
mod side_by_side;
mod surface;
mod surface_figure;
mod text;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};
use bandgap_units::Bytes;

use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::{over, with_plots};
use crate::series::Series;

pub use schema::{Arm, ArmLevel, Line, Logp, Operation, OtherState, Parameters, Point, Transition};
pub(crate) use side_by_side::summary;

/// The parameters that count in the verdict, and must be there.
const COUNTING: [&str; 4] = ["os", "or", "g", "RTT"];

impl Shown for Logp {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let of = self.subject();
        let name = |symbol| format!("{of}: {symbol}");
        let found = parameter::determined(&self.parameters);
        found.map(|(symbol, quantity)| (name(symbol), quantity)).collect()
    }

    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        let page = if !self.is_of_transfers() {
            text::page(self, layout)
        } else if let Some(surface) = self.surface(among) {
            let series = among.of::<Series>().find(|series| self.is_timed_by(series));
            surface::page(&surface, series, layout)
        } else {
            return String::new();
        };
        with_plots(page, &self.figures(among), layout)
    }

    /// The cost of messages over their number; of transfers, one figure of all lengths.
    fn figures(&self, among: &Among<'_>) -> Vec<Figure> {
        if !self.is_of_transfers() {
            return vec![figure::figure(self)];
        }
        self.surface(among).map(|surface| surface_figure::figure(&surface)).into_iter().collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        if self.is_of_transfers() {
            files::transfers(self, among)
        } else {
            files::small(self, &figure::figure(self), among)
        }
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Doubtful where a parameter is missing or a number scatters more than was asked for. Of a
    /// surface's many points some always scatter: its parameters count.
    fn verdict(&self) -> Verdict {
        let of = self.subject();
        let counts = parameter::PARAMETERS.iter().filter(|row| COUNTING.contains(&row.symbol));
        let doubtful = counts.filter_map(|row| match (row.of)(&self.parameters) {
            None => Some(format!("{of}: {} (not found)", row.symbol)),
            Some(found) => {
                (!found.convergence().is_enough()).then(|| format!("{of}: {}", row.symbol))
            }
        });
        // Of the many points of transfers some always scatter.
        let points = self.points.iter().filter(|_| !self.is_of_transfers());
        let scatters = points.filter(|point| !point.converged && !point.clock_limited);
        Verdict::doubtful(doubtful.chain(scatters.map(|point| format!("{of}: {}", point.place()))))
    }
}

impl Logp {
    /// `signature over tcp`, with the size of transfers.
    fn subject(&self) -> String {
        let size = self.bytes.map(|bytes| format!(", {}", Bytes(bytes))).unwrap_or_default();
        over(&self.name, &self.transport) + &size
    }

    /// The signatures of the same transfers of all lengths, if this one is the first of them.
    fn surface<'a>(&self, among: &Among<'a>) -> Option<Vec<&'a Logp>> {
        among.led_by(self, |other| {
            other.is_of_transfers()
                && (&other.name, &other.transport) == (&self.name, &self.transport)
        })
    }

    /// Whether `series` are the times of the transfers that this signature is of.
    fn is_timed_by(&self, series: &Series) -> bool {
        self.name == format!("{}_signature", series.name) && self.transport == series.transport
    }
}

/// The signatures of small messages.
pub(crate) fn small_messages<'a>(among: &Among<'a>) -> Vec<&'a Logp> {
    among.of::<Logp>().filter(|logp| !logp.is_of_transfers()).collect()
}

#[cfg(test)]
pub(crate) mod tests;
