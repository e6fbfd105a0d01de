//! The LogGP machine: its parameters, its files, and the machines of the papers.

mod description;
mod variation;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;

use crate::error::Result;
use crate::{Network, SimError};
pub use variation::{Per, Variation};

/// A LogGP machine with separate overheads for sending and receiving.
///
/// Active Messages cost os, or, g and L, whatever words they carry. Messages with bytes, stores and
/// the replies of gets cost the same plus G for each byte, or the costs of the [`Protocol`] for
/// their length. A machine whose file gives neither cannot move bytes, since its bandwidth would be
/// infinite.
///
/// *Units*: a file gives nanoseconds. The simulation counts whole picoseconds, so a third decimal
/// is exact and a fourth is lost. The time for a byte is counted in femtoseconds.
/// *Source*: "Assessing Fast Network Interfaces", section LogP model; for bytes see [`Protocol`].
///
/// ```toml
/// name = "example"
/// description = "what it stands for"       # optional
/// send_overhead_ns = 1400
/// recv_overhead_ns = 2200
/// gap_ns = 7600
/// latency_ns = 6300
/// gap_per_byte_ns = 11.3                   # optional; not with protocols
/// capacity = 16                            # optional
/// ranks = 64                               # optional
/// topology = "crossbar"                    # optional; not with network
/// turnaround_ns = 7600                     # between replies of a rank; optional
/// progress = "asynchronous"                # or "synchronous"; optional
/// nonblocking_ns = 0                       # of each call that begins a message or waits for
///                                          # it; optional
/// daxpy_ns = 1                             # for each element of y ← a·x + y; optional
///
/// [network]                                # optional; by default a crossbar
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
/// up_to_bytes = 512                        # ascending; not in the last protocol
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
/// hop_ns = 1200                            # optional; by default the network's
/// gap_ns = 18000                           # optional; by default the machine's
/// overhead_per_byte_ns = 34                # added to send_overhead_ns; optional
///
/// [variation]                              # optional: a factor for each parameter and launch
/// sigma = 0.02                             # log-normal; optional
/// factor = 1.3                             # of a second mode; optional
/// share = 0.5                              # of the launches in that mode; optional
/// per = "parameter"                        # or "launch": one factor for all; optional
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// os: time for which a processor is busy to send a message, in picoseconds.
    pub send_overhead: u64,
    /// or: time for which a processor is busy to receive a message, in picoseconds.
    pub recv_overhead: u64,
    /// g: least interval between two messages that an interface sends, and between two that it
    /// receives, in picoseconds.
    pub gap: u64,
    /// Least interval between two replies that an interface sends, in picoseconds: the time of its
    /// processor to turn a request into a reply. 0 by default.
    pub turnaround: u64,
    /// L: time for which a message is in the network, without overheads, in picoseconds.
    pub latency: u64,
    /// h: time that each hop beyond the first adds to L, in picoseconds.
    pub hop: u64,
    /// How its ranks are connected.
    pub network: Network,
    /// Whether messages move while processors compute.
    pub progress: Progress,
    /// Time that a processor spends, besides os and or, in each call that begins a send or a
    /// receive without waiting, and in each call that waits for one, in picoseconds. 0 by default.
    /// Blocking calls spend only os and or.
    pub nonblocking: u64,
    /// Time for an element of y ← a·x + y ([`Machine::daxpy`]), in femtoseconds. One nanosecond by
    /// default.
    pub daxpy_per_element: u64,
    /// Costs of messages with bytes, by ascending length; the last protocol is for any length.
    /// Empty if the file does not say what bytes cost; a message of 0 bytes then costs the same as
    /// words.
    pub protocols: Vec<Protocol>,
    /// Largest number of outstanding requests of a rank to one peer.
    ///
    /// The default is the larger of 2⌈RTT / g⌉ and ⌈RTT / os⌉, but at least 2 and at most 1024,
    /// where RTT = 2(os + L + or) (the paper, table 3) with the L of the longest way. So the
    /// capacity does not limit the steady state, and does not end the send-only regime before the
    /// first reply is back.
    pub capacity: u32,
    /// P: largest number of ranks; at most the number of the network's nodes.
    pub ranks: usize,
    /// How launches differ, if they do.
    pub variation: Option<Variation>,
}

/// The machines of the papers, by name.
const BUILT_IN: [(&str, &str); 4] = [
    ("paragon", include_str!("../machines/paragon.toml")),
    ("meiko-cs2", include_str!("../machines/meiko-cs2.toml")),
    ("myrinet", include_str!("../machines/myrinet.toml")),
    ("ipsc860", include_str!("../machines/ipsc860.toml")),
];

impl Machine {
    /// Largest number of ranks of any machine.
    pub const MOST_RANKS: usize = 1 << 20;

    /// The built-in machine with this name, or else the machine in the file with this name.
    ///
    /// # Errors
    /// There is no such machine or file, it cannot be read, or it does not describe a machine.
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
                    format!("no such file; the built-in machines are {}", known()),
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
    /// The text is not TOML, has an unknown key, lacks a key, or has a value out of its bounds.
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        description::parse(text, origin)
    }

    /// Time in which a processor computes y ← a·x + y for vectors of `elements` elements, in
    /// picoseconds.
    pub fn daxpy(&self, elements: u32) -> u64 {
        thousandths(elements.into(), self.daxpy_per_element)
    }

    /// The names of the built-in machines.
    pub fn built_in() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Costs of a message that carries this many bytes; `None` means words only. Requires that the
    /// machine has costs of bytes, or that there are no bytes.
    pub(crate) fn costs(&self, bytes: Option<u32>) -> Protocol {
        let protocol = bytes.and_then(|bytes| {
            let bytes = u64::from(bytes);
            let mut own = *self.protocols.iter().find(|protocol| protocol.up_to >= bytes)?;
            if own.overhead_per_byte > 0 {
                let for_bytes = thousandths(bytes, own.overhead_per_byte);
                own.send_overhead = own.send_overhead.saturating_add(for_bytes);
            }
            Some(own)
        });
        protocol.unwrap_or_else(|| self.words())
    }

    /// Costs of a message of words, as a protocol whose bytes cost nothing.
    fn words(&self) -> Protocol {
        let Self { send_overhead, recv_overhead, gap, latency, hop, .. } = *self;
        let (up_to, overhead_per_byte, gap_per_byte) = (u64::MAX, 0, 0);
        Protocol {
            up_to,
            send_overhead,
            overhead_per_byte,
            recv_overhead,
            gap,
            latency,
            hop,
            gap_per_byte,
        }
    }

    /// Costs of each protocol, and of messages of words.
    fn all_costs(&self) -> impl Iterator<Item = Protocol> {
        self.protocols.iter().copied().chain([self.words()])
    }

    /// Time for which a message with these costs is in the network, in picoseconds: L, and what the
    /// hops beyond the first add.
    pub(crate) fn flight(&self, from: u32, to: u32, costs: &Protocol) -> u64 {
        costs.latency + self.network.further_hops(from, to) * costs.hop
    }

    /// The same machine with L increased by `more` picoseconds, for words and for bytes.
    pub(crate) fn with_more_latency(&self, more: u64) -> Self {
        let mut other = self.clone();
        let all = other.protocols.iter_mut().map(|protocol| &mut protocol.latency);
        for latency in all.chain([&mut other.latency]) {
            *latency = latency.saturating_add(more);
        }
        other
    }

    /// A lower bound of the time, in picoseconds, after which a rank has received this many messages:
    /// they reach it a gap apart, and it takes or for each.
    pub fn receiving(&self, messages: u64) -> u64 {
        let least = |of: fn(Protocol) -> u64| self.all_costs().map(of).min().unwrap_or(0);
        let recv = least(|of| of.recv_overhead);
        let first = least(|of| of.send_overhead.saturating_add(of.latency)).saturating_add(recv);
        let further = messages.saturating_sub(1).saturating_mul(self.least_gap().max(recv));
        if messages == 0 { 0 } else { first.saturating_add(further) }
    }

    /// The least g.
    pub(crate) fn least_gap(&self) -> u64 {
        self.all_costs().map(|of| of.gap).min().unwrap_or(self.gap)
    }

    /// The least L, o, g and G that occur in any cost.
    pub(crate) fn least(&self) -> [u64; 4] {
        let words = [self.latency, self.send_overhead.min(self.recv_overhead), self.gap, u64::MAX];
        self.protocols.iter().fold(words, |[latency, overhead, gap, per_byte], of| {
            let overhead = overhead.min(of.send_overhead).min(of.recv_overhead);
            [latency.min(of.latency), overhead, gap.min(of.gap), per_byte.min(of.gap_per_byte)]
        })
    }

    /// Shortest time in which an action of a rank can reach another rank, in picoseconds; 0 if
    /// messages share channels, since the order of their requests then matters to all.
    pub(crate) fn least_delay(&self) -> u64 {
        if self.network.is_shared() {
            return 0;
        }
        let delay = |costs: Protocol| {
            // A message, and the completion of a request without a reply.
            let completion = costs.recv_overhead.saturating_add(self.latency);
            costs.send_overhead.saturating_add(costs.latency).min(completion)
        };
        self.all_costs().map(delay).min().unwrap_or(0)
    }

    /// The least L, and the greatest with all hops, if a message can overtake another that left the
    /// interface a gap earlier, or arrive at the same time. The difference between two L is
    /// greatest at the fewest hops or at the most.
    pub(crate) fn overtaking(&self) -> Option<[u64; 2]> {
        let further = u64::from(self.network.diameter().saturating_sub(1));
        let range = |hops: u64| {
            self.all_costs()
                .map(|of| of.latency.saturating_add(hops.saturating_mul(of.hop)))
                .fold([u64::MAX, 0], |[least, most], l| [least.min(l), most.max(l)])
        };
        let (near, distant) = (range(0), range(further));
        let ordered = [near, distant].iter().all(|[least, most]| most - least < self.least_gap());
        (!ordered).then_some([near[0], distant[1]])
    }
}

/// Longest file, in bytes. A file without end is refused before it fills the memory.
const LONGEST: u64 = 1 << 20;

/// The text of a file.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "longer than 1 MiB"));
    }
    Ok(text)
}

/// Costs of messages up to some length.
///
/// *Formula*: a message of n bytes costs its sender os (where bytes keep it busy, os and n times the
/// time for one), holds an interface for max(g, n·G), is
/// complete at its receiver L + (hops − 1)·h + n·G after it began to leave, and costs the receiver
/// or.
/// *Assumptions*: both sides of an interface work at the same time; the processor is free while
/// bytes are on their way; a sender does not ask its receiver.
/// *Source*: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: Incorporating Long Messages into the
/// LogP Model", SPAA 1995. There a message of n bytes takes (n − 1)·G, here n·G, so that a message
/// of 0 bytes costs what LogP says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Longest message of this protocol, in bytes; `u64::MAX` in the last protocol.
    pub up_to: u64,
    /// os: time for which a processor is busy to send a message, in picoseconds.
    pub send_overhead: u64,
    /// Time for which each byte keeps the sending processor busy as well, in femtoseconds.
    pub overhead_per_byte: u64,
    /// or: time for which a processor is busy to receive a message, in picoseconds.
    pub recv_overhead: u64,
    /// g, in picoseconds.
    pub gap: u64,
    /// L: time for which a message is in the network, without overheads and bytes, in picoseconds.
    pub latency: u64,
    /// h: time that each hop beyond the first adds to L, in picoseconds; unused if all ranks are
    /// one hop apart.
    pub hop: u64,
    /// G: time for each byte, in femtoseconds; 1/G is the bandwidth of a long message. 10 GB/s are
    /// 100 ps per byte, and three digits would be too few for a rate.
    pub gap_per_byte: u64,
}

impl Protocol {
    /// n·G of a message of n bytes, in picoseconds; 0 for words.
    pub(crate) fn transfer(&self, bytes: Option<u32>) -> u64 {
        match bytes {
            None | Some(0) => 0,
            Some(bytes) => thousandths(bytes.into(), self.gap_per_byte),
        }
    }
}

/// Product of a number and a number of thousandths, rounded. Nearly all products fit into 64 bits,
/// which divide fast.
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
/// This matters for sends that a program begins and does not wait for at once
/// ([`Comm::isend`](bandgap_comm::Comm::isend)). If messages move by themselves, a computation
/// hides their time in the network and the time for bytes, but never overheads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// They move by themselves: a send leaves when it begins.
    #[default]
    Asynchronous,
    /// They move only in calls that wait: all sends begun so far leave, in order, at the next wait,
    /// blocking send or receive, exchange, or barrier. So an exchange that both ranks have begun is
    /// not hidden by a computation.
    Synchronous,
}

#[cfg(test)]
mod tests;
