//! Numbers with three significant digits, and shared units.

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
        return value.to_string();
    }
    let digits = digits.max(1);
    let exponent = decimal_exponent(value, digits);
    if !(-4..6).contains(&exponent) {
        return format!("{value:.*e}", digits - 1);
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{value:.decimals$}")
}

/// As [`significant`], but without trailing zeros of decimals: "95 %" reads better than "95.0 %"
/// and says the same.
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

/// Numbers with three significant digits. Different numbers that would read the same get as many
/// more digits, up to five in all, as are needed to tell them apart.
///
/// ```
/// use bandgap_units::distinct;
/// assert_eq!(distinct(&[12.96, 13.04, 26.0]), ["12.96", "13.04", "26.0"]);
/// ```
pub fn distinct(values: &[f64]) -> Vec<String> {
    let differ = |value: f64, digits: usize| {
        let text = significant(value, digits);
        values.iter().all(|&other| other == value || significant(other, digits) != text)
    };
    let digits = |value: f64| (3..6).find(|&digits| differ(value, digits)).unwrap_or(3);
    values.iter().map(|&value| significant(value, digits(value))).collect()
}

/// The power of ten of `value` after rounding to `digits`: 999.6 gives 3 at three digits.
fn decimal_exponent(value: f64, digits: usize) -> i32 {
    let text = format!("{value:.*e}", digits - 1);
    let exponent = text.split_once('e').map(|(_, exponent)| exponent);
    exponent.and_then(|e| e.parse().ok()).expect("the exponent format always has an exponent")
}

/// A unit that several numbers share, in a column of a table or along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedUnit {
    /// How much one of it is, in the unit of the ladder's sizes.
    pub size: f64,
    /// The unit's symbol.
    pub symbol: &'static str,
}

impl SharedUnit {
    /// The greatest step of `ladder` (ascending sizes with their symbols) in which `value` is
    /// written as 1.00 or more; otherwise the first step.
    pub fn of(value: f64, ladder: &[(f64, &'static str)]) -> SharedUnit {
        // What would be written as 1000 of a unit is written as 1.00 of the next.
        let fitting = ladder.iter().rev().find(|(size, _)| value.abs() >= 0.9995 * size);
        let (size, symbol) = *fitting.or(ladder.first()).expect("a ladder has a step");
        SharedUnit { size, symbol }
    }

    /// `value` in this unit. `value` must be in the unit of the ladder's sizes: nanoseconds, or
    /// bytes per second.
    pub fn count(self, value: f64) -> f64 {
        value / self.size
    }

    /// `value` in this unit with three significant digits, and the symbol.
    pub fn write(self, value: f64) -> String {
        format!("{} {}", significant(self.count(value), 3), self.symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_written_so_unless_it_takes_too_many_digits() {
        assert_eq!(distinct(&[13.0, 13.0]), ["13.0", "13.0"]);
        assert_eq!(distinct(&[13.0, 13.01, 13.1]), ["13.00", "13.01", "13.1"]);
        assert_eq!(distinct(&[1.0, 1.000_000_1]), ["1.00", "1.00"]);
    }
}
