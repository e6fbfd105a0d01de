//! What a transport must do, what a rank program may do, and Active Messages between the two.
//!
//! * [`Endpoint`]: request and reply between ranks, with back-pressure as an answer.
//! * [`Link`]: the smaller contract of a transport that only moves frames and payloads;
//!   [`Credited`] makes an [`Endpoint`] and a [`Bulk`] of it.
//! * [`Bulk`]: an [`Endpoint`] that also moves bytes, between memories that ranks expose.
//! * [`ActiveMessages`]: handler table, `request`, `poll`, waiting, over any [`Endpoint`].
//! * [`passing`]: message passing of any length, over Active Messages.
//! * [`Am`] and [`Comm`]: what the source of a rank program sees. Executed by a rank process, or recorded for
//!   the simulator.
//!
//! This crate knows no transport and contains no unsafe code.
#![forbid(unsafe_code)]

mod active;
mod bulk;
mod credit;
mod endpoint;
mod error;
mod exposed;
mod floor;
mod frame;
mod message;
mod program;
mod timer;
mod transfer;
mod wait;

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod inproc;
pub mod passing;

pub use active::{ActiveMessages, Answer, Call, Handlers, Outcome, ReplyHandler, RequestHandler};
pub use bulk::{Begun, Bulk, Source, exposed_range};
pub use credit::{Credited, DEFAULT_CREDITS};
pub use endpoint::{Capabilities, Deliver, Endpoint, Link, Posted};
pub use error::CommError;
pub use exposed::ExposedMemory;
pub use floor::{Role, Window};
pub use frame::{FRAME_HEADER, Frame, FrameError, FrameKind, MAX_FRAME};
pub use message::{HandlerId, MAX_WORDS, Message, NoHandler, Rank, Tag, Word};
pub use program::{Am, Comm, Delay, Verb};
pub use timer::{Stamp, Timer};
pub use transfer::Transfer;
pub use wait::{NoWatch, Waiting, Watch};
