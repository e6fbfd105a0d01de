//! All that a transport needs: `use bandgap::transport::*;`.
//!
//! A transport implements [`Transport`]; its endpoint is a [`Link`] with [`Credited`], or an
//! [`Endpoint`] and a [`Bulk`]. Its floors are a [`Bare`]. [`crate::Tool`] measures it. The guide is
//! `docs/adding-a-transport.md`.

pub use bandgap_comm::division::*;
pub use bandgap_comm::passing::Tuning;
pub use bandgap_comm::{
    Bare, Begun, Bulk, Can, CommError, Credited, DEFAULT_CREDITS, Delay, Deliver, Endpoint,
    ExposedMemory, Floor, FloorRole, Frame, FrameError, FrameKind, Frames, HandlerId, Link,
    MAX_FRAME, MAX_WORDS, Measuring, Message, NoHandler, Posted, Rank, Rendezvous, Source, Stamp,
    Stamped, Tag, Timer, Transport, Window, Word, Yields, check_peer, exposed_range,
};
pub use bandgap_launch::tcp_peers;
