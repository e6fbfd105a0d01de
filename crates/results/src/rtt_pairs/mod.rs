//! Round trips between pairs of ranks (LogP paper, table 3).

pub mod assemble;

use std::collections::BTreeSet;

use bandgap_record::Quantity;
use bandgap_report::table::estimated;
use bandgap_report::{Layout, Listing};
use bandgap_units::{Ns, significant};
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::{LostLaunch, sentences};

/// The round trip of a single request and reply, for every pair measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RttPairs {
    /// The transport as the command line names it.
    pub transport: String,
    /// Launches that gave it nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// The shortest round trip.
    pub minimum: Quantity,
    /// The longest round trip.
    pub maximum: Quantity,
    /// What a reader should know, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// One pair of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The rank that asks, and takes the times.
    pub requester: u32,
    /// The rank that answers.
    pub replier: u32,
    /// The distance class between them, where it is known.
    pub distance: Option<String>,
    /// Time from request to reply.
    pub rtt: Quantity,
}

impl RttPairs {
    /// The pairs whose intervals overlap that of `end`, the shortest or the longest. One without an interval is
    /// never told apart.
    fn not_told_from(&self, end: &Quantity) -> Vec<&Pair> {
        let ends = |of: &Quantity| of.interval().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let (low, high) = ends(end);
        let overlaps = |pair: &&Pair| {
            let (from, to) = ends(&pair.rtt);
            from <= high && to >= low
        };
        self.pairs.iter().filter(overlaps).collect()
    }
}

/// More pairs than this that are not told apart are counted, and not named.
const MOST_NAMED: usize = 3;

/// More ranks than this do not fit beside each other.
const MOST_RANKS: usize = 16;

impl Shown for RttPairs {
    nothing! { figures, files }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let name = |pair: &Pair| {
            let Pair { requester, replier, .. } = pair;
            format!("round trip from rank {requester} to rank {replier} over {}", self.transport)
        };
        self.pairs.iter().map(|pair| (name(pair), &pair.rtt)).collect()
    }

    /// The shortest and the longest round trip with the pairs that may have it, and every one of them where the ranks are few.
    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let ends = [("shortest", &self.minimum), ("longest", &self.maximum)];
        let between = |end: &(&str, &Quantity)| in_words(&self.not_told_from(end.1));
        let rows = Listing::new(&ends, layout)
            .text("round trip", |end| end.0.to_owned())
            .quantity("value", |end| Some(end.1))
            .text("between", between);
        let mut text = layout.paragraph(&format!(
            "Round trip of a single request and reply over {}, {} pair{}:",
            self.transport,
            self.pairs.len(),
            if self.pairs.len() == 1 { "" } else { "s" }
        ));
        text += &rows.finish();
        text += &estimated(layout, ends);
        let ranks: BTreeSet<u32> =
            self.pairs.iter().flat_map(|pair| [pair.requester, pair.replier]).collect();
        if (3..=MOST_RANKS).contains(&ranks.len()) {
            text += "\n";
            text += &matrix(&self.pairs, &ranks, &self.maximum, layout);
        }
        text + &sentences(&self.findings, layout)
    }

    fn verdict(&self) -> Verdict {
        Verdict::on(self.quantities())
    }
}

/// The pair, or those of which it is one.
fn in_words(pairs: &[&Pair]) -> String {
    match pairs {
        [one] => names(one),
        several if several.len() <= MOST_NAMED => {
            let all: Vec<String> = several.iter().map(|pair| names(pair)).collect();
            format!("undecided between {}", all.join(", "))
        }
        many => format!("one of {} pairs whose intervals overlap", many.len()),
    }
}

fn names(pair: &Pair) -> String {
    let distance = pair.distance.as_ref().map(|distance| format!(" ({distance})"));
    format!("ranks {} and {}{}", pair.requester, pair.replier, distance.unwrap_or_default())
}

/// All round trips in one unit, requesters down and repliers across.
fn matrix(pairs: &[Pair], ranks: &BTreeSet<u32>, longest: &Quantity, layout: &Layout) -> String {
    let unit = Ns::from_secs(longest.value.0).unit();
    let corner = format!("RTT ({})", unit.symbol());
    let cell = |from: u32, to: u32| {
        let pair = pairs.iter().find(|pair| (pair.requester, pair.replier) == (from, to));
        let rtt = pair.map(|pair| significant(unit.count(Ns::from_secs(pair.rtt.value.0).0), 3));
        rtt.unwrap_or_default()
    };
    let rows = Listing::new(ranks, layout).text(&corner, u32::to_string);
    let rows =
        ranks.iter().fold(rows, |rows, to| rows.number(&to.to_string(), |from| cell(*from, *to)));
    layout.paragraph("Requesters down, repliers across; the same estimator and precision:")
        + &rows.finish()
}

#[cfg(test)]
pub(crate) mod tests;
