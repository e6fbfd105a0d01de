//! `bandgap fit logp`.

use std::path::Path;

use bandgap_launch::{Classify, Exit, Failure, told};
use bandgap_model::{Kind, Observation, Options, extract, observations_from_rows};
use bandgap_record::read_logp_table;
use bandgap_results::assemble;
use bandgap_stats::Rule;
use bandgap_units::Ns;

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
    // As in a measurement: a single batch has no interval.
    let (observations, single): (Vec<_>, Vec<_>) =
        observations_from_rows(&rows).into_iter().partition(|point| point.batches.len() >= 2);
    let left_out = left_out(&single, observations.len());
    let unfitted = |why: String| {
        let failure = Failure::new(Exit::Input, format!("fit {name}: {why}"));
        match &left_out {
            Some(left_out) => failure.hint(left_out.clone()),
            None => failure,
        }
    };
    if observations.is_empty() {
        return Err(unfitted("no point has more than one batch".to_owned()));
    }
    let signature =
        extract(&observations, &options, None).map_err(|error| unfitted(error.to_string()))?;
    let mut sink = Sink::open(&output.only_asked(), "fit", measure)?;
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let mut result = assemble::fitted(&observations, &signature, rule, measure.confidence.0)
        .class(Exit::Defect)?;
    result.findings.extend(left_out);
    let exit = sink.add(vec![result.into()])?;
    sink.close(output.judged(exit))
}

/// Points that are named, at most.
const NAMED: usize = 3;

/// Which points have too few batches, beside so many that have enough, and what is missing.
fn left_out(single: &[Observation], enough: usize) -> Option<String> {
    let named: Vec<String> = single.iter().take(NAMED).map(place).collect();
    let more = if single.len() > NAMED { ", …" } else { "" };
    (!single.is_empty()).then(|| {
        format!(
            "Left out: {} of {} points, with one batch each ({}{more}). An interval needs two at \
             least, and five are better: measure these points again, in batches of their own.",
            single.len(),
            single.len() + enough,
            named.join(", ")
        )
    })
}

/// A point in words.
fn place(point: &Observation) -> String {
    match point.kind {
        Kind::Rtt => "the round trip".to_owned(),
        Kind::Issue => format!("M = {} at Δ = {}", point.messages, Ns(point.delay)),
    }
}
