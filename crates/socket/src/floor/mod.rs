//! What bare sockets allow: plain loops over connected, non-blocking sockets.
//!
//! They do the least that any program over these sockets has to do, with the same system calls as
//! the link. Both sides run the same function, in opposite [`Role`](bandgap_comm::Role)s and with
//! the same [`Window`](bandgap_comm::Window), which says how many rounds a sample times. The
//! initiator gets the timer's ticks for each sample, including the cost of the timer; the responder
//! gets an empty list.

mod bandwidth;
mod ping_pong;
mod side;

pub use bandwidth::{STREAM_BYTES, stream};
pub use ping_pong::ping_pong;

/// The ticks of each sample; of none on the side that takes no time.
pub type Ticks = Result<Vec<u64>, crate::SocketError>;
