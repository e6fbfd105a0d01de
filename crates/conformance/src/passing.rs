//! What message passing must do over every transport, as tests that know no transport.
//!
//! A transport says how its endpoints are made, and one line makes a `#[test]` of each property:
//!
//! ```
//! use bandgap_comm::{Credited, inproc};
//! use bandgap_conformance::passing::Harness;
//!
//! struct Inproc;
//!
//! impl Harness for Inproc {
//!     type E = Credited<inproc::InprocLink>;
//!     fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
//!         let links = inproc::links(size, 64).into_iter();
//!         links.map(|link| Credited::new(link.exposing(exposed), 64)).collect()
//!     }
//! }
//!
//! bandgap_conformance::passing_conformance!(Inproc);
//! # bandgap_conformance::passing::tags_choose::<Inproc>();
//! ```
//!
//! Ranks run as threads that yield while they wait. If a property depends on what has arrived, they
//! take turns in one thread. A hang fails at a deadline.

mod collectives;
mod crowd;
mod lengths;
mod misuse;
mod order;
mod ranks;
mod reluctant;
mod schedule;
mod slots;

pub use collectives::collectives;
pub use crowd::{all_to_all, barriers, barriers_of_the_first_ranks};
pub use lengths::{both_ways_at_once, every_length, posted_or_not};
pub use misuse::{garbage_is_named, misplaced_parts, no_such_peer, other_length};
pub use order::{
    bursts, crowded_before_received, order_is_kept, receives_in_posting_order, tags_choose,
};
pub use reluctant::Reluctant;
pub use schedule::random_messages;
pub use slots::{
    an_emptied_slot_serves_what_waits, no_slot_is_taken_out_of_turn, slots_come_back_in_turn,
};

use bandgap_comm::passing::{Tuning, Way};
use bandgap_comm::{Bulk, Rank};

/// How a transport's endpoints are made, and the limits to test with.
pub trait Harness {
    /// The endpoint under test.
    type E: Bulk + Send;
    /// The limits between protocols.
    const TUNING: Tuning = Tuning::DEFAULT;
    /// The way of long messages at this rank.
    fn way(_rank: Rank) -> Way {
        Way::Pieces
    }
    /// The connected endpoints of a new run, by rank. Each exposes at least so many bytes.
    fn endpoints(size: usize, exposed: usize) -> Vec<Self::E>;
}

/// Makes one `#[test]` of each property for the
/// [`Harness`](crate::passing::Harness) named.
#[macro_export]
macro_rules! passing_conformance {
    (@each $harness:ty: $($property:ident)*) => {
        $(
            #[test]
            fn $property() {
                $crate::passing::$property::<$harness>();
            }
        )*
    };
    ($harness:ty) => {
        $crate::passing_conformance!(@each $harness:
            every_length
            posted_or_not
            both_ways_at_once
            order_is_kept
            tags_choose
            bursts
            receives_in_posting_order
            crowded_before_received
            all_to_all
            barriers
            barriers_of_the_first_ranks
            collectives
            other_length
            misplaced_parts
            no_such_peer
            garbage_is_named
            no_slot_is_taken_out_of_turn
            an_emptied_slot_serves_what_waits
            slots_come_back_in_turn
            random_messages
        );
    };
}
