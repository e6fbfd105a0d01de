//! Sizes in bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::typed::{Typed, UnitError};

const IEC: [(u64, &str); 4] =
    [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// A size in bytes.
///
/// Written with the largest IEC prefix that divides it, otherwise in bytes. Read with IEC (KiB =
/// 1024) or SI (kB = 1000) prefixes, or as a plain number of bytes. K, M and G alone are rejected,
/// since programs use them for both.
///
/// ```
/// use bandgap_units::Bytes;
/// assert_eq!(Bytes(65536).to_string(), "64 KiB");
/// assert_eq!("1MB".parse(), Ok(Bytes(1_000_000)));
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = IEC.iter().find(|(factor, _)| self.0 != 0 && self.0.is_multiple_of(*factor));
        match exact {
            Some((factor, symbol)) => f.pad(&format!("{} {symbol}", self.0 / factor)),
            None => f.pad(&format!("{} B", self.0)),
        }
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        let typed = Typed::read(text, "a size", "64KiB")?;
        let unit = typed.unit;
        let ambiguous = |iec: &str, si: &str| {
            typed.wrong(format!("'{unit}' may mean 1000 or 1024; write {iec} or {si}"))
        };
        let factor = match unit {
            "" | "B" => 1,
            "kB" => 1000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            "K" | "k" | "KB" => return Err(ambiguous("KiB", "kB")),
            "M" | "m" => return Err(ambiguous("MiB", "MB")),
            "G" | "g" => return Err(ambiguous("GiB", "GB")),
            _ => {
                let step = IEC.iter().find(|(_, symbol)| *symbol == unit);
                step.ok_or_else(|| typed.wrong_unit("B, KiB, MiB, GiB, TiB, kB, MB, GB, TB"))?.0
            }
        };
        // Whole numbers take an exact path: an f64 holds only 53 bits.
        if let Ok(whole) = typed.digits.parse::<u64>() {
            let bytes = whole.checked_mul(factor);
            return bytes.map(Bytes).ok_or_else(|| typed.wrong("it is too large"));
        }
        let bytes = typed.number * factor as f64;
        if bytes < 0.0 {
            Err(typed.wrong("it is negative"))
        } else if bytes >= 2f64.powi(53) {
            Err(typed.wrong("it is too large"))
        } else if bytes.fract() != 0.0 {
            Err(typed.wrong("it is not a whole number of bytes"))
        } else {
            Ok(Bytes(bytes as u64))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::tests::refused;

    #[test]
    fn iec_only_where_exact() {
        let cases = [
            (0, "0 B"),
            (8, "8 B"),
            (1000, "1000 B"),
            (1024, "1 KiB"),
            (65536, "64 KiB"),
            (1536, "1536 B"),
            (3 << 19, "1536 KiB"),
            (1 << 20, "1 MiB"),
        ];
        for (value, text) in cases {
            assert_eq!(Bytes(value).to_string(), text);
        }
    }

    #[test]
    fn both_families_of_prefixes_are_read() {
        let cases = [
            ("0", 0),
            ("8 B", 8),
            ("64KiB", 65536),
            ("1MB", 1_000_000),
            ("1.5 MiB", 3 << 19),
            ("2 GiB", 2 << 30),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, value) in cases {
            assert_eq!(text.parse(), Ok(Bytes(value)), "{text}");
        }
    }

    #[test]
    fn errors_name_the_text() {
        let cases: [(&str, &[&str]); 5] = [
            ("64K", &["KiB", "kB"]),
            ("0.3B", &[]),
            ("-1", &[]),
            ("18446744073709551615KiB", &[]),
            ("3 apples", &["'apples'", "KiB", "MB"]),
        ];
        assert_eq!(refused::<Bytes>(&cases), cases.len());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value: u64) {
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
        }

        #[test]
        fn exact_prefixes_are_read_back(count in 0u64..1 << 20, shift in 0u32..44) {
            let value = Bytes(count << shift);
            prop_assert_eq!(value.to_string().parse(), Ok(value));
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<Bytes>();
        }
    }
}
