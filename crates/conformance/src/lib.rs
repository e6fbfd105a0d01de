//! What every transport must do, as tests that know no transport.
//!
//! A transport says how its endpoints are made, and one line makes a `#[test]` of each property:
//!
//! ```
//! use bandgap_comm::{Credited, inproc};
//! use bandgap_conformance::Harness;
//!
//! struct Inproc;
//!
//! impl Harness for Inproc {
//!     type E = Credited<inproc::InprocLink>;
//!     fn endpoints(size: usize) -> Vec<Self::E> {
//!         inproc::links(size, 64).into_iter().map(|link| Credited::new(link, 64)).collect()
//!     }
//! }
//!
//! bandgap_conformance::conformance!(Inproc);
//! # bandgap_conformance::completes_once::<Inproc>();
//! ```
//!
//! Ranks run as threads that yield while they wait. If a property depends on who makes progress,
//! they take turns in one thread. A hang fails at a deadline.
//!
//! [`passing`] is the suite of message passing, and [`direct`] another message passing to compare with.
#![forbid(unsafe_code)]

mod bulk;
mod delegate;
pub mod direct;
mod exchange;
mod fault;
mod faulty;
mod filled;
mod group;
pub mod passing;
mod pressure;
mod ranks;
mod transfers;

pub use bulk::{
    a_get_brings_the_bytes_of_the_peer, a_store_is_there_before_its_request,
    rings_of_long_transfers_do_not_lock_up, what_is_not_exposed_is_refused,
};
pub use exchange::{
    completes_once, replies_keep_to_their_handler, requests_arrive_once_and_in_order,
};
pub use fault::{departure_is_noticed, no_such_peer, unknown_handler_names_the_rank};
pub use faulty::Faulty;
pub use group::{all_to_all, fan_in};
pub use pressure::{busy_at_capacity, flood_both_ways, replies_find_room};
pub use transfers::random_transfers;

#[doc(hidden)]
pub use bandgap_comm as comm;

use bandgap_comm::Endpoint;

/// Least number of bytes that each rank exposes in tests of [`bandgap_comm::Bulk`].
pub const EXPOSED: usize = 8 << 20;

/// How a transport's endpoints are made.
pub trait Harness {
    /// The endpoint under test.
    type E: Endpoint + Send;
    /// Whether an endpoint notices by itself that the endpoint of a peer was dropped.
    const NOTICES_DEPARTURE: bool = true;
    /// The connected endpoints of a new run, by rank.
    fn endpoints(size: usize) -> Vec<Self::E>;
}

/// Makes one `#[test]` of each property for the [`Harness`](crate::Harness) named.
#[macro_export]
macro_rules! conformance {
    (@each $harness:ty: $($property:ident)*) => {
        $(
            #[test]
            fn $property() {
                $crate::$property::<$harness>();
            }
        )*
    };
    ($harness:ty) => {
        $crate::conformance!(@each $harness:
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
    };
}

/// Makes one `#[test]` of each property of [`Bulk`](bandgap_comm::Bulk) for the
/// [`Harness`](crate::Harness) named. Its endpoints expose at least
/// [`EXPOSED`](crate::EXPOSED) bytes.
#[macro_export]
macro_rules! bulk_conformance {
    ($harness:ty) => {
        $crate::conformance!(@each $harness:
            a_store_is_there_before_its_request
            a_get_brings_the_bytes_of_the_peer
            rings_of_long_transfers_do_not_lock_up
            what_is_not_exposed_is_refused
            random_transfers
        );
    };
}

/// A module of this name, in which the endpoints of a block, for so many ranks, pass [`conformance`] and
/// [`bulk_conformance`]: `conforms!(tcp(size) -> Endpoint { made(size) })`. A second block has what else the
/// [`Harness`](crate::Harness) says.
#[macro_export]
macro_rules! conforms {
    ($(#[$about:meta])* $name:ident($size:ident) -> $endpoint:ty $made:block $({ $($more:tt)* })?) => {
        $(#[$about])*
        mod $name {
            use super::*;

            struct Made;

            impl $crate::Harness for Made {
                type E = $endpoint;
                $($($more)*)?

                fn endpoints($size: usize) -> Vec<Self::E> $made
            }

            $crate::conformance!(Made);
            $crate::bulk_conformance!(Made);
        }
    };
}
