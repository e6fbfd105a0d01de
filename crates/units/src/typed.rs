//! A quantity as a user typed it: a number, and the unit after it.

use std::fmt;

/// Why a text is not a quantity; includes the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read {subject}: {why}")]
pub struct UnitError {
    subject: String,
    why: String,
}

/// A text split into its leading number and the unit after it.
pub(crate) struct Typed<'a> {
    what: &'static str,
    example: &'static str,
    text: &'a str,
    /// The characters of the number.
    pub(crate) digits: &'a str,
    pub(crate) number: f64,
    /// Trimmed; empty if missing.
    pub(crate) unit: &'a str,
}

impl<'a> Typed<'a> {
    /// Splits `text`. `what` names the expected quantity, and `example` is one.
    pub(crate) fn read(
        text: &'a str,
        what: &'static str,
        example: &'static str,
    ) -> Result<Typed<'a>, UnitError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            let why = format!("the text is empty (write for example {example})");
            return Err(UnitError { subject: what.to_owned(), why });
        }
        let (digits, unit) = trimmed.split_at(number_length(trimmed));
        let number = digits.parse().unwrap_or(f64::NAN);
        let typed = Typed { what, example, text, digits, number, unit: unit.trim() };
        if number.is_nan() {
            let why = format!("it does not start with a number (write for example {example})");
            return Err(typed.wrong(why));
        }
        typed.times(1.0)?;
        Ok(typed)
    }

    pub(crate) fn wrong(&self, why: impl fmt::Display) -> UnitError {
        UnitError { subject: format!("{} from '{}'", self.what, self.text), why: why.to_string() }
    }

    /// The error for a unit that is not among the `known` ones.
    pub(crate) fn wrong_unit(&self, known: &str) -> UnitError {
        match self.unit {
            "" => self.wrong(format!("the unit is missing (write for example {})", self.example)),
            unit => self.wrong(format!("unknown unit '{unit}' (known: {known})")),
        }
    }

    /// The number converted to a unit that is `factor` times smaller than the typed one.
    pub(crate) fn times(&self, factor: f64) -> Result<f64, UnitError> {
        let product = self.number * factor;
        if product.is_finite() { Ok(product) } else { Err(self.wrong("it is too large")) }
    }
}

/// Length in bytes of the decimal number at the start of `text`; an `e` counts only if digits
/// follow it.
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

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::str::FromStr;

    use super::UnitError;

    /// Asserts that each text is refused by an error that has the text, and these words of what may
    /// be typed instead. Returns the number of different reasons.
    pub(crate) fn refused<Q: FromStr<Err = UnitError>>(cases: &[(&str, &[&str])]) -> usize {
        let mut reasons = BTreeSet::new();
        for (text, named) in cases {
            let UnitError { subject, why } = text.parse::<Q>().err().expect(text);
            assert!(subject.contains(text.trim()), "{subject}");
            assert!(named.iter().all(|word| why.contains(word)), "{text}: {why}");
            reasons.insert(why);
        }
        reasons.len()
    }
}
