//! What a barrier costs.

use bandgap_comm::collectives::Barrier;
use bandgap_units::{Bytes, Ns};

use super::PointToPoint;
use super::point_to_point::rounds;

/// The time of a barrier of so many ranks that come to it at the same time.
///
/// *Formula*, with m(0) the time of a message without bytes, and k = ⌈log₂ P⌉:
/// - dissemination: k·m(0).
/// - tree: 2k·m(0).
///
/// *Assumes* as [`super`] says, and that a barrier is made of messages. That of dissemination is an
/// equality; that of the tree too where P is a power of two, else an upper bound.
/// *Source*: Hensgen, Finkel and Manber 1988; Mellor-Crummey and Scott 1991.
pub fn barrier(by: Barrier, on: &impl PointToPoint, ranks: usize) -> Ns {
    let way = on.message(Bytes(0)) * f64::from(rounds(ranks));
    match by {
        Barrier::Dissemination => way,
        Barrier::Tree => way * 2.0,
    }
}
