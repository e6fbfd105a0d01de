//! `bandgap fit`: parameters from numbers that somebody else measured.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bandgap_model::hockney::{Breaks, HockneyOptions, sized_times_from_pairs};
use bandgap_model::{Kind, Options, Row, extract, observations_from_rows};
use bandgap_record::{Measure as RecordedMeasure, Outcome, read_hockney_table, read_logp_table};

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
    match fit {
        Fit::Logp { file } => logp(file, measure, output),
        Fit::Hockney { file, breaks, segments } => {
            let breaks = match breaks.as_slice() {
                [] => Breaks::Automatic { most: usize::from(*segments).max(1) },
                given => Breaks::At(given.iter().map(|bytes| bytes.0).collect()),
            };
            hockney(file, breaks, measure, output)
        }
    }
}

/// The file named, or standard input.
fn open(file: &Path) -> Result<Box<dyn Read>, Failure> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = File::open(file);
    let opened =
        opened.map_err(|e| Failure::new(Exit::Input, format!("open {}: {e}", file.display())))?;
    Ok(Box::new(opened))
}

/// Where results go: files only where `--out` asks for them.
fn sink(measure: &Measure, output: &Output) -> Result<Sink, Failure> {
    let mut output = output.clone();
    output.no_save = output.out.is_none();
    Sink::open(&output, "fit", measure)
}

fn hockney(
    file: &Path,
    breaks: Breaks,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let name = file.display();
    let table = read_hockney_table(open(file)?)
        .map_err(|error| Failure::new(Exit::Input, format!("use {name}: {}", told(&error))))?;
    let mut notes = vec![format!(
        "read as {}: {} rows, {}",
        table.source.name(),
        table.rows.len(),
        table.timing.name()
    )];
    notes.extend(table.notes);
    let rows = table.rows.iter().map(|row| (row.bytes, row.time.0));
    let times = sized_times_from_pairs(rows);
    let options = HockneyOptions { breaks, confidence: measure.confidence.0 };
    let fitting = assemble::Fitting {
        name: table.source.name(),
        transport: "table",
        precision: measure.precision.0,
        notes,
    };
    let fits = fitting
        .fit(&times, &options)
        .map_err(|error| Failure::new(Exit::Input, format!("fit {name}: {error}")))?;
    let mut sink = sink(measure, output)?;
    let results = fits.into_iter().map(|fit| Outcome::Hockney(Box::new(fit))).collect();
    let exit = sink.add_all(results)?;
    sink.close(exit)
}

fn logp(file: &Path, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let name = file.display();
    let reader = open(file)?;
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
    let mut sink = sink(measure, output)?;
    let result =
        assemble::fitted(&observations, &signature, measure.precision.0, measure.confidence.0)
            .class(Exit::Defect)?;
    let exit = sink.add(result)?;
    sink.close(exit)
}
