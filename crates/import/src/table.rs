//! A table of sizes and times while it is read.

use std::collections::HashMap;

use crate::columns::{Remark, SizeRow, Timing};
use crate::lines::{Cell, Line, Result};

/// One kind of output.
pub(crate) struct Dialect {
    /// The tool, as its users write it.
    pub tool: &'static str,
    /// The test's name, as the family's files have it.
    pub test: &'static str,
    /// The label over the sizes.
    pub size: &'static str,
    /// A further label that the heading has, or none.
    pub beside: &'static str,
    /// The label over the times or rates, or what stands before one.
    pub time: &'static str,
    /// What it counts, where the label does not say it.
    pub unit: Unit,
    /// The share of it that one message takes: ½ where it is a round trip.
    pub share: f64,
    /// What such a share is.
    pub timing: Timing,
}

/// Kinds of output that look alike.
pub(crate) struct Family {
    /// What messages call it.
    pub name: &'static str,
    /// Those whose times are of single messages. Where a file has several, the first of these is read; where it names
    /// none, it is taken for the first with its columns.
    pub dialects: &'static [Dialect],
    /// The name of the test that begins with a line.
    pub title: fn(&Line) -> Option<String>,
    /// The first line that no other family prints.
    pub tells: for<'a> fn(&Family, &'a [Line]) -> Option<&'a Line>,
    /// Reads all lines: [`headed::read`] where results are in columns under headings.
    pub read: fn(&'static Family, &[Line], &mut Table) -> Result,
}

pub(crate) const fn dialect(
    (tool, test): (&'static str, &'static str),
    [size, beside, time]: [&'static str; 3],
    (unit, share): (Unit, f64),
    timing: Timing,
) -> Dialect {
    Dialect { tool, test, size, beside, time, unit, share, timing }
}

/// Microseconds of a message.
pub(crate) const US: (Unit, f64) = (MICROSECONDS, 1.0);

/// Columns of the user's own.
pub(crate) const CSV: Dialect = dialect(("CSV", ""), ["bytes", "", "time"], US, Timing::AsGiven);

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unit {
    /// Times, in units of so many nanoseconds.
    Time(f64),
    /// Rates, in units of so many bytes per second.
    Rate(f64),
}

pub(crate) const MICROSECONDS: Unit = Unit::Time(1e3);

impl Unit {
    /// The unit with this abbreviation.
    pub fn named(name: &str) -> Option<Unit> {
        Some(match name {
            "ns" | "nsec" | "nsecs" => Unit::Time(1.0),
            "us" | "usec" | "usecs" | "µs" | "μs" => MICROSECONDS,
            "ms" | "msec" | "msecs" => Unit::Time(1e6),
            "s" | "sec" | "secs" => Unit::Time(1e9),
            "MB/s" => Unit::Rate(1e6),
            _ => return None,
        })
    }
}

/// A table under construction.
#[derive(Default)]
pub(crate) struct Table {
    /// Its rows. Those of a tool that prints every size once are added with [`Table::once`].
    pub rows: Vec<SizeRow>,
    /// What the times are, and the line that said so first.
    pub dialect: Option<(u64, &'static Dialect)>,
    pub remarks: Vec<Remark>,
    /// Messages of an operation; 0 where nothing was said.
    pub messages: u64,
    /// The line of each size.
    seen: HashMap<u64, u64>,
}

impl Table {
    /// Says what the times from `line` on are. They must all be of one kind.
    pub fn means(&mut self, line: &Line, dialect: &'static Dialect) -> Result {
        let (first, before) = *self.dialect.get_or_insert((line.number, dialect));
        if before.timing != dialect.timing {
            let (found, before) = (dialect.timing.name(), before.timing.name());
            return Err(line.mixed(found, before, first, "give one kind of test at a time"));
        }
        Ok(())
    }

    /// Adds a row of a tool, which prints every size once.
    pub fn once(&mut self, line: &Line, row: SizeRow) -> Result {
        if let Some(first) = self.seen.insert(row.bytes, row.line) {
            return Err(line.wrong(format!(
                "{} bytes again, as in line {first} (give one run of the tool; in CSV, rows of one size are \
                 repetitions)",
                row.bytes
            )));
        }
        self.rows.push(row);
        Ok(())
    }

    /// Keeps a remark, once.
    pub fn remark(&mut self, remark: Remark) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// 2⁴⁸ bytes: more than a process can address.
const LARGEST: u64 = 1 << 48;
const TOO_LARGE: &str = "it is too large (at most 2^48 bytes)";

impl Cell<'_> {
    /// A whole number of bytes, within what memory can hold.
    pub(crate) fn size(&self) -> Result<u64> {
        const WHOLE: &str = "it must be a whole number of bytes";
        match self.text.parse() {
            Ok(bytes) if bytes <= LARGEST => Ok(bytes),
            _ if self.amount(WHOLE)? > LARGEST as f64 => Err(self.wrong(TOO_LARGE)),
            _ => Err(self.wrong(WHOLE)),
        }
    }

    /// A size in units of `factor` bytes, and whether its digits make a whole number of bytes.
    pub(crate) fn scaled_size(&self, factor: f64) -> Result<(u64, bool)> {
        match self.amount("it must be a number of bytes")? * factor {
            bytes if bytes > LARGEST as f64 => Err(self.wrong(TOO_LARGE)),
            bytes => Ok((bytes.round() as u64, (bytes - bytes.round()).abs() < 1e-6)),
        }
    }

    /// The row of so many bytes with this time or rate.
    pub(crate) fn row(&self, bytes: u64, unit: Unit) -> Result<SizeRow> {
        let number = self.amount("it must be a number")?;
        let (line, step) = (self.line.number, last_digit(self.text));
        let (time_ns, step_ns) = match unit {
            _ if number == 0.0 => return Err(self.wrong("it must be more than 0")),
            Unit::Time(factor) => (number * factor, step * factor),
            Unit::Rate(_) if bytes == 0 => {
                return Err(self.line.wrong("0 bytes have a bandwidth but no time"));
            }
            Unit::Rate(factor) => {
                let rate = number * factor;
                let time = bytes as f64 * 1e9 / rate;
                (time, time * (step * factor) / rate)
            }
        };
        // A number within its type may give a time beyond it.
        if !(time_ns.is_finite() && time_ns > 0.0 && step_ns.is_finite()) {
            return Err(self.wrong("the time that it gives is too long or too short for a number"));
        }
        let of_rate = matches!(unit, Unit::Rate(_));
        Ok(SizeRow { line, bytes, time_ns, step_ns, of_rate })
    }
}

impl SizeRow {
    /// The same with a size that is known in steps of so many bytes.
    pub(crate) fn of_rounded_size(self, step: f64) -> SizeRow {
        let known = self.time_ns * (step / self.bytes.max(1) as f64);
        SizeRow { step_ns: self.step_ns.max(known), ..self }
    }

    /// The same of which a message takes only this share.
    pub(crate) fn times(self, share: f64) -> SizeRow {
        SizeRow { time_ns: self.time_ns * share, step_ns: self.step_ns * share, ..self }
    }
}

/// One unit of the last digit of a number, in units of the number.
pub(crate) fn last_digit(text: &str) -> f64 {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent = exponent.parse::<f64>().unwrap_or(0.0);
    10f64.powf(exponent - decimals as f64)
}
