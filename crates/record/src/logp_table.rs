//! Reads a table of LogP measurements taken by other means.
//!
//! A CSV file with a header that has at least the columns `kind`, `messages`, `delay_ns` and
//! `elapsed_ns`, in any order; further columns are ignored, and so are blank lines and lines that
//! begin with `#`. `kind` is `issue` (the time of M requests with Δ after each) or `rtt` (the time
//! of M round trips, one at a time). One row per repetition.

use std::io::Read;

use bandgap_units::Ns;
use csv::StringRecord;

use crate::table_error::shortened;
use crate::table_lines::{Lines, missing, position};
use crate::{Measure, TableError};

const COLUMNS: [&str; 4] = ["kind", "messages", "delay_ns", "elapsed_ns"];

/// One repetition of one experiment (M, Δ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What was timed.
    pub kind: Measure,
    /// M.
    pub messages: u64,
    /// Δ.
    pub delay: Ns,
    /// The time of the whole repetition.
    pub elapsed: Ns,
}

/// Reads all rows of a table.
///
/// # Errors
/// Every defect is one, with its line: the file is taken whole or not at all.
pub fn read_logp_table(source: impl Read) -> Result<Vec<Row>, TableError> {
    let mut lines = Lines::new(source);
    let (line, header) = lines.next_record()?.ok_or(TableError::Empty {
        expected: "the first line must name the columns kind,messages,delay_ns,elapsed_ns",
    })?;
    let columns = columns(line, &header)?;
    let mut rows = Vec::new();
    while let Some((line, record)) = lines.next_record()? {
        if record.len() != header.len() {
            let (found, expected) = (record.len(), header.len());
            return Err(TableError::FieldCount { line, found, expected });
        }
        rows.push(row(line, &record, columns)?);
    }
    if rows.is_empty() { Err(TableError::NoRows) } else { Ok(rows) }
}

/// Positions of the four columns, in the order of [`COLUMNS`].
fn columns(line: u64, header: &StringRecord) -> Result<[usize; 4], TableError> {
    let mut positions = [0; 4];
    for (place, column) in positions.iter_mut().zip(COLUMNS) {
        *place = position(line, header, column)?.ok_or_else(|| missing(line, header, column))?;
    }
    Ok(positions)
}

fn row(line: u64, record: &StringRecord, columns: [usize; 4]) -> Result<Row, TableError> {
    let [kind, messages, delay, elapsed] = columns.map(|column| &record[column]);
    let wrong =
        |column, text: &str, why| TableError::Field { line, column, text: shortened(text), why };
    let kind = match kind {
        "issue" => Measure::Issue,
        "rtt" => Measure::Rtt,
        _ => return Err(wrong("kind", kind, "it must be issue or rtt")),
    };
    let messages = match messages.parse() {
        Ok(0) => return Err(wrong("messages", messages, "there must be at least one")),
        Ok(count) => count,
        Err(_) => return Err(wrong("messages", messages, "it must be a whole number")),
    };
    let time = |column, text: &str| match text.parse::<f64>() {
        Err(_) => Err(wrong(column, text, "it must be a number of nanoseconds")),
        Ok(time) if !time.is_finite() => Err(wrong(column, text, "it must be finite")),
        Ok(time) if time < 0.0 => Err(wrong(column, text, "it must not be negative")),
        Ok(time) => Ok(Ns(time)),
    };
    Ok(Row {
        kind,
        messages,
        delay: time("delay_ns", delay)?,
        elapsed: time("elapsed_ns", elapsed)?,
    })
}

#[cfg(test)]
mod tests;
