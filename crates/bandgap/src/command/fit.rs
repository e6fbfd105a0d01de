//! `bandgap fit`: parameters from numbers that somebody else measured.

mod hockney;
mod logp;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::args::{Fit, Measure, Output};
use crate::output::Sink;
use bandgap_launch::Exit;
use bandgap_launch::Failure;

/// Fits and prints; keeps files only where `--out` says so.
///
/// # Errors
/// The table cannot be read or is wrong, does not hold what a fit needs, or the result cannot be
/// written.
pub fn run(fit: &Fit, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    match fit {
        Fit::Logp { file } => logp::run(file, measure, output),
        Fit::Hockney(hockney) => hockney::run(hockney, measure, output),
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
    if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Failure::new(
            Exit::Input,
            format!("open {}: it is a directory", file.display()),
        )
        .hint("the samples of a run are in its samples.csv"));
    }
    Ok(Box::new(opened))
}

/// How errors call the file.
fn named(file: &Path) -> String {
    match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

/// Where results go: files only where `--out` asks for them.
fn sink(measure: &Measure, output: &Output) -> Result<Sink, Failure> {
    let mut output = output.clone();
    output.no_save = output.out.is_none();
    Sink::open(&output, "fit", measure)
}
