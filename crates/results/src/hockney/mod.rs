//! A fit of t(n) = t0 + n/r∞ to a series, in one or more segments.

pub mod assemble;
mod schema;
mod text;

use bandgap_report::Layout;

use crate::kind::{Among, Shown};

pub use schema::{Breakpoint, Hockney, Residuals, Segment, SegmentLine};
pub(crate) use text::{breakpoints, weighting};

impl Shown for Hockney {
    /// Both weightings side by side.
    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        let beside = among.led_by(self, |fit| self.is_beside(fit));
        beside.map(|fits| text::page(&fits, layout) + "\n").unwrap_or_default()
    }

    /// A parameter that the data do not support is missing with a finding. That is about the model,
    /// and no doubt about what was measured.
    fn is_doubtful(&self) -> bool {
        false
    }
}

#[cfg(test)]
pub(crate) mod tests;
