//! A series as a page of text.

use bandgap_record::{Series, SeriesPoint};
use bandgap_units::{Bytes, Fraction};

use super::{Received, TABLE, meaning, participants, subject};
use crate::Layout;
use crate::table::{ROOMY, estimated, finish, footnote, interval, table, value};

/// A column: its heading and its cell.
type Column = (String, fn(&SeriesPoint) -> String);

/// What was measured, a row for each point, and the findings.
pub fn series(series: &Series, layout: &Layout) -> String {
    let mut text = header(series, layout) + "\n";
    let columns = fitting(columns(series, layout), series, layout);
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| heading.as_str()).collect();
    let distances = headings.iter().position(|heading| *heading == "distance");
    let numbers: Vec<usize> =
        (0..headings.len()).filter(|column| Some(*column) != distances).collect();
    let mut rows = table(layout, headings, &numbers);
    for point in &series.points {
        rows.add_row(columns.iter().map(|(_, cell)| cell(point)));
    }
    let times = || series.points.iter().map(|point| &point.time);
    text += &finish(&rows);
    text += &footnote(layout, times());
    text += &estimated(layout, times().map(|time| ("t", time)));
    if !series.findings.is_empty() {
        text += "\n";
        text += &layout.bullets(series.findings.iter().map(String::as_str));
    }
    text
}

fn header(series: &Series, layout: &Layout) -> String {
    let arrow = if layout.ascii { "->" } else { "→" };
    let mut text = subject(&series.name, &series.transport);
    if series.transport == TABLE {
        return layout.paragraph(&format!("{text}: {} times from a table", series.points.len()));
    }
    let meaning = meaning(&series.name);
    if !meaning.is_empty() {
        text += &format!(" ({meaning})");
    }
    text += &format!(": {}", participants(series, arrow));
    if let Some(distance) = one_distance(series) {
        text += &format!(" ({distance})");
    }
    text += &match series.launches {
        1 => "; 1 launch".to_owned(),
        launches => format!("; {launches} launches"),
    };
    let mut state = format!("State {}", series.state.label);
    if let Some(probe) = &series.state.probe {
        state += &format!(" (floor probe {})", value(probe));
    }
    state += &format!(", {} of the batches", Fraction(series.state.share.0));
    state += match Received::of(series) {
        Received::Nothing => "",
        Received::Virtual => "; virtual time, in which no bytes move",
        Received::Checked => "; every byte received was checked",
        Received::Unchecked => "; the bytes received were not checked",
    };
    layout.paragraph(&text) + &layout.paragraph(&state)
}

/// The distance class of all points, if it is one.
fn one_distance(series: &Series) -> Option<&str> {
    let first = series.points.first()?.distance.as_deref();
    series.points.iter().all(|point| point.distance.as_deref() == first).then_some(first)?
}

/// The columns that the others can be without, the least needed first: a number broken over two lines
/// is worse than one that is left to the run's files.
const SPARED: [&str; 6] = ["p99", "samples", "min", "median", "g(n)", "t − o"];

/// The columns that there is room for.
fn fitting(mut columns: Vec<Column>, series: &Series, layout: &Layout) -> Vec<Column> {
    let width = |(heading, cell): &Column| {
        let cells = series.points.iter().map(|point| cell(point).chars().count());
        // And the blanks between columns.
        cells.chain([heading.chars().count()]).max().unwrap_or(0) + 3
    };
    for spared in SPARED {
        if columns.iter().map(width).sum::<usize>() > layout.columns() {
            columns.retain(|(heading, _)| heading != spared);
        }
    }
    columns
}

fn columns(series: &Series, layout: &Layout) -> Vec<Column> {
    let any = |has: fn(&SeriesPoint) -> bool| series.points.iter().any(has);
    let mut columns: Vec<Column> = Vec::new();
    let mut column = |heading: &str, cell: fn(&SeriesPoint) -> String| {
        columns.push((heading.to_owned(), cell));
    };
    if any(|point| point.bytes > 0) {
        column("size n", |point| Bytes(point.bytes).to_string());
    }
    if series.points.iter().any(|point| point.ranks != series.ranks) {
        column("ranks", |point| point.ranks.to_string());
    }
    if one_distance(series).is_none() && any(|point| point.distance.is_some()) {
        column("distance", |point| point.distance.clone().unwrap_or_default());
    }
    column("time t", |point| value(&point.time));
    if any(|point| point.time.interval().is_some()) {
        column(&format!("{} interval", layout.confidence), |point| interval(&point.time));
    }
    if any(|point| point.bandwidth.is_some()) {
        column("bandwidth", |point| point.bandwidth.as_ref().map(value).unwrap_or_default());
    }
    if any(|point| point.rate.is_some()) {
        column("rate", |point| point.rate.as_ref().map(value).unwrap_or_default());
    }
    if any(|point| point.send_overhead.is_some()) {
        column("o(n)", |point| point.send_overhead.as_ref().map(value).unwrap_or_default());
    }
    let roomy = layout.columns() >= ROOMY;
    if roomy && any(|point| point.gap.is_some()) {
        column("g(n)", |point| point.gap.as_ref().map(value).unwrap_or_default());
    }
    if any(|point| point.overlap.is_some()) {
        column("t − o", |point| point.overlap.as_ref().map(value).unwrap_or_default());
    }
    if roomy {
        column("min", |point| point.summary.min.ns().to_string());
        column("median", |point| value(&point.summary.median));
        column("p99", |point| point.summary.p99.ns().to_string());
        column("samples", |point| point.summary.samples.to_string());
    }
    columns
}
