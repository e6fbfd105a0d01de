//! Reads a table of LogP measurements by other tools.
//!
//! The table is CSV. Its header needs the columns `kind`, `messages`, `delay_ns` and `elapsed_ns`, in any order, and
//! may have `batch`, `round` and `launch`. Other columns, blank lines, and lines that begin with `#` are ignored.
//! `kind` is `issue` (the time of M requests with Δ after each) or `rtt` (the time of M successive round trips). Each
//! row is a repetition. `batch` numbers the repetitions measured together at a point; without it, each row is a batch.
//! `round` numbers the passes over all points, and `launch` the sets of processes.

use std::io::Read;

use bandgap_model::{Phase, Row};

use crate::TableError;
use crate::table_lines::{Header, Line, Result, bounded};

const EXPECTED: &str = "the first line must name the columns kind,messages,delay_ns,elapsed_ns";

/// Longest time in nanoseconds, 31.7 years. Much longer times would overflow when squared.
const LONGEST_NS: f64 = 1e18;

/// Longest table, in bytes, so that an endless source does not fill the memory.
const LONGEST: usize = 256 << 20;

/// Reads all rows of a table.
///
/// # Errors
/// Any defect, with its line: a table with a defect is refused.
pub fn read_logp_table(source: impl Read) -> Result<Vec<Row>> {
    let mut lines =
        bounded(source, LONGEST).filter(|line| !line.as_ref().is_ok_and(Line::is_comment));
    let first = lines.next().transpose()?.ok_or(TableError::Empty(EXPECTED))?;
    let header = Header::new(&first, ',')?;
    let [kind, messages, delay, elapsed] =
        header.needs(["kind", "messages", "delay_ns", "elapsed_ns"])?;
    let [batch, round, launch] =
        [header.find("batch")?, header.find("round")?, header.find("launch")?];
    let mut rows = Vec::new();
    for line in lines {
        let line = line?;
        let record = header.row(&line)?;
        let kind = match &record[kind] {
            "issue" => Phase::Issue,
            "rtt" => Phase::Rtt,
            other => return Err(line.cell("kind", other).wrong("it must be issue or rtt")),
        };
        let number = |column, place: Option<usize>| {
            let Some(text) = place.map(|place| &record[place]) else { return Ok(None) };
            let wrong = |_| line.cell(column, text).wrong("it must be a whole number");
            text.parse::<u64>().map(Some).map_err(wrong)
        };
        let time = |column, place: usize| {
            let cell = line.cell(column, &record[place]);
            match cell.amount("it must be a number of nanoseconds")? {
                ns if ns > LONGEST_NS => Err(cell.wrong("it is more than 30 years")),
                ns => Ok(ns),
            }
        };
        rows.push(Row {
            kind,
            messages: line.cell("messages", &record[messages]).count()?,
            delay_ns: time("delay_ns", delay)?,
            elapsed_ns: time("elapsed_ns", elapsed)?,
            batch: number("batch", batch)?,
            round: number("round", round)?,
            launch: number("launch", launch)?,
        });
    }
    if rows.is_empty() { Err(TableError::NoRows) } else { Ok(rows) }
}
