//! Three significant digits, and the split of a text into number and unit.

use std::fmt;

use crate::UnitError;

/// `value` rounded to `digits` significant digits, in plain notation where that stays readable.
///
/// All digits before the point are kept: 1234 stays 1234, since a zero in place of a known digit would
/// be wrong. Values below 10⁻⁴ and from 10⁶ on are written with an exponent.
///
/// ```
/// use bandgap_units::significant;
/// assert_eq!(significant(2.0517, 3), "2.05");
/// assert_eq!(significant(0.99951, 3), "1.00");
/// assert_eq!(significant(-124.7, 3), "-125");
/// assert_eq!(significant(1234.4, 3), "1234");
/// ```
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value.is_nan() { "NaN".to_owned() } else { format!("{value}") };
    }
    let digits = digits.max(1);
    let exponent = decimal_exponent(value, digits);
    if !(-4..6).contains(&exponent) {
        return format!("{value:.*e}", digits - 1);
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{value:.decimals$}")
}

/// The same without zeros at the end of decimals: "95 %" reads better than "95.0 %", and says the
/// same.
///
/// ```
/// use bandgap_units::significant_short;
/// assert_eq!(significant_short(95.0, 3), "95");
/// assert_eq!(significant_short(0.250, 3), "0.25");
/// ```
pub fn significant_short(value: f64, digits: usize) -> String {
    let mut text = significant(value, digits);
    if text.contains('.') && !text.contains('e') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text
}

/// The power of ten of `value` once it is rounded to `digits`: 999.6 has 3 at three digits.
fn decimal_exponent(value: f64, digits: usize) -> i32 {
    let text = format!("{value:.*e}", digits - 1);
    let exponent = text.split_once('e').map(|(_, exponent)| exponent);
    exponent.and_then(|e| e.parse().ok()).expect("the exponent format always has an exponent")
}

/// The step of `ladder` (ascending powers of a thousand with their symbols) that brings `value`
/// between 1 and 1000 after rounding, or the nearest one.
pub(crate) fn step<'a>(value: f64, ladder: &[(f64, &'a str)]) -> (f64, &'a str) {
    let rounded = if value == 0.0 || !value.is_finite() {
        value.abs()
    } else {
        format!("{:.2e}", value.abs()).parse().unwrap_or(value.abs())
    };
    let fitting = ladder.iter().rev().find(|(factor, _)| rounded >= *factor);
    *fitting.or(ladder.first()).expect("a ladder has a step")
}

/// Writes `value` with the right step of `ladder`: `1.40 µs`.
pub(crate) fn write_scaled(
    f: &mut fmt::Formatter<'_>,
    value: f64,
    ladder: &[(f64, &str)],
) -> fmt::Result {
    let (factor, symbol) = step(value, ladder);
    f.pad(&format!("{} {symbol}", significant(value / factor, 3)))
}

/// Splits `text` into its leading number and the unit after it, both trimmed.
pub(crate) fn split<'a>(
    text: &'a str,
    what: &'static str,
    example: &'static str,
) -> Result<(f64, &'a str), UnitError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(UnitError::Empty { what, example });
    }
    let end = number_length(trimmed);
    let (number, unit) = trimmed.split_at(end);
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, unit.trim())),
        Ok(_) => Err(UnitError::OutOfRange { what, text: text.into(), why: "it is too large" }),
        Err(_) => Err(UnitError::NotANumber { what, text: text.into(), example }),
    }
}

/// Bytes of `text` that form a decimal number; an `e` counts only when digits follow it.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    end += digits(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}
