//! Round trips between pairs of ranks (LogP paper, table 3).

use std::collections::BTreeSet;

use bandgap_record::{Pair, Quantity, RttPairs};
use bandgap_units::{Ns, significant};
use comfy_table::Cell;

use crate::Layout;
use crate::table::{estimated, finish, footnote, interval, table, value};

/// More ranks than this do not fit beside each other.
const MOST_RANKS: usize = 16;

/// The shortest and the longest round trip, and every one of them where the ranks are few.
pub fn rtt_pairs(pairs: &RttPairs, layout: &Layout) -> String {
    let confidence = format!("{} interval", layout.confidence);
    let headings = ["round trip", "value", &confidence, "between"];
    let mut rows = table(layout, headings, &[1, 2]);
    for (name, quantity) in [("shortest", &pairs.minimum), ("longest", &pairs.maximum)] {
        let between = pairs.pairs.iter().find(|pair| pair.rtt.value == quantity.value);
        rows.add_row([
            name.to_owned(),
            value(quantity),
            interval(quantity),
            between.map(names).unwrap_or_default(),
        ]);
    }
    let mut text = layout.paragraph(&format!(
        "Round trip of a single request and reply over {}, {} pairs:",
        pairs.transport,
        pairs.pairs.len()
    ));
    text += &finish(&rows);
    text += &footnote(layout, [&pairs.minimum, &pairs.maximum]);
    text += &estimated(layout, [("shortest", &pairs.minimum), ("longest", &pairs.maximum)]);
    let ranks: BTreeSet<u32> =
        pairs.pairs.iter().flat_map(|pair| [pair.requester, pair.replier]).collect();
    if (3..=MOST_RANKS).contains(&ranks.len()) {
        text += "\n";
        text += &matrix(&pairs.pairs, &ranks, &pairs.maximum, layout);
    }
    text
}

fn names(pair: &Pair) -> String {
    let distance = pair.distance.as_ref().map(|distance| format!(" ({distance})"));
    format!("ranks {} and {}{}", pair.requester, pair.replier, distance.unwrap_or_default())
}

/// All round trips in one unit, requesters down and repliers across.
fn matrix(pairs: &[Pair], ranks: &BTreeSet<u32>, longest: &Quantity, layout: &Layout) -> String {
    let unit = Ns::from_secs(longest.value.0).unit();
    let corner = format!("RTT ({})", unit.symbol());
    let headings: Vec<String> = ranks.iter().map(u32::to_string).collect();
    let headings = std::iter::once(corner.as_str()).chain(headings.iter().map(String::as_str));
    let mut rows = table(layout, headings, &(1..=ranks.len()).collect::<Vec<_>>());
    for from in ranks {
        let cell = |to: &u32| {
            let pair = pairs.iter().find(|pair| (pair.requester, pair.replier) == (*from, *to));
            let rtt = pair.map(|pair| significant(unit.count(Ns::from_secs(pair.rtt.value.0)), 3));
            Cell::new(rtt.unwrap_or_default())
        };
        rows.add_row(std::iter::once(Cell::new(from)).chain(ranks.iter().map(cell)));
    }
    layout.paragraph("Requesters down, repliers across; the same estimator and precision:")
        + &finish(&rows)
}
