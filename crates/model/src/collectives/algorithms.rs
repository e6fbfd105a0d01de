//! What each algorithm of an operation costs.

use bandgap_comm::collectives::{Barrier, Broadcast, Sum, chunks, segments};
use bandgap_units::{Bytes, Ns};

use super::PointToPoint;
use super::messages::{doubling, longest_block, rounds};

/// The time of a barrier of so many ranks that come to it at the same time.
///
/// *Formula*, with m(0) the time of a message without bytes, and k = ⌈log₂ P⌉:
/// - dissemination: k·m(0).
/// - tree: 2k·m(0).
///
/// *Assumes* as [`super`] says, and that a barrier is made of messages. That of dissemination is an
/// equality; that of the tree too where P is a power of two, else an upper bound.
/// *Source*: Hensgen, Finkel and Manber 1988; Mellor-Crummey and Scott 1991.
pub fn barrier(by: Barrier, on: &dyn PointToPoint, ranks: usize) -> Ns {
    let way = on.message(Bytes(0)) * f64::from(rounds(ranks));
    match by {
        Barrier::Dissemination => way,
        Barrier::Tree => way * 2.0,
    }
}

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
pub fn broadcast(by: Broadcast, on: &dyn PointToPoint, ranks: usize, bytes: Bytes) -> Ns {
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
fn down(on: &dyn PointToPoint, ranks: usize, sent: &dyn Fn(usize) -> Bytes) -> Ns {
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
pub fn sum(by: Sum, on: &dyn PointToPoint, ranks: usize, bytes: Bytes) -> Ns {
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
