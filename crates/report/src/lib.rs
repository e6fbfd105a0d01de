//! Drawing: tables and plots for a terminal, and figures as SVG and for gnuplot.
//!
//! Everything here is a pure function to text. Nothing reads a file, asks the terminal for its
//! width, or looks at the environment: [`Layout`] carries what the caller found out. What a result
//! looks like is not known here.
#![forbid(unsafe_code)]

mod block;
mod figure;
mod gnuplot;
mod number;
mod printable;
mod scale;
mod svg;
mod terminal;
mod text;

pub use block::{
    Arrow, Bar, Bars, Block, Cell, Gantt, Head, Heat, Part, SECTION_PARTS, Shown, Slice, Table,
};
pub use figure::{Axis, Datum, Dimension, Figure, Precision, Reference, Region, Scale, Series};
pub use gnuplot::{Gnuplot, gnuplot};
pub use number::{multiple, scaled, written};
pub use printable::printable;
pub use svg::{svg, svg_bars, svg_gantt, svg_heats};
pub use terminal::plot;
pub use text::{ascii, share, signed_share, text};

/// How text is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Columns available; at least 40 are used.
    pub width: u16,
    /// Whether to do with ASCII, apart from the letters of units and symbols.
    pub ascii: bool,
    /// Whether colour codes may be written.
    pub color: bool,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { width: 80, ascii: false, color: false }
    }
}

impl Layout {
    /// Columns that are used.
    pub fn columns(&self) -> usize {
        usize::from(self.width).max(40)
    }

    /// A paragraph, wrapped.
    pub fn paragraph(&self, text: &str) -> String {
        textwrap::fill(text, self.columns()) + "\n"
    }
}
