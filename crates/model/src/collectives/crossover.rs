//! From which length on another algorithm is better.

use std::ops::RangeInclusive;

use bandgap_units::{Bytes, Ns};

/// The least length of those in `lengths`, counted in units of `unit` bytes, at which `second` takes
/// no longer than `first`. `None` where `first` is not the faster one for the shortest length, or is
/// the faster one for the longest too.
///
/// *Formula*: bisection of t₁(n) − t₂(n), to one unit.
/// *Assumes* one crossing: beyond it `second` stays the faster one. Where costs jump with the length
/// there may be more, and one of them is found.
///
/// ```
/// use bandgap_comm::collectives::Broadcast::{Binomial, ScatterAllgather};
/// use bandgap_model::collectives::{Hockney, broadcast, crossover};
/// use bandgap_units::{Bytes, Ns, Rate};
/// let machine = Hockney { startup: Ns(1000.0), rate: Rate(1e9), add_per_byte: Ns::ZERO };
/// let time = |by| move |bytes| broadcast(by, &machine, 8, bytes);
/// // 3·(1000 + n) = 6·1000 + 14/8·n for n = 2400.
/// let found = crossover(0..=1 << 20, 8, time(Binomial), time(ScatterAllgather));
/// assert_eq!(found, Some(Bytes(2400)));
/// ```
pub fn crossover(
    lengths: RangeInclusive<u64>,
    unit: u64,
    first: impl Fn(Bytes) -> Ns,
    second: impl Fn(Bytes) -> Ns,
) -> Option<Bytes> {
    let unit = unit.max(1);
    let is_second = |units: u64| second(Bytes(units * unit)) <= first(Bytes(units * unit));
    let (mut below, mut found) = (lengths.start().div_ceil(unit), lengths.end() / unit);
    if below > found || is_second(below) || !is_second(found) {
        return None;
    }
    while found - below > 1 {
        let middle = below + (found - below) / 2;
        match is_second(middle) {
            true => found = middle,
            false => below = middle,
        }
    }
    Some(Bytes(found * unit))
}
