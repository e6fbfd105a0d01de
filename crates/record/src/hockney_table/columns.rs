//! CSV with the columns `bytes` and a time.

use super::rows::{Rows, nanoseconds, size, time};
use super::text::Text;
use super::{HockneyTable, Timing, Tool};
use crate::TableError;
use crate::table_error::shortened;
use crate::table_lines::{is_comment, missing, position, record};

/// Columns that tell one series from another, in tables of several.
const KEYS: [&str; 5] = ["name", "transport", "state", "ranks", "distance"];

const TIMES: [&str; 4] = ["time_ns", "time_us", "time_ms", "time_s"];

/// Whether a line is the header of such a table.
pub(super) fn tells(header: &str) -> bool {
    let mut fields = header.split(',').map(str::trim);
    fields.any(|field| field == "bytes" || field == "time" || TIMES.contains(&field))
        && header.contains(',')
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let mut lines = text.lines.iter().filter(|line| !is_comment(&line.text));
    let Some(first) = lines.next() else { return Err(TableError::NoRows) };
    let header = record(first.number, &first.text)?;
    let line = first.number;
    let bytes = position(line, &header, "bytes")?.ok_or_else(|| missing(line, &header, "bytes"))?;
    let (column, place) = time_column(line, &header)?;
    let factor = column.split_once('_').and_then(|(_, unit)| nanoseconds(unit)).unwrap_or(1.0);
    let mut keys = Vec::new();
    for key in KEYS {
        keys.extend(position(line, &header, key)?.map(|place| (key, place)));
    }
    let mut series: Option<(u64, csv::StringRecord)> = None;
    let mut rows = Rows::default();
    rows.timed(line, Timing::AsGiven)?;
    for line in lines {
        let record = record(line.number, &line.text)?;
        if record.len() != header.len() {
            let (found, expected) = (record.len(), header.len());
            return Err(TableError::FieldCount { line: line.number, found, expected });
        }
        match &series {
            None => series = Some((line.number, record.clone())),
            Some((first, before)) => {
                let other = keys.iter().find(|(_, place)| before[*place] != record[*place]);
                if let Some((key, place)) = other {
                    return Err(TableError::Mixed {
                        line: line.number,
                        found: format!("{key} '{}'", shortened(&record[*place])),
                        before: format!("'{}'", shortened(&before[*place])),
                        first: *first,
                        advice: "give one series at a time",
                    });
                }
            }
        }
        let bytes = size(line.number, "bytes", &record[bytes])?;
        rows.repetition(line.number, bytes, time(line.number, column, &record[place], factor)?);
    }
    rows.finish(Tool::Csv)
}

/// The one column that holds times.
fn time_column(line: u64, header: &csv::StringRecord) -> Result<(&'static str, usize), TableError> {
    let mut found = None;
    for column in TIMES {
        let Some(place) = position(line, header, column)? else { continue };
        match found {
            None => found = Some((column, place)),
            Some((before, _)) => {
                return Err(TableError::Mixed {
                    line,
                    found: format!("column {column}"),
                    before: format!("column {before}"),
                    first: line,
                    advice: "give the times in one unit",
                });
            }
        }
    }
    if found.is_none() && position(line, header, "time")?.is_some() {
        return Err(TableError::Line {
            line,
            why: "column time has no unit: call it time_ns, time_us, time_ms or time_s".into(),
        });
    }
    found.ok_or_else(|| missing(line, header, "time_ns"))
}
