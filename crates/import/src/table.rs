//! A table of sizes and times while it is being read.

use std::collections::HashSet;

use bandgap_units::Bytes;

use crate::columns::{Choice, Remark, Run, SizeRow, SizeTable, Timing};
use crate::lines::{Cell, Line, Result};
use crate::{TableError, shortened};

/// One kind of output.
#[derive(PartialEq)]
pub(crate) struct Dialect {
    /// The tool, as its users write it.
    pub tool: &'static str,
    /// Name of the test in the family's files.
    pub test: &'static str,
    /// Label of the size column.
    pub size: &'static str,
    /// Another label that the heading must have, or empty.
    pub beside: &'static str,
    /// Label of the column of times or rates, or the text before one.
    pub time: &'static str,
    /// Unit of that column, if its label has none.
    pub unit: Unit,
    /// Share of it that one message takes: ½ for a round trip.
    pub share: f64,
    /// Meaning of that share.
    pub timing: Timing,
    /// Condition under which that meaning holds, or empty.
    pub caveat: &'static str,
}

/// Kinds of output that look alike.
pub(crate) struct Family {
    /// Name in messages.
    pub name: &'static str,
    /// The readable tests. If a file has several, the first of this list is read; if it names none,
    /// the first with matching columns is assumed.
    pub dialects: &'static [Dialect],
    /// Name of the test that begins with this line.
    pub title: fn(&str) -> Option<String>,
    /// Whether only this family prints such a line.
    pub tells: fn(&Family, &str) -> bool,
    /// Reads all lines; [`crate::headed::read`] for results in columns under headings.
    pub read: fn(&'static Family, &[Line], &mut Sections) -> Result,
}

pub(crate) const fn dialect(
    (tool, test): (&'static str, &'static str),
    [size, beside, time]: [&'static str; 3],
    (unit, share): (Unit, f64),
    timing: Timing,
) -> Dialect {
    Dialect { tool, test, size, beside, time, unit, share, timing, caveat: "" }
}

impl Dialect {
    /// Adds the condition under which the times have their meaning.
    pub(crate) const fn but(self, caveat: &'static str) -> Dialect {
        Dialect { caveat, ..self }
    }
}

/// A column of microseconds per message.
pub(crate) const US: (Unit, f64) = (MICROSECONDS, 1.0);

/// The user's own columns.
pub(crate) const CSV: Dialect = dialect(("CSV", ""), ["bytes", "", "time"], US, Timing::AsGiven);

/// Unit of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unit {
    /// Times, in units of this many nanoseconds.
    Time(f64),
    /// Rates, in units of this many bytes per second.
    Rate(f64),
    /// Messages per second.
    Frequency,
}

pub(crate) const MICROSECONDS: Unit = Unit::Time(1e3);

impl Unit {
    /// The unit with this abbreviation.
    pub fn named(name: &str) -> Option<Unit> {
        Some(match name {
            "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => Unit::Time(1.0),
            "us" | "usec" | "usecs" | "µs" | "μs" | "µsec" | "μsec" | "microsecond"
            | "microseconds" => MICROSECONDS,
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => Unit::Time(1e6),
            "s" | "sec" | "secs" | "second" | "seconds" => Unit::Time(1e9),
            "bytes/sec" => Unit::Rate(1.0),
            "MB/s" => Unit::Rate(1e6),
            "MiB/s" | "MiB/sec" | "MB/sec" => Unit::Rate(1_048_576.0),
            "GB/s" => Unit::Rate(1e9),
            "Gb/sec" | "Gb/s" | "Gbps" => Unit::Rate(1.25e8),
            _ => return None,
        })
    }
}

/// The lines of one run of one test.
#[derive(Default)]
pub(crate) struct Section {
    /// Its first line.
    pub line: u64,
    /// Name of the test in the file.
    pub name: String,
    /// Meaning of the times; `None` for a test that cannot be read.
    pub dialect: Option<&'static Dialect>,
    /// Whether the file names the test.
    pub named: bool,
    /// Whether rows of the same size are repetitions.
    pub repeats: bool,
    pub rows: Vec<SizeRow>,
    pub remarks: Vec<Remark>,
    /// Why the section cannot be read.
    pub error: Option<TableError>,
}

/// The sections of a file.
#[derive(Default)]
pub(crate) struct Sections {
    pub list: Vec<Section>,
    pub remarks: Vec<Remark>,
}

impl Sections {
    /// Begins a section.
    pub fn begin(
        &mut self,
        line: u64,
        name: &str,
        dialect: Option<&'static Dialect>,
        named: bool,
    ) -> &mut Section {
        let name = name.to_owned();
        self.list.push(Section { line, name, dialect, named, ..Section::default() });
        self.list.last_mut().expect("just added")
    }

    /// Adds a row to the last section if it has this dialect, or to a new section.
    pub fn row(&mut self, of: &'static Dialect, named: bool, row: SizeRow) -> &mut Section {
        let is_same = |last: &Section| last.dialect == Some(of) && last.named == named;
        if !self.list.last().is_some_and(is_same) {
            self.begin(row.line, of.test, Some(of), named);
        }
        let last = self.list.last_mut().expect("one has begun");
        last.rows.push(row);
        last
    }

    /// Keeps a remark, once.
    pub fn remark(&mut self, remark: Remark) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// Takes the chosen test, or the only readable one.
    pub fn choose(mut self, dialects: &'static [Dialect], choice: &Choice) -> Result<SizeTable> {
        let wanted = |section: &Section| choice.test.as_ref().is_none_or(|test| section.is(test));
        if let (Some(test), false) = (&choice.test, self.list.iter().any(wanted)) {
            let (test, found) = (shortened(test), shortened(&names(&self.list).join(", ")));
            return Err(TableError::Whole(format!(
                "the file has no test '{test}' (found: {found})"
            )));
        }
        // Prefer dialects in this order, and named tests to unnamed ones.
        let rank = |section: &Section| {
            let place = dialects.iter().position(|of| section.dialect == Some(of))?;
            let usable = section.error.is_some() || !section.rows.is_empty();
            (usable && wanted(section)).then_some((!section.named, place))
        };
        let Some(best) = self.list.iter().filter_map(rank).min() else {
            let mut wanted = self.list.into_iter().filter(wanted);
            let error = wanted.find_map(|section| section.error);
            return Err(error.unwrap_or(TableError::NoRows));
        };
        let dialect = &dialects[best.1];
        let first = self.list.iter().find(|section| rank(section) == Some(best));
        let name = first.map(|section| section.name.clone()).unwrap_or_default();
        let is_same = |section: &Section| section.name.eq_ignore_ascii_case(&name);
        let sections = std::mem::take(&mut self.list).into_iter();
        let (chosen, rest): (Vec<Section>, Vec<Section>) =
            sections.partition(|section| rank(section) == Some(best) && is_same(section));
        let rest = rest.into_iter().filter(|of| of.dialect != Some(dialect) || !is_same(of));
        let (others, left_out): (Vec<Section>, Vec<Section>) =
            rest.partition(|section| section.error.is_none() && !section.rows.is_empty());
        let remarks = [
            (!left_out.is_empty(), Remark::LeftOut(names(&left_out))),
            (!others.is_empty(), Remark::Others(names(&others))),
            (best.0 && !dialect.test.is_empty(), Remark::Assumed(dialect.test)),
            (!dialect.caveat.is_empty(), Remark::Caveat(dialect.caveat.to_owned())),
        ];
        let remarks = remarks.into_iter().filter(|of| of.0).map(|of| of.1);
        let of_chosen = chosen.iter().flat_map(|of| of.remarks.clone());
        remarks.chain(of_chosen).for_each(|remark| self.remark(remark));
        let mut runs = runs(chosen)?;
        let count = runs.len() as u64;
        let rows = match choice.run {
            _ if count == 0 => return Err(TableError::NoRows),
            Run::Number(number) if number > count || number == 0 => {
                return Err(TableError::Whole(format!(
                    "the test has no run {number} (runs: {count})"
                )));
            }
            Run::Only if count > 1 => {
                let lines: Vec<String> =
                    runs.iter().take(12).map(|(line, _)| line.to_string()).collect();
                let why = format!(
                    "another run of {} begins here; the runs begin in lines {} (choose one with --run, by \
                     its number, or take them as repetitions with --run all)",
                    dialect.tool,
                    lines.join(", ")
                );
                return Err(TableError::Line(runs[1].0, why));
            }
            Run::Number(number) if count > 1 => {
                self.remark(Remark::Run(number, count));
                runs.swap_remove(number as usize - 1).1
            }
            Run::All if count > 1 => {
                self.remark(Remark::Repetitions(count));
                runs.into_iter().flat_map(|(_, rows)| rows).collect()
            }
            _ => runs.swap_remove(0).1,
        };
        let Dialect { tool, timing, .. } = *dialect;
        Ok(SizeTable { tool, timing, rows, remarks: self.remarks })
    }
}

/// The names to choose these tests by, without repetition; each is a single word.
fn names(sections: &[Section]) -> Vec<String> {
    let mut names = Vec::new();
    for section in sections {
        let name = match section.dialect {
            Some(dialect) if dialect.test.contains(' ') => dialect.tool,
            // The end of several tests' names.
            Some(dialect) if dialect.test.starts_with('_') => &section.name,
            Some(dialect) => dialect.test,
            None => &section.name,
        };
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

impl Section {
    /// Whether `name` means this test.
    pub fn is(&self, name: &str) -> bool {
        let plain = |name: &str| -> String {
            name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
        };
        let [tool, test] = self.dialect.map_or([""; 2], |dialect| [dialect.tool, dialect.test]);
        [self.name.as_str(), tool, test].into_iter().any(|of| plain(of) == plain(name))
    }
}

/// The rows of each run, with its first line. A new run begins where a size is repeated.
fn runs(sections: Vec<Section>) -> Result<Vec<(u64, Vec<SizeRow>)>> {
    let mut runs: Vec<(u64, Vec<SizeRow>)> = Vec::new();
    let mut seen = HashSet::new();
    for section in sections {
        if let Some(error) = section.error {
            return Err(error);
        }
        let known = |row: &SizeRow| !section.repeats && seen.contains(&row.bytes);
        let mut anew = runs.is_empty() || section.rows.iter().any(known);
        for row in section.rows {
            let again = !section.repeats && seen.contains(&row.bytes);
            if anew || again {
                runs.push((if anew { section.line } else { row.line }, Vec::new()));
                seen.clear();
                anew = false;
            }
            seen.insert(row.bytes);
            runs.last_mut().expect("one has begun").1.push(row);
        }
    }
    Ok(runs)
}

/// 2⁴⁸ bytes: more than a process can address.
const LARGEST: u64 = 1 << 48;
const TOO_LARGE: &str = "it is too large (at most 2^48 bytes)";

impl Cell<'_> {
    /// The value as a whole number of bytes, at most [`LARGEST`].
    pub(crate) fn size(&self) -> Result<u64> {
        const WHOLE: &str = "it must be a whole number of bytes";
        match self.text.parse() {
            Ok(bytes) if bytes <= LARGEST => Ok(bytes),
            _ if self.amount(WHOLE)? > LARGEST as f64 => Err(self.wrong(TOO_LARGE)),
            _ => Err(self.wrong(WHOLE)),
        }
    }

    /// The value as a size that may have a unit, as in `64KiB`, or marks between thousands.
    pub(crate) fn own_size(&self) -> Result<u64> {
        const MARKS: [char; 4] = [',', '_', '\'', ' '];
        let is_group = |part: &str| part.len() == 3 && part.bytes().all(|c| c.is_ascii_digit());
        let is_grouped = self.text.split(MARKS).skip(1).all(is_group);
        let plain = if is_grouped { self.text.replace(MARKS, "") } else { self.text.to_owned() };
        if !plain.ends_with(char::is_alphabetic) {
            return Cell { text: &plain, ..*self }.size();
        }
        let size = plain.replace("bytes", "B").replace("byte", "B").parse::<Bytes>();
        match size.map_err(|error| self.line.wrong(format!("{}: {error}", self.column)))?.0 {
            bytes if bytes > LARGEST => Err(self.wrong(TOO_LARGE)),
            bytes => Ok(bytes),
        }
    }

    /// The value as a size in units of `factor` bytes, and whether it is a whole number of bytes.
    pub(crate) fn scaled_size(&self, factor: f64) -> Result<(u64, bool)> {
        match self.amount("it must be a number of bytes")? * factor {
            bytes if bytes > LARGEST as f64 => Err(self.wrong(TOO_LARGE)),
            bytes => Ok((bytes.round() as u64, (bytes - bytes.round()).abs() < 1e-6)),
        }
    }

    /// The row for this many bytes, with this value as its time or rate.
    pub(crate) fn row(&self, bytes: u64, unit: Unit) -> Result<SizeRow> {
        let number = self.amount("it must be a number")?;
        let (line, step) = (self.line.number, last_digit(self.text));
        let (time_ns, step_ns) = match unit {
            _ if number == 0.0 => return Err(self.wrong("it must be more than 0")),
            Unit::Time(factor) => (number * factor, step * factor),
            Unit::Frequency => (1e9 / number, 1e9 / number * (step / number)),
            Unit::Rate(_) if bytes == 0 => {
                return Err(self.line.wrong("a bandwidth of 0 bytes gives no time"));
            }
            Unit::Rate(factor) => {
                let rate = number * factor;
                let time = bytes as f64 * 1e9 / rate;
                (time, time * (step * factor) / rate)
            }
        };
        // A finite number may still give an infinite or zero time.
        if !(time_ns.is_finite() && time_ns > 0.0 && step_ns.is_finite()) {
            return Err(self.wrong("the resulting time is too large or too small for a number"));
        }
        let of_rate = !matches!(unit, Unit::Time(_));
        Ok(SizeRow { line, bytes, time_ns, step_ns, of_rate })
    }
}

impl SizeRow {
    /// The row with a size that is known only in steps of this many bytes.
    pub(crate) fn of_rounded_size(self, step: f64) -> SizeRow {
        let known = self.time_ns * (step / self.bytes.max(1) as f64);
        SizeRow { step_ns: self.step_ns.max(known), ..self }
    }

    /// The row if a message takes only this share of the time.
    pub(crate) fn times(self, share: f64) -> SizeRow {
        SizeRow { time_ns: self.time_ns * share, step_ns: self.step_ns * share, ..self }
    }
}

/// One unit of a number's last digit.
pub(crate) fn last_digit(text: &str) -> f64 {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent = exponent.parse::<f64>().unwrap_or(0.0);
    10f64.powf(exponent - decimals as f64)
}
