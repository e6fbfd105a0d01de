//! Rank processes on one machine: started, watched, and cleaned up after.
//!
//! The launcher sleeps while ranks measure; it is woken only by what they send between timed
//! sections, by the end of one of them, or by a signal. Everything that ranks share is anonymous
//! (memory without a name, socket pairs, abstract sockets), so nothing can stay behind; ranks die
//! with the launcher.

mod descriptors;
pub mod launcher;
pub mod message;
pub mod rank;
pub mod task;
pub mod transport;
pub mod watch;

pub use launcher::{Ended, Launch};
pub use message::Wait;
pub use task::Task;
pub use transport::Transport;
