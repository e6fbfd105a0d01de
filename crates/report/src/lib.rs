//! Drawing: tables and plots for a terminal, and figures as SVG and for gnuplot.
//!
//! Everything here is a pure function to text. Nothing reads a file, asks the terminal for its
//! width, or looks at the environment: [`Layout`] carries what the caller found out. What a result
//! looks like is not known here.
#![forbid(unsafe_code)]

mod block;
mod figure;
mod gnuplot;
mod layout;
mod number;
mod printable;
mod scale;
mod svg;

mod terminal;
mod text;

pub use block::{Arrow, Bar, Bars, Block, Cell, Gantt, Head, Heat, Part, Shown, Slice, Table};
pub use figure::{Axis, Datum, Dimension, Figure, Precision, Reference, Region, Scale, Series};
pub use gnuplot::{Gnuplot, gnuplot};
pub use layout::Layout;

pub use number::{multiple, scaled, written};
pub use printable::printable;
pub use svg::{svg, svg_bars, svg_gantt, svg_heats};
pub use terminal::plot;
pub use text::{ascii, share, signed_share, text};
