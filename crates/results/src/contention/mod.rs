//! The gap under contention for one replier (LogP paper, table 5).

pub mod assemble;

use bandgap_record::Quantity;
use bandgap_report::{Layout, Listing};
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::{LostLaunch, Pattern, sentences};

/// K requesters to one replier, for growing K.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contention {
    /// Always [`Pattern::FanIn`].
    pub pattern: Pattern,
    /// The transport as the command line names it.
    pub transport: String,
    /// Launches that gave it nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// One row per K.
    pub rows: Vec<ContentionRow>,
    /// What a reader should know, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// The gap that K requesters see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentionRow {
    /// K.
    pub requesters: u32,
    /// g_K: the gap at each requester.
    pub gap: Quantity,
    /// g_K / g_1; the model expects K where the replier is the bottleneck.
    pub ratio: Quantity,
}

impl Shown for Contention {
    nothing! { figures, files }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let name = |row: &ContentionRow| {
            format!("gap of {} requesters over {}", row.requesters, self.transport)
        };
        self.rows.iter().map(|row| (name(row), &row.gap)).collect()
    }

    /// A row for each number of requesters, with what the model expects beside what was found.
    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let requesters = |row: &ContentionRow| row.requesters.to_string();
        let rows = Listing::new(&self.rows, layout)
            .number("K", requesters)
            .quantity("gap g_K", |row| Some(&row.gap))
            .quantity("g_K / g_1", |row| Some(&row.ratio))
            .number("expected", requesters);
        layout.paragraph(&format!(
            "Contention over {}: K requesters to one replier. Where the replier is the bottleneck, \
             the gap of each grows K times:",
            self.transport
        )) + &rows.finish()
            + &sentences(&self.findings, layout)
    }

    fn verdict(&self) -> Verdict {
        Verdict::on(self.quantities())
    }
}

#[cfg(test)]
pub(crate) mod tests;
