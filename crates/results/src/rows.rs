//! Renders rows in full: a table of all, and curves.

use bandgap_record::{Column, Form, Labels, Number, Place, Quantity, Row, Rows, Spread, Unit};
use bandgap_report::{
    Axis, Block, Cell, Datum, Dimension, Figure, Head, Heat, Reference, Scale, Series, Table,
};
use bandgap_units::Bytes;

use crate::hockney::Hockney;
use crate::limit::{LIMIT, beyond};
use crate::shown::{Context, Shown, by_key};

/// The column of ratios to a floor.
pub const OVER_FLOOR: &str = "over_floor";
/// The axes that curves are drawn along, by preference; axes of sizes first.
const ALONG: [&str; 5] = ["bytes", "elements", "dimension", "ranks", "requesters"];
/// Number of axes of sizes among them.
const SIZES: usize = 3;
/// The columns that are drawn.
const DRAWN: [&str; 7] =
    ["time", "bandwidth", "bus_bandwidth", "send_overhead", "gap", "slowdown", "hidden"];
/// A column of a distribution: its name, what it is of it, and how many operations it needs.
pub type Single = (&'static str, fn(&Spread) -> Number, u64);
/// Columns of the times of single operations. The screen leaves them out.
pub const SINGLES: [Single; 5] = [
    ("min", |of| of.min, 1),
    ("p50", |of| of.median, 1),
    ("p99", |of| of.p99, 100),
    ("p999", |of| of.p999, 1000),
    ("max", |of| of.max, 1),
];
/// The most curves in a figure.
const MOST_CURVES: usize = 12;
/// Points of a fitted line.
const STEPS: i32 = 24;

impl Shown for Rows {
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        self.quantities()
    }

    fn is_derived(&self) -> bool {
        matches!(self.form, Form::Law | Form::Ranges { .. }) || self.kind == LIMIT
    }

    fn floors(&self) -> Vec<(String, &Quantity, &Quantity)> {
        let of_row = |row| {
            let id = format!("floor/{}/{}", self.label(row, "floor")?, self.id());
            Some((id, self.cell(row, "time")?, self.cell(row, OVER_FLOOR)?))
        };
        self.rows.iter().filter_map(of_row).collect()
    }

    fn words(&self) -> Vec<[String; 3]> {
        let Form::Ranges { of, .. } = &self.form else { return Vec::new() };
        let series = format!("series/{}/{}", self.name, self.transport);
        let word = |row| Some([self.row_id(row), self.label(row, of)?.to_string(), series.clone()]);
        self.rows.iter().filter_map(word).collect()
    }

    /// All rows, then a figure for each column that is drawn.
    fn detail(&self, context: &Context<'_>) -> Vec<Block> {
        let all: Vec<&Row> = self.rows.iter().collect();
        let labels: Vec<String> =
            self.labels.iter().map(|(name, of)| format!("{name} {of}")).collect();
        let mut text = title(self);
        if !labels.is_empty() {
            text += &format!(" ({})", labels.join(", "));
        }
        let mut blocks = vec![Block::section(self.id(), text)];
        blocks.push(Block::Table(table(self, &all, context)));
        blocks.extend(figures(self, context).into_iter().map(Block::Figure));
        if self.form == Form::Pairs {
            blocks.extend(heats(self, &title(self)).into_iter().map(Block::Heat));
        }
        blocks
    }

    fn negative(&self) -> Vec<String> {
        beyond(self)
    }
}

/// The name and transport of rows, and their kind unless they are a series.
fn title(rows: &Rows) -> String {
    let kind = if rows.kind == "series" { String::new() } else { format!(", {}", rows.kind) };
    let over = match rows.transport.as_str() {
        "" => String::new(),
        transport => format!(" over {transport}"),
    };
    format!("{}{over}{kind}", rows.name)
}

/// A name as shown to readers.
pub(crate) fn spelled(name: &str) -> String {
    match name {
        "bytes" => "n".to_owned(),
        "dimension" => "N".to_owned(),
        "time" => "t".to_owned(),
        "bandwidth" => "n/t".to_owned(),
        "p999" => "p99.9".to_owned(),
        name => name.replace('_', " "),
    }
}

/// What an axis shows, with its symbol.
fn in_words(name: &str) -> String {
    let words = match name {
        "bytes" => "message size",
        "dimension" => "dimension",
        "ranks" => return "ranks, P".to_owned(),
        "send_overhead" => return "send overhead, o(n)".to_owned(),
        "gap" => return "gap, g(n)".to_owned(),
        "time" => "time",
        "bandwidth" => "bandwidth",
        _ => return spelled(name),
    };
    format!("{words}, {}", spelled(name))
}

/// A place on an axis in words.
pub(crate) fn worded(axis: &str, place: &Place) -> String {
    match (axis, place) {
        ("bytes", Place::Number(bytes)) => Bytes(*bytes).to_string(),
        ("load", Place::Number(0)) => "idle".to_owned(),
        ("load", Place::Number(percent)) => format!("{percent} %"),
        _ => place.to_string(),
    }
}

/// The head of a column of quantities: times carry their own units, since they span many.
pub(crate) fn head(rows: &Rows, name: &str, unit: Unit) -> Head {
    // Many ranks move more than n bytes, unless it is an operation that is done on n.
    let is_on_all = rows.column("bus_bandwidth").is_some();
    let is_of_all = name == "bandwidth" && rows.axis("ranks").is_some() && !is_on_all;
    let name = if is_of_all { name.to_owned() } else { spelled(name) };
    if unit == Unit::Second { Head::new(name) } else { Head::shared(name) }
}

/// A place as a cell: numbers to the right.
pub(crate) fn place_cell(axis: &str, place: &Place) -> Cell {
    match place {
        Place::Number(_) => Cell::Number(worded(axis, place)),
        words => Cell::Text(words.to_string()),
    }
}

/// Some of the rows with all their columns.
pub(crate) fn table(rows: &Rows, some: &[&Row], context: &Context<'_>) -> Table {
    let mut names: Vec<&String> = some.iter().flat_map(|row| row.labels.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let axes = rows.axes.iter().map(|axis| Head::new(spelled(axis)));
    let quantities = rows.columns.iter().enumerate().map(|(at, column)| {
        let head = head(rows, &column.name, column.unit);
        if at == 0 || column.counts { head } else { head.optional() }
    });
    let labels = names.iter().map(|name| Head::new(spelled(name)).optional());
    Table::new(axes.chain(quantities).chain(labels)).with(some.iter().map(|row| {
        let places = rows.axes.iter().zip(&row.place).map(|(axis, at)| place_cell(axis, at));
        let values = rows.columns.iter().map(|column| cell(rows, row, &column.name, context));
        let label = |name: &&String| row.labels.get(*name).map(ToString::to_string).into();
        places.chain(values).chain(names.iter().map(label))
    }))
}

/// A quantity of a row as a cell.
pub(crate) fn cell(rows: &Rows, row: &Row, column: &str, context: &Context<'_>) -> Cell {
    let id = || format!("{}/{column}", rows.row_id(row));
    rows.cell(row, column).map(|of| context.cell(&id(), of)).into()
}

/// Rows that differ in their place on one axis alone.
pub(crate) struct Curve<'a> {
    /// The places on the other axes.
    pub(crate) which: Vec<(&'a str, &'a Place)>,
    /// The rows, with their places on that axis, ascending.
    pub(crate) rows: Vec<(u64, &'a Row)>,
}

impl Curve<'_> {
    /// Its name in a legend or a head.
    pub(crate) fn name(&self) -> String {
        let words = self.which.iter().map(|(axis, place)| match *axis {
            "variant" | "transport" => place.to_string(),
            axis => format!("{} {}", spelled(axis), worded(axis, place)),
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// The points of a quantity, multiplied by `times`.
    pub(crate) fn points(
        &self,
        rows: &Rows,
        column: &str,
        times: f64,
        context: &Context<'_>,
    ) -> Vec<Datum> {
        let datum = |&(at, row): &(u64, &Row)| {
            let quantity = rows.cell(row, column)?;
            let interval = quantity.interval().map(|(low, high)| (low * times, high * times));
            let precision = context.precision(&format!("{}/{column}", rows.row_id(row)), quantity);
            Some(Datum { x: at as f64, y: quantity.value.0 * times, interval, precision })
        };
        self.rows.iter().filter_map(datum).collect()
    }
}

/// The axis along which rows are curves.
pub(crate) fn along(rows: &Rows) -> Option<&'static str> {
    let several = |axis: &&&str| {
        let at = |row: &Row| rows.place(row, axis).cloned();
        let first = rows.rows.first().and_then(at);
        rows.axis(axis).is_some() && rows.rows.iter().any(|row| at(row) != first)
    };
    let there = |axis: &&&str| rows.axis(axis).is_some();
    ALONG.iter().find(several).or_else(|| ALONG[..SIZES].iter().find(there)).copied()
}

/// The curves of rows along an axis, in the order of their first rows.
pub(crate) fn curves<'a>(rows: &'a Rows, axis: &str) -> Vec<Curve<'a>> {
    let all = by_key(rows.rows.iter().filter_map(|row| {
        let at = rows.place(row, axis).and_then(Place::number)?;
        let places = rows.axes.iter().zip(&row.place).filter(|(name, _)| *name != axis);
        Some((places.map(|(name, place)| (&**name, place)).collect::<Vec<_>>(), (at, row)))
    }));
    let curve = |(which, mut rows): (_, Vec<(u64, &'a Row)>)| {
        rows.sort_by_key(|(at, _)| *at);
        Curve { which, rows }
    };
    all.into_iter().map(curve).collect()
}

/// The fit of least relative errors for a curve over bytes.
pub(crate) fn fit<'a>(
    rows: &Rows,
    which: &[(&str, &Place)],
    context: &Context<'a>,
) -> Option<&'a Hockney> {
    let is_its = |labels: &Labels| {
        labels.iter().all(|(name, at)| which.iter().all(|(axis, of)| *axis != name || *of == at))
    };
    context.of::<Hockney>().find(|fit| {
        fit.is_of(&rows.name, &rows.transport) && fit.is_relative() && is_its(&fit.curve)
    })
}

/// A figure for each column that is drawn.
fn figures(rows: &Rows, context: &Context<'_>) -> Vec<Figure> {
    let along = along(rows);
    let figures = DRAWN.iter().filter_map(|name| figure(rows, name, along?, context));
    figures.filter(|figure| figure.series.iter().any(|of| of.points.len() > 1)).collect()
}

fn figure(rows: &Rows, column: &str, axis: &str, context: &Context<'_>) -> Option<Figure> {
    let Column { unit, meaning, .. } = &rows.columns[rows.column(column)?];
    let unit = *unit;
    let (y, factor) = match unit {
        Unit::Second => (Dimension::Time, 1e9),
        Unit::BytePerSecond => (Dimension::Rate, 1.0),
        _ => (Dimension::Count, 1.0),
    };
    let (x, scale) = match axis {
        "bytes" => (Dimension::Size, Scale::Log2),
        "requesters" => (Dimension::Count, Scale::Linear),
        _ => (Dimension::Count, Scale::Log2),
    };
    let mut series: Vec<Series> = Vec::new();
    let (mut lines, mut asymptotes): (Vec<Series>, Vec<(f64, f64)>) = Default::default();
    for curve in curves(rows, axis).iter().take(MOST_CURVES) {
        let points = curve.points(rows, column, factor, context);
        if points.is_empty() {
            continue;
        }
        let twin = Some(series.len());
        series.push(Series { name: curve.name(), points, twin: None });
        let fit = fit(rows, &curve.which, context).filter(|_| axis == "bytes");
        asymptotes.extend(fit.filter(|_| column == "bandwidth").and_then(asymptote));
        let points = fit.map_or_else(Vec::new, |fit| line(fit, column, factor));
        if !points.is_empty() {
            lines.push(Series { name: String::new(), points, twin });
        }
    }
    series.extend(lines);
    let scale_y = if unit == Unit::One { Scale::Linear } else { Scale::Log10 };
    Some(Figure {
        title: format!("{}: {}", title(rows), spelled(column)),
        caption: meaning.clone(),
        x: Axis { label: in_words(axis), scale, dimension: x },
        y: Axis { label: in_words(column), scale: scale_y, dimension: y },
        references: levels(&asymptotes),
        series,
        ..Figure::default()
    })
}

/// r∞, in bytes per second of all messages, and n½ of the longest messages.
fn asymptote(fit: &Hockney) -> Option<(f64, f64)> {
    let last = fit.segments.last()?;
    let rate = last.r_inf.as_ref()?.value.0 * fit.messages as f64;
    Some((rate, last.n_half.as_ref()?.value.0))
}

/// The level of r∞, and half of it as far as n½, where there is one curve.
///
/// *Source*: Hockney and Berry (editors), "PARKBENCH Report" (1994), low-level benchmarks.
fn levels(asymptotes: &[(f64, f64)]) -> Vec<Reference> {
    let [(rate, half)] = *asymptotes else { return Vec::new() };
    let known = rate.is_finite() && half.is_finite() && half >= 1.0;
    let to_half = Reference { to: half, ..Reference::across("n½", rate / 2.0) };
    if known { vec![Reference::across("r∞", rate), to_half] } else { Vec::new() }
}

/// The fitted lines of times, or of bandwidths, with a gap between segments.
fn line(fit: &Hockney, column: &str, factor: f64) -> Vec<Datum> {
    let mut points = Vec::new();
    for segment in &fit.segments {
        let (from, to) = (segment.from_bytes.max(1) as f64, segment.to_bytes.max(1) as f64);
        for step in 0..=STEPS {
            let bytes = from * (to / from).powf(f64::from(step) / f64::from(STEPS));
            let Some(time) = segment.time(bytes).filter(|time| *time > 0.0) else { continue };
            match column {
                "time" => points.push(Datum::exact(bytes, time * factor)),
                "bandwidth" => points.push(Datum::exact(bytes, fit.messages as f64 * bytes / time)),
                _ => {}
            }
        }
        if let Some(last) = points.last().copied() {
            points.push(Datum::gap(last.x));
        }
    }
    points
}

/// The kind of rows that are of a trace: the times between its packets, each with its spread, and what follows from
/// them.
pub const PCIE_TRACE: &str = "pcie_trace";

/// The rows derived from a trace, if any.
pub(crate) fn derived(rows: &Rows, context: &Context<'_>) -> Option<Block> {
    let some: Vec<&Row> = rows.rows.iter().filter(|row| row.spread.is_none()).collect();
    (!some.is_empty()).then(|| Block::Table(table(rows, &some, context)))
}

/// A heat map of each column.
pub fn heats(rows: &Rows, title: &str) -> Vec<Heat> {
    let names = names(rows);
    let map = |at: usize| Heat {
        title: format!("{title}: {}", rows.columns[at].name),
        names: names.clone(),
        unit: rows.columns[at].unit,
        cells: rows
            .rows
            .iter()
            .filter_map(|row| Some((ends(rows, row)?, row.cells[at].as_ref()?.value.0)))
            .filter(|(_, value)| *value > 0.0)
            .collect(),
    };
    (0..rows.columns.len()).map(map).collect()
}

fn ends(rows: &Rows, row: &Row) -> Option<[usize; 2]> {
    let at = |axis| rows.place(row, axis).and_then(Place::number).map(|rank| rank as usize);
    Some([at("from")?, at("to")?])
}

/// The names of the ranks, with their hosts if known.
fn names(rows: &Rows) -> Vec<String> {
    let mut names = Vec::new();
    for row in &rows.rows {
        let Some(ends) = ends(rows, row) else { continue };
        let hosts = rows.label(row, "hosts").map_or(&[][..], Place::names);
        for (at, rank) in ends.into_iter().enumerate() {
            let host = hosts.get(at).map_or("", String::as_str);
            names.resize(names.len().max(rank + 1), String::new());
            names[rank] = format!("{rank} {host}").trim_end().to_owned();
        }
    }
    names
}

/// At most `most` evenly spread items, including the first and the last.
pub(crate) fn evenly<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    let most = most.min(all.len());
    (0..most).map(move |at| &all[at * (all.len() - 1) / (most - 1).max(1)])
}

#[cfg(test)]
pub(crate) mod tests;
