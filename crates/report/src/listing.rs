//! A table of things of one sort: a row for each of them, a column for each of their properties.

use bandgap_record::Quantity;
use comfy_table::ColumnConstraint;

use crate::Layout;
use crate::table::{finish, footnote, interval, table, value};

/// A table that is made column by column.
pub struct Listing<'a, T> {
    layout: &'a Layout,
    things: Vec<&'a T>,
    columns: Vec<Column>,
    quantities: Vec<&'a Quantity>,
}

/// A column: its heading and a cell for each row.
struct Column {
    heading: String,
    look: Look,
    cells: Vec<String>,
}

/// How the cells of a column stand.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// To the right.
    Number,
    /// In one line each, where there is room for that.
    Name,
    /// To the left, and wrapped where need be.
    Text,
}

impl<'a, T> Listing<'a, T> {
    /// A table of `things` without columns.
    pub fn new(things: impl IntoIterator<Item = &'a T>, layout: &'a Layout) -> Self {
        let things = things.into_iter().collect();
        Self { layout, things, columns: Vec::new(), quantities: Vec::new() }
    }

    /// A column of texts.
    #[must_use]
    pub fn text(self, heading: &str, cell: impl Fn(&'a T) -> String) -> Self {
        self.column(heading, Look::Text, cell)
    }

    /// A column of names, which are kept whole.
    #[must_use]
    pub fn name(self, heading: &str, cell: impl Fn(&'a T) -> String) -> Self {
        self.column(heading, Look::Name, cell)
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(self, heading: &str, cell: impl Fn(&'a T) -> String) -> Self {
        self.column(heading, Look::Number, cell)
    }

    /// A column of estimates, empty where a thing has none.
    #[must_use]
    pub fn value(mut self, heading: &str, of: impl Fn(&'a T) -> Option<&'a Quantity>) -> Self {
        self.quantities.extend(self.things.iter().filter_map(|thing| of(thing)));
        self.number(heading, |thing| of(thing).map(value).unwrap_or_default())
    }

    /// The same, left out where no thing has one.
    #[must_use]
    pub fn known(self, heading: &str, of: impl Fn(&'a T) -> Option<&'a Quantity>) -> Self {
        if self.things.iter().any(|thing| of(thing).is_some()) {
            self.value(heading, of)
        } else {
            self
        }
    }

    /// A column of estimates, and one of their intervals.
    #[must_use]
    pub fn quantity(self, heading: &str, of: impl Fn(&'a T) -> Option<&'a Quantity>) -> Self {
        let confidence = format!("{} interval", self.layout.confidence);
        let range = |thing| of(thing).map(interval).unwrap_or_default();
        self.value(heading, &of).number(&confidence, range)
    }

    /// Has these estimates explained below the table as well.
    #[must_use]
    pub fn noting(mut self, quantities: impl IntoIterator<Item = &'a Quantity>) -> Self {
        self.quantities.extend(quantities);
        self
    }

    /// What `more` adds, if `wanted`.
    #[must_use]
    pub fn when(self, wanted: bool, more: impl FnOnce(Self) -> Self) -> Self {
        if wanted { more(self) } else { self }
    }

    /// Leaves out columns until the others have room: those of `spared`, in this order. A number
    /// broken over two lines is worse than one that is left to the run's files.
    #[must_use]
    pub fn sparing(mut self, spared: &[&str]) -> Self {
        // With the blanks to the next column.
        let width = |column: &Column| {
            let lines = column.cells.iter().flat_map(|cell| cell.lines());
            let cells = lines.map(|line| line.chars().count());
            cells.chain([column.heading.chars().count()]).max().unwrap_or(0) + 3
        };
        for heading in spared {
            if self.columns.iter().map(width).sum::<usize>() > self.layout.columns() {
                self.columns.retain(|column| column.heading != *heading);
            }
        }
        self
    }

    fn column(mut self, heading: &str, look: Look, cell: impl Fn(&'a T) -> String) -> Self {
        let cells = self.things.iter().map(|thing| cell(thing)).collect();
        self.columns.push(Column { heading: heading.to_owned(), look, cells });
        self
    }

    /// The table, with a line below it that says what the mark of estimates which did not converge
    /// means, if one has it.
    pub fn finish(self) -> String {
        let places = 0..self.columns.len();
        let numbers: Vec<usize> =
            places.filter(|place| self.columns[*place].look == Look::Number).collect();
        let headings = self.columns.iter().map(|column| column.heading.as_str());
        let mut rows = table(self.layout, headings, &numbers);
        for (column, drawn) in self.columns.iter().zip(rows.column_iter_mut()) {
            if column.look == Look::Name && self.layout.columns() >= 80 {
                drawn.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        for row in 0..self.things.len() {
            rows.add_row(self.columns.iter().map(|column| &column.cells[row]));
        }
        finish(&rows) + &footnote(self.layout, self.quantities.iter().copied())
    }
}
