//! Durations.

use std::fmt;
use std::str::FromStr;

use derive_more::{Add, Mul};
use serde::{Deserialize, Serialize};

use crate::number::{SharedUnit, distinct};
use crate::typed::{Typed, UnitError};

const LADDER: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

/// A duration in nanoseconds, signed: derived quantities may be negative, such as L if overheads
/// overlap.
///
/// Written with three significant digits and the prefix that fits; read from a number with one of
/// the units ns, us (or µs), ms, s, min, h.
///
/// ```
/// use bandgap_units::Ns;
/// assert_eq!(Ns(1400.0).to_string(), "1.40 µs");
/// assert_eq!("250ms".parse(), Ok(Ns(250e6)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Add, Mul, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ns(pub f64);

impl Ns {
    /// Zero.
    pub const ZERO: Ns = Ns(0.0);

    /// The longer of the two.
    pub fn max(self, other: Ns) -> Ns {
        Ns(self.0.max(other.0))
    }

    /// A duration given in seconds.
    pub fn from_secs(seconds: f64) -> Ns {
        Ns(seconds * 1e9)
    }

    /// The duration in seconds. Dividing rounds once, so 27 ns gives the number nearest to 2.7e-8.
    pub fn as_secs(self) -> f64 {
        self.0 / 1e9
    }

    /// Texts of these durations, with more digits if different ones would read the same.
    pub fn distinct(durations: &[Ns]) -> Vec<String> {
        let alike = |of: &Ns| {
            let others = durations.iter().filter(|other| other.to_string() == of.to_string());
            others.map(|other| of.unit().count(other.0)).collect::<Vec<f64>>()
        };
        let written = |of: &Ns| {
            let (alike, own) = (alike(of), of.unit().count(of.0));
            let place = alike.iter().position(|other| *other == own)?;
            Some(format!("{} {}", distinct(&alike)[place], of.unit().symbol))
        };
        durations.iter().map(|of| written(of).unwrap_or_else(|| of.to_string())).collect()
    }

    /// The unit in which this duration is written.
    pub fn unit(self) -> SharedUnit {
        SharedUnit::of(self.0, &LADDER)
    }
}

impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.unit().write(self.0))
    }
}

impl FromStr for Ns {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Ns, UnitError> {
        let typed = Typed::read(text, "a duration", "250ms")?;
        let nanoseconds = match typed.unit {
            "ns" => 1.0,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            "h" => 3600e9,
            "" if typed.number == 0.0 => 1.0,
            _ => return Err(typed.wrong_unit("ns, us, ms, s, min, h")),
        };
        typed.times(nanoseconds).map(Ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::tests::refused;

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
    fn durations_that_differ_are_told_apart() {
        let all = [Ns(0.0), Ns(12.96), Ns(13.04), Ns(26.0), Ns(1400.0), Ns(1403.0)];
        let written = ["0 ns", "12.96 ns", "13.04 ns", "26.0 ns", "1.400 µs", "1.403 µs"];
        assert_eq!(Ns::distinct(&all), written);
        assert_eq!(Ns::distinct(&[Ns(13.0), Ns(26.0)]), ["13.0 ns", "26.0 ns"]);
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
        let cases: [(&str, &[&str]); 5] = [
            ("10", &["250ms"]),
            ("10 parsecs", &["'parsecs'", "us", "min"]),
            ("soon", &["250ms"]),
            ("1e308h", &[]),
            (" ", &["250ms"]),
        ];
        assert_eq!(refused::<Ns>(&cases), cases.len());
    }

    #[test]
    fn a_unit_is_shared_by_a_column() {
        let unit = Ns(1400.0).unit();
        assert_eq!((unit.symbol, unit.count(250.0)), ("µs", 0.25));
    }

    #[test]
    fn seconds_are_the_nearest_number() {
        assert_eq!(Ns(27.0).as_secs(), 2.7e-8);
        assert_eq!(Ns::from_secs(3e-6), Ns(3000.0));
        assert_eq!(Ns(2.0) + Ns(3.0), Ns(5.0));
        assert_eq!(Ns(2.5) * 4.0, Ns(10.0));
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
