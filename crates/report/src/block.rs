//! Results as data for renderers of text, pictures and pages.

use std::collections::BTreeMap;

use bandgap_record::Unit;
use bandgap_units::Fraction;
use derive_more::From;

use crate::number::{Shown, scaled};
use crate::{Axis, Figure};

/// A piece of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A doubt about results: a paragraph that begins with `!`.
    Doubt {
        /// The doubt.
        text: String,
        /// Where the reader of a terminal finds more, and that of a page in the section `why`; may be empty.
        more: String,
    },
    /// Where the reader of a terminal finds what is left out; a page has it.
    More(String),
    /// Begins a section.
    Section {
        /// An id, unique on a page: the id of a result, or a word.
        id: String,
        /// The title, possibly of several parts separated by [`SECTION_PARTS`]; empty if the content needs none.
        title: String,
    },
    /// A table.
    Table(Table),
    /// Curves.
    Figure(Figure),
    /// Stacked bars; a terminal shows a table with [`Cell::Bar`] instead.
    Bars(Bars),
    /// A heat map; a terminal shows a table instead.
    Heat(Heat),
    /// Intervals in rows; nothing in a terminal.
    Gantt(Gantt),
    /// Times that a reader of a page can change, and the sums over them; nothing elsewhere.
    Sums(Sums),
}

/// Separator of the parts of a title. Lines are not broken inside a part.
pub const SECTION_PARTS: &str = " · ";

impl Block {
    /// The title of a picture, and what it shows, in a sentence; `None` for other blocks.
    pub fn picture(&self) -> Option<(&str, &str)> {
        match self {
            Block::Figure(Figure { title, says, .. })
            | Block::Bars(Bars { title, says, .. })
            | Block::Heat(Heat { title, says, .. }) => Some((title, says)),
            _ => None,
        }
    }

    /// A section.
    pub fn section(id: impl Into<String>, title: impl Into<String>) -> Block {
        Block::Section { id: id.into(), title: title.into() }
    }
}

/// A quantity of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Title.
    pub title: String,
    /// What it shows, in a sentence.
    pub says: String,
    /// Names of the members of pairs.
    pub names: Vec<String>,
    /// Unit of the quantity.
    pub unit: Unit,
    /// The known quantities, above 0, by pair.
    pub cells: BTreeMap<[usize; 2], f64>,
}

impl Heat {
    /// The least and the greatest value; 1 if there are none.
    pub fn ends(&self) -> [f64; 2] {
        let of = |pick: fn(f64, f64) -> f64| self.cells.values().copied().reduce(pick);
        [of(f64::min), of(f64::max)].map(|end| end.unwrap_or(1.0))
    }
}

/// Times, and sums over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// Names and times, in seconds.
    pub parts: Vec<(String, f64)>,
    /// Names and sums; the longest sum counts.
    pub models: Vec<(String, Vec<Sum>)>,
}

/// Parts, each with how often it is in the sum.
pub type Sum = Vec<(usize, f64)>;

/// A table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Head>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Whether a page folds it, however short it is.
    pub folded: bool,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Text without the unit.
    pub text: String,
    /// Whether all quantities share a unit, shown in the head.
    pub shares_unit: bool,
    /// Whether a narrow layout leaves the column out.
    pub optional: bool,
}

/// A cell.
#[derive(Clone, Debug, From, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Left-aligned text.
    #[from(&str, String)]
    Text(String),
    /// A right-aligned number without an interval.
    Number(String),
    /// A value with its half-width.
    #[from]
    Value(Shown),
    /// A share, drawn as a bar.
    Bar(f64),
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Head>) -> Table {
        Table { columns: columns.into_iter().collect(), ..Table::default() }
    }

    /// Appends rows.
    pub fn with<R: IntoIterator<Item = Cell>>(
        mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Table {
        rows.into_iter().for_each(|row| self.push(row));
        self
    }

    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }
}

impl Head {
    /// A column whose quantities have their own units.
    pub fn new(text: impl Into<String>) -> Head {
        Head { text: text.into(), shares_unit: false, optional: false }
    }

    /// A column whose quantities share a unit.
    pub fn shared(text: impl Into<String>) -> Head {
        Head { shares_unit: true, ..Head::new(text) }
    }

    /// Lets a narrow layout leave the column out.
    pub fn optional(self) -> Head {
        Head { optional: true, ..self }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Cell {
        cell.map_or(Cell::Empty, Into::into)
    }
}

/// Bars with a title. Parts of a kind look similar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Title.
    pub title: String,
    /// What it shows, in a sentence.
    pub says: String,
    /// Whether a bar is as long as its whole; otherwise all have the same length.
    pub to_scale: bool,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Name of the whole.
    pub name: String,
    /// The whole, in seconds.
    pub whole: f64,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// Share of the whole. A part without a positive share is only named.
    pub share: f64,
    /// The kind, if it has one. Each kind has a colour, and its parts in a bar have different shades.
    pub kind: Option<usize>,
}

impl Bars {
    /// A part of a bar as a number: its time if bars are to scale, or else its share.
    pub(crate) fn number(&self, bar: &Bar, part: &Part) -> String {
        match self.to_scale {
            true => scaled(part.share * bar.whole, Unit::Second),
            false => Fraction(part.share).to_string(),
        }
    }

    /// A part of a bar with its number: `pio 32 %`.
    pub(crate) fn legend(&self, bar: &Bar, part: &Part) -> String {
        format!("{} {}", part.name, self.number(bar, part))
    }

    /// The length of a bar, as a share of the longest.
    pub(crate) fn length(&self, bar: &Bar) -> f64 {
        let longest = self.bars.iter().map(|bar| bar.whole).fold(0.0, f64::max);
        if self.to_scale && longest > 0.0 { bar.whole.max(0.0) / longest } else { 1.0 }
    }
}

impl Bar {
    /// The parts with a positive share: index, part, and their ends as shares of the bar.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = (usize, &Part, [f64; 2])> {
        let whole: f64 = self.parts.iter().map(|part| part.share.max(0.0)).sum();
        let parts = self.parts.iter().enumerate().filter(|(_, part)| part.share > 0.0);
        parts.scan(0.0, move |from, (at, part)| {
            let to = *from + part.share / whole;
            Some((at, part, [std::mem::replace(from, to), to]))
        })
    }
}

/// Intervals in rows over an axis, such as what ranks did when.
#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    /// Heading.
    pub title: String,
    /// Conditions, below the heading.
    pub caption: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the kinds of slices, at most three.
    pub kinds: Vec<String>,
    /// The slices.
    pub slices: Vec<Slice>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// The axis.
    pub axis: Axis,
    /// Its ends.
    pub ends: [f64; 2],
    /// A range behind the rows.
    pub band: Option<[f64; 2]>,
}

/// An interval of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The row.
    pub row: usize,
    /// What it is.
    pub kind: usize,
    /// Begin.
    pub from: f64,
    /// End.
    pub to: f64,
    /// Whether it is highlighted.
    pub marked: bool,
}

/// An arrow from a place and row to others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Origin.
    pub from: (f64, usize),
    /// Target.
    pub to: (f64, usize),
    /// Whether it is highlighted.
    pub marked: bool,
}
