//! How two ranks measure the floors of their machine, and bandgap's own layers beside them.

mod batch;
mod bench;
mod command;
mod follower;
mod leader;
mod rank;
mod ticks;

use bandgap_campaign::floors::{EXPOSED, LONG};
use bandgap_comm::passing::Tuning;

pub use rank::rank;

const _: () =
    assert!(LONG == bandgap_socket::floor::STREAM_BYTES as u64, "streams and stores compare");
const _: () = {
    let (mapped, streamed) = (Tuning::DEFAULT, bandgap_socket::TUNING);
    let most = [mapped.slots * mapped.chunk, streamed.slots * streamed.chunk];
    assert!(2 * most[0] <= EXPOSED && 2 * most[1] <= EXPOSED, "message passing finds room");
};
