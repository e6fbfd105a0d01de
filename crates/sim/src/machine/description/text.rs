//! The text that a machine is read from, and errors that name a place in it.

use std::ops::Range;

use toml::Spanned;

use crate::SimError;

/// Longest overhead, gap and latency: one second.
const MOST_NS: f64 = 1e9;

/// The text that a machine is read from.
pub(super) struct Text<'a> {
    pub text: &'a str,
    pub origin: &'a str,
}

impl Text<'_> {
    /// The line where `place` begins, from 1.
    pub fn line(&self, place: Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..place.start.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// The error that `key` has this value. It names the line of a key that may come in several
    /// tables: one of which the place is given.
    pub fn wrong(
        &self,
        key: &'static str,
        place: Option<Range<usize>>,
        value: impl ToString,
        bounds: impl Into<String>,
    ) -> SimError {
        let line = place.map(|place| format!(", line {}", self.line(place))).unwrap_or_default();
        let (origin, value) = (format!("{}{line}", self.origin), value.to_string());
        SimError::Value { origin, key, value, bounds: bounds.into() }
    }

    /// A time in nanoseconds as a whole number of smaller units; exact, as it is at most 10¹⁵.
    pub fn time(
        &self,
        key: &'static str,
        place: Option<Range<usize>>,
        value: f64,
        least: f64,
        per_ns: f64,
    ) -> Result<u64, SimError> {
        if (least..=MOST_NS).contains(&value) {
            Ok((value * per_ns).round() as u64)
        } else {
            Err(self.wrong(key, place, value, format!("from {least} to {MOST_NS}")))
        }
    }

    pub fn time_at(
        &self,
        key: &'static str,
        value: &Spanned<f64>,
        per_ns: f64,
    ) -> Result<u64, SimError> {
        self.time(key, Some(value.span()), *value.get_ref(), 0.0, per_ns)
    }

    pub fn count(
        &self,
        key: &'static str,
        place: Option<Range<usize>>,
        value: u32,
        most: u32,
    ) -> Result<u32, SimError> {
        if (1..=most).contains(&value) {
            Ok(value)
        } else {
            Err(self.wrong(key, place, value, format!("from 1 to {most}")))
        }
    }
}
