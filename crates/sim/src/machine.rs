//! The LogGP machine: its parameters, the files that hold them, and the machines of the papers.

mod description;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;

use crate::error::Result;
use crate::{Network, SimError};

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
/// topology = "crossbar"                    # may be left out; not beside network
/// progress = "asynchronous"                # or "synchronous"; may be left out
/// nonblocking_ns = 0                       # of each call that begins a message or waits for it; may be
///                                          # left out
/// daxpy_ns = 1                             # for each element of y ← a·x + y; may be left out
///
/// [network]                                # may be left out: then it is a crossbar
/// topology = "torus"                       # or "mesh", "hypercube", "fat_tree", "dragonfly", "hosts",
///                                          # "crossbar"
/// rows = 8                                 # of a mesh and a torus
/// columns = 8                              # of a mesh and a torus
/// # dimensions = 6                         # of a hypercube of 2⁶ nodes
/// # arity = 4                              # of a fat tree of 4³ nodes
/// # levels = 3                             # of a fat tree
/// # routers_per_group = 4                  # of a dragonfly of 4·2 + 1 groups, which are all joined
/// # nodes_per_router = 2                   # of a dragonfly
/// # links_per_router = 2                   # of a dragonfly, to other groups
/// # hosts = 16                             # of hosts, which are two hops apart
/// # ranks_per_host = 4                     # of hosts
/// hop_ns = 400                             # not in a crossbar
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
/// hop_ns = 1200                            # may be left out: then it is the network's
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// os: time in picoseconds that a processor spends to send a message.
    pub send_overhead: u64,
    /// or: time in picoseconds that a processor spends to receive a message.
    pub recv_overhead: u64,
    /// g: least interval in picoseconds between two messages that an interface sends, and between
    /// two that it receives.
    pub gap: u64,
    /// L: time in picoseconds that a message is under way, without overheads.
    pub latency: u64,
    /// h: time in picoseconds that each hop beyond the first adds to L.
    pub hop: u64,
    /// How its ranks are connected.
    pub network: Network,
    /// Whether messages move while processors compute.
    pub progress: Progress,
    /// Time in picoseconds that a processor spends, beside os and or, in each call that begins a send or
    /// a receive without waiting, and in each that waits for one. By default none. Calls that block
    /// are one call, and spend os and or only.
    pub nonblocking: u64,
    /// Time for an element of y ← a·x + y ([`Machine::daxpy`]), in femtoseconds. By default a
    /// nanosecond.
    pub daxpy_per_element: u64,
    /// What messages of bytes cost, by ascending length. The last is for any length. None where the
    /// file does not say what bytes cost: then a message of 0 bytes costs what words do.
    pub protocols: Vec<Protocol>,
    /// Requests that a rank may have outstanding toward one peer.
    ///
    /// The default is the larger of 2⌈RTT / g⌉ and ⌈RTT / os⌉, at least 2 and at most 1024, where
    /// RTT = 2(os + L + or) (the paper, table 3), with the L of the longest way. So the capacity does not limit the steady state,
    /// and does not end the send-only regime before the first reply is back.
    pub capacity: u32,
    /// P: the most ranks it has; not more than its network has nodes.
    pub ranks: usize,
}

/// The machines of the papers, by name.
const BUILT_IN: [(&str, &str); 4] = [
    ("paragon", include_str!("../machines/paragon.toml")),
    ("meiko-cs2", include_str!("../machines/meiko-cs2.toml")),
    ("myrinet", include_str!("../machines/myrinet.toml")),
    ("ipsc860", include_str!("../machines/ipsc860.toml")),
];

impl Machine {
    /// The most ranks of any machine.
    pub const MOST_RANKS: usize = 1 << 20;

    /// The built-in machine of this name, or else the machine in the file of this name.
    ///
    /// # Errors
    /// There is no such machine or file, it cannot be read, or it describes no machine.
    pub fn load(name_or_path: &str) -> Result<Self> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == name_or_path) {
            return Self::parse(text, name);
        }
        let path = Path::new(name_or_path);
        let text = read(path).map_err(|error| {
            let known = || Self::built_in().collect::<Vec<_>>().join(", ");
            let error = match error.kind() {
                kind @ io::ErrorKind::NotFound => io::Error::new(
                    kind,
                    format!("there is no such file, and the built-in machines are {}", known()),
                ),
                _ => error,
            };
            SimError::Unreadable(path.into(), error)
        })?;
        Self::parse(&text, name_or_path)
    }

    /// The machine that `text` describes; `origin` names the text in errors.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown key, lacks a key, or a value is out of its bounds.
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        description::parse(text, origin)
    }

    /// How long a processor computes y ← a·x + y with vectors of so many elements, in picoseconds.
    pub fn daxpy(&self, elements: u32) -> u64 {
        thousandths(elements.into(), self.daxpy_per_element)
    }

    /// The names of the built-in machines.
    pub fn built_in() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// What a message costs that carries so many bytes; `None` is one that carries words only. The
    /// machine times bytes, or there are none.
    pub(crate) fn costs(&self, bytes: Option<u32>) -> MessageCosts {
        let protocol = bytes.and_then(|bytes| Some(self.protocol(bytes)?.costs(bytes.into())));
        let Self { send_overhead, recv_overhead, latency, .. } = *self;
        protocol.unwrap_or(MessageCosts { send_overhead, recv_overhead, latency, transfer: 0 })
    }

    /// What the hops beyond the first add to the latency of a message that carries so many bytes.
    pub(crate) fn further_hops(&self, from: u32, to: u32, bytes: Option<u32>) -> u64 {
        let further = self.network.further_hops(from, to);
        let protocol = bytes.and_then(|bytes| self.protocol(bytes));
        further * protocol.map_or(self.hop, |protocol| protocol.hop)
    }

    /// The same with this much more L, in picoseconds, for words and bytes.
    pub(crate) fn with_more_latency(&self, more: u64) -> Self {
        let mut other = self.clone();
        let all = other.protocols.iter_mut().map(|protocol| &mut protocol.latency);
        for latency in all.chain([&mut other.latency]) {
            *latency = latency.saturating_add(more);
        }
        other
    }

    /// The least L, o, g and G that something costs.
    pub(crate) fn least(&self) -> [u64; 4] {
        let words = [self.latency, self.send_overhead.min(self.recv_overhead), self.gap, u64::MAX];
        self.protocols.iter().fold(words, |[latency, overhead, gap, per_byte], of| {
            let overhead = overhead.min(of.send_overhead).min(of.recv_overhead);
            [latency.min(of.latency), overhead, gap, per_byte.min(of.gap_per_byte)]
        })
    }

    /// The soonest that anything which a rank does can reach another one, in picoseconds: 0 where
    /// messages share channels, since who asks first is then of importance to all.
    pub(crate) fn least_delay(&self) -> u64 {
        if self.network.is_shared() {
            return 0;
        }
        let words = self.costs(None);
        let bytes = self.protocols.iter().map(|protocol| protocol.costs(0));
        let all = bytes.chain([words]);
        let delay = |costs: MessageCosts| {
            // A message, and the completion of one without reply.
            let completion = costs.recv_overhead.saturating_add(words.latency);
            costs.send_overhead.saturating_add(costs.latency).min(completion)
        };
        all.map(delay).min().unwrap_or(0)
    }

    /// The least L, and the greatest with all hops, where a message can overtake one that left the
    /// interface a gap before, or comes at the same time. The difference of two L is greatest at the fewest hops or at the most.
    pub(crate) fn overtaking(&self) -> Option<[u64; 2]> {
        let further = u64::from(self.network.diameter().saturating_sub(1));
        let range = |hops: u64| {
            let bytes = self.protocols.iter().map(|protocol| (protocol.latency, protocol.hop));
            let all = bytes.chain([(self.latency, self.hop)]);
            all.map(|(latency, hop)| latency.saturating_add(hops.saturating_mul(hop)))
                .fold([u64::MAX, 0], |[least, most], l| [least.min(l), most.max(l)])
        };
        let (near, distant) = (range(0), range(further));
        let ordered = [near, distant].iter().all(|[least, most]| most - least < self.gap);
        (!ordered).then_some([near[0], distant[1]])
    }

    /// The protocol that carries so many bytes.
    fn protocol(&self, bytes: u32) -> Option<&Protocol> {
        let bytes = u64::from(bytes);
        self.protocols.get(self.protocols.partition_point(|protocol| protocol.up_to < bytes))
    }
}

/// A file is not longer, in bytes. One without end is refused before it fills the memory.
const LONGEST: u64 = 1 << 20;

/// The text of a file.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 1 MiB"));
    }
    Ok(text)
}

/// The costs of messages up to some length.
///
/// *Formula*: a message of n bytes costs its sender os, holds an interface for max(g, n·G), is
/// whole at its receiver L + (hops − 1)·h + n·G after it began to leave, and costs the receiver or.
/// *Assumptions*: both sides of an interface work at the same time; the processor is free while
/// bytes are under way; a sender does not ask its receiver.
/// *Source*: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: Incorporating Long Messages into the
/// LogP Model", SPAA 1995. There a message of n bytes takes (n − 1)·G, here n·G: so a message of 0
/// bytes costs what LogP says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The longest message that it carries, in bytes; `u64::MAX` in the last protocol.
    pub up_to: u64,
    /// os: time in picoseconds that a processor spends to send a message.
    pub send_overhead: u64,
    /// or: time in picoseconds that a processor spends to receive a message.
    pub recv_overhead: u64,
    /// L: time in picoseconds that a message is under way, without overheads and bytes.
    pub latency: u64,
    /// h: time in picoseconds that each hop beyond the first adds to L; nothing where all ranks are one
    /// hop apart.
    pub hop: u64,
    /// G: time for each byte; 1/G is the bandwidth of a long message. In femtoseconds: 10 GB/s are
    /// 100 ps a byte, and three digits are too few for a rate.
    pub gap_per_byte: u64,
}

/// What one message costs, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageCosts {
    pub send_overhead: u64,
    pub recv_overhead: u64,
    pub latency: u64,
    /// n·G.
    pub transfer: u64,
}

impl Protocol {
    fn costs(&self, bytes: u64) -> MessageCosts {
        MessageCosts {
            send_overhead: self.send_overhead,
            recv_overhead: self.recv_overhead,
            latency: self.latency,
            transfer: thousandths(bytes, self.gap_per_byte),
        }
    }
}

/// A product in thousandths, rounded. Nearly all fit into 64 bits, which are divided fast.
fn thousandths(one: u64, other: u64) -> u64 {
    match one.checked_mul(other).and_then(|product| product.checked_add(500)) {
        Some(product) => product / 1000,
        None => {
            let product = (u128::from(one) * u128::from(other) + 500) / 1000;
            u64::try_from(product).unwrap_or(u64::MAX)
        }
    }
}

/// Whether messages move while a processor computes.
///
/// It concerns sends that a program begins and does not wait for at once
/// ([`Comm::isend`](bandgap_comm::Comm::isend)). Where messages move by themselves, the time under
/// way and the time for bytes hide behind a computation; overheads never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// They move by themselves: a send leaves when it begins.
    #[default]
    Asynchronous,
    /// They move only in calls that wait: all sends begun so far leave at the next wait, blocking
    /// send or receive, exchange, or barrier, in the order in which they began. So an exchange that
    /// both ranks have begun hides nothing behind a computation.
    Synchronous,
}

#[cfg(test)]
mod tests;
