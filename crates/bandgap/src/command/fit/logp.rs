//! `bandgap fit logp`.

use std::path::Path;

use bandgap_launch::{Classify, Exit, Failure, told};
use bandgap_model::{Options, extract, observations_from_rows};
use bandgap_record::read_logp_table;
use bandgap_results::assemble;
use bandgap_stats::Rule;

use super::{named, open};
use crate::args::{Measure, Output};
use crate::output::Sink;

/// Resamples of the bootstrap.
const RESAMPLES: usize = 1000;

/// Fits a signature to rows of kind, messages, delay and time.
pub(super) fn run(file: &Path, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let name = named(file);
    let rows = read_logp_table(open(file)?)
        .map_err(|error| Failure::new(Exit::Input, format!("use {name}: {}", told(&error))))?;
    let options =
        Options { confidence: measure.confidence.0, resamples: RESAMPLES, seed: measure.seed };
    let observations = observations_from_rows(&rows);
    let signature = extract(&observations, &options, None)
        .map_err(|error| Failure::new(Exit::Input, format!("fit {name}: {error}")))?;
    let mut sink = Sink::open(&output.only_asked(), "fit", measure)?;
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let result = assemble::fitted(&observations, &signature, rule, measure.confidence.0)
        .class(Exit::Defect)?;
    let exit = sink.add(vec![result.into()])?;
    sink.close(exit)
}
