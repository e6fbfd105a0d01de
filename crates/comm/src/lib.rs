//! What a transport must provide, what a rank program can use, and Active Messages between the two.
//!
//! * [`Endpoint`]: request and reply between ranks, with back-pressure as an answer.
//! * [`Link`]: the smaller contract of a transport that only moves frames and payloads.
//!   [`Credited`] turns it into an [`Endpoint`] and a [`Bulk`].
//! * [`Bulk`]: an [`Endpoint`] that also moves bytes between memories that ranks expose.
//! * [`ActiveMessages`]: handler table, `request`, `poll` and waiting, over any [`Endpoint`].
//! * [`passing`]: messages of any length between parts of ranks' memories, over Active Messages.
//! * [`collectives`]: algorithms for broadcast, sum, barrier and others, over any [`Comm`].
//! * [`Am`] and [`Comm`]: the interfaces of rank programs. A rank process executes a program, or a
//!   recorder records it for the simulator.
//!
//! This crate knows no transport and contains no unsafe code.
#![forbid(unsafe_code)]

mod active;
mod any;
mod bulk;
mod credit;
mod endpoint;
mod error;
mod exposed;
mod floor;
mod frame;
mod link;
mod message;
mod program;
mod ring;
mod transport;
mod wait;

pub mod division;
pub mod passing;

pub use bandgap_units::{Delay, Stamp, Timer};

pub use active::{
    ActiveMessages, Answer, Call, Handlers, Outcome, ReplyHandler, RequestHandler, RoomHandler,
};
pub use any::AnyEndpoint;
pub use bulk::{Begun, Bulk, Source, exposed_range};
pub use credit::{Credited, DEFAULT_CREDITS};
pub use division::{AtBorder, Division, Stamped, Stamping, Timed, Together};
pub use endpoint::{AHEAD, Deliver, Endpoint, Posted};
pub use error::{CommError, Result, check_peer};
pub use exposed::ExposedMemory;
pub use floor::{Bare, Floor, FloorRole, Measuring, Window, Yields};
pub use frame::{CARRYING, Frame, FrameError, FrameKind, MAX_FRAME};
pub use link::{Frames, Link};
pub use message::{HandlerId, MAX_WORDS, Message, NoHandler, Rank, Tag, Word};
pub use program::{
    Am, BARRIER, Comm, DOUBLE, Part, Pending, Processor, Transfer, Verb, View, Work, collectives,
};
pub use transport::{Can, Rendezvous, Transport};
pub use wait::{DeadlineWatch, Waiting, Watch};

#[cfg(test)]
extern crate self as bandgap_comm;
#[cfg(test)]
#[path = "../tests/support/inproc.rs"]
mod inproc;
