//! The run file: what was run, on what, and what came out, as JSON that other tools can read.
//!
//! Every value in the file is in SI base units (seconds, bytes per second, or a plain number) and
//! every measured one is a [`Quantity`]: value, interval, unit, estimator, number of samples, and
//! whether it converged. Numbers keep all their digits; one that is not finite is refused, since
//! JSON cannot hold it. Fields unknown to this version are ignored on reading, results of an
//! unknown kind are kept as they are, and a newer format version is an error that says so.
//!
//! The same samples also go out as CSV ([`signature_csv`], [`surface_csv`], [`samples_csv`],
//! [`series_csv`], [`series_samples_csv`]), and tables written by other means come in through [`read_logp_table`] and
//! [`read_hockney_table`].
//!
//! Nothing here measures, fits or renders.
#![forbid(unsafe_code)]

mod contention;
mod directory;
mod error;
mod floor;
mod hockney;
mod hockney_table;
mod layout;
mod logp;
mod logp_csv;
mod logp_table;
mod noise;
mod quantity;
mod ratio;
mod rtt_pairs;
mod run;
mod series;
mod series_csv;
mod table_error;
mod table_lines;

pub use contention::{Contention, ContentionRow};
pub use directory::{RUN_FILE, RunDir};
pub use error::RecordError;
pub use floor::{Floor, FloorValue};
pub use hockney::{Breakpoint, Hockney, Residuals, Segment, SegmentLine, Weighting};
pub use hockney_table::{HockneyRow, HockneyTable, Timing, Tool, read_hockney_table};
pub use logp::{
    Arm, Batch, Cause, FloorRatio, Line, Logp, Measure, Operation, OtherState, Parameters, Pattern,
    Point, Regime, State, Summary, Transition,
};
pub use logp_csv::{samples_csv, signature_csv, surface_csv};
pub use logp_table::{Row, read_logp_table};
pub use noise::{CoreNoise, Noise};
pub use quantity::{Evidence, Number, Quantity, Seconds, Unit};
pub use ratio::Ratio;
pub use rtt_pairs::{Pair, RttPairs};
pub use run::{Bandgap, FORMAT, Outcome, Run, VERSION, read, timestamp};
pub use series::{Series, SeriesPoint};
pub use series_csv::{series_csv, series_samples_csv};
pub use table_error::TableError;
