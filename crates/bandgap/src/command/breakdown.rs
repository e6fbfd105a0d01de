//! `bandgap breakdown`: where the time of a message goes.

use bandgap_launch::{Classify, Exit, Failure};
use bandgap_results::breakdown::assemble::breakdown;
use bandgap_stats::Rule;
use clap::Args;

use super::components::{Source, load};
use crate::args::{Measure, Output};
use crate::output::Sink;

/// What is divided.
#[derive(Debug, Args)]
pub struct Breakdown {
    #[command(flatten)]
    pub source: Source,
}

/// Prints models, percentages, bars and insights; keeps files only where `--out` says so.
///
/// # Errors
/// The table cannot be read or is wrong, or the result cannot be written.
pub(super) fn run(of: &Breakdown, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let table = load(&of.source)?;
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let result = breakdown(&table, rule, measure.confidence.0).class(Exit::Defect)?;
    let mut sink = Sink::open(&output.only_asked(), "breakdown", measure)?;
    let exit = sink.add(vec![result.into()])?;
    sink.close(output.judged(exit))
}
