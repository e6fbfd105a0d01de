//! Rates.

use std::fmt;
use std::ops::{Div, Mul};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UnitError;
use crate::number::{split, step, write_scaled};

const LADDER: [(f64, &str); 5] =
    [(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")];

/// A rate in bytes per second, always with SI prefixes: 1 GB/s is 10⁹ bytes per second.
///
/// ```
/// use bandgap_units::Rate;
/// assert_eq!(Rate(3.974e9).to_string(), "3.97 GB/s");
/// assert_eq!("4 GB/s".parse(), Ok(Rate(4e9)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub f64);

impl Rate {
    /// The unit in which this rate is written.
    pub fn unit(self) -> RateUnit {
        let (bytes_per_second, symbol) = step(self.0, &LADDER);
        RateUnit { bytes_per_second, symbol }
    }
}

/// One of B/s, kB/s, MB/s, GB/s and TB/s, for numbers that share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateUnit {
    bytes_per_second: f64,
    symbol: &'static str,
}

impl RateUnit {
    /// The unit's symbol.
    pub fn symbol(self) -> &'static str {
        self.symbol
    }

    /// How many of this unit `rate` is.
    pub fn count(self, rate: Rate) -> f64 {
        rate.0 / self.bytes_per_second
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &LADDER)
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Rate, UnitError> {
        const WHAT: &str = "a rate";
        let (value, unit) = split(text, WHAT, "4GB/s")?;
        let missing = UnitError::MissingUnit { what: WHAT, text: text.into(), example: "4GB/s" };
        if unit.is_empty() {
            return Err(missing);
        }
        let step = LADDER.iter().find(|(_, symbol)| *symbol == unit);
        let (factor, _) = step.ok_or_else(|| UnitError::UnknownUnit {
            what: WHAT,
            text: text.into(),
            unit: unit.into(),
            known: "B/s, kB/s, MB/s, GB/s, TB/s",
        })?;
        let rate = value * factor;
        if !rate.is_finite() {
            let why = "it is too large";
            return Err(UnitError::OutOfRange { what: WHAT, text: text.into(), why });
        }
        Ok(Rate(rate))
    }
}

impl Mul<f64> for Rate {
    type Output = Rate;
    fn mul(self, factor: f64) -> Rate {
        Rate(self.0 * factor)
    }
}

impl Div<f64> for Rate {
    type Output = Rate;
    fn div(self, divisor: f64) -> Rate {
        Rate(self.0 / divisor)
    }
}

/// How many times faster this rate is than the other.
impl Div for Rate {
    type Output = f64;
    fn div(self, other: Rate) -> f64 {
        self.0 / other.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_are_decimal() {
        let cases = [
            (3.974e9, "3.97 GB/s"),
            // 2³⁰ bytes per second are 1.07 GB/s, not 1.
            (1_073_741_824.0, "1.07 GB/s"),
            (999.9e6, "1.00 GB/s"),
            (12.0, "12.0 B/s"),
            (0.0, "0 B/s"),
        ];
        for (value, text) in cases {
            assert_eq!(Rate(value).to_string(), text);
        }
    }

    #[test]
    fn a_unit_is_shared() {
        let unit = Rate(4.29e9).unit();
        assert_eq!((unit.symbol(), unit.count(Rate(950e6))), ("GB/s", 0.95));
    }

    #[test]
    fn errors_name_the_text() {
        assert!("4 GiB/s".parse::<Rate>().unwrap_err().to_string().contains("'4 GiB/s'"));
        assert!("4".parse::<Rate>().unwrap_err().to_string().contains("unit is missing"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(magnitude in -3.0..15.0f64) {
            let value = 10f64.powf(magnitude);
            let read: Rate = Rate(value).to_string().parse().unwrap();
            prop_assert!((read.0 - value).abs() <= 0.0051 * value);
        }
    }
}
