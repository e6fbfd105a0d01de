//! What was measured when it did not suffice for a fit.

pub mod assemble;

use bandgap_campaign::Key;
use bandgap_campaign::data::Batch;
use bandgap_campaign::load::Load;
use bandgap_campaign::signature::{ISSUE, RTT};
use bandgap_report::Layout;
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::Checked;

/// Batches as they were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batches {
    /// The transport as the command line names it; empty for floors, which are the machine's.
    pub transport: String,
    /// Why there is no fit.
    pub reason: String,
    /// Unit of all times: `ns`.
    pub unit: String,
    /// How much of what was received was compared; absent where another result says it, of floors, and in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    /// The batches, each with the point that it is of.
    pub batches: Vec<OfPoint>,
}

/// A batch of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfPoint {
    /// The point.
    pub of: Key,
    /// The batch.
    pub batch: Batch,
}

impl Batches {
    /// Whether they are those of a signature of small messages.
    pub(crate) fn is_of_small_messages(&self) -> bool {
        self.batches.iter().any(|OfPoint { of, .. }| {
            [ISSUE, RTT].contains(&of.what()) && of.text("load") == Some(Load::Words.name())
        })
    }
}

impl Shown for Batches {
    // Nothing was estimated.
    nothing! { quantities, figures, files, findings }

    /// How many there are, and why no more was made of them.
    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let (count, transport, why) = (self.batches.len(), &self.transport, &self.reason);
        let batches = if count == 1 { "batch" } else { "batches" };
        let what = match &**transport {
            "" => "without a value".to_owned(),
            transport => format!("over {transport} without a fit"),
        };
        let checked = self.checked.map(|checked| format!(" {}", checked.sentence()));
        layout.paragraph(&format!(
            "{count} {batches} {what}: {why}. A longer --time-budget measures more; `bandgap doctor` says what disturbs this \
             machine.{}",
            checked.unwrap_or_default()
        ))
    }

    fn verdict(&self) -> Verdict {
        Verdict::Missing
    }
}

#[cfg(test)]
pub(crate) mod tests;
