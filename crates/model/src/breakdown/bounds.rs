//! How long times may be, and how large what follows from them.
//!
//! Squares of errors, and quotients of times, must be numbers too. With the bounds here they are: no product
//! that is made of them leaves what a double-precision number holds.

use super::evaluate::Modelled;

/// The longest time of a component, spread or observation, in nanoseconds: 10⁹ s.
pub const LONGEST: f64 = 1e18;

/// The shortest time of a component or observation that takes any, in nanoseconds: 10⁻³⁰ s.
pub const SHORTEST: f64 = 1e-21;

/// What a time of a component must be.
pub const TIME: &str = "it must be 0, or from 1e-21 to 1e18 ns (1e9 s)";

/// What a spread must be.
pub const SPREAD: &str = "it must be from 0 to 1e18 ns (1e9 s)";

/// What a time that was observed must be.
pub const OBSERVED: &str = "it must be from 1e-21 to 1e18 ns (1e9 s)";

/// Values and derivatives of models are at most this large, and values at least one over it, or 0.
const LARGEST: f64 = 1e30;

/// Whether a component can take so many nanoseconds.
pub fn is_time(ns: f64) -> bool {
    ns == 0.0 || is_observed(ns)
}

/// Whether a time can have a standard deviation of so many nanoseconds.
pub fn is_spread(ns: f64) -> bool {
    (0.0..=LONGEST).contains(&ns)
}

/// Whether so many nanoseconds can be observed.
pub fn is_observed(ns: f64) -> bool {
    (SHORTEST..=LONGEST).contains(&ns)
}

/// Whether a derivative can be counted with.
pub(super) fn is_derivative(times: f64) -> bool {
    times.abs() <= LARGEST
}

impl Modelled {
    /// Whether its value, and by how much it grows with each component, are numbers that can be counted with:
    /// neither infinite, nor above 10³⁰, nor (but for 0) a value below 10⁻³⁰.
    pub fn is_sound(&self) -> bool {
        let fine = |number: &f64| number.abs() <= LARGEST;
        let size = self.value.abs();
        (size == 0.0 || (1.0 / LARGEST..=LARGEST).contains(&size))
            && self.terms.iter().all(|(_, value)| fine(value))
            && self.uses.values().chain(self.sources.values()).all(fine)
    }
}
