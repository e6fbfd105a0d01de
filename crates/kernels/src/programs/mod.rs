//! The kernels, and what several of them share.

mod pair;
mod repeat;
mod variant;

pub use burst::Asking;
pub use contention::{LOAD, LOADS};
pub use overlap::{OverlapMode, TAKE};
pub use pair::Pair;
pub use repeat::by_rank;
pub(crate) use repeat::by_shape;
pub use variant::{By, LIBRARY};

use crate::list::{Visit, kernels};

// Each line: what a kernel needs of a rank, its file, and its type or types. Everything else reads
// this list.
kernels! {
    am burst: Burst;
    am fan_in: FanIn;
    am requests: PingPong, RequestStream;
    transfer bulk: Store, Get;
    comm comms: Comms1, Comms2;
    comm comms3: Comms3;
    comm round_robin: RoundRobin;
    comm windows: Stream, Bidirectional;
    comm synch1: Synch1;
    comm broadcast: Broadcast;
    comm global_sum: GlobalSum, AllReduce;
    comm blocks: ReduceScatter, AllGather, AllToAll, Reduce, Gather, Scatter;
    comm overlap: Overlap;
    comm contention: Contention;
    comm message_costs: MessageCosts;
    comm update_guard: UpdateGuard;
    comm shift: ShiftNorth, ShiftEast;
    comm transpose: Transpose;
    comm line_broadcast: RowBroadcast, ColumnBroadcast;
}
