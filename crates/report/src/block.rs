//! What a result looks like, as data. Renderers make text, pictures and pages of it.

use std::collections::BTreeMap;

use bandgap_record::{Quantity, Unit};

use crate::{Bars, Figure, Precision};

/// A piece of what is shown of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph; of one line, unless it is longer than the line.
    Text(String),
    /// What is in doubt: a paragraph that begins with `!`.
    Doubt(String),
    /// An empty line.
    Gap,
    /// A table.
    Table(Table),
    /// Curves.
    Figure(Figure),
    /// Stacked bars; a terminal shows a table with [`Cell::Bar`] in their place.
    Bars(Bars),
    /// A heat map; a terminal shows a table in its place.
    Heat(Heat),
}

/// A quantity of all pairs of some things.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What is shown.
    pub title: String,
    /// The things.
    pub names: Vec<String>,
    /// The unit of the quantity.
    pub unit: Unit,
    /// The quantity of each pair that is known, above 0.
    pub cells: BTreeMap<[usize; 2], f64>,
}

impl Heat {
    /// The least and the greatest of its values; 1 where it has none.
    pub fn ends(&self) -> [f64; 2] {
        let of = |pick: fn(f64, f64) -> f64| self.cells.values().copied().reduce(pick);
        [of(f64::min), of(f64::max)].map(|end| end.unwrap_or(1.0))
    }

    /// Whether the greatest is the worst, as of times.
    pub(crate) fn less_is_better(&self) -> bool {
        self.unit == Unit::Second
    }
}

/// A table: a head, and rows of as many cells.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Head>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// What is in it, without the unit.
    pub text: String,
    /// Whether all its quantities are written in one unit, which stands in the head.
    pub shares_unit: bool,
    /// Whether it is left out where the line is too short for all.
    pub optional: bool,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Words, aligned to the left.
    Text(String),
    /// A number without interval, aligned to the right.
    Number(String),
    /// A value with its half-width.
    Value(Shown),
    /// A share as a bar.
    Bar(f64),
}

/// A quantity in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Value.
    pub value: f64,
    /// Ends of the interval.
    pub interval: Option<(f64, f64)>,
    /// Unit of the three.
    pub unit: Unit,
    /// How well it is known.
    pub precision: Precision,
    /// Whether it takes no part in the unit of its column: the row names its own.
    pub apart: bool,
}

impl Shown {
    /// A quantity as well known as `precision` says.
    pub fn new(quantity: &Quantity, precision: Precision) -> Shown {
        let (value, interval) = (quantity.value.0, quantity.interval());
        Shown { value, interval, unit: quantity.unit, precision, apart: false }
    }
}

impl Table {
    /// A table under these heads.
    pub fn new(columns: impl IntoIterator<Item = Head>) -> Table {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }
}

impl Head {
    /// A column whose quantities carry their own units.
    pub fn new(text: impl Into<String>) -> Head {
        Head { text: text.into(), shares_unit: false, optional: false }
    }

    /// A column in one unit.
    pub fn shared(text: impl Into<String>) -> Head {
        Head { shares_unit: true, ..Head::new(text) }
    }

    /// The same, left out where the line is too short.
    pub fn optional(self) -> Head {
        Head { optional: true, ..self }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Cell {
        cell.map_or(Cell::Empty, Into::into)
    }
}

impl From<Shown> for Cell {
    fn from(shown: Shown) -> Cell {
        Cell::Value(shown)
    }
}
