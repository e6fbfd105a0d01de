//! Words in columns under lines of headings, which say what is where.

use std::ops::RangeInclusive;

use super::table::{Meaning, Table, Unit};
use crate::table_lines::{Line, Result};

/// What a line of headings says about the rows under it.
pub(super) struct Columns {
    /// The name and the place of the sizes.
    pub bytes: (&'static str, usize),
    /// The name and the place of the times or rates.
    pub time: (&'static str, usize),
    pub unit: Unit,
    /// How many words a row has.
    pub count: RangeInclusive<usize>,
    /// What is said where a size with a binary prefix (`1.5k`) is no whole number of bytes. Its one
    /// decimal is cut off, not rounded. None where sizes have no prefixes.
    pub prefixed: Option<&'static str>,
    pub meaning: &'static Meaning,
}

/// Reads the rows under each line for which `headings` gives columns.
pub(super) fn read(
    headings: impl Fn(&Line) -> Result<Option<Columns>>,
    lines: &[Line],
    table: &mut Table,
) -> Result {
    let mut current: Option<(u64, Columns)> = None;
    for line in lines {
        if let Some(columns) = headings(line)? {
            table.means(line, columns.meaning)?;
            if let Some((first, before)) = current.replace((line.number, columns))
                && current.as_ref().is_some_and(|(_, columns)| columns.unit != before.unit)
            {
                let advice = "give the times in one unit";
                return Err(line.mixed("another unit of time", "the first", first, advice));
            }
        } else if let Some((_, columns)) = &current {
            columns.read(line, table)?;
        }
    }
    Ok(())
}

impl Columns {
    /// Adds a line, if it is a row.
    fn read(&self, line: &Line, table: &mut Table) -> Result {
        let words = line.words();
        let number = |word: &str| {
            word.strip_prefix(['-', '+']).unwrap_or(word).starts_with(|c: char| c.is_ascii_digit())
        };
        // Where the size comes first, other lines may stand between.
        if words.is_empty() || self.bytes.1 == 0 && !number(words[0]) {
            return Ok(());
        }
        if !self.count.contains(&words.len()) {
            return Err(line.wrong(match (words.len(), self.count.start()) {
                (1, 2) => "it is cut: a size without its result".to_owned(),
                (found, count) => format!("it is cut: {found} of {count} columns"),
            }));
        }
        if words.contains(&"Fail") {
            return Err(line.wrong("the tool found wrong data: its time is not used"));
        }
        let (column, place) = self.bytes;
        let time = line.cell(self.time.0, words[self.time.1]);
        let Some(note) = self.prefixed else {
            let bytes = line.cell(column, words[place]).size()?;
            return table.once(time.row(bytes, self.unit)?);
        };
        let prefixes = [("k", 1024f64), ("m", 1024f64.powi(2)), ("g", 1024f64.powi(3))];
        let scaled = |(prefix, factor)| Some((words[place].strip_suffix(prefix)?, factor));
        let (digits, factor) = prefixes.into_iter().find_map(scaled).unwrap_or((words[place], 1.0));
        let (bytes, whole) = line.cell(column, digits).scaled_size(factor)?;
        table.note(if whole { "" } else { note });
        let step = if whole { 0.0 } else { factor / 10.0 };
        table.once(time.row(bytes, self.unit)?.of_rounded_size(step))
    }
}
