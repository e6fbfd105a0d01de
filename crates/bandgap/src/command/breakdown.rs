//! `bandgap breakdown`: where the time of a message goes.

use std::path::PathBuf;

use bandgap_launch::{Classify, Exit, Failure};
use bandgap_results::breakdown::assemble::breakdown;
use bandgap_stats::Rule;
use clap::Args;

use super::components::load;
use super::pcie_trace::{self, PcieTrace};
use crate::args::{Measure, Output};
use crate::output::Sink;

/// What is divided.
#[derive(Debug, Args)]
pub struct Breakdown {
    /// The components: thunderx2-connectx4 (the paper's), a table in TOML or CSV (`-` reads standard
    /// input), or a run with a breakdown
    #[arg(long, value_name = "PRESET|TABLE|RUN", required_unless_present = "pcie_trace")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub trace: PcieTrace,
}

/// Prints models, percentages, bars and insights; keeps files only where `--out` says so.
///
/// # Errors
/// The table cannot be read or is wrong, or the result cannot be written.
pub(super) fn run(of: &Breakdown, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    if let Some(file) = &of.trace.pcie_trace {
        return pcie_trace::run(&of.trace, file, of.from.as_deref(), measure, output);
    }
    let Some(from) = &of.from else {
        return Err(Failure::new(Exit::Usage, "find components: give --from or --pcie-trace"));
    };
    let table = load(from)?;
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let result = breakdown(&table, rule, measure.confidence.0).class(Exit::Defect)?;
    let mut sink = Sink::open(&output.only_asked(), "breakdown", measure)?;
    let exit = sink.add(vec![result.into()])?;
    sink.close(output.judged(exit))
}
