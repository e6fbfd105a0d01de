//! What `ucx_perftest -v` prints: a column for each batch file, then
//! `iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr`.
//!
//! The columns of batch files hold the names of tests, and these are where the size is.

use super::rows::{Rows, size, time};
use super::text::{Line, Text};
use super::ucx::{ASSUMED, HALF, STREAM, size_in, timing};
use super::{HockneyTable, Timing, Tool};
use crate::TableError;
use crate::table_lines::record;

/// The header.
pub(super) fn tells(line: &str) -> bool {
    let mut fields = line.split(',').map(str::trim);
    fields.any(|field| field == "iterations") && fields.any(|field| field == "overall_lat")
}

/// A result that counts unless a later one of the same test comes.
struct Latest<'a> {
    line: &'a Line,
    bytes: u64,
    timing: Option<Timing>,
    overall: String,
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let mut rows = Rows::default();
    let mut names: Option<usize> = None;
    let mut latest: Option<Latest<'_>> = None;
    for line in &text.lines {
        if tells(&line.text) {
            let header = record(line.number, &line.text)?;
            names = header.iter().position(|field| field == "iterations");
            continue;
        }
        let Some(names) = names else { continue };
        if !line.text.contains(',') || line.text.contains("[thread") {
            continue;
        }
        let fields = record(line.number, &line.text)?;
        let overall = match fields.len().checked_sub(names) {
            Some(8) => names + 3,
            // The sum over threads leaves out what it does not have.
            Some(4) => names + 1,
            _ => {
                let (found, expected) = (fields.len(), names + 8);
                return Err(TableError::FieldCount { line: line.number, found, expected });
            }
        };
        let tests = || fields.iter().take(names);
        let Some(found) = tests().find_map(size_in) else {
            return Err(line.wrong(
                "a result without its message size (name the batch file's tests by their size)",
            ));
        };
        let bytes = size(line.number, "size", found)?;
        if let Some(before) = latest.take_if(|before| before.bytes != bytes) {
            add(&mut rows, &before)?;
        }
        let timing = tests().find_map(timing);
        latest = Some(Latest { line, bytes, timing, overall: fields[overall].to_owned() });
    }
    if let Some(last) = latest {
        add(&mut rows, &last)?;
    }
    rows.finish(Tool::UcxPerftest)
}

fn add(rows: &mut Rows, result: &Latest<'_>) -> Result<(), TableError> {
    let line = result.line.number;
    match result.timing {
        None => rows.note(ASSUMED),
        Some(Timing::Stream) => rows.note(STREAM),
        Some(_) => rows.note(HALF),
    }
    rows.timed(line, result.timing.unwrap_or(Timing::HalfRoundTrip))?;
    rows.once(line, result.bytes, time(line, "overall_lat", &result.overall, 1e3)?)
}
