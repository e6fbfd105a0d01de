//! The files of a run: the run file, all values as one table, and figures.

use std::borrow::Cow;

use bandgap_record::{RUN_FILE, RecordError, RunDir, csv};
use bandgap_report::{Block, SECTION_PARTS, gnuplot, svg};

use crate::heading::{library, source};
use crate::lines::ends;
use crate::run::{Run, context};
use crate::screen::{View, axes};

/// The file of all values.
pub const VALUES: &str = "values.csv";
/// The page.
pub const REPORT: &str = "report.html";

/// Writes `run.json`, `values.csv`, and for each result with figures an SVG and the two files of gnuplot.
///
/// # Errors
/// A file cannot be written.
pub fn write_all(directory: &RunDir, run: &Run, view: View<'_>) -> Result<(), RecordError> {
    directory.write(RUN_FILE, run.to_json()?.as_bytes())?;
    directory.write(VALUES, &values(run)?)?;
    for (name, content) in drawn(run, view) {
        directory.write(&name, content.as_bytes())?;
    }
    Ok(())
}

/// The figures of a run: names and contents of their files. Those of gnuplot are in a folder `gnuplot`.
pub fn drawn(run: &Run, view: View<'_>) -> Vec<(String, String)> {
    let (among, source) = (context(run), source(run));
    let (mut names, mut files) = (Vec::<String>::new(), Vec::new());
    for result in &run.results {
        let mut drawn = result.as_shown().detail(&among);
        drawn.retain(|block| block.picture().is_some());
        if drawn.is_empty() {
            continue;
        }
        let mut drawn: Vec<Block> = drawn.into_iter().map(|block| axes(block, view)).collect();
        let id = result.id();
        let its = run.setup.of.iter().filter(|of| id.split('/').any(|part| part == of.transport));
        if let Some(of) = its.filter_map(|of| of.library.as_ref()).next() {
            for block in &mut drawn {
                let Block::Figure(figure) = block else { continue };
                let words = [vec![std::mem::take(&mut figure.caption)], library(of)].concat();
                figure.caption = words.join(SECTION_PARTS);
            }
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
        let mut name: String = id.replace('/', "-").chars().map(plain).collect();
        // File names are unique.
        while names.contains(&name) {
            name.push('x');
        }
        files.push((format!("{name}.svg"), svg(&drawn, &source)));
        let plot = gnuplot(&drawn, &name);
        files.push((format!("gnuplot/{name}.dat"), plot.data));
        files.push((format!("gnuplot/{name}.gp"), plot.script));
        names.push(name);
    }
    files
}

/// All quantities of a run as CSV, a row each.
///
/// # Errors
/// The table cannot be written.
pub fn values(run: &Run) -> Result<Vec<u8>, RecordError> {
    let columns = ["id", "value", "low", "high", "unit", "converged", "samples"];
    let records = run.results.iter().flat_map(|result| result.as_shown().quantities());
    let number = |of: f64| -> Cow<'_, str> { of.to_string().into() };
    csv(
        &columns,
        records.map(|(id, of, _)| {
            let [low, high] = ends(of);
            let end = |end: Option<f64>| end.map_or(Cow::from(""), number);
            let unit = serde_json::to_value(of.unit).unwrap_or_default();
            vec![
                Cow::from(id),
                number(of.value.0),
                end(low),
                end(high),
                unit.as_str().unwrap_or_default().to_owned().into(),
                of.converged.to_string().into(),
                of.samples.to_string().into(),
            ]
        }),
    )
}
