//! What the kernel's static tracepoints say of a message's way through it.
//!
//! - [`mod@event`]: what a trace says of a moment, and the events that there are.
//! - [`messages`]: from events to messages: what belongs to the call that sends one, and to the call that receives it.
//! - [`mod@path`]: the steps of many messages.
//!
//! An illustration: each event takes time itself, and so the way is another one than without them.
//!
//! *Units*: nanoseconds since any beginning.

pub mod event;
pub mod messages;
pub mod path;

pub use event::{Call, EVENTS, Event, KernelEvent, What, event};
pub use messages::{Message, Messages, Moment};
pub use path::{Path, Side, Step, path};

#[cfg(test)]
mod tests;
