//! A table while it is read: what its times mean, its rows, and notes.

use std::collections::HashMap;

use bandgap_units::Ns;

use super::{HockneyRow, HockneyTable, Timing};
use crate::TableError;
use crate::table_lines::{Cell, Line, Result};

/// Whose times these are, and what they are.
pub(super) struct Meaning {
    /// The tool, as its users write it.
    tool: &'static str,
    timing: Timing,
    /// What `timing` leaves open, as a sentence for the reader of the fit; or empty.
    note: &'static str,
}

impl Meaning {
    pub const fn new(tool: &'static str, timing: Timing, note: &'static str) -> Meaning {
        Meaning { tool, timing, note }
    }

    /// Half the round trips of a ping-pong.
    pub const fn half(tool: &'static str, note: &'static str) -> Meaning {
        Meaning::new(tool, Timing::HalfRoundTrip, note)
    }
}

/// What a column counts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// Times, in units of so many nanoseconds.
    Time(f64),
    /// Rates, in units of so many bytes per second.
    Rate(f64),
}

pub(super) const MICROSECONDS: Unit = Unit::Time(1e3);

impl Unit {
    /// The unit of time with this abbreviation.
    pub fn of_time(name: &str) -> Option<Unit> {
        Some(match name {
            "ns" | "nsec" | "nsecs" => Unit::Time(1.0),
            "us" | "usec" | "usecs" | "µs" | "μs" => MICROSECONDS,
            "ms" | "msec" | "msecs" => Unit::Time(1e6),
            "s" | "sec" | "secs" => Unit::Time(1e9),
            _ => return None,
        })
    }
}

/// A table under construction.
#[derive(Default)]
pub(super) struct Table {
    /// Its rows. Those of a tool that prints every size once are added with [`Table::once`].
    pub rows: Vec<HockneyRow>,
    /// The line of each size.
    seen: HashMap<u64, u64>,
    meaning: Option<(u64, &'static Meaning)>,
    notes: Vec<String>,
    /// Messages of an operation; 0 where nothing was said.
    pub messages: u64,
}

impl Table {
    /// Says what the times from `line` on mean. They must all be of one kind.
    pub fn means(&mut self, line: &Line, meaning: &'static Meaning) -> Result {
        let (first, before) = *self.meaning.get_or_insert((line.number, meaning));
        if before.timing != meaning.timing {
            let (found, before) = (meaning.timing.name(), before.timing.name());
            return Err(line.mixed(found, before, first, "give one kind of test at a time"));
        }
        self.note(meaning.note);
        Ok(())
    }

    /// Adds a row of a tool, which prints every size once.
    pub fn once(&mut self, row: HockneyRow) -> Result {
        let HockneyRow { line, bytes, .. } = row;
        match self.seen.insert(bytes, line) {
            Some(first) => {
                let why = format!(
                    "{bytes} bytes again, as in line {first} (give one run of the tool; in CSV, \
                     rows of one size are repetitions)"
                );
                Err(TableError::Line { line, why })
            }
            None => {
                self.rows.push(row);
                Ok(())
            }
        }
    }

    /// Keeps a sentence for the reader, once.
    pub fn note(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !sentence.is_empty() && !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    /// The table, if there is one.
    pub fn finish(self) -> Result<HockneyTable> {
        match self.meaning {
            Some((_, &Meaning { tool, timing, .. })) if !self.rows.is_empty() => {
                let messages = self.messages.max(1);
                Ok(HockneyTable { tool, timing, messages, rows: self.rows, notes: self.notes })
            }
            _ => Err(TableError::NoRows),
        }
    }
}

/// 2⁴⁸ bytes: more than a process can address.
const LARGEST: u64 = 1 << 48;
const TOO_LARGE: &str = "it is too large (at most 2^48 bytes)";

impl Cell<'_> {
    /// A whole number of bytes, within what memory can hold.
    pub(super) fn size(&self) -> Result<u64> {
        const WHOLE: &str = "it must be a whole number of bytes";
        match self.text.parse() {
            Ok(bytes) if bytes <= LARGEST => Ok(bytes),
            _ if self.amount(WHOLE)? > LARGEST as f64 => Err(self.wrong(TOO_LARGE)),
            _ => Err(self.wrong(WHOLE)),
        }
    }

    /// A size in units of `factor` bytes, and whether its digits make a whole number of bytes.
    pub(super) fn scaled_size(&self, factor: f64) -> Result<(u64, bool)> {
        match self.amount("it must be a number of bytes")? * factor {
            bytes if bytes > LARGEST as f64 => Err(self.wrong(TOO_LARGE)),
            bytes => Ok((bytes.round() as u64, (bytes - bytes.round()).abs() < 1e-6)),
        }
    }

    /// The row of so many bytes with this time or rate.
    pub(super) fn row(&self, bytes: u64, unit: Unit) -> Result<HockneyRow> {
        let number = self.amount("it must be a number")?;
        let (line, step) = (self.line.number, last_digit(self.text));
        let (time, step) = match unit {
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
        if !(time.is_finite() && time > 0.0 && step.is_finite()) {
            return Err(self.wrong("the time that it gives is too long or too short for a number"));
        }
        Ok(HockneyRow { line, bytes, time: Ns(time), step: Ns(step) })
    }
}

impl HockneyRow {
    /// The same with a size that is known in steps of so many bytes.
    pub(super) fn of_rounded_size(self, step: f64) -> HockneyRow {
        let known = self.time.0 * (step / self.bytes.max(1) as f64);
        HockneyRow { step: Ns(self.step.0.max(known)), ..self }
    }
}

/// One unit of the last digit of a number, in units of the number.
pub(super) fn last_digit(text: &str) -> f64 {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent = exponent.parse::<f64>().unwrap_or(0.0);
    10f64.powf(exponent - decimals as f64)
}
