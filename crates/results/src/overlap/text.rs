//! An overlap as a page of text.

use bandgap_report::table::{estimated, interval};
use bandgap_report::{Layout, Listing};
use bandgap_units::Bytes;

use super::figure::by_size;
use super::schema::{Overlap, OverlapPoint};
use crate::measured::{arrow, launches, of_ranks, sentences};

/// What was measured, a row for each point, the map, and the findings.
pub(super) fn page(overlap: &Overlap, layout: &Layout) -> String {
    let mut text = header(overlap, layout) + "\n";
    text += &points(overlap, layout);
    let shares = overlap.points.iter().filter_map(|point| Some(("share", point.share.as_ref()?)));
    let gains = overlap.points.iter().map(|point| ("gain", &point.gain));
    text += &estimated(layout, gains.chain(shares));
    text += &map(overlap, layout);
    text + &sentences(&overlap.findings, layout)
}

fn header(overlap: &Overlap, layout: &Layout) -> String {
    let who = of_ranks(overlap.ranks, Some(overlap.pair), overlap.cores, arrow(layout));
    let what = format!(
        "overlap over {} (an exchange of n bytes and y ← a·x + y over v elements; hidden: the share of \
         the shorter part): {who}; {}",
        overlap.transport,
        launches(overlap.launches)
    );
    let (more, checked) = match overlap.checked {
        Some(of) => ("", layout.paragraph(&of.sentence())),
        None => ("; virtual time, in which no bytes move", String::new()),
    };
    layout.paragraph(&what) + &overlap.state.paragraphs(more, layout) + &checked
}

/// The columns that the others can be without, the least needed first.
const SPARED: [&str; 5] = ["overheads", "computation", "exchange", "gain interval", "gain"];

fn points(overlap: &Overlap, layout: &Layout) -> String {
    Listing::new(&overlap.points, layout)
        .number("size n", |point| Bytes(point.bytes).to_string())
        .number("v", |point| point.elements.to_string())
        .value("blocking", |point| Some(&point.blocking))
        .value("non-blocking", |point| Some(&point.non_blocking))
        .value("exchange", |point| Some(&point.exchange))
        .value("computation", |point| Some(&point.computation))
        .value("overheads", |point| Some(&point.overheads))
        .value("gain", |point| Some(&point.gain))
        .number("gain interval", |point| interval(&point.gain))
        .number("hidden", OverlapPoint::share_in_words)
        .number(&format!("{} interval", layout.confidence), OverlapPoint::share_range)
        .sparing(&SPARED)
        .finish()
}

/// The hidden share by size and length.
fn map(overlap: &Overlap, layout: &Layout) -> String {
    let mut lengths: Vec<u64> = overlap.points.iter().map(|point| point.elements).collect();
    lengths.retain(|elements| *elements > 0);
    lengths.sort_unstable();
    lengths.dedup();
    if lengths.is_empty() {
        return String::new();
    }
    let rows: Vec<(String, &[OverlapPoint])> = by_size(overlap).collect();
    let mut listing =
        Listing::new(&rows, layout).number("hidden: n \\ v", |(size, _)| size.clone());
    for elements in lengths {
        let cell = move |(_, points): &(String, &[OverlapPoint])| {
            let at = points.iter().find(|point| point.elements == elements);
            at.map(OverlapPoint::share_in_words).unwrap_or_default()
        };
        listing = listing.number(&elements.to_string(), cell);
    }
    format!("\n{}", listing.finish())
}
