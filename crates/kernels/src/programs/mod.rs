//! The kernels, one file each, and what several of them share.

mod asking;
mod pair;
mod repeat;

pub use asking::Asking;
pub use pair::Pair;

use crate::list::{Visit, kernels};

// What a kernel needs of a rank, its file, its name: everything else reads this list.
kernels! {
    am burst::Burst;
    am fan_in::FanIn;
    am ping_pong::PingPong;
    am stream::Stream;
    transfer store::Store;
    transfer get::Get;
    comm comms1::Comms1;
    comm comms2::Comms2;
    comm comms3::Comms3;
    comm synch1::Synch1;
    comm broadcast::Broadcast;
}
