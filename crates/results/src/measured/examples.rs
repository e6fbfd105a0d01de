//! Estimates for tests, and what was asked for.

use bandgap_campaign::plan::Asked;
use bandgap_record::{Evidence, Quantity, Unit};
use bandgap_stats::Rule;
use bandgap_units::Ns;

use crate::measured::batch::{Batch, Summary};

/// Intervals of 5 %.
pub(crate) const RULE: Rule = Rule { precision: 0.05, stamp: 0.0 };

/// Intervals of 5 % with 95 % confidence, in a second.
pub(crate) fn asked() -> Asked {
    let (precision, confidence, budget, seed) = (RULE.precision, 0.95, 1.0, 1);
    Asked { precision, confidence, budget, seed, stamp: 0.0, check: false }
}

/// A time in nanoseconds.
pub(crate) fn time(value: f64, converged: bool) -> Quantity {
    let interval = Some((Ns(value * 0.98), Ns(value * 1.03)));
    Quantity::time(Ns(value), interval, Evidence::new("median", 350, converged)).unwrap()
}

/// A rate in bytes per second.
pub(crate) fn rate(value: f64, converged: bool) -> Quantity {
    let interval = Some((value * 0.743, value * 1.08));
    let by = Evidence::new("median", 7, converged);
    Quantity::new(value, interval, Unit::BytePerSecond, by).unwrap()
}

/// A plain number.
pub(crate) fn number(value: f64) -> Quantity {
    let interval = Some((value * 0.97, value * 1.02));
    Quantity::number(value, interval, Evidence::new("bootstrap", 350, true)).unwrap()
}

/// A batch that counts, and two that do not: one is rejected and one is of another state.
pub(crate) fn batches(samples: &[f64]) -> Vec<Batch> {
    let of = |samples: &[f64], state: &str, rejected: Option<&str>| Batch {
        probe: Some([Ns(52.0).into(), Ns(53.0).into()]),
        state: state.into(),
        rejected: rejected.map(str::to_owned),
        ..Batch::tabled(samples)
    };
    vec![
        of(samples, "N", None),
        of(&[9000.0], "N", Some("straddles a change of state")),
        of(&[5100.0], "F", None),
    ]
}

/// The distribution of samples in nanoseconds.
pub(crate) fn summary(samples: &[f64]) -> Summary {
    Summary::of(samples, 0.95, RULE).unwrap()
}
