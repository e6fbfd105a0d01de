//! Message passing and frames over any library of tagged messages.
//!
//! * [`Tagged`]: what such a library must do. A crate that opens one implements it.
//! * [`Library`]: the library's own messages, and its collectives if it has some, on parts of a rank's memory.
//! * [`Fabric`]: such a library as a transport, and [`PingPong`] and [`Words`]: floors.
//! * [`TaggedLink`]: frames over its messages. [`bandgap_comm::Credited`] turns it into an endpoint.
//!
//! # Invariants
//! The unsafe blocks of crates that implement [`Tagged`] rely on these.
//! * The bytes of a [`Kept`] are within one allocation and stay valid until the message that was begun with them has
//!   ended: a [`Memory`] counts messages and is not freed before.
//! * While a message is in flight, nobody holds a reference to its bytes during a call of the library.
//! * A request is used by the library that made it, until it has ended and not afterwards.
#![forbid(unsafe_code)]

mod fabric;
mod kept;
mod library;
mod link;
mod look;
mod memory;
mod tagged;

pub use fabric::{Fabric, PingPong, Words};
pub use kept::Kept;
pub use library::Library;
pub use link::TaggedLink;
pub use look::Look;
pub use memory::Memory;
pub use tagged::{Place, Tagged, Traffic};
