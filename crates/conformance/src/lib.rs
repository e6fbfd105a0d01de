//! Requirements on every transport, as tests that are independent of the transport.
//!
//! A transport defines how its endpoints are made, and one line generates a `#[test]` for each
//! property:
//!
//! ```text
//! conforms!(endpoint mine(size, exposed) {
//!     my_links(size, exposed).into_iter().map(|link| Credited::new(link, 64)).collect()
//! });
//! ```
//!
//! Ranks run as threads that yield while they wait. Where a property depends on who makes progress,
//! they take turns in one thread. A hang fails after a deadline.
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
use bandgap_comm::{AnyEndpoint, Bulk, CommError, Rank};

/// Result of a call to an endpoint.
#[doc(hidden)]
pub type Result<T = (), E = CommError> = std::result::Result<T, E>;

/// Bytes that each rank exposes in tests of endpoints.
pub const EXPOSED: usize = 8 << 20;

/// How a transport's endpoints are made, and how message passing over them is tested.
///
/// The suite is compiled once, for endpoints in a box.
#[derive(Debug)]
pub struct Harness {
    /// Makes the connected endpoints of a new run, by rank, from the number of ranks and the least number of bytes
    /// that each exposes.
    pub endpoints: fn(usize, usize) -> Vec<AnyEndpoint>,
    /// Whether an endpoint notices by itself that a peer's endpoint was dropped.
    pub notices_departure: bool,
    /// Message lengths at which the protocol changes.
    pub tuning: Tuning,
    /// The way of long messages at a rank.
    pub way: fn(Rank) -> Way,
}

impl Harness {
    /// Endpoints that notice departures, with the usual message passing.
    pub const fn of(endpoints: fn(usize, usize) -> Vec<AnyEndpoint>) -> Self {
        Self { endpoints, notices_departure: true, tuning: Tuning::DEFAULT, way: |_| Way::Pieces }
    }
}

/// These endpoints, in boxes.
pub fn boxed<E: Bulk + Send>(endpoints: Vec<E>) -> Vec<AnyEndpoint> {
    endpoints.into_iter().map(AnyEndpoint::of).collect()
}

/// Makes one `#[test]` per property for the named constant [`Harness`](crate::Harness): the properties of an `endpoint`,
/// of its stores and gets (`bulk`), of message passing over it (`passing`), or those that follow (`each`).
#[macro_export]
macro_rules! conformance {
    (each $harness:path: $($property:ident)*) => {
        $(
            #[test]
            fn $property() {
                $crate::$property(&$harness);
            }
        )*
    };
    (bulk $harness:path) => {
        $crate::conformance!(each $harness:
            a_store_is_there_before_its_request
            a_get_brings_the_bytes_of_the_peer
            rings_of_long_transfers_do_not_lock_up
            what_is_not_exposed_is_refused
            random_transfers
        );
    };
    (passing $harness:path) => {
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
    (endpoint $harness:path) => {
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

/// Makes a module that tests endpoints with [`conformance`], as an `endpoint` or for message `passing`:
/// `conforms!(endpoint tcp(size, exposed) { made(size, exposed) })`. The block makes the endpoints of `size` ranks, each of
/// which exposes `exposed` bytes; a second block sets other fields of the [`Harness`](crate::Harness).
#[macro_export]
macro_rules! conforms {
    ($(#[$about:meta])* $as:ident $name:ident($size:ident, $exposed:ident) $made:block
     $({ $($more:tt)* })?) => {
        $(#[$about])*
        mod $name {
            use super::*;

            fn made($size: usize, $exposed: usize) -> Vec<$crate::comm::AnyEndpoint> {
                $crate::boxed($made)
            }

            const MADE: $crate::Harness =
                $crate::Harness { $($($more)*,)? ..$crate::Harness::of(made) };

            $crate::conformance!($as MADE);
        }
    };
}
