//! A number with its interval, unit, estimator and conditions.

use bandgap_stats::Convergence;
use bandgap_units::Ns;
use serde::{Deserialize, Serialize, Serializer, ser};

use crate::RecordError;

/// The unit of a [`Quantity`]: SI base units only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(rename = "1")]
    One,
}

/// How an estimate was obtained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The estimator in a few words: `slope of median elapsed(M)`.
    pub estimator: String,
    /// The number of values behind it: those of batches mostly, not single samples.
    pub samples: u64,
    /// Whether the interval came within the wanted precision.
    pub convergence: Convergence,
}

impl Evidence {
    /// Evidence from `samples` values by `estimator`.
    pub fn new(
        estimator: impl Into<String>,
        samples: u64,
        convergence: impl Into<Convergence>,
    ) -> Evidence {
        Evidence { estimator: estimator.into(), samples, convergence: convergence.into() }
    }
}

/// A measured or derived number as the run file holds it.
///
/// `low` and `high` bound the confidence interval named in the plan; both are absent where the data
/// allow none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// The estimate.
    pub value: Number,
    /// Lower end of the confidence interval.
    pub low: Option<Number>,
    /// Upper end of the confidence interval.
    pub high: Option<Number>,
    /// Unit of the three.
    pub unit: Unit,
    /// How it was estimated.
    pub estimator: String,
    /// From how many values: those of batches mostly.
    pub samples: u64,
    /// Whether the interval came within the wanted precision of the value.
    pub converged: bool,
    /// Whether it did not, but came within that share of what a stamp of the clock costs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_limited: bool,
}

impl Quantity {
    /// A time, recorded in seconds.
    ///
    /// # Errors
    /// A value that is not finite, and an interval whose ends are exchanged.
    pub fn time(
        value: Ns,
        interval: Option<(Ns, Ns)>,
        evidence: Evidence,
    ) -> Result<Quantity, RecordError> {
        let interval = interval.map(|(low, high)| (low.as_secs(), high.as_secs()));
        Quantity::new(value.as_secs(), interval, Unit::Second, evidence)
    }

    /// A count, a ratio or a slope.
    ///
    /// # Errors
    /// A value that is not finite, and an interval whose ends are exchanged.
    pub fn number(
        value: f64,
        interval: Option<(f64, f64)>,
        evidence: Evidence,
    ) -> Result<Quantity, RecordError> {
        Quantity::new(value, interval, Unit::One, evidence)
    }

    /// A value in a unit, with the ends of its interval in the same.
    ///
    /// # Errors
    /// A value that is not finite, and an interval whose ends are exchanged.
    pub fn new(
        value: f64,
        interval: Option<(f64, f64)>,
        unit: Unit,
        evidence: Evidence,
    ) -> Result<Quantity, RecordError> {
        let finite = |what, value: f64| match value.is_finite() {
            true => Ok(Number(value)),
            false => Err(RecordError::NotFinite { what, value }),
        };
        let value = finite("an estimate", value)?;
        let (low, high) = interval.unzip();
        let low = low.map(|low| finite("an interval's lower end", low)).transpose()?;
        let high = high.map(|high| finite("an interval's upper end", high)).transpose()?;
        if let (Some(Number(low)), Some(Number(high))) = (low, high)
            && low > high
        {
            return Err(RecordError::Inverted { low, high });
        }
        let Evidence { estimator, samples, convergence } = evidence;
        let converged = convergence == Convergence::Converged;
        let clock_limited = convergence == Convergence::ClockLimited;
        Ok(Quantity { value, low, high, unit, estimator, samples, converged, clock_limited })
    }

    /// Whether its interval is narrow enough.
    pub fn convergence(&self) -> Convergence {
        match (self.converged, self.clock_limited) {
            (true, _) => Convergence::Converged,
            (false, true) => Convergence::ClockLimited,
            (false, false) => Convergence::No,
        }
    }

    /// The value as a time; `None` for other units.
    pub fn as_time(&self) -> Option<Ns> {
        (self.unit == Unit::Second).then(|| Ns::from_secs(self.value.0))
    }

    /// The interval in the quantity's own unit.
    pub fn interval(&self) -> Option<(f64, f64)> {
        Some((self.low?.0, self.high?.0))
    }
}

/// A number in the run file: finite, or it is refused on writing. JSON cannot hold another.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Deserialize)]
#[serde(transparent)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.0.is_finite() {
            return Err(ser::Error::custom(format_args!("{} is not a finite number", self.0)));
        }
        serializer.serialize_f64(self.0)
    }
}

/// A time in the run file, in seconds; finite like [`Number`].
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
        let evidence = Evidence::new("median", 50, true);
        let quantity = Quantity::time(Ns(27.0), Some((Ns(26.5), Ns(27.25))), evidence).unwrap();
        assert_eq!(
            serde_json::to_string(&quantity).unwrap(),
            r#"{"value":2.7e-8,"low":2.65e-8,"high":2.725e-8,"unit":"s","estimator":"median","samples":50,"converged":true}"#
        );
        assert_eq!(quantity.as_time(), Some(Ns(27.0)));
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        let evidence = || Evidence::new("mean", 3, false);
        let error = Quantity::time(Ns(f64::NAN), None, evidence()).unwrap_err();
        assert_eq!(error.to_string(), "record an estimate: NaN is not a finite number");
        let error = Quantity::number(1.0, Some((0.0, f64::INFINITY)), evidence()).unwrap_err();
        assert_eq!(error.to_string(), "record an interval's upper end: inf is not a finite number");
        assert!(Quantity::number(1.0, Some((2.0, 1.0)), evidence()).is_err());
        // A field filled by hand is caught when it is written.
        let sample = Seconds(Number(f64::NAN));
        assert!(serde_json::to_string(&vec![sample]).unwrap_err().to_string().contains("NaN"));
    }

    #[test]
    fn every_unit_has_its_si_name() {
        let evidence = || Evidence::new("fit", 9, true);
        let unit = |quantity: Quantity| serde_json::to_value(quantity.unit).unwrap();
        assert_eq!(unit(Quantity::new(2468.5, None, Unit::Byte, evidence()).unwrap()), "B");
        assert_eq!(unit(Quantity::new(1.2e6, None, Unit::PerSecond, evidence()).unwrap()), "1/s");
        assert_eq!(unit(Quantity::number(0.5, None, evidence()).unwrap()), "1");
    }

    #[test]
    fn the_limit_of_the_clock_is_told_beside_what_converged() {
        let of = |convergence: Convergence| {
            let quantity = Quantity::number(2.0, None, Evidence::new("mean", 9, convergence));
            let text = serde_json::to_string(&quantity.unwrap()).unwrap();
            let read: Quantity = serde_json::from_str(&text).unwrap();
            assert_eq!(read.convergence(), convergence);
            text
        };
        assert!(of(Convergence::Converged).ends_with(r#""converged":true}"#));
        assert!(of(Convergence::No).ends_with(r#""converged":false}"#));
        let limited = r#""converged":false,"clock_limited":true}"#;
        assert!(of(Convergence::ClockLimited).ends_with(limited));
    }

    #[test]
    fn a_missing_interval_is_null() {
        let by = Evidence::new("mean", 1, false);
        let quantity = Quantity::new(4e9, None, Unit::BytePerSecond, by).unwrap();
        let text = serde_json::to_string(&quantity).unwrap();
        assert!(
            text.contains(r#""value":4000000000.0,"low":null,"high":null,"unit":"B/s""#),
            "{text}"
        );
        assert_eq!(quantity.interval(), None);
    }
}
