//! Values with half-widths, in readable units.

use bandgap_record::{Quantity, Unit};
use bandgap_units::{Ns, SharedUnit, significant};

/// Rates have SI prefixes: 1 GB/s is 10⁹ bytes per second.
const RATES: &[(f64, &str)] =
    &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")];

const TIMES: &[(f64, &str)] = &[(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")];
const BYTES: &[(f64, &str)] =
    &[(1.0, "B"), (1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB")];
const OFTEN: &[(f64, &str)] = &[(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s"), (1e9, "G/s")];
const PLAIN: &[(f64, &str)] = &[(1.0, "")];

/// Precision of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// The interval is wider than requested.
    No,
    /// The interval is wider than requested, but as narrow as the clock allows.
    ClockLimited,
    /// The interval is as narrow as requested.
    Converged,
}

impl Precision {
    /// The mark after a value: `*`, `~`, or none.
    pub fn mark(self) -> Option<char> {
        match self {
            Precision::Converged => None,
            Precision::ClockLimited => Some('~'),
            Precision::No => Some('*'),
        }
    }
}

/// A quantity in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Value.
    pub value: f64,
    /// Ends of the interval.
    pub interval: Option<(f64, f64)>,
    /// Unit of value and interval.
    pub unit: Unit,
    /// Precision.
    pub precision: Precision,
    /// Whether the quantity does not share the unit of its column, since the row names another.
    pub apart: bool,
}

impl Shown {
    /// A quantity with a precision.
    pub fn new(quantity: &Quantity, precision: Precision) -> Shown {
        let (value, interval) = (quantity.value.0, quantity.interval());
        Shown { value, interval, unit: quantity.unit, precision, apart: false }
    }
}

/// The largest multiple of an SI unit that writes `value` as 1.00 or more, or else the smallest multiple.
pub fn multiple(unit: Unit, value: f64) -> SharedUnit {
    SharedUnit::of(value, ladder(unit))
}

fn ladder(unit: Unit) -> &'static [(f64, &'static str)] {
    match unit {
        Unit::Second => TIMES,
        Unit::BytePerSecond => RATES,
        Unit::Byte => BYTES,
        Unit::PerSecond => OFTEN,
        Unit::One => PLAIN,
    }
}

/// The value, in `unit`, of a text such as `2.5us`, `11 GB/s` or `5 %`: a number and a symbol that values are written
/// with. `None` if it has another unit.
pub fn read(text: &str, unit: Unit) -> Option<f64> {
    if unit == Unit::Second {
        return text.parse().ok().map(Ns::as_secs);
    }
    let of = |(size, symbol): &(f64, &str)| {
        let number: f64 = text.trim().strip_suffix(symbol)?.trim_end().parse().ok()?;
        Some(number * size).filter(|value| value.is_finite())
    };
    let share = (unit == Unit::One).then_some((0.01, "%"));
    ladder(unit).iter().chain(&share).find_map(of)
}

/// A formatted value. Digits, half-width, symbol and mark are separate, so that columns can be aligned.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Written {
    pub(crate) value: String,
    /// `±0.4`; empty if it is below the digits shown.
    pub(crate) half: String,
    pub(crate) symbol: &'static str,
    pub(crate) mark: Option<char>,
}

/// Digits of a value shown without a half-width.
const EXACT_DIGITS: i32 = 3;
/// The most digits shown.
const MOST_DIGITS: i32 = 5;

impl Written {
    /// Formats a value. The half-width has one digit, or two if they are below 20, and the value is rounded to match.
    pub(crate) fn new(shown: &Shown, unit: SharedUnit) -> Written {
        let value = unit.count(shown.value);
        let half = shown
            .interval
            .map(|(low, high)| unit.count((shown.value - low).max(high - shown.value)).max(0.0))
            .filter(|half| half.is_finite());
        let (symbol, mark) = (unit.symbol, shown.precision.mark());
        let exact = EXACT_DIGITS - 1 - exponent(value);
        let most = MOST_DIGITS - 1 - exponent(value);
        let decimals = match half {
            Some(half) if half > 0.0 => {
                let first = exponent(half);
                let digits = if half / 10f64.powi(first) < 2.0 { 1 } else { 0 };
                digits - first
            }
            _ => exact,
        };
        // A half-width far below the digits shown is left out.
        let (decimals, has_half) = if decimals > most { (exact, false) } else { (decimals, true) };
        let half = match half {
            Some(half) if half > 0.0 && has_half => format!("±{}", rounded(half, decimals)),
            _ => String::new(),
        };
        // The value has at least one digit.
        Written { value: rounded(value, decimals.max(-exponent(value))), half, symbol, mark }
    }

    /// As text: `7.1 ±0.4 ns`.
    pub(crate) fn line(&self) -> String {
        let mut parts = vec![&*self.value, &self.half, self.symbol];
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }
}

/// A quantity as text, in its own unit: `7.1 ±0.4 ns`.
pub fn written(shown: &Shown) -> String {
    Written::new(shown, multiple(shown.unit, shown.value)).line()
}

/// A plain number in a unit: `7.12 ns`.
pub fn scaled(value: f64, unit: Unit) -> String {
    let unit = multiple(unit, value);
    let digits = significant(unit.count(value), 3);
    let digits = match digits.split_once('.') {
        // Whole numbers have no decimals.
        Some((whole, rest)) if rest.bytes().all(|digit| digit == b'0') => whole.to_owned(),
        _ => digits,
    };
    if unit.symbol.is_empty() { digits } else { format!("{digits} {}", unit.symbol) }
}

/// The power of ten of the first digit; 0 for 0.
fn exponent(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    value.abs().log10().floor() as i32
}

/// A number rounded to `decimals`, before the point if they are negative; in scientific notation if it would be too
/// long.
fn rounded(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if exponent(value) >= 6 || decimals > 6 {
        return significant(value, 3);
    }
    // No −0.00.
    let to = 10f64.powi(decimals);
    let value = (value * to).round() / to + 0.0;
    format!("{value:.*}", decimals.max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Precision;

    fn line(value: f64, half: f64, unit: Unit) -> String {
        let interval = Some((value - half, value + half));
        written(&Shown { value, interval, unit, precision: Precision::Converged, apart: false })
    }

    #[test]
    fn the_half_width_has_one_digit_or_two_and_the_value_ends_with_it() {
        assert_eq!(line(7.12e-9, 0.38e-9, Unit::Second), "7.1 ±0.4 ns");
        assert_eq!(line(29.44e-9, 0.14e-9, Unit::Second), "29.44 ±0.14 ns");
        assert_eq!(line(601.4e-6, 14.2e-6, Unit::Second), "601 ±14 µs");
        assert_eq!(line(1234e-9, 300e-9, Unit::Second), "1.2 ±0.3 µs");
        assert_eq!(line(-0.56e-9, 0.43e-9, Unit::Second), "-0.6 ±0.4 ns");
        assert_eq!(line(5e-9, 160e-9, Unit::Second), "5 ±160 ns");
        assert_eq!(line(3e6, 70e6, Unit::BytePerSecond), "3 ±70 MB/s");
        assert_eq!(line(12.4e9, 0.3e9, Unit::BytePerSecond), "12.4 ±0.3 GB/s");
    }

    #[test]
    fn what_is_exact_or_has_no_interval_has_no_half_width() {
        assert_eq!(line(79e-6, 0.0, Unit::Second), "79.0 µs");
        assert_eq!(line(79e-6, 1e-12, Unit::Second), "79.0 µs");
        let (interval, precision) = (None, Precision::No);
        let shown = Shown { value: 2.0, interval, unit: Unit::One, precision, apart: false };
        assert_eq!(written(&shown), "2.00");
    }

    #[test]
    fn extreme_values_stay_short() {
        for unit in [Unit::Second, Unit::BytePerSecond, Unit::Byte, Unit::One] {
            for exponent in -12..=12 {
                for share in [0.0, 1e-6, 0.03, 0.4, 50.0] {
                    let value = 9.876 * 10f64.powi(exponent);
                    for value in [value, -value] {
                        let text = line(value, share * value.abs(), unit);
                        assert!(text.chars().count() <= 24, "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn lengths_are_written_in_full_where_they_are_whole() {
        assert_eq!(scaled(65536.0, Unit::Byte), "64 KiB");
        assert_eq!(scaled(1536.0, Unit::Byte), "1.50 KiB");
        assert_eq!(scaled(0.0, Unit::Byte), "0 B");
    }

    #[test]
    fn what_is_written_in_a_unit_is_read_in_that_unit_alone() {
        for unit in Unit::ALL {
            for value in [4.5e-7, 2.0, 73.0, 5.25e6, 1.5e10] {
                let text = scaled(value, unit);
                let near = |of: f64| (of / value - 1.0).abs() < 0.005;
                assert!(read(&text, unit).is_some_and(near), "{text}");
                let others = Unit::ALL.iter().filter(|other| **other != unit);
                assert!(others.clone().all(|other| read(&text, *other).is_none()), "{text}");
            }
        }
        for (text, value) in [("2.5us", 2.5e-6), ("11GB/s", 11e9), ("5 %", 0.05), ("3", 3.0)] {
            let all: Vec<f64> = Unit::ALL.iter().filter_map(|unit| read(text, *unit)).collect();
            assert!(all.len() == 1 && (all[0] / value - 1.0).abs() < 1e-9, "{text}: {all:?}");
        }
        let wrong = ["", "3 parsec", "inf", "us"];
        assert!(wrong.iter().all(|text| Unit::ALL.iter().all(|unit| read(text, *unit).is_none())));
    }
}
