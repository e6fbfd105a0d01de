//! Shares of a whole.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UnitError;
use crate::number::significant_short;
use crate::typed::Typed;

/// A share between 0 and 1, such as a precision or a confidence.
///
/// Read from a percentage or from a plain fraction; written as a percentage.
///
/// ```
/// use bandgap_units::Fraction;
/// assert_eq!("5%".parse::<Fraction>(), "0.05".parse());
/// assert_eq!(Fraction(0.95).to_string(), "95 %");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fraction(pub f64);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} %", significant_short(self.0 * 100.0, 3)))
    }
}

impl FromStr for Fraction {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Fraction, UnitError> {
        let typed = Typed::read(text, "a share", "5%")?;
        let fraction = match typed.unit {
            "%" => typed.number / 100.0,
            "" => typed.number,
            _ => return Err(typed.wrong_unit("%")),
        };
        if !(0.0..=1.0).contains(&fraction) {
            let meant = match typed.unit {
                "" if (0.0..=100.0).contains(&typed.number) => typed.digits,
                _ => "5",
            };
            return Err(typed.wrong(format!(
                "it must be between 0 % and 100 % (write {meant}% for {meant} per cent)"
            )));
        }
        Ok(Fraction(fraction))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::tests::refused;

    #[test]
    fn percent_and_fraction_agree() {
        assert_eq!("5%".parse(), Ok(Fraction(0.05)));
        assert_eq!("0.05".parse(), Ok(Fraction(0.05)));
        assert_eq!(" 25 % ".parse(), Ok(Fraction(0.25)));
        assert_eq!(Fraction(0.05).to_string(), "5 %");
        assert_eq!(Fraction(0.999).to_string(), "99.9 %");
        assert_eq!(Fraction(1.0).to_string(), "100 %");
        assert_eq!(Fraction(0.0).to_string(), "0 %");
    }

    #[test]
    fn five_alone_is_refused_with_advice() {
        let cases: [(&str, &[&str]); 4] =
            [("5", &["5%"]), ("95", &["95%"]), ("950", &["5%"]), ("5 percent", &["'percent'"])];
        // 950 is no per cent either.
        assert_eq!(refused::<Fraction>(&cases), 3);
        assert!("-1%".parse::<Fraction>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in 0.0..=1.0f64) {
            let read: Fraction = Fraction(value).to_string().parse().unwrap();
            prop_assert!((read.0 - value).abs() <= 0.0051 * value);
        }
    }
}
