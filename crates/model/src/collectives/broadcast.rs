//! What a broadcast costs.

use bandgap_comm::collectives::{Broadcast, segments};
use bandgap_units::{Bytes, Ns};

use super::PointToPoint;
use super::point_to_point::{doubling, longest_block};

/// The time of a broadcast of so many bytes to so many ranks, the root one of them.
///
/// *Formula*, with m(n) the time of a message, i(n) the interval of a sender, r(n) that of a rank
/// that passes on, k = ⌈log₂ P⌉, b = ⌈n/P⌉:
/// - linear: (P − 2)·i(n) + m(n).
/// - binomial: k·m(n) where P is a power of two; else the longest way down the tree, where each
///   earlier send of a rank on the way counts i(n).
/// - scatter_allgather: Σ m(n/2ʲ) for j = 1 … k, twice, where P is a power of two, so 2k·t0 +
///   2(1 − 1/P)·n/r∞; else the longest way down the tree, and (P − 1)·m(b).
/// - chain, of S [`segments`] of s = ⌈n/S⌉ bytes: (P − 1)·m(s) + (S − 1)·r(s).
///
/// *Assumes* as [`super`] says. All are equalities where blocks and segments are equally long, else
/// upper bounds.
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on broadcast; Pješivac-Grbović and others, Cluster
/// Computing 10, 2007, for the chain; Alexandrov et al. 1995.
pub fn broadcast(by: Broadcast, on: &impl PointToPoint, ranks: usize, bytes: Bytes) -> Ns {
    if ranks < 2 {
        return Ns::ZERO;
    }
    match by {
        Broadcast::Linear => on.message(bytes) + on.send_interval(bytes) * (ranks - 2) as f64,
        Broadcast::Binomial => down(on, ranks, &|_| bytes),
        Broadcast::ScatterAllgather => {
            let block = longest_block(bytes, 1, ranks);
            let dealt = |ranks| Bytes(bytes.0.min(block.0 * ranks as u64));
            let gathered = match ranks.is_power_of_two() {
                true => doubling(on, block, ranks),
                false => on.message(block) * (ranks - 1) as f64,
            };
            down(on, ranks, &dealt) + gathered
        }
        Broadcast::Chain => {
            let count = segments(ranks, bytes.0 as usize);
            let segment = longest_block(bytes, 1, count);
            on.message(segment) * (ranks - 1) as f64
                + on.relay_interval(segment) * (count - 1) as f64
        }
    }
}

/// From when a rank begins to send down a binomial tree until the last rank below it has what it is
/// sent. `ranks` are those from that rank on; a message that serves k ranks has `sent(k)` bytes.
fn down(on: &impl PointToPoint, ranks: usize, sent: &dyn Fn(usize) -> Bytes) -> Ns {
    if ranks < 2 {
        return Ns::ZERO;
    }
    // The first message goes to the rank that is the largest power of two further.
    let kept = ranks.next_power_of_two() / 2;
    let first = sent(ranks - kept);
    let through_it = on.message(first) + down(on, ranks - kept, sent);
    match kept {
        1 => through_it,
        _ => through_it.max(on.send_interval(first) + down(on, kept, sent)),
    }
}
