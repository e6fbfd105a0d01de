//! Kernels: programs that ranks run together to measure how they communicate.
//!
//! * A [`Kernel`] is a value that holds its parameters. It says which rank times, what every rank
//!   must receive, and how time stamps become [`Samples`]. Its program is generic over what a rank
//!   can do ([`OverAm`], [`OverTransfer`] or [`OverComm`]). It takes time stamps and never computes
//!   a result.
//! * [`all`] is the list of kernels. Everything that needs every kernel walks it: [`facts`],
//!   [`carry_out`], [`program`], and the tests. A program can [`add`] its own kernels.
//! * An [`Order`] names a kernel, its parameters and the number of samples. Ranks send orders to
//!   each other as JSON, in letters ([`Executor::post`]).
//! * An [`Executor`] carries out orders on a transport and verifies what arrived. The simulator's
//!   recorder records the same programs ([`program`]).
#![forbid(unsafe_code)]

mod added;
mod adding;
mod buffers;
mod executor;
mod expects;
mod facts;
mod floor;
mod handlers;
mod kernel;
mod list;
mod mailbox;
mod matrix;
mod order;
mod outcome;
mod places;
mod programs;
mod refused;
mod rig;
mod rows;
mod series;
mod shape;
mod stamps;
mod state;
mod vector;
mod verify;
mod words;

pub use added::Added;
pub use adding::{AmEntry, CommEntry, Entry, NotAdded, TransferEntry, add};
pub use buffers::Buffers;
pub use executor::Executor;
pub use expects::{Content, Expects, Placed, Seat, Sequence};
pub use facts::{Fact, Over, fact, facts, in_series};
pub use floor::{BareLoop, carry_out_bare};
pub use handlers::{ECHO, SINK};
pub use kernel::{
    Kernel, MOST_BYTES, MOST_MESSAGES, OverAm, OverComm, OverTransfer, Round, messages_in_range,
    ranks_at_least,
};
pub use list::Visit;
pub use matrix::{
    Block, Edge, Elements, Here, Local, Matrix, MatrixKernel, MatrixProgram, MeshOrder, NoMesh,
    ProcessorMesh,
};
pub use order::{MOST_SAMPLES, Order};
pub use outcome::{Checked, Counted, Failed, Flaw, Outcome, Wrong};
pub use places::{MOST_PLACES, Needs, Places};
pub use programs::*;
pub use refused::Refused;
pub use rig::{Arrived, Rig, is_counted};
pub use rows::{Program, carry_out, carry_out_active, carry_out_one, carry_out_passing, program};
pub use series::{AtSize, DOUBLE, Extent, Look, Series};
pub use shape::Shape;
pub use stamps::{ISSUE, SINGLE, Samples, Stamps, WHOLE};
pub use state::{Log, RankState, Tally};
pub use vector::{VectorKernel, VectorProgram, Vectors};
pub use words::Words;
