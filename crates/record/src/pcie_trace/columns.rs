//! Which column is which.

use bandgap_model::pcie::Numbers;

use super::values::Value;
use crate::table_lines::{Header, Line, Result, miscounted};

/// Names of the column of times, with the power of ten of their unit in picoseconds.
const TIMES: [(&str, u32); 5] =
    [("time_ns", 3), ("time_ps", 0), ("time_us", 6), ("time_ms", 9), ("time_s", 12)];

/// The columns of a trace.
pub(super) struct Columns {
    /// The name of the column of times, and the power of ten of its unit in picoseconds.
    pub time: (&'static str, u32),
    /// What the numbers are.
    pub numbers: Numbers,
    /// Which of a row's fields each column is.
    fields: Vec<Option<Field>>,
}

#[derive(Clone, Copy)]
enum Field {
    Time,
    Direction,
    Kind,
    Bytes,
    Address,
    Number,
}

/// The fields of a row; empty ones where there is no such column.
#[derive(Default)]
pub(super) struct Row<'a> {
    pub time: &'a str,
    pub direction: &'a str,
    pub kind: &'a str,
    pub bytes: &'a str,
    pub address: &'a str,
    pub number: &'a str,
}

impl Columns {
    /// Reads the header.
    pub fn of(line: &Line) -> Result<Columns> {
        let header = Header::new(line)?;
        let times = TIMES.map(|(name, _)| name);
        let (name, time) = match header.those(&times)?.as_slice() {
            [one] => *one,
            [] => (times[0], header.need(times[0])?),
            [(one, _), (other, _), ..] => {
                return Err(line.wrong(format!("columns {one} and {other} say the same")));
            }
        };
        let numbers = match header.those(&["sequence", "tag"])?.as_slice() {
            [] => (Numbers::None, None),
            [("tag", at)] => (Numbers::Tag, Some(*at)),
            // Beside sequence numbers, tags say nothing of acknowledgements.
            [(_, at), ..] => (Numbers::Sequence, Some(*at)),
        };
        let mut fields = vec![None; header.count()];
        for (at, field) in [
            (Some(time), Field::Time),
            (Some(header.need("direction")?), Field::Direction),
            (Some(header.need("type")?), Field::Kind),
            (Some(header.need("bytes")?), Field::Bytes),
            (header.find("address")?, Field::Address),
            (numbers.1, Field::Number),
        ] {
            if let Some(at) = at {
                fields[at] = Some(field);
            }
        }
        let power = TIMES.iter().find(|(known, _)| *known == name).map_or(3, |(_, power)| *power);
        Ok(Columns { time: (name, power), numbers: numbers.0, fields })
    }

    /// The name of the column of numbers.
    pub fn number_name(&self) -> &'static str {
        if self.numbers == Numbers::Tag { "tag" } else { "sequence" }
    }

    /// The fields of a line, which has as many as there are columns.
    pub fn row<'a>(&self, text: &'a str) -> Value<Row<'a>> {
        let mut row = Row::default();
        let mut count = 0;
        for field in text.split(',') {
            if let Some(Some(known)) = self.fields.get(count) {
                let cell = unquoted(field);
                match known {
                    Field::Time => row.time = cell,
                    Field::Direction => row.direction = cell,
                    Field::Kind => row.kind = cell,
                    Field::Bytes => row.bytes = cell,
                    Field::Address => row.address = cell,
                    Field::Number => row.number = cell,
                }
            }
            count += 1;
        }
        if count == self.fields.len() {
            return Ok(row);
        }
        match text.contains('"') {
            true => Err("it has a comma within quotes, or fields are missing".to_owned()),
            false => Err(miscounted(count, self.fields.len())),
        }
    }
}

/// A field without blanks and quotes around it.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    match field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        Some(inner) => inner.trim(),
        None => field,
    }
}
