//! What a run looks like: tables and plots for a terminal, and figures as SVG.
//!
//! Everything here is a pure function from records to text. Nothing reads a file, asks the terminal
//! for its width, or looks at the environment: [`Layout`] carries what the caller found out.
#![forbid(unsafe_code)]

mod checks;
mod contention;
mod figure;
mod floor;
mod hockney;
mod layout;
mod parameter;
mod ratio;
mod rtt_pairs;
mod scale;
mod series;
mod signature;
mod summary;
mod surface;
mod svg;
mod table;
mod terminal;

pub use checks::{Check, Grade, checks};
pub use contention::contention;
pub use figure::{Axis, Datum, Dimension, Figure, Mark, Reference, Region, Scale, Series, Style};
pub use floor::floors;
pub use hockney::hockney;
pub use layout::Layout;
pub use ratio::ratios;
pub use rtt_pairs::rtt_pairs;
pub use series::{series, series_figures};
pub use signature::{signature, signature_figure};
pub use summary::summary;
pub use surface::{surface, surface_figure};
pub use svg::{svg, svg_panels};
pub use terminal::plot;
