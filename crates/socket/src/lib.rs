//! Frames over sockets, and the floors of bare sockets.
//!
//! * [`SocketLink`]: a [`Stream`] between each pair of ranks; of TCP and of Unix sockets it is a [`Socket`].
//!   [`bandgap_comm::Credited`] makes it an endpoint.
//! * [`tcp`], [`unix`]: how ranks find each other. Nobody gets in without the run's secret. [`Over`] makes transports of these
//!   [`SocketKind`]s of sockets.
//! * [`floor`]: the same sockets in plain loops, without frames.
#![forbid(unsafe_code)]

mod call;
mod channel;
mod connect;
mod division;
mod error;
pub mod floor;
mod link;
mod stamped;
mod stamper;
mod stream;
pub mod tcp;
mod transport;
pub mod unix;

pub use connect::{Secret, SocketKind, nonce, star};
pub(crate) use error::Result;
pub use error::SocketError;
pub use link::SocketLink;
pub use stamped::Stamped;
pub use stamper::{Stamper, point::SEND};
pub use stream::{Received, Socket, Stream};
pub use transport::Over;
