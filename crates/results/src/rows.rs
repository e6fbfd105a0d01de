//! Renders rows in full: a table of all, and curves.

mod figure;

use bandgap_model::growth::Law;
use bandgap_record::{Form, Labels, Number, Place, Quantity, Row, Rows, Spread, Unit};
use bandgap_report::{Block, Cell, Datum, Head, Table};
use bandgap_units::Bytes;

use crate::hockney::Hockney;
use crate::limit::{LIMIT, beyond};
use crate::shown::{Context, Shown, by_key};
use figure::figures;
pub use figure::heats;

/// The column of ratios to a floor.
pub const OVER_FLOOR: &str = "over_floor";
/// The axes that curves are drawn along, by preference; axes of sizes first.
const ALONG: [&str; 5] = ["bytes", "elements", "dimension", "ranks", "requesters"];
/// Number of axes of sizes among them.
const SIZES: usize = 3;
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
        "free" => "T − o".to_owned(),
        "bandwidth" => "n/t".to_owned(),
        "p999" => "p99.9".to_owned(),
        name => name.replace('_', " "),
    }
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

/// Whether this is the bandwidth of many ranks, which move more than n bytes, unless it is an operation that is done on n.
fn is_of_all(rows: &Rows, name: &str) -> bool {
    let is_on_all = rows.column("bus_bandwidth").is_some();
    name == "bandwidth" && rows.axis("ranks").is_some() && !is_on_all
}

/// The head of a column of quantities: times carry their own units, since they span many.
pub(crate) fn head(rows: &Rows, name: &str, unit: Unit) -> Head {
    let name = if is_of_all(rows, name) { name.to_owned() } else { spelled(name) };
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
#[derive(Clone)]
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

    /// The points of a quantity.
    pub(crate) fn points(&self, rows: &Rows, column: &str, context: &Context<'_>) -> Vec<Datum> {
        let datum = |&(at, row): &(u64, &Row)| {
            let quantity = rows.cell(row, column)?;
            let precision = context.precision(&format!("{}/{column}", rows.row_id(row)), quantity);
            let (y, interval) = (quantity.value.0, quantity.interval());
            Some(Datum { x: at as f64, y, interval, precision })
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

/// The laws of growth of a series, the row of the curve that has these places, its law, and f of that in words.
pub(crate) fn growth<'a>(
    rows: &Rows,
    mut all: impl Iterator<Item = &'a Rows>,
    has: impl Fn(&str, &Place) -> bool,
) -> Option<(&'a Rows, &'a Row, Law, &'static str)> {
    let is_its = |of: &&Rows| {
        of.form == Form::Law && (&of.name, &of.transport) == (&rows.name, &rows.transport)
    };
    let laws = all.find(is_its)?;
    let is_there = |row: &&Row| laws.axes.iter().zip(&row.place).all(|(axis, at)| has(axis, at));
    let row = laws.rows.iter().find(is_there)?;
    let said = laws.label(row, "law")?.to_string();
    let law = Law::ALL.into_iter().find(|law| law.to_string() == said)?;
    let words = match law {
        Law::Logarithmic => "⌈log₂ P⌉",
        Law::Quadratic => "N²",
        Law::Linear if rows.axis("dimension").is_some() => "N",
        Law::Linear => "P",
    };
    Some((laws, row, law, words))
}

/// The kind of rows that are of a trace: the times between its packets, each with its spread, and what follows from
/// them.
pub const PCIE_TRACE: &str = "pcie_trace";

/// The rows derived from a trace, if any.
pub(crate) fn derived(rows: &Rows, context: &Context<'_>) -> Option<Block> {
    let some: Vec<&Row> = rows.rows.iter().filter(|row| row.spread.is_none()).collect();
    (!some.is_empty()).then(|| Block::Table(table(rows, &some, context)))
}

/// At most `most` evenly spread items, including the first and the last.
pub(crate) fn evenly<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    let most = most.min(all.len());
    (0..most).map(move |at| &all[at * (all.len() - 1) / (most - 1).max(1)])
}

#[cfg(test)]
pub(crate) mod tests;
