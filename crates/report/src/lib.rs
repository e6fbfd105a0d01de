//! Rendering: tables and plots for a terminal, figures as SVG and for gnuplot, and pages.
//!
//! All functions are pure. None reads a file, asks the terminal for its width, or looks at the environment: [`Layout`]
//! carries what the caller knows. This crate does not know the results.
#![forbid(unsafe_code)]

mod block;
mod figure;
mod gnuplot;
mod number;
mod page;
mod printable;
mod scale;
mod svg;
mod terminal;
mod text;

pub use block::{
    Arrow, Bar, Bars, Block, Cell, Gantt, Head, Heat, Part, SECTION_PARTS, Slice, Sum, Sums, Table,
};
pub use figure::{Axis, Datum, Figure, Reference, Region, Scale, Series};
pub use gnuplot::{Gnuplot, gnuplot};
pub use number::{Precision, Shown, multiple, read, scaled, written};
pub use page::Page;
pub use printable::printable;
pub use svg::{svg, svg_gantt};
pub use terminal::plot;
pub use text::{ascii, share, signed_share, text};

/// Layout of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Available columns; at least 40 are used.
    pub width: u16,
    /// Whether to use ASCII, except in units and symbols.
    pub ascii: bool,
    /// Whether to write colour codes.
    pub color: bool,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { width: 80, ascii: false, color: false }
    }
}

impl Layout {
    /// Columns used.
    pub fn columns(&self) -> usize {
        usize::from(self.width).max(40)
    }

    /// A wrapped paragraph.
    pub fn paragraph(&self, text: &str) -> String {
        textwrap::fill(text, self.columns()) + "\n"
    }
}
