//! A series as a page of text.

use bandgap_kernels::in_series;
use bandgap_report::table::{ROOMY, estimated, interval, value};
use bandgap_report::{Layout, Listing};
use bandgap_units::Bytes;

use super::schema::{Series, SeriesPoint};
use crate::kind::Shown;
use crate::measured::{arrow, launches, of_ranks, sentences};

/// What was measured, a row for each point, and the findings.
pub(super) fn page(series: &Series, layout: &Layout) -> String {
    let mut text = header(series, layout) + "\n";
    text += &points(series, layout);
    text += &estimated(layout, series.points.iter().map(|point| ("t", &point.time)));
    text + &sentences(series.findings(), layout)
}

fn header(series: &Series, layout: &Layout) -> String {
    let mut text = series.subject();
    // A file may name a series that this version does not know.
    if let Ok((_, known)) = in_series(&series.name) {
        text += &format!(" ({})", known.meaning);
    }
    let who = of_ranks(series.ranks, series.pair, series.cores, arrow(layout));
    text += if series.has_several_ranks() { ": up to " } else { ": " };
    text += &who;
    if let Some(distance) = series.distance() {
        text += &format!(" ({distance})");
    }
    text += &format!("; {}", launches(series.launches));
    let mut state = series.state.line();
    let mut checked = String::new();
    if series.is_virtual() && series.has_bytes() {
        state += "; virtual time, in which no bytes move";
    } else if series.has_bytes() {
        checked = layout.paragraph(&match series.checked {
            Some(checked) => checked.sentence(),
            None => "How much was checked of what was received is not recorded.".to_owned(),
        });
    }
    layout.paragraph(&text) + &layout.paragraph(&state) + &checked
}

/// The columns that the others can be without, the least needed first.
const SPARED: [&str; 6] = ["p99", "samples", "min", "median", "g(n)", "t − o"];

/// A row for each point, with the columns that there is room for.
fn points(series: &Series, layout: &Layout) -> String {
    let any = |has: fn(&SeriesPoint) -> bool| series.points.iter().any(has);
    let roomy = layout.columns() >= ROOMY;
    let confidence = format!("{} interval", layout.confidence);
    let rows = Listing::new(&series.points, layout)
        .when(series.has_bytes(), |rows| {
            rows.number("size n", |point| Bytes(point.bytes).to_string())
        })
        .when(series.has_several_ranks(), |rows| {
            rows.number("ranks", |point| point.ranks.to_string())
        })
        .value("time t", |point| Some(&point.time))
        .when(any(|point| point.time.interval().is_some()), |rows| {
            rows.number(&confidence, |point| interval(&point.time))
        })
        .known("bandwidth", |point| point.bandwidth.as_ref())
        .known("rate", |point| point.rate.as_ref())
        .known("o(n)", |point| point.send_overhead.as_ref())
        .when(roomy, |rows| rows.known("g(n)", |point| point.gap.as_ref()))
        .known("t − o", |point| point.overlap.as_ref())
        .when(roomy, |rows| {
            rows.number("min", |point| point.summary.min.ns().to_string())
                .number("median", |point| value(&point.summary.median))
                .number("p99", |point| point.summary.p99.ns().to_string())
                .number("samples", |point| point.summary.samples.to_string())
        });
    rows.sparing(&SPARED).finish()
}
