//! Quantities that follow from others, whose errors are propagated.

use bandgap_record::{Evidence, Number, Quantity, RecordError, Unit};
use bandgap_stats::Rule;
use bandgap_units::Ns;

/// How a value with a standard deviation becomes a quantity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Propagated {
    /// When it counts as converged.
    pub rule: Rule,
    /// How many standard deviations the interval reaches to either side.
    pub factor: f64,
}

impl Propagated {
    /// A value, a time in nanoseconds; without a deviation it has no interval.
    pub fn quantity(
        &self,
        value: f64,
        deviation: Option<f64>,
        unit: Unit,
        estimator: &str,
        samples: u64,
    ) -> Result<Quantity, RecordError> {
        let own = |value: f64| if unit == Unit::Second { Ns(value).as_secs() } else { value };
        let reach = deviation.map(|deviation| deviation * self.factor);
        let interval = reach.map(|reach| (own(value - reach), own(value + reach)));
        Quantity::new(own(value), interval, unit, self.evidence(value, reach, estimator, samples))
    }

    fn evidence(&self, value: f64, reach: Option<f64>, estimator: &str, samples: u64) -> Evidence {
        let converged = match reach {
            Some(reach) => self.rule.judge(reach, value),
            None => bandgap_record::Convergence::No,
        };
        Evidence::new(estimator, samples, converged)
    }
}

/// A value and its interval as they are printed: `12.34 ns`, `12.34 ns (11.90 to 12.78)`. Times have two
/// decimals of a nanosecond, so that they can be summed up by hand.
pub(crate) fn with_interval(quantity: &Quantity) -> String {
    let write = |Number(value): Number| match quantity.unit {
        Unit::Second => format!("{:.2}", Ns::from_secs(value).0),
        _ => bandgap_units::significant(value, 4),
    };
    let unit = if quantity.unit == Unit::Second { " ns" } else { "" };
    let value = write(quantity.value);
    match (quantity.low, quantity.high) {
        (Some(low), Some(high)) => format!("{value}{unit}\n{} to {}", write(low), write(high)),
        _ => format!("{value}{unit}"),
    }
}

/// The same of a share: `6.45 %`.
pub(crate) fn share_with_interval(quantity: &Quantity) -> String {
    let write = |Number(value): Number| bandgap_units::Fraction(value).to_string();
    let value = write(quantity.value);
    match (quantity.low, quantity.high) {
        (Some(low), Some(high)) => format!("{value}\n{} to {}", write(low), write(high)),
        _ => value,
    }
}
