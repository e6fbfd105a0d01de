//! The values of options.

use std::str::FromStr;

use bandgap_campaign::plan::Asked;
use bandgap_units::{Fraction, Ns, UnitError};

/// How the axes of plots are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Axes {
    /// By powers.
    #[default]
    Log,
    /// Evenly.
    Linear,
}

fn read<T: FromStr<Err = UnitError>>(
    text: &str,
    is_possible: impl Fn(&T) -> bool,
    must_be: &str,
) -> Result<T, String> {
    let read = text.parse().map_err(|error: UnitError| error.to_string())?;
    if is_possible(&read) { Ok(read) } else { Err(format!("must be {must_be}")) }
}

/// Parses `--precision`: no measured interval has a half-width of 0, and one wider than its value tells nothing.
pub fn precision(text: &str) -> Result<Fraction, String> {
    read(text, |share: &Fraction| share.0 > 0.0, "greater than 0 % and at most 100 %")
}

/// Parses `--confidence`: a certain interval is infinite, and one without confidence is empty.
pub fn confidence(text: &str) -> Result<Fraction, String> {
    let possible = LEAST_CONFIDENCE..=1.0 - LEAST_CONFIDENCE;
    read(text, |share: &Fraction| possible.contains(&share.0), "between 0.0001 % and 99.9999 %")
}

/// The least confidence, and the distance of the greatest from 1.
const LEAST_CONFIDENCE: f64 = 1e-6;

/// Parses a time to wait.
pub fn time(text: &str) -> Result<Ns, String> {
    let is_possible = |time: &Ns| time.0 > 0.0 && time.0 <= LONGEST_WAIT;
    read(text, is_possible, "greater than 0 and at most 1000 h")
}

/// Longest time to wait, in nanoseconds: a thousand hours.
const LONGEST_WAIT: f64 = 3.6e15;

/// A placeholder until the session sets precision and time, or where neither matters.
pub fn nothing_asked() -> Asked {
    Asked { precision: 0.05, confidence: 0.95, budget: 0.0, seed: 1, stamp: 0.0, check: false }
}
