//! A number with its interval, unit and estimator.

use bandgap_units::Ns;
use derive_more::From;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::RecordError;

/// The unit of a [`Quantity`]: SI base units only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Second,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytePerSecond,
    /// Bytes.
    #[serde(rename = "B")]
    Byte,
    /// Per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// A plain number.
    #[default]
    #[serde(rename = "1")]
    One,
}

impl Unit {
    /// All units.
    pub const ALL: [Unit; 5] =
        [Unit::Second, Unit::BytePerSecond, Unit::Byte, Unit::PerSecond, Unit::One];
}

/// A measured or derived number as the run file holds it.
///
/// `low` and `high` bound the interval at the confidence level of the plan. Both are absent if the data give none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// The estimate.
    pub value: Number,
    /// Lower end of the confidence interval.
    pub low: Option<Number>,
    /// Upper end of the confidence interval.
    pub high: Option<Number>,
    /// Unit of value and interval.
    pub unit: Unit,
    /// The estimator.
    pub estimator: String,
    /// Number of values in the estimate, usually of batches.
    pub samples: u64,
    /// Whether the interval is as narrow as requested, or as the clock allows (then a note `clock_limit` says so).
    pub converged: bool,
    /// The value of each launch alone, from the same estimator and the same choices; `None` for a launch without data.
    /// Empty if the quantity does not count or has no launches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<Option<Number>>,
}

impl Quantity {
    /// A value and its interval in one unit; then the estimator, the number of values, and whether it converged.
    ///
    /// # Errors
    /// A number is not finite, or the interval's ends are swapped.
    pub fn new(
        value: f64,
        interval: Option<(f64, f64)>,
        unit: Unit,
        (estimator, samples, converged): (impl Into<String>, u64, bool),
    ) -> Result<Quantity, RecordError> {
        let finite = |what, value: f64| match value.is_finite() {
            true => Ok(Number(value)),
            false => Err(RecordError::NotFinite(what, value)),
        };
        let value = finite("an estimate", value)?;
        let (low, high) = interval.unzip();
        let low = low.map(|low| finite("an interval's lower end", low)).transpose()?;
        let high = high.map(|high| finite("an interval's upper end", high)).transpose()?;
        if let (Some(Number(low)), Some(Number(high))) = (low, high)
            && low > high
        {
            return Err(RecordError::Inverted(low, high));
        }
        let (estimator, launches) = (estimator.into(), Vec::new());
        Ok(Quantity { value, low, high, unit, estimator, samples, converged, launches })
    }

    /// The value as a time; `None` for other units.
    pub fn as_time(&self) -> Option<Ns> {
        (self.unit == Unit::Second).then(|| Ns::from_secs(self.value.0))
    }

    /// The interval in the quantity's own unit.
    pub fn interval(&self) -> Option<(f64, f64)> {
        Some((self.low?.0, self.high?.0))
    }

    /// Whether only a lower bound is known: then it is `value` and `low`, and there is no `high`.
    pub fn is_lower_bound(&self) -> bool {
        self.low.is_some() && self.high.is_none()
    }

    /// The larger half of the interval.
    pub fn half_width(&self) -> Option<f64> {
        let (low, high) = self.interval()?;
        Some((self.value.0 - low).max(high - self.value.0))
    }

    /// The larger half of the interval divided by the value; infinite for 0, `None` without an interval.
    pub fn relative_width(&self) -> Option<f64> {
        Some(self.half_width()? / self.value.0.abs())
    }

    /// `factor` times this quantity, in `unit`; a negative factor swaps the ends.
    ///
    /// # Errors
    /// The product is not finite.
    pub fn scaled(&self, factor: f64, unit: Unit) -> Result<Quantity, RecordError> {
        let ends = self.interval().map(|(low, high)| {
            let (a, b) = (low * factor, high * factor);
            (a.min(b), a.max(b))
        });
        let evidence = (&*self.estimator, self.samples, self.converged);
        Quantity::new(self.value.0 * factor, ends, unit, evidence)
    }
}

/// A number in the run file. Writing fails unless it is finite, since JSON has no other numbers.
#[derive(Clone, Copy, Debug, Default, From, PartialEq, PartialOrd, Deserialize)]
#[serde(transparent)]
pub struct Number(#[serde(deserialize_with = "bounded")] pub f64);

/// The largest number that is read: what is computed of some stays finite.
const LARGEST: f64 = 1e250;

fn bounded<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    let wrong = || de::Error::custom(format_args!("{number:e} is beyond ±{LARGEST:e}"));
    (number.abs() <= LARGEST).then_some(number).ok_or_else(wrong)
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.0.is_finite() {
            return Err(ser::Error::custom(format_args!("{} is not a finite number", self.0)));
        }
        serializer.serialize_f64(self.0)
    }
}

/// A time in the run file, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub Number);

impl From<Ns> for Seconds {
    fn from(time: Ns) -> Seconds {
        Seconds(Number(time.as_secs()))
    }
}

impl Seconds {
    /// The time in nanoseconds.
    pub fn ns(self) -> Ns {
        Ns::from_secs(self.0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_recorded_in_seconds_with_all_digits() {
        let evidence = ("median", 50, true);
        let quantity =
            Quantity::new(2.7e-8, Some((2.65e-8, 2.725e-8)), Unit::Second, evidence).unwrap();
        assert_eq!(
            serde_json::to_string(&quantity).unwrap(),
            r#"{"value":2.7e-8,"low":2.65e-8,"high":2.725e-8,"unit":"s","estimator":"median","samples":50,"converged":true}"#
        );
        assert_eq!(quantity.as_time(), Some(Ns(27.0)));
        assert!((quantity.half_width().unwrap() - 5e-10).abs() < 1e-20);
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        let evidence = || ("mean", 3, false);
        let of_nan = Quantity::new(f64::NAN, None, Unit::Second, evidence());
        assert!(matches!(of_nan, Err(RecordError::NotFinite(..))));
        let endless = Quantity::new(1.0, Some((0.0, f64::INFINITY)), Unit::One, evidence());
        assert!(matches!(endless, Err(RecordError::NotFinite(..))));
        let inverted = Quantity::new(1.0, Some((2.0, 1.0)), Unit::One, evidence());
        assert!(matches!(inverted, Err(RecordError::Inverted(..))));
        // A field set directly is checked on writing.
        assert!(serde_json::to_string(&vec![Seconds(Number(f64::NAN))]).is_err());
    }

    #[test]
    fn a_product_carries_its_interval() {
        let by = ("mean", 9, true);
        let time = Quantity::new(1e-7, Some((8e-8, 1.25e-7)), Unit::Second, by).unwrap();
        let less = time.scaled(-1.0, Unit::Second).unwrap();
        assert!(less.low < less.high && less.value.0 < 0.0);
    }

    #[test]
    fn every_unit_has_its_si_name() {
        let names: Vec<String> =
            Unit::ALL.iter().map(|u| serde_json::to_string(u).unwrap()).collect();
        assert_eq!(names, [r#""s""#, r#""B/s""#, r#""B""#, r#""1/s""#, r#""1""#]);
    }
}
