//! What a result looks like, as data. Renderers make text, pictures and pages of it.

use std::collections::BTreeMap;

use bandgap_record::{Quantity, Unit};
use bandgap_units::Fraction;
use derive_more::From;

use crate::{Figure, Precision};

/// A piece of what is shown of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph; of one line, unless it is longer than the line.
    Text(String),
    /// What is in doubt: a paragraph that begins with `!`.
    Doubt(String),
    /// The beginning of what belongs together, up to the next section.
    Section {
        /// What it is, once on a page: the id of a result, or a word.
        id: String,
        /// Its title, which may have several parts between [`SECTION_PARTS`]; empty where what follows says it.
        title: String,
    },
    /// A table.
    Table(Table),
    /// Curves.
    Figure(Figure),
    /// Stacked bars; a terminal shows a table with [`Cell::Bar`] in their place.
    Bars(Bars),
    /// A heat map; a terminal shows a table in its place.
    Heat(Heat),
}

/// What stands between the parts of a title, none of which is broken at the end of a line.
pub const SECTION_PARTS: &str = " · ";

impl Block {
    /// A section.
    pub fn section(id: impl Into<String>, title: impl Into<String>) -> Block {
        Block::Section { id: id.into(), title: title.into() }
    }
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
#[derive(Clone, Debug, From, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Words, aligned to the left.
    #[from(&str, String)]
    Text(String),
    /// A number without interval, aligned to the right.
    Number(String),
    /// A value with its half-width.
    #[from]
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

    /// The same with these rows below its own.
    pub fn with<R: IntoIterator<Item = Cell>>(
        mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Table {
        rows.into_iter().for_each(|row| self.push(row));
        self
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

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Cell {
        cell.map_or(Cell::Empty, Into::into)
    }
}

/// Bars with a title. Parts of the same name look the same in all of them, those of a kind alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What is shown.
    pub title: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar, which is as long as all others, whatever its whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What is divided.
    pub name: String,
    /// The whole, with its unit, as it is written beside the bar.
    pub whole: String,
    /// Its parts, in their order.
    pub parts: Vec<Part>,
}

/// A part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// Its share of the whole. One that is not above 0 is named, and not drawn.
    pub share: f64,
    /// The kind that it is of, if it is of one: kinds have a colour each, in which its parts differ by shade.
    pub kind: Option<usize>,
}

impl Bars {
    /// The names of all parts, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in self.bars.iter().flat_map(|bar| &bar.parts) {
            if !names.contains(&part.name.as_str()) {
                names.push(&part.name);
            }
        }
        names
    }
}

impl Bar {
    /// How many parts of the same kind stand before this one.
    pub(crate) fn shade(&self, at: usize) -> usize {
        self.parts[..at].iter().filter(|part| part.kind == self.parts[at].kind).count()
    }
}

impl Part {
    /// Its name and its share.
    pub(crate) fn legend(&self) -> String {
        format!("{} {}", self.name, Fraction(self.share))
    }
}

/// A Gantt chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    /// Heading.
    pub title: String,
    /// Under which conditions, below it.
    pub caption: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// What slices may be, at most three.
    pub kinds: Vec<String>,
    /// What is done.
    pub slices: Vec<Slice>,
    /// What goes from one to another.
    pub arrows: Vec<Arrow>,
    /// How long it is, in nanoseconds.
    pub length: f64,
}

/// Something that is done in a row, with times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The row.
    pub row: usize,
    /// What it is.
    pub kind: usize,
    /// When it begins.
    pub from: f64,
    /// When it ends.
    pub to: f64,
    /// Whether it is marked.
    pub marked: bool,
}

/// From a time and a row to others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Where it begins.
    pub from: (f64, usize),
    /// Where it ends.
    pub to: (f64, usize),
    /// Whether it is marked.
    pub marked: bool,
}
