//! CSV with the columns `bytes` and a time.

use std::collections::HashMap;

use ::csv::StringRecord;

use crate::lines::{Header, Line, Result};
use crate::shortened;
use crate::table::{CSV, Table, Unit};

/// Columns that tell one series from another, in tables of several.
const KEYS: [&str; 10] =
    ["name", "transport", "state", "ranks", "from", "to", "distance", "memory", "mesh", MESSAGES];

/// How many messages an operation moves in its time.
const MESSAGES: &str = "operation_messages";

/// Columns that do so where one size has several of their values. Otherwise they are what was chosen
/// for the size.
const CHOSEN: [&str; 2] = ["variant", "way"];

/// The columns of times, each of which ends with its unit.
const TIMES: [&str; 4] = ["time_ns", "time_us", "time_ms", "time_s"];

/// Whether a line is the header of such a table.
pub(crate) fn tells(header: &Line) -> bool {
    let known = |name: &str| name == CSV.size || name == CSV.time || TIMES.contains(&name);
    header.text.contains(',') && Header::new(header).is_ok_and(|header| header.names().any(known))
}

pub(crate) fn read(lines: &[Line], table: &mut Table) -> Result {
    let mut lines = lines.iter().filter(|line| !line.is_comment());
    let Some(first) = lines.next() else { return Ok(()) };
    table.means(first, &CSV)?;
    let header = Header::new(first)?;
    let bytes = header.need(CSV.size)?;
    let (column, time, unit) = time_column(first, &header)?;
    let keys = header.those(&KEYS)?;
    let chosen = header.those(&CHOSEN)?;
    let messages = header.find(MESSAGES)?;
    let mut series = None;
    let mut sizes = HashMap::new();
    for line in lines {
        let row = header.row(line)?;
        let first = series.get_or_insert_with(|| (line.number, row.clone()));
        alike(line, &row, first, &keys)?;
        if let Some(place) = messages {
            table.messages = line.cell(MESSAGES, &row[place]).count()?;
        }
        let bytes = line.cell(CSV.size, &row[bytes]).size()?;
        let first = sizes.entry(bytes).or_insert_with(|| (line.number, row.clone()));
        alike(line, &row, first, &chosen)?;
        table.rows.push(line.cell(column, &row[time]).row(bytes, unit)?);
    }
    Ok(())
}

/// Whether a row has the same in these columns as an earlier one.
fn alike(
    line: &Line,
    row: &StringRecord,
    (first, before): &(u64, StringRecord),
    columns: &[(&'static str, usize)],
) -> Result {
    let differs = |(_, place): &&(&str, usize)| before[*place] != row[*place];
    let Some((key, place)) = columns.iter().find(differs) else { return Ok(()) };
    let found = format!("{key} '{}'", shortened(&row[*place]));
    let before = format!("'{}'", shortened(&before[*place]));
    Err(line.mixed(&found, &before, *first, "give one series at a time"))
}

/// The one column that holds times: its name, its place and its unit.
fn time_column(line: &Line, header: &Header<'_>) -> Result<(&'static str, usize, Unit)> {
    let (column, place) = match header.those(&TIMES)?.as_slice() {
        [column] => *column,
        [(before, _), (column, _), ..] => {
            let (column, before) = (format!("column {column}"), format!("column {before}"));
            return Err(line.mixed(&column, &before, line.number, "give the times in one unit"));
        }
        [] if header.find(CSV.time)?.is_some() => {
            let why = "column time has no unit: call it time_ns, time_us, time_ms or time_s";
            return Err(line.wrong(why));
        }
        [] => ("time_ns", header.need("time_ns")?),
    };
    let unit = column.strip_prefix("time_").and_then(Unit::named).expect("as in TIMES");
    Ok((column, place, unit))
}
