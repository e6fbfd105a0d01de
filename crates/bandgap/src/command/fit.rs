//! `bandgap fit`: parameters from numbers that somebody else measured.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bandgap_model::{Kind, Options, Row, extract, observations_from_rows};
use bandgap_record::{Measure as RecordedMeasure, read_logp_table};

use crate::args::{Fit, Measure, Output};
use crate::assemble;
use crate::exit::Exit;
use crate::failure::{Classify, Failure, told};
use crate::output::Sink;

/// Resamples of the bootstrap.
const RESAMPLES: usize = 1000;

/// Fits and prints; keeps files only where `--out` says so.
///
/// # Errors
/// The table cannot be read or is wrong, does not hold what a fit needs, or the result cannot be
/// written.
pub fn run(fit: &Fit, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let Fit::Logp { file } = fit;
    let name = file.display();
    let reader: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(
            File::open(file)
                .map_err(|error| Failure::new(Exit::Input, format!("open {name}: {error}")))?,
        )
    };
    let rows = read_logp_table(reader)
        .map_err(|error| Failure::new(Exit::Input, format!("use {name}: {}", told(&error))))?;
    let rows: Vec<Row> = rows
        .iter()
        .map(|row| Row {
            kind: match row.kind {
                RecordedMeasure::Issue => Kind::Issue,
                RecordedMeasure::Rtt => Kind::Rtt,
            },
            messages: row.messages,
            delay_ns: row.delay.0,
            elapsed_ns: row.elapsed.0,
        })
        .collect();
    let options =
        Options { confidence: measure.confidence.0, resamples: RESAMPLES, seed: measure.seed };
    let observations = observations_from_rows(&rows);
    let signature = extract(&observations, &options)
        .map_err(|error| Failure::new(Exit::Input, format!("fit {name}: {error}")))?;
    let mut output = output.clone();
    output.no_save = output.out.is_none();
    let mut sink = Sink::open(&output, "fit", measure)?;
    let result =
        assemble::fitted(&observations, &signature, measure.precision.0, measure.confidence.0)
            .class(Exit::Defect)?;
    let exit = sink.add(result)?;
    sink.close(exit)
}
