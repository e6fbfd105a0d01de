//! Who does what when, and what goes from one to another.

/// A Gantt chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    /// Heading.
    pub title: String,
    /// A line below it.
    pub subtitle: String,
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
