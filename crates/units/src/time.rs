//! Durations.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::UnitError;
use crate::number::{split, step, write_scaled};

const LADDER: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

/// A duration in nanoseconds, signed: derived quantities (L of overlapping overheads) may be
/// negative.
///
/// Written with three significant digits and the prefix that fits; read from a number with one of
/// the units ns, us (or µs), ms, s, min, h.
///
/// ```
/// use bandgap_units::Ns;
/// assert_eq!(Ns(1400.0).to_string(), "1.40 µs");
/// assert_eq!("250ms".parse(), Ok(Ns(250e6)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ns(pub f64);

impl Ns {
    /// No time at all.
    pub const ZERO: Ns = Ns(0.0);

    /// A duration given in seconds.
    pub fn from_secs(seconds: f64) -> Ns {
        Ns(seconds * 1e9)
    }

    /// The duration in seconds. Dividing rounds once, so 27 ns gives the number nearest to 2.7e-8.
    pub fn as_secs(self) -> f64 {
        self.0 / 1e9
    }

    /// The same duration without its sign.
    pub fn abs(self) -> Ns {
        Ns(self.0.abs())
    }

    /// The shorter of the two.
    pub fn min(self, other: Ns) -> Ns {
        Ns(self.0.min(other.0))
    }

    /// The longer of the two.
    pub fn max(self, other: Ns) -> Ns {
        Ns(self.0.max(other.0))
    }

    /// Whether it is neither infinite nor NaN.
    pub fn is_finite(self) -> bool {
        self.0.is_finite()
    }

    /// The unit in which this duration is written.
    pub fn unit(self) -> TimeUnit {
        let (nanoseconds, symbol) = step(self.0, &LADDER);
        TimeUnit { nanoseconds, symbol }
    }
}

/// One of ns, µs, ms and s, for a table column or an axis whose numbers share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    nanoseconds: f64,
    symbol: &'static str,
}

impl TimeUnit {
    /// The unit's symbol.
    pub fn symbol(self) -> &'static str {
        self.symbol
    }

    /// How many of this unit `time` is.
    pub fn count(self, time: Ns) -> f64 {
        time.0 / self.nanoseconds
    }
}

impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &LADDER)
    }
}

impl FromStr for Ns {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Ns, UnitError> {
        const WHAT: &str = "a duration";
        let (value, unit) = split(text, WHAT, "250ms")?;
        let nanoseconds = match unit {
            "ns" => 1.0,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            "h" => 3600e9,
            "" if value == 0.0 => 1.0,
            "" => {
                return Err(UnitError::MissingUnit {
                    what: WHAT,
                    text: text.into(),
                    example: "250ms",
                });
            }
            _ => {
                return Err(UnitError::UnknownUnit {
                    what: WHAT,
                    text: text.into(),
                    unit: unit.into(),
                    known: "ns, us, ms, s, min, h",
                });
            }
        };
        let time = Ns(value * nanoseconds);
        if !time.is_finite() {
            let why = "it is too large";
            return Err(UnitError::OutOfRange { what: WHAT, text: text.into(), why });
        }
        Ok(time)
    }
}

impl From<Duration> for Ns {
    fn from(duration: Duration) -> Ns {
        Ns(duration.as_secs() as f64 * 1e9 + f64::from(duration.subsec_nanos()))
    }
}

/// A time that is negative, infinite or too long has no [`Duration`].
impl TryFrom<Ns> for Duration {
    type Error = UnitError;

    fn try_from(time: Ns) -> Result<Duration, UnitError> {
        Duration::try_from_secs_f64(time.as_secs()).map_err(|_| UnitError::OutOfRange {
            what: "a time span",
            text: time.to_string(),
            why: "it must be finite and not negative",
        })
    }
}

impl Add for Ns {
    type Output = Ns;
    fn add(self, other: Ns) -> Ns {
        Ns(self.0 + other.0)
    }
}

impl AddAssign for Ns {
    fn add_assign(&mut self, other: Ns) {
        self.0 += other.0;
    }
}

impl Sub for Ns {
    type Output = Ns;
    fn sub(self, other: Ns) -> Ns {
        Ns(self.0 - other.0)
    }
}

impl SubAssign for Ns {
    fn sub_assign(&mut self, other: Ns) {
        self.0 -= other.0;
    }
}

impl Neg for Ns {
    type Output = Ns;
    fn neg(self) -> Ns {
        Ns(-self.0)
    }
}

impl Mul<f64> for Ns {
    type Output = Ns;
    fn mul(self, factor: f64) -> Ns {
        Ns(self.0 * factor)
    }
}

impl Mul<Ns> for f64 {
    type Output = Ns;
    fn mul(self, time: Ns) -> Ns {
        time * self
    }
}

impl Div<f64> for Ns {
    type Output = Ns;
    fn div(self, divisor: f64) -> Ns {
        Ns(self.0 / divisor)
    }
}

/// This duration divided by the other.
impl Div for Ns {
    type Output = f64;
    fn div(self, other: Ns) -> f64 {
        self.0 / other.0
    }
}

impl Sum for Ns {
    fn sum<I: Iterator<Item = Ns>>(times: I) -> Ns {
        Ns(times.map(|time| time.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_digits_and_the_prefix_that_fits() {
        let cases = [
            (2.0517, "2.05 ns"),
            (124.7, "125 ns"),
            (1400.0, "1.40 µs"),
            (33.5e9, "33.5 s"),
            // Rounding carries into the next prefix: never "1000 ns".
            (999.6, "1.00 µs"),
            (999.4, "999 ns"),
            (-1375.0, "-1.38 µs"),
            (0.0, "0 ns"),
            (0.39, "0.390 ns"),
            // Nothing above a second, and known digits stay.
            (7_234e9, "7234 s"),
            (f64::NAN, "NaN ns"),
            (f64::INFINITY, "inf s"),
        ];
        for (value, text) in cases {
            assert_eq!(Ns(value).to_string(), text);
        }
        assert_eq!(format!("{:>9}|", Ns(27.0)), "  27.0 ns|");
    }

    #[test]
    fn reads_every_unit() {
        let cases = [
            ("250ms", 250e6),
            ("10s", 10e9),
            ("5us", 5e3),
            ("5µs", 5e3),
            ("5μs", 5e3),
            (" 1.5 ns ", 1.5),
            ("2min", 120e9),
            ("1h", 3600e9),
            ("-3ns", -3.0),
            ("1e3ns", 1000.0),
            ("0", 0.0),
        ];
        for (text, value) in cases {
            assert_eq!(text.parse(), Ok(Ns(value)), "{text}");
        }
    }

    #[test]
    fn errors_name_the_text() {
        let message = |text: &str| text.parse::<Ns>().unwrap_err().to_string();
        assert_eq!(
            message("10"),
            "read a duration from '10': the unit is missing (write for example 250ms)"
        );
        assert_eq!(
            message("10 parsecs"),
            "read a duration from '10 parsecs': unknown unit 'parsecs' (known: ns, us, ms, s, min, h)"
        );
        assert_eq!(
            message("soon"),
            "read a duration from 'soon': it does not start with a number (write for example 250ms)"
        );
        assert_eq!(message("1e308h"), "read a duration from '1e308h': it is too large");
        assert_eq!(message(" "), "read a duration: the text is empty (write for example 250ms)");
    }

    #[test]
    fn a_unit_is_shared_by_a_column() {
        let unit = Ns(1400.0).unit();
        assert_eq!((unit.symbol(), unit.count(Ns(250.0))), ("µs", 0.25));
    }

    #[test]
    fn durations_convert_both_ways() {
        assert_eq!(Ns::from(Duration::from_micros(3)), Ns(3000.0));
        assert_eq!(Duration::try_from(Ns(3000.0)), Ok(Duration::from_micros(3)));
        assert!(Duration::try_from(Ns(-1.0)).is_err());
        assert_eq!(Ns(27.0).as_secs(), 2.7e-8);
        let span = Ns(2.0) * 3.0 - Ns(1.0) + -Ns(1.0);
        assert_eq!((span, Ns(6.0) / Ns(4.0)), (Ns(4.0), 1.5));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(magnitude in -6.0..15.0f64, negative: bool) {
            let value = 10f64.powf(magnitude) * if negative { -1.0 } else { 1.0 };
            let read: Ns = Ns(value).to_string().parse().unwrap();
            // Three significant digits are off by at most half of the last one: 0.5 %.
            prop_assert!((read.0 - value).abs() <= 0.0051 * value.abs(), "{} {read}", Ns(value));
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<Ns>();
        }
    }
}
