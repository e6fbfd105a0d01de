//! A table of sizes and times while it is read.

use std::collections::HashMap;

use crate::columns::{Remark, SizeRow};
use crate::dialect::Dialect;
use crate::lines::{Cell, Line, Result};

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
        Ok(SizeRow { line, bytes, time_ns, step_ns })
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
