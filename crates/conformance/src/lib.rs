//! What every transport must do, as tests that know no transport.
//!
//! A transport says how its endpoints are made, and one line makes a `#[test]` of each property:
//!
//! ```text
//! conforms!(endpoint mine(size, exposed) -> Credited<MyLink> {
//!     my_links(size, exposed).into_iter().map(|link| Credited::new(link, 64)).collect()
//! });
//! ```
//!
//! Ranks run as threads that yield while they wait. If a property depends on who makes progress,
//! they take turns in one thread. A hang fails at a deadline.
#![forbid(unsafe_code)]

mod bulk;
mod delegate;
mod endpoint;
mod passing;
mod ranks;

pub use bulk::*;
pub use endpoint::*;
pub use passing::*;

#[doc(hidden)]
pub use bandgap_comm as comm;

use bandgap_comm::passing::{Tuning, Way};
use bandgap_comm::{Bulk, CommError, Rank};

/// What an endpoint answers, or why it does not.
type Result<T = (), E = CommError> = std::result::Result<T, E>;

/// Bytes that each rank exposes in tests of endpoints.
pub const EXPOSED: usize = 8 << 20;

/// How a transport's endpoints are made, and with what message passing over them is tested.
pub trait Harness {
    /// The endpoint under test.
    type E: Bulk + Send;
    /// Whether an endpoint notices by itself that the endpoint of a peer was dropped.
    const NOTICES_DEPARTURE: bool = true;
    /// The limits between protocols.
    const TUNING: Tuning = Tuning::DEFAULT;
    /// The way of long messages at this rank.
    fn way(_rank: Rank) -> Way {
        Way::Pieces
    }
    /// The connected endpoints of a new run, by rank. Each exposes at least so many bytes.
    fn endpoints(size: usize, exposed: usize) -> Vec<Self::E>;
}

/// Makes one `#[test]` of each property of an endpoint for the [`Harness`](crate::Harness) named, of its stores and gets
/// (`bulk`), of message passing over it (`passing`), or of those that follow (`each`).
#[macro_export]
macro_rules! conformance {
    (each $harness:ty: $($property:ident)*) => {
        $(
            #[test]
            fn $property() {
                $crate::$property::<$harness>();
            }
        )*
    };
    (bulk $harness:ty) => {
        $crate::conformance!(each $harness:
            a_store_is_there_before_its_request
            a_get_brings_the_bytes_of_the_peer
            rings_of_long_transfers_do_not_lock_up
            what_is_not_exposed_is_refused
            random_transfers
        );
    };
    (passing $harness:ty) => {
        $crate::conformance!(each $harness:
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
            no_such_peer_of_messages
            garbage_is_named
            no_slot_is_taken_out_of_turn
            an_emptied_slot_serves_what_waits
            slots_come_back_in_turn
            random_messages
        );
    };
    (endpoint $harness:ty) => {
        $crate::conformance!(each $harness:
            requests_arrive_once_and_in_order
            completes_once
            replies_keep_to_their_handler
            busy_at_capacity
            flood_both_ways
            replies_find_room
            all_to_all
            fan_in
            no_such_peer
            unknown_handler_names_the_rank
            departure_is_noticed
        );
        $crate::conformance!(bulk $harness);
    };
}

/// A module of this name, in which the endpoints of a block, for so many ranks that expose so many bytes, pass
/// [`conformance`] as an `endpoint` or in `passing`: `conforms!(endpoint tcp(size, exposed) -> Endpoint { made(size,
/// exposed) })`. A second block has what else the [`Harness`](crate::Harness) says.
#[macro_export]
macro_rules! conforms {
    ($(#[$about:meta])* $as:ident $name:ident($size:ident, $exposed:ident) -> $endpoint:ty $made:block
     $({ $($more:tt)* })?) => {
        $(#[$about])*
        mod $name {
            use super::*;

            struct Made;

            impl $crate::Harness for Made {
                type E = $endpoint;
                $($($more)*)?

                fn endpoints($size: usize, $exposed: usize) -> Vec<Self::E> $made
            }

            $crate::conformance!($as Made);
        }
    };
}
