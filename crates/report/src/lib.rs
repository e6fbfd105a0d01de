//! Drawing: tables and plots for a terminal, and figures as SVG and for gnuplot.
//!
//! Everything here is a pure function to text. Nothing reads a file, asks the terminal for its
//! width, or looks at the environment: [`Layout`] carries what the caller found out. What a result
//! looks like is not known here.
#![forbid(unsafe_code)]

mod bars;
#[cfg(test)]
mod example;
mod figure;
mod gnuplot;
mod layout;
mod listing;
mod printable;
mod scale;
mod svg;
pub mod table;
mod terminal;

pub use bars::{Bar, Bars, Part, bars};
pub use figure::{Axis, Datum, Dimension, Figure, Mark, Reference, Region, Scale, Series, Style};
pub use gnuplot::{Gnuplot, gnuplot};
pub use layout::Layout;
pub use listing::Listing;
pub use printable::printable;
pub use svg::{svg, svg_bars, svg_panels};
pub use terminal::plot;
