//! Start-up, per-byte and per-hop times as a page of text.

use bandgap_report::table::{both, estimated, plain};
use bandgap_report::{Layout, Listing};
use bandgap_units::{Bytes, Fraction};

use super::schema::{Hops, HopsSegment, rms};
use crate::kind::Shown;
use crate::measured::{listed, sentences};

/// What a table says in place of a parameter that the data do not support.
const MISSING: &str = "not found";

/// A residual below this share of the time is the arithmetic's, not the fit's.
const EXACT: f64 = 1e-9;

/// The parameters of each segment, and the findings.
pub(super) fn page(hops: &Hops, layout: &Layout) -> String {
    let distances: Vec<String> =
        hops.distances.iter().map(|hops| plain(f64::from(*hops))).collect();
    let mut text = layout.paragraph(&format!(
        "{}, {} hops: t(n, k) = t_startup + n·t_byte + (k − 1)·h, least relative squares, {} \
         interval below each",
        hops.subject(),
        listed(&distances),
        layout.confidence,
    ));
    let cell = |at: usize| {
        move |segment: &HopsSegment| segment.parameters()[at].1.map_or(MISSING.to_owned(), both)
    };
    let found = || hops.segments.iter().flat_map(HopsSegment::found);
    text += "\n";
    text += &Listing::new(&hops.segments, layout)
        .text("segment", |segment| {
            format!("{} to {}", Bytes(segment.from_bytes), Bytes(segment.to_bytes))
        })
        .number("points", |segment| segment.points.to_string())
        .number("t_startup", cell(0))
        .number("t_byte", cell(1))
        .number("h, each further hop", cell(2))
        .number("rms residual", |segment| match rms(segment) {
            None => String::new(),
            Some(share) => Fraction(if share.0 < EXACT { 0.0 } else { share.0 }).to_string(),
        })
        .sparing(&["points", "rms residual"])
        .noting(found().map(|(_, quantity)| quantity))
        .finish();
    text += &estimated(layout, found());
    text + &sentences(hops.findings(), layout)
}
