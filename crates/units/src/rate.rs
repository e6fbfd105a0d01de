//! Rates.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::number::SharedUnit;
use crate::typed::{Typed, UnitError};

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
    pub fn unit(self) -> SharedUnit {
        SharedUnit::of(self.0, &LADDER)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.unit().write(self.0))
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Rate, UnitError> {
        let typed = Typed::read(text, "a rate", "4GB/s")?;
        let step = LADDER.iter().find(|(_, symbol)| *symbol == typed.unit);
        let (factor, _) = step.ok_or_else(|| typed.wrong_unit("B/s, kB/s, MB/s, GB/s, TB/s"))?;
        typed.times(*factor).map(Rate)
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
        assert_eq!((unit.symbol(), unit.count(950e6)), ("GB/s", 0.95));
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
