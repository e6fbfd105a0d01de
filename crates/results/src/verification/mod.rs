//! What was verified of a measurement that is no series: a series says it of itself.

pub mod assemble;

use bandgap_report::Layout;
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::{Checked, sentences};

/// How many of the messages that a measurement received were compared with what had been sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// What was measured: `signature`, `surface` (of `bulk`), `pairs`, `contention` or `breakdown`.
    pub name: String,
    /// The transport as the command line names it.
    pub transport: String,
    /// How many there were.
    pub checked: Checked,
    /// Why some points had no checked batch, each reason once.
    pub findings: Vec<String>,
}

impl Shown for Verification {
    nothing! { quantities, figures, files }

    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let text = format!("{} over {}: {}", self.name, self.transport, self.checked.sentence());
        layout.paragraph(&text) + &sentences(self.findings(), layout)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// A batch that could not be checked says nothing against the times.
    fn verdict(&self) -> Verdict {
        Verdict::Good
    }
}

#[cfg(test)]
pub(crate) mod tests;
