//! Requirements on every transport, as tests that are independent of the transport.
//!
//! One line generates a `#[test]` for each property of a transport, connecting included:
//! `conforms!(transport Mine)`.
//!
//! Ranks run as threads that yield while they wait. Where a property depends on who makes progress,
//! they take turns in one thread. A hang fails after a deadline.
#![forbid(unsafe_code)]

mod bulk;
mod connecting;
mod delegate;
mod endpoint;
mod passing;
mod ranks;

pub use bulk::*;
pub use connecting::*;
pub use endpoint::*;
pub use passing::*;

#[doc(hidden)]
pub use bandgap_comm as comm;

use bandgap_comm::passing::{Tuning, Way};
use bandgap_comm::{AnyEndpoint, Bulk, CommError, Rank, Transport};

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

    /// The endpoints of a transport whose ranks have met, and message passing as it cuts messages.
    pub const fn transport<T: Transport<Endpoint: Send>>() -> Self {
        Self { tuning: T::CAN.tuning, ..Self::of(|size, exposed| connected::<T>(size, exposed, 0)) }
    }
}

/// These endpoints, in boxes.
pub fn boxed<E: Bulk + Send>(endpoints: Vec<E>) -> Vec<AnyEndpoint> {
    endpoints.into_iter().map(AnyEndpoint::of).collect()
}

/// Makes one `#[test]` per property for the named constant [`Harness`](crate::Harness): the properties of an `endpoint`
/// with its stores and gets, of message passing over it (`passing`), or those that follow (`each`), some of a transport.
#[macro_export]
macro_rules! conformance {
    (each $harness:path: $($property:ident $(<$transport:ty>)?)*) => {
        $(
            #[test]
            fn $property() {
                $crate::$property$(::<$transport>)?(&$harness);
            }
        )*
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
            a_store_is_there_before_its_request
            a_get_brings_the_bytes_of_the_peer
            rings_of_long_transfers_do_not_lock_up
            what_is_not_exposed_is_refused
            random_transfers
        );
    };
}

/// Makes a module that tests with [`conformance`] all of a transport: `conforms!(transport Mine)`, or with a name of the
/// module `conforms!(transport mine: Mine)`. The transport is the type that implements
/// [`Transport`](bandgap_comm::Transport); its ends can move to other threads.
///
/// Or one that tests given endpoints, as an `endpoint` or for message `passing`:
/// `conforms!(endpoint tcp(size, exposed) { made(size, exposed) })`. The block makes the endpoints of `size` ranks, each of
/// which exposes `exposed` bytes.
///
/// A last block sets other fields of the [`Harness`](crate::Harness).
#[macro_export]
macro_rules! conforms {
    (transport $name:ident: $transport:ty $({ $($more:tt)* })?) => {
        mod $name {
            #[allow(unused_imports, reason = "the transport may have a whole path")]
            use super::*;

            const MADE: $crate::Harness = $crate::Harness {
                $($($more)*,)? ..$crate::Harness::transport::<$transport>()
            };

            $crate::conformance!(each MADE:
                ranks_meet_their_own_run_in_any_order<$transport>
                a_rank_that_never_comes_is_noticed<$transport>
                nobody_gets_in_without_the_secret<$transport>
            );
            $crate::conformance!(endpoint MADE);
            $crate::conformance!(passing MADE);
        }
    };
    (transport $transport:ty $({ $($more:tt)* })?) => {
        $crate::conforms!(transport conformance: $transport $({ $($more)* })?);
    };
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
