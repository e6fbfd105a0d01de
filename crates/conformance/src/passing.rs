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
//! # bandgap_conformance::passing::posted_or_not::<Inproc>();
//! ```
//!
//! Ranks run as threads that yield while they wait. If a property depends on what has arrived, they
//! take turns in one thread. A hang fails at a deadline.

mod crowd;
mod lengths;
mod misuse;
mod order;
mod ranks;
mod reluctant;
mod schedule;
mod slots;

pub use crowd::{barriers, barriers_of_the_first_ranks};
pub use lengths::{both_ways_at_once, every_length, posted_or_not};
pub use misuse::{garbage_is_named, misplaced_parts, no_such_peer, other_length};
pub use order::{bursts, crowded_before_received, receives_in_posting_order};
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
            bursts
            receives_in_posting_order
            crowded_before_received
            barriers
            barriers_of_the_first_ranks
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

/// A module of this name, in which the endpoints of a block, for so many ranks that expose so many bytes, pass
/// [`passing_conformance`]: `passes!(tcp(size, exposed) -> Endpoint { made(size, exposed) })`. A second block has what
/// else the [`Harness`](crate::passing::Harness) says.
#[macro_export]
macro_rules! passes {
    ($(#[$about:meta])* $name:ident($size:ident, $exposed:ident) -> $endpoint:ty $made:block
     $({ $($more:tt)* })?) => {
        $(#[$about])*
        mod $name {
            use super::*;

            struct Made;

            impl $crate::passing::Harness for Made {
                type E = $endpoint;
                $($($more)*)?

                fn endpoints($size: usize, $exposed: usize) -> Vec<Self::E> $made
            }

            $crate::passing_conformance!(Made);
        }
    };
}
