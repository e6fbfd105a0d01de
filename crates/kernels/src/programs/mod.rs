//! The kernels, one file each, and what several of them share.

mod asking;
mod line_broadcast;
mod pair;
mod repeat;
mod shift;
mod travel;
mod variant;

pub use asking::Asking;
pub use contention::{LOAD, LOADS};
pub use overlap::{OverlapMode, TAKE};
pub use pair::Pair;
pub use repeat::by_rank;
pub(crate) use repeat::by_shape;
pub use variant::{By, LIBRARY};

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
    comm round_robin::RoundRobin;
    comm synch1::Synch1;
    comm broadcast::Broadcast;
    comm global_sum::GlobalSum;
    comm all_reduce::AllReduce;
    comm reduce_scatter::ReduceScatter;
    comm all_gather::AllGather;
    comm all_to_all::AllToAll;
    comm overlap::Overlap;
    comm contention::Contention;
    comm message_costs::MessageCosts;
    comm update_guard::UpdateGuard;
    comm shift_north::ShiftNorth;
    comm shift_east::ShiftEast;
    comm transpose::Transpose;
    comm row_broadcast::RowBroadcast;
    comm column_broadcast::ColumnBroadcast;
}
