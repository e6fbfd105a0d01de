//! Starts rank processes, watches them and cleans up after them; or runs ranks in virtual time.
//!
//! The launcher sleeps while ranks measure; ranks tell it something only between timed sections.
//! Everything that its ranks share is anonymous (memory without a name, socket pairs, abstract
//! sockets), so nothing stays behind. Ranks die with the launcher.
#![forbid(unsafe_code)]

mod adopt;
pub mod agent;
mod agents;
mod allotted;
mod cause;
mod collect;
mod descriptors;
mod divide;
mod exit;
mod fabrics;
mod failure;
mod floors;
mod foreign;
mod group;
mod hosts;
mod inside;
mod interface;
mod launcher;
mod live;
mod local;
mod machine;
mod meet;
mod memory;
mod message;
mod mpi;
mod network;
mod once;
mod outside;
mod own;
mod process;
mod protocol;
pub mod rank;
mod reach;
mod remote;
mod replayed;
mod room;
mod signals;
mod spread;
mod stage;
mod stamped;
mod station;
pub mod survey;
mod together;
mod transports;
mod vigil;
mod virtual_time;
mod watch;

pub use adopt::Adopted;
pub use agents::{Agent, Gathered};
pub use allotted::Allotted;
pub use collect::{Collected, Entry, Options, Wanted, collect, in_virtual_time};
pub use exit::Exit;
pub use failure::{Classify, Failure, Result, limit, told};
pub use floors::{between_hosts, carries, floors, floors_of, needs_library};
pub use hosts::Hosts;
pub use launcher::{Ended, Progress};
pub use message::Wait;
pub use mpi::{is_over, over};
pub use network::{contended, distances};
pub use once::{Once, at_least, once, once_until, recorded};
pub use outside::command as launcher_of;
pub use own::{Own, tcp_peers};
pub use protocol::Hello;
pub use room::{has_room, simulated};
pub use signals::{Signals, let_long_files_fail, signalled};
pub use spread::Spread;
pub use spread::seat;
pub use stage::{Stage, placed};
pub use transports::{Target, Transport, compiled};

#[cfg(test)]
#[path = "../../kernels/tests/support/examples.rs"]
mod examples;
#[cfg(test)]
mod tests;
