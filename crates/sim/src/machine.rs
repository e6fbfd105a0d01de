//! The LogGP machine: its parameters, the files that hold them, and the machines of the papers.

mod description;
mod protocol;

use std::path::Path;

use bandgap_units::{Bytes, Ns};
use serde::Deserialize;

use crate::SimError;
pub(crate) use protocol::MessageCosts;
pub use protocol::Protocol;

/// A LogGP machine with separate overheads for sending and receiving.
///
/// Active Messages cost os, or, g and L, whatever words they carry. Messages of bytes, stores and
/// the replies of gets cost the same and G for each byte, or what the [`Protocol`] of their length
/// says. A machine whose file gives neither moves no bytes, since its bandwidth would be infinite.
///
/// *Units*: a file gives nanoseconds; the simulation counts whole picoseconds, so a third decimal
/// is exact and a fourth is lost. The time for a byte is counted in femtoseconds.
/// *Source*: "Assessing Fast Network Interfaces", section LogP model; for bytes see [`Protocol`].
///
/// ```toml
/// name = "example"
/// description = "what it stands for"      # may be left out
/// send_overhead_ns = 1400
/// recv_overhead_ns = 2200
/// gap_ns = 7600
/// latency_ns = 6300
/// gap_per_byte_ns = 11.3                   # may be left out; not beside protocols
/// capacity = 16                            # may be left out
/// ranks = 64                               # may be left out
/// topology = "crossbar"                    # may be left out
///
/// [[protocol]]                             # instead of gap_per_byte_ns; for messages of bytes
/// up_to_bytes = 512                        # ascending; left out of the last protocol
/// send_overhead_ns = 1400
/// recv_overhead_ns = 2200
/// latency_ns = 6300
/// gap_per_byte_ns = 11.3
///
/// [[protocol]]                             # for all longer messages
/// send_overhead_ns = 5000
/// recv_overhead_ns = 2200
/// latency_ns = 6300
/// gap_per_byte_ns = 7.1
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    name: String,
    description: String,
    send_overhead: u64,
    recv_overhead: u64,
    gap: u64,
    latency: u64,
    /// At least one, by ascending length. The last is for any length, or for 0 bytes only where the
    /// file does not say what bytes cost.
    protocols: Vec<Protocol>,
    capacity: u32,
    ranks: usize,
    topology: Topology,
}

/// How processors are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Topology {
    /// The same L between any two ranks. Messages contend at their ends only, as LogP assumes.
    #[default]
    Crossbar,
}

/// The machines of the papers, by name.
const BUILT_IN: [(&str, &str); 4] = [
    ("paragon", include_str!("../machines/paragon.toml")),
    ("meiko-cs2", include_str!("../machines/meiko-cs2.toml")),
    ("myrinet", include_str!("../machines/myrinet.toml")),
    ("ipsc860", include_str!("../machines/ipsc860.toml")),
];

/// Largest default capacity.
const MOST_DEFAULT_CAPACITY: u64 = 1024;

impl Machine {
    /// The built-in machine of this name, or else the machine in the file of this name.
    ///
    /// # Errors
    /// There is no such machine or file, it cannot be read, or it describes no machine.
    pub fn load(name_or_path: &str) -> Result<Self, SimError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == name_or_path) {
            return Self::parse(text, name);
        }
        let path = Path::new(name_or_path);
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, name_or_path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(SimError::NoSuchMachine {
                    name: name_or_path.into(),
                    known: Self::built_in().collect::<Vec<_>>().join(", "),
                })
            }
            Err(source) => Err(SimError::Unreadable { path: path.into(), source }),
        }
    }

    /// The machine that `text` describes; `origin` names the text in errors.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown key, lacks a key, or a value is out of its bounds.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SimError> {
        description::parse(text, origin)
    }

    /// The names of the built-in machines.
    pub fn built_in() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it stands for; may be empty.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// os: time that a processor spends to send a message.
    pub fn send_overhead(&self) -> Ns {
        ns(self.send_overhead)
    }

    /// or: time that a processor spends to receive a message.
    pub fn recv_overhead(&self) -> Ns {
        ns(self.recv_overhead)
    }

    /// g: least interval between two messages that an interface sends, and between two that it
    /// receives.
    pub fn gap(&self) -> Ns {
        ns(self.gap)
    }

    /// L: time that a message is under way, without overheads.
    pub fn latency(&self) -> Ns {
        ns(self.latency)
    }

    /// Time of a single request with its reply.
    ///
    /// *Formula*: 2(os + L + or). *Source*: the paper, table 3.
    pub fn rtt(&self) -> Ns {
        ns(self.rtt_ps())
    }

    /// What messages of bytes cost, by ascending length. The last is for any length. Where the file
    /// does not say what bytes cost there is one, for messages of 0 bytes.
    pub fn protocols(&self) -> &[Protocol] {
        &self.protocols
    }

    /// Time of a single message of `bytes` bytes from the begin of its sending to the end of its
    /// receiving, which is half of what a ping-pong's round takes.
    ///
    /// *Formula*: os + L + or + n·G of the protocol of n bytes. `None` where the file does not say
    /// what bytes cost.
    pub fn half_rtt(&self, bytes: Bytes) -> Option<Ns> {
        protocol::costs(&self.protocols, bytes.0).map(|costs| ns(costs.half_rtt()))
    }

    /// Whether its file says what bytes cost, by G or by protocols.
    pub fn times_bytes(&self) -> bool {
        self.protocols.last().is_some_and(|protocol| protocol.up_to().is_none())
    }

    /// Requests that a rank may have outstanding toward one peer.
    ///
    /// The default is the larger of 2⌈RTT / g⌉ and ⌈RTT / os⌉, at most 1024. So the capacity does
    /// not limit the steady state, and does not end the send-only regime before the first reply is
    /// back.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// P: the most ranks it has.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// How processors are connected.
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// The parameters in picoseconds.
    pub(crate) fn picoseconds(&self) -> Picoseconds<'_> {
        Picoseconds {
            send_overhead: self.send_overhead,
            recv_overhead: self.recv_overhead,
            gap: self.gap,
            latency: self.latency,
            protocols: &self.protocols,
        }
    }

    fn rtt_ps(&self) -> u64 {
        2 * (self.send_overhead + self.latency + self.recv_overhead)
    }

    fn default_capacity(&self) -> u32 {
        let rtt = self.rtt_ps();
        let sent_within_rtt =
            if self.send_overhead == 0 { 0 } else { rtt.div_ceil(self.send_overhead) };
        let capacity = (2 * rtt.div_ceil(self.gap)).max(sent_within_rtt);
        u32::try_from(capacity.clamp(2, MOST_DEFAULT_CAPACITY)).expect("clamped")
    }
}

/// The parameters in the units of the simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picoseconds<'a> {
    pub send_overhead: u64,
    pub recv_overhead: u64,
    pub gap: u64,
    pub latency: u64,
    protocols: &'a [Protocol],
}

impl Picoseconds<'_> {
    /// What a message of words costs.
    #[inline]
    pub(crate) fn words(&self) -> MessageCosts {
        let Self { send_overhead, recv_overhead, latency, .. } = *self;
        MessageCosts { send_overhead, recv_overhead, latency, transfer: 0 }
    }

    /// What a message of `bytes` bytes costs.
    #[inline]
    pub(crate) fn message(&self, bytes: u32) -> MessageCosts {
        protocol::costs(self.protocols, u64::from(bytes))
            .expect("a replay does not begin where messages have no cost")
    }
}

fn ns(picoseconds: u64) -> Ns {
    Ns(picoseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests;
