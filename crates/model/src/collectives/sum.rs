//! What a sum costs.

use bandgap_comm::collectives::{Sum, chunks};
use bandgap_units::{Bytes, Ns};

use super::PointToPoint;
use super::point_to_point::{doubling, longest_block, rounds};

/// The time of a sum of so many bytes of doubles from each of so many ranks.
///
/// *Formula*, with m(n) the time of a message, k = ⌈log₂ P⌉, Q the largest power of two within P,
/// q = log₂ Q, b = ⌈n/P⌉, and f = 2·m(n) where P is no power of two (else 0); additions take no time:
/// - tree: 2k·m(n).
/// - recursive_doubling: q·m(n) + f.
/// - rabenseifner: Σ 2·m(n/2ʲ) for j = 1 … q, and f; so 2q·t0 + 2(1 − 1/Q)·n/r∞ + f.
/// - ring: 2(P − 1)·m(b).
/// - two_rings, with half a block h and r(n) the interval of a rank that passes on:
///   2(P − 1)·(m(h) + r(h)).
/// - double_tree, of C [`chunks`] of s = ⌈n/2C⌉ bytes: 2·(k·m(s) + (k − 1)·r(s) +
///   (C − 1)·max(m(s), 2·r(s))).
///
/// *Assumes* as [`super`] says. That of the ring is an equality for any P, where blocks are equally
/// long, and the others are where P is a power of two too. Else those of tree and
/// recursive_doubling are upper bounds, since ranks that wait for nobody go on earlier. That of
/// rabenseifner is an estimate then: a message that comes early may also hold up another in the
/// interface of a late rank; as are those of two_rings, and of double_tree on more than two ranks.
/// Replays took at most 1.25 times as long.
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on reduce and allreduce; Patarasuk and Yuan, JPDC 69(2),
/// 2009.
pub fn sum(by: Sum, on: &impl PointToPoint, ranks: usize, bytes: Bytes) -> Ns {
    if ranks < 2 {
        return Ns::ZERO;
    }
    let within = 1_usize << ranks.ilog2();
    let fold = if ranks == within { Ns::ZERO } else { on.message(bytes) * 2.0 };
    match by {
        Sum::Tree => on.message(bytes) * 2.0 * f64::from(rounds(ranks)),
        Sum::RecursiveDoubling => on.message(bytes) * f64::from(rounds(within)) + fold,
        Sum::Rabenseifner => {
            doubling(on, longest_block(bytes, DOUBLE, within), within) * 2.0 + fold
        }
        Sum::Ring => on.message(longest_block(bytes, DOUBLE, ranks)) * 2.0 * (ranks - 1) as f64,
        Sum::TwoRings => {
            let block = longest_block(longest_block(bytes, DOUBLE, 2), DOUBLE, ranks);
            let step = on.message(block) + on.relay_interval(block);
            step * 2.0 * (ranks - 1) as f64
        }
        Sum::DoubleTree => {
            let (levels, count) = (f64::from(rounds(ranks)), chunks(ranks, bytes.0 as usize));
            let chunk = longest_block(longest_block(bytes, DOUBLE, 2), DOUBLE, count);
            let (message, relay) = (on.message(chunk), on.relay_interval(chunk));
            let moved = message * levels + relay * (levels - 1.0);
            let further = message.max(relay * 2.0) * (count - 1) as f64;
            (moved + further) * 2.0
        }
    }
}

/// Bytes of an element.
const DOUBLE: u64 = size_of::<f64>() as u64;
