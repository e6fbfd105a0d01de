//! Rows as they are collected, and what a size and a time must be.

use std::collections::HashMap;

use bandgap_units::{Bytes, Ns, Rate};

use super::{HockneyRow, HockneyTable, Timing, Tool};
use crate::TableError;
use crate::table_error::shortened;

/// 2⁴⁸ bytes: what a process can address at all.
const LARGEST: u64 = 1 << 48;

/// Units of time, as tools abbreviate them, and their nanoseconds.
const UNITS: [(&[&str], f64); 4] = [
    (&["ns", "nsec", "nsecs"], 1.0),
    (&["us", "usec", "usecs", "µs", "μs"], 1e3),
    (&["ms", "msec", "msecs"], 1e6),
    (&["s", "sec", "secs"], 1e9),
];

/// Nanoseconds of the unit called `name`.
pub(super) fn nanoseconds(name: &str) -> Option<f64> {
    UNITS.iter().find(|(names, _)| names.contains(&name)).map(|(_, factor)| *factor)
}

/// A time as it is printed.
#[derive(Clone, Copy)]
pub(super) struct Printed {
    pub time: Ns,
    /// One unit of the last digit.
    pub step: Ns,
}

impl Printed {
    /// The time that `bytes` take at a rate of `rate`, printed in steps of `step`.
    pub fn of_rate(bytes: u64, (rate, step): (Rate, Rate)) -> Printed {
        let time = Bytes(bytes) / rate;
        Printed { time, step: Ns(time.0 * step.0 / rate.0) }
    }

    /// The same, of a message whose size is given in steps of so many bytes.
    pub fn of_rounded_size(self, bytes: u64, step: f64) -> Printed {
        let known = step / (bytes.max(1) as f64);
        Printed { step: Ns(self.step.0.max(self.time.0 * known)), ..self }
    }
}

/// One unit of the last digit of a number, in units of the number.
fn last_digit(text: &str) -> f64 {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent = exponent.parse::<f64>().unwrap_or(0.0);
    10f64.powf(exponent - decimals as f64)
}

/// A table under construction.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<HockneyRow>,
    /// The line of each size.
    seen: HashMap<u64, u64>,
    timing: Option<(u64, Timing)>,
    notes: Vec<String>,
}

impl Rows {
    /// Says what the rows from `line` on are; they must all be the same.
    pub fn timed(&mut self, line: u64, timing: Timing) -> Result<(), TableError> {
        match self.timing {
            Some((first, before)) if before != timing => Err(TableError::Mixed {
                line,
                found: timing.name().into(),
                before: before.name().into(),
                first,
                advice: "give one kind of test at a time",
            }),
            Some(_) => Ok(()),
            None => {
                self.timing = Some((line, timing));
                Ok(())
            }
        }
    }

    /// Adds a row of a tool, which prints every size once.
    pub fn once(&mut self, line: u64, bytes: u64, time: Printed) -> Result<(), TableError> {
        if let Some(first) = self.seen.insert(bytes, line) {
            return Err(TableError::Repeated { line, bytes, first });
        }
        self.repetition(line, bytes, time);
        Ok(())
    }

    /// Adds a row, whatever sizes came before.
    pub fn repetition(&mut self, line: u64, bytes: u64, time: Printed) {
        let Printed { time, step } = time;
        self.rows.push(HockneyRow { line, bytes, time, step });
    }

    /// Keeps a sentence for the reader, once.
    pub fn note(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    /// The table, if there is one.
    pub fn finish(self, source: Tool) -> Result<HockneyTable, TableError> {
        if self.rows.is_empty() {
            return Err(TableError::NoRows);
        }
        let timing = self.timing.map_or(Timing::HalfRoundTrip, |(_, timing)| timing);
        Ok(HockneyTable { source, timing, rows: self.rows, notes: self.notes })
    }
}

/// A whole number of bytes, within what memory can hold.
pub(super) fn size(line: u64, column: &'static str, text: &str) -> Result<u64, TableError> {
    let why = match text.parse::<u64>() {
        Ok(bytes) if bytes <= LARGEST => return Ok(bytes),
        Ok(_) => "it is beyond any memory (at most 2^48 bytes)",
        Err(_) => match text.parse::<f64>() {
            Ok(number) if !number.is_finite() => "it must be finite",
            Ok(number) if number < 0.0 => "it must not be negative",
            Ok(number) if number > LARGEST as f64 => "it is beyond any memory (at most 2^48 bytes)",
            _ => "it must be a whole number of bytes",
        },
    };
    Err(TableError::Field { line, column, text: shortened(text), why })
}

/// A size that is printed with a prefix: its bytes, and whether the digits printed make a whole
/// number of them.
pub(super) fn scaled_size(
    line: u64,
    column: &'static str,
    text: &str,
    factor: f64,
) -> Result<(u64, bool), TableError> {
    let wrong = |why| TableError::Field { line, column, text: shortened(text), why };
    let number: f64 = text.parse().map_err(|_| wrong("it must be a number of bytes"))?;
    let bytes = number * factor;
    if !bytes.is_finite() {
        Err(wrong("it must be finite"))
    } else if bytes < 0.0 {
        Err(wrong("it must not be negative"))
    } else if bytes > LARGEST as f64 {
        Err(wrong("it is beyond any memory (at most 2^48 bytes)"))
    } else {
        Ok((bytes.round() as u64, (bytes - bytes.round()).abs() < 1e-6))
    }
}

/// A time in units of `factor` nanoseconds.
pub(super) fn time(
    line: u64,
    column: &'static str,
    text: &str,
    factor: f64,
) -> Result<Printed, TableError> {
    let time = positive(line, column, text, "it must be a number")? * factor;
    if !time.is_finite() {
        let text = shortened(text);
        return Err(TableError::Field { line, column, text, why: "it must be finite" });
    }
    Ok(Printed { time: Ns(time), step: Ns(last_digit(text) * factor) })
}

/// A rate in units of `factor` bytes per second, and the step in which it is printed.
pub(super) fn rate(
    line: u64,
    column: &'static str,
    text: &str,
    factor: f64,
) -> Result<(Rate, Rate), TableError> {
    let rate = positive(line, column, text, "it must be a number")?;
    Ok((Rate(rate * factor), Rate(last_digit(text) * factor)))
}

fn positive(
    line: u64,
    column: &'static str,
    text: &str,
    otherwise: &'static str,
) -> Result<f64, TableError> {
    let why = match text.parse::<f64>() {
        Err(_) => otherwise,
        Ok(number) if !number.is_finite() => "it must be finite",
        Ok(number) if number < 0.0 => "it must not be negative",
        Ok(0.0) => "it must be more than 0",
        Ok(number) => return Ok(number),
    };
    Err(TableError::Field { line, column, text: shortened(text), why })
}
