//! Requirements on message passing over every transport, as tests that are independent of the
//! transport.
//!
//! Ranks run as threads that yield while they wait. Where a property depends on what has arrived,
//! they take turns in one thread. A hang fails after a deadline.

mod messages;
mod misuse;
mod ranks;
mod reluctant;
mod schedule;
mod slots;

pub use messages::*;
pub use misuse::*;
pub use reluctant::Reluctant;
pub use schedule::random_messages;
pub use slots::*;
