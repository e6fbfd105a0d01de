//! The text of a file: where in it a value is wrong, and values that entries have in common.

use bandgap_units::{Ns, UnitError};
use toml::Spanned;

use crate::TableError;
use crate::component_table::line_of;
use crate::table_lines::Result;
use bandgap_import::shortened;

/// Counts lines up to places that mostly ascend.
pub(super) struct Counter<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> Counter<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0, line: 1 }
    }

    pub fn line(&mut self, at: usize) -> u64 {
        if at < self.at {
            return line_of(self.text, at);
        }
        self.line += line_of(&self.text[self.at..at.min(self.text.len())], usize::MAX) - 1;
        self.at = at.min(self.text.len());
        self.line
    }
}

pub(super) struct Source<'a> {
    pub text: &'a str,
}

impl Source<'_> {
    pub fn wrong(&self, at: usize, why: impl Into<String>) -> TableError {
        TableError::Line { line: line_of(self.text.as_bytes(), at), why: why.into() }
    }

    pub fn all<E, T>(
        &self,
        entries: &[Spanned<E>],
        read: impl Fn(&Self, usize, &E) -> Result<T>,
    ) -> Result<Vec<(u64, T)>> {
        let one = |entry: &Spanned<E>| {
            let at = entry.span().start;
            Ok((line_of(self.text.as_bytes(), at), read(self, at, entry.get_ref())?))
        };
        entries.iter().map(one).collect()
    }

    pub fn word<T>(
        &self,
        key: &str,
        word: &Spanned<String>,
        named: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Result<T> {
        named(word.get_ref()).ok_or_else(|| {
            let why = format!("{key} is '{}': {expected}", shortened(word.get_ref()));
            self.wrong(word.span().start, why)
        })
    }

    /// A time in nanoseconds, given as a number of them or as a text with its unit, and what it must be.
    pub fn time(
        &self,
        key: &str,
        number: &Option<Spanned<f64>>,
        text: &Option<Spanned<String>>,
        (fits, expected): (fn(f64) -> bool, &str),
    ) -> Result<Option<f64>> {
        let (at, time) = match (number, text) {
            (None, None) => return Ok(None),
            (Some(number), None) => (number.span().start, *number.get_ref()),
            (None, Some(text)) => {
                let at = text.span().start;
                let time: std::result::Result<Ns, UnitError> = text.get_ref().parse();
                (at, time.map_err(|error| self.wrong(at, error.to_string()))?.0)
            }
            (Some(number), Some(_)) => {
                let why = format!("{key}_ns and {key} say the same: give one of them");
                return Err(self.wrong(number.span().start, why));
            }
        };
        if !fits(time) {
            return Err(self.wrong(at, format!("{key} is {} ns: {expected}", short(time))));
        }
        Ok(Some(time))
    }
}

/// A number, with an exponent where it would have very many digits.
fn short(number: f64) -> String {
    let long = number != 0.0 && number.is_finite() && !(1e-6..1e9).contains(&number.abs());
    if long { format!("{number:e}") } else { number.to_string() }
}
