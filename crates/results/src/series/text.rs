//! A series as a page of text.

use std::collections::BTreeSet;

use bandgap_kernels::in_series;
use bandgap_record::Quantity;
use bandgap_report::table::{ROOMY, estimated, interval, value};
use bandgap_report::{Layout, Listing};
use bandgap_units::significant;

use super::schema::{Series, SeriesPoint};
use crate::kind::Shown;
use crate::measured::{FloorRatio, apart, arrow, below_one, launches, of_ranks, sentences};

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
    let ranks = match series.has_several_ranks() {
        true => numbers(series),
        false => series.ranks.to_string(),
    };
    text += &format!(": {}", of_ranks(ranks, series.pair, series.cores, arrow(layout)));
    text += &apart(series.distance(), &series.transport);
    text += &format!("; {}", launches(series.launches));
    if let Some(buffers) = &series.buffers {
        text += &format!("; {buffers} buffers");
    }
    let (mut more, mut checked) = ("", String::new());
    if series.is_virtual() && series.has_bytes() {
        more = "; virtual time, in which no bytes move";
    } else if series.has_bytes() {
        checked = layout.paragraph(&match series.checked {
            Some(checked) => checked.sentence(),
            None => "How much was checked of what was received is not recorded.".to_owned(),
        });
    }
    let over_floor = |floor: &FloorRatio| layout.paragraph(&floor.sentence(&series.name));
    let floors: String = series.floor_ratios.iter().map(over_floor).collect();
    let below = below_one(&series.floor_ratios).map(|said| layout.paragraph(said));
    layout.paragraph(&text)
        + &series.state.paragraphs(more, layout)
        + &floors
        + &below.unwrap_or_default()
        + &checked
}

/// The numbers of ranks: `2, 4 and 8`.
fn numbers(series: &Series) -> String {
    let all: BTreeSet<u32> = series.points.iter().map(|point| point.ranks).collect();
    let all: Vec<String> = all.iter().map(u32::to_string).collect();
    match all.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => all.concat(),
    }
}

/// The columns that the others can be without, the least needed first.
const SPARED: [&str; 11] = [
    "p99",
    "samples",
    "min",
    "median",
    "g(n)",
    "t − o",
    "rate",
    "bandwidth",
    "Hockney",
    "LogGP",
    "distance",
];

/// With more points than this, sizes that are no powers of two, or of eight, are left to the files, where there
/// are several curves.
const MANY: usize = 100;

/// How many times what the model says a point took.
fn ratio(point: &SeriesPoint, modelled: Option<&Quantity>) -> String {
    let modelled = modelled.filter(|of| of.value.0 > 0.0);
    modelled.map(|of| significant(point.time.value.0 / of.value.0, 3)).unwrap_or_default()
}

/// A row for each point, with the columns that there is room for.
fn points(series: &Series, layout: &Layout) -> String {
    let any = |has: fn(&SeriesPoint) -> bool| series.points.iter().any(has);
    let roomy = layout.columns() >= ROOMY;
    let confidence = format!("{} interval", layout.confidence);
    let thinned = series.points.len() > MANY && series.has_several_curves();
    // Of very many, every third power of two is told.
    let step = if series.points.len() > 4 * MANY { 3 } else { 1 };
    let told = |point: &&SeriesPoint| {
        let size = point.size();
        let is_round = size == 0 || size.is_power_of_two() && size.ilog2().is_multiple_of(step);
        !thinned || is_round || point.dimension.is_some()
    };
    let sizes = if any(|point| point.dimension.is_some()) { "N × N" } else { "size n" };
    let rows = Listing::new(series.points.iter().filter(told), layout)
        .when(series.has_bytes(), |rows| rows.number(sizes, SeriesPoint::size_in_words))
        .when(series.has_several_ranks(), |rows| {
            rows.number("ranks", |point| point.ranks.to_string())
        })
        .when(series.has_several_pairs(), |rows| {
            rows.text("between", |point| {
                point.pair.map_or(String::new(), |[a, b]| format!("{a}, {b}"))
            })
            .when(any(|point| point.distance.is_some()), |rows| {
                rows.text("distance", |point| point.distance.clone().unwrap_or_default())
            })
            .when(any(|point| point.hops.is_some()), |rows| {
                rows.number("hops", |point| point.hops.map_or(String::new(), |n| n.to_string()))
            })
        })
        .when(any(|point| point.mesh.is_some()), |rows| {
            rows.text("mesh", |point| {
                point.mesh.map_or(String::new(), |[rows, columns]| format!("{rows} × {columns}"))
            })
        })
        .when(any(|point| point.way.is_some()), |rows| {
            rows.text("way", |point| point.way.clone().unwrap_or_default())
        })
        .when(any(|point| point.variant.is_some()), |rows| {
            rows.text("variant", |point| point.variant.clone().unwrap_or_default())
        })
        .value("time t", |point| Some(&point.time))
        .when(any(|point| point.time.interval().is_some()), |rows| {
            rows.number(&confidence, |point| interval(&point.time))
        })
        .known("Hockney", |point| point.modelled_hockney.as_ref())
        .when(any(|point| point.modelled_hockney.is_some()), |rows| {
            rows.number("t/Hockney", |point| ratio(point, point.modelled_hockney.as_ref()))
        })
        .known("LogGP", |point| point.modelled_loggp.as_ref())
        .when(any(|point| point.modelled_loggp.is_some()), |rows| {
            rows.number("t/LogGP", |point| ratio(point, point.modelled_loggp.as_ref()))
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
    let text = rows.sparing(&SPARED).finish();
    match series.points.iter().filter(|point| !told(point)).count() {
        0 => text,
        left => {
            let left = format!("{left} points of sizes between these are in series.csv only.");
            text + &layout.paragraph(&left)
        }
    }
}
