//! The files of a run's results.

use bandgap_record::{
    Logp, Outcome, RecordError, Run, RunDir, Series, samples_csv, series_csv, series_samples_csv,
    signature_csv, surface_csv,
};
use bandgap_report as report;

use crate::show;

/// Writes the run file, and the tables and pictures of its results. `several`: more than one signature is to come, so each file names its transport from the first.
///
/// # Errors
/// A file cannot be written.
pub fn write_all(directory: &RunDir, run: &Run, several: bool) -> Result<(), RecordError> {
    directory.write_run(run)?;
    write_series(directory, run)?;
    write_surfaces(directory, run)?;
    let signatures: Vec<&Logp> = run.results.iter().filter_map(small_messages).collect();
    if signatures.is_empty() {
        return Ok(());
    }
    let mut table = Vec::new();
    signature_csv(&mut table, signatures.iter().copied())?;
    directory.write("signature.csv", &table)?;
    for signature in &signatures {
        let suffix = if several || signatures.len() > 1 {
            format!("-{}", file_name(&signature.transport))
        } else {
            String::new()
        };
        let mut samples = Vec::new();
        samples_csv(&mut samples, signature)?;
        directory.write(&format!("samples{suffix}.csv"), &samples)?;
        let figure = report::signature_figure(signature);
        let svg = report::svg(&figure);
        directory.write(&format!("signature{suffix}.svg"), svg.as_bytes())?;
    }
    Ok(())
}

/// The files of series: one table of all, and a picture and the samples of each.
fn write_series(directory: &RunDir, run: &Run) -> Result<(), RecordError> {
    let all: Vec<&Series> = run.results.iter().filter_map(series).collect();
    if all.is_empty() {
        return Ok(());
    }
    let mut table = Vec::new();
    series_csv(&mut table, all.iter().copied())?;
    directory.write("series.csv", &table)?;
    for one in &all {
        let suffix = match all.as_slice() {
            [_] => String::new(),
            _ => format!("-{}-{}", file_name(&one.name), file_name(&one.transport)),
        };
        let mut samples = Vec::new();
        series_samples_csv(&mut samples, one)?;
        directory.write(&format!("samples{suffix}.csv"), &samples)?;
        let fits = show::fits_of(&run.results, &one.name, &one.transport);
        let figures = report::series_figures(one, &fits);
        if !figures.is_empty() {
            let svg = report::svg_panels(&figures);
            directory.write(&format!("series{suffix}.svg"), svg.as_bytes())?;
        }
    }
    Ok(())
}

/// The files of signatures of transfers: one table of all and a picture for stores and gets, and
/// the samples of each length.
fn write_surfaces(directory: &RunDir, run: &Run) -> Result<(), RecordError> {
    let all: Vec<&Logp> = run.results.iter().filter_map(transfers).collect();
    if all.is_empty() {
        return Ok(());
    }
    let mut table = Vec::new();
    surface_csv(&mut table, all.iter().copied())?;
    directory.write("surface.csv", &table)?;
    let panels: Vec<report::Figure> =
        show::surfaces(&all).iter().map(|surface| report::surface_figure(surface)).collect();
    let svg = report::svg_panels(&panels);
    directory.write("surface.svg", svg.as_bytes())?;
    for one in all {
        let mut samples = Vec::new();
        samples_csv(&mut samples, one)?;
        let name = format!("samples-{}-{}.csv", one.name, one.bytes.unwrap_or(0));
        directory.write(&name, &samples)?;
    }
    Ok(())
}

fn series(result: &Outcome) -> Option<&Series> {
    match result {
        Outcome::Series(series) => Some(series),
        _ => None,
    }
}

/// A transport's name without what a file name cannot have.
fn file_name(transport: &str) -> String {
    transport.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn logp(result: &Outcome) -> Option<&Logp> {
    match result {
        Outcome::Logp(logp) => Some(logp),
        _ => None,
    }
}

/// A signature of small messages.
pub fn small_messages(result: &Outcome) -> Option<&Logp> {
    logp(result).filter(|logp| !logp.is_of_transfers())
}

/// A signature of transfers.
pub fn transfers(result: &Outcome) -> Option<&Logp> {
    logp(result).filter(|logp| logp.is_of_transfers())
}
