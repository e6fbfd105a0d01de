//! A fit of t(n) = t0 + n/r∞ to a series, in one or more segments.

pub mod assemble;
mod curves;
mod schema;
mod text;

use bandgap_model::hockney::Weighting;
use bandgap_record::Quantity;
use bandgap_report::Layout;

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::Which;

pub use schema::{Breakpoint, Hockney, Residuals, Segment, SegmentLine};
pub(crate) use text::{breakpoints, weighting};

impl Shown for Hockney {
    // The series draws the lines through its points.
    nothing! { figures, files }

    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let fit = format!("{}, {} fit", text::subject(self), weighting(self));
        let mut quantities = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            let name = |symbol| format!("{fit}, segment {}: {symbol}", at + 1);
            quantities.extend(segment.found().map(|(symbol, found)| (name(symbol), found)));
        }
        quantities
    }

    /// Both weightings side by side; of a series with several curves, one table of all.
    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        if self.which != Which::default() {
            let of_series = |fit: &Hockney| {
                (&fit.name, &fit.transport) == (&self.name, &self.transport)
                    && fit.which != Which::default()
            };
            let all = among.led_by(self, of_series).unwrap_or_default();
            let told: Vec<&Hockney> =
                all.iter().copied().filter(|fit| fit.weighting == Weighting::Relative).collect();
            let curves = if told.is_empty() { all } else { told };
            return if curves.is_empty() {
                String::new()
            } else {
                curves::page(&curves, layout) + "\n"
            };
        }
        let beside = among.led_by(self, |fit| self.is_beside(fit));
        beside.map(|fits| text::page(&fits, layout) + "\n").unwrap_or_default()
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// A parameter that the data do not support is missing with a finding.
    fn verdict(&self) -> Verdict {
        Verdict::on(self.quantities())
    }
}

#[cfg(test)]
pub(crate) mod tests;
