//! All that a kernel needs: `use bandgap::kernel::*;`.
//!
//! A kernel is a struct of its parameters. It implements [`Kernel`], and one of [`OverComm`],
//! [`OverAm`] and [`OverTransfer`] with its program. [`crate::Tool`] measures it. The guide is
//! `docs/adding-a-kernel.md`.

pub use bandgap_comm::{
    Am, Comm, CommError, Delay, Part, Pending, Processor, Rank, Transfer, View, Work,
};
pub use bandgap_kernels::{
    AtSize, Buffers, Content, DOUBLE, ECHO, Expects, Extent, ISSUE, Kernel, Look, MOST_BYTES,
    MOST_MESSAGES, Needs, OverAm, OverComm, OverTransfer, Pair, Placed, Places, Refused, Round,
    SINK, Samples, Seat, Sequence, Series, Stamps, WHOLE, Words, by_rank, messages_in_range,
    ranks_at_least,
};
pub use serde;
pub use serde::{Deserialize, Serialize};
