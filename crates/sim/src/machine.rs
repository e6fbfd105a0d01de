//! The LogP machine: its parameters, the files that hold them, and the three of the paper.

use std::path::Path;

use bandgap_units::Ns;
use serde::Deserialize;

use crate::SimError;

/// A LogP machine with overheads told apart for sending and receiving.
///
/// *Units*: a file gives nanoseconds; the simulation counts whole picoseconds, so a third decimal
/// is exact and a fourth is lost.
/// *Source*: "Assessing Fast Network Interfaces", section LogP model.
///
/// ```toml
/// name = "example"
/// description = "what it stands for"      # may be left out
/// send_overhead_ns = 1400
/// recv_overhead_ns = 2200
/// gap_ns = 7600
/// latency_ns = 6300
/// capacity = 16                            # may be left out
/// ranks = 64                               # may be left out
/// topology = "crossbar"                    # may be left out
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    name: String,
    description: String,
    send_overhead: u64,
    recv_overhead: u64,
    gap: u64,
    latency: u64,
    capacity: u32,
    ranks: usize,
    topology: Topology,
}

/// How processors are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Topology {
    /// The same L between any two; messages contend at their ends only, as LogP assumes.
    #[default]
    Crossbar,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: String,
    #[serde(default)]
    description: String,
    send_overhead_ns: f64,
    recv_overhead_ns: f64,
    gap_ns: f64,
    latency_ns: f64,
    capacity: Option<u32>,
    #[serde(default = "most_ranks")]
    ranks: u32,
    #[serde(default)]
    topology: Topology,
}

/// The machines of the paper, by name.
const BUILT_IN: [(&str, &str); 3] = [
    ("paragon", include_str!("../machines/paragon.toml")),
    ("meiko-cs2", include_str!("../machines/meiko-cs2.toml")),
    ("myrinet", include_str!("../machines/myrinet.toml")),
];

/// Smallest gap: one picosecond.
const LEAST_NS: f64 = 0.001;
/// Longest overhead, gap and latency: one second.
const MOST_NS: f64 = 1e9;
/// Largest capacity that a machine gets without asking.
const MOST_DEFAULT_CAPACITY: u64 = 1024;

fn most_ranks() -> u32 {
    1 << 20
}

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
    /// The text is no TOML, has a key that no machine has or lacks one, or a value is out of its
    /// bounds.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SimError> {
        let description: Description = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or(0, |span| span.start).min(text.len());
            SimError::Syntax {
                origin: origin.into(),
                line: 1 + text.as_bytes()[..before].iter().filter(|&&b| b == b'\n').count(),
                what: error.message().to_owned(),
            }
        })?;
        description.check(origin)
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

    /// Requests that a rank may have outstanding toward one peer.
    ///
    /// Where the file names none: the larger of 2⌈RTT / g⌉ and ⌈RTT / os⌉, at most 1024. So
    /// neither does the capacity limit the steady state, nor does it end the send-only regime
    /// before the first reply is back.
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
    pub(crate) fn picoseconds(&self) -> Picoseconds {
        Picoseconds {
            send_overhead: self.send_overhead,
            recv_overhead: self.recv_overhead,
            gap: self.gap,
            latency: self.latency,
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

/// What the simulation counts with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picoseconds {
    pub send_overhead: u64,
    pub recv_overhead: u64,
    pub gap: u64,
    pub latency: u64,
}

impl Description {
    fn check(self, origin: &str) -> Result<Machine, SimError> {
        let wrong = |key, value: String, bounds: String| SimError::Value {
            origin: origin.into(),
            key,
            value,
            bounds,
        };
        let time = |key, value: f64, least: f64| {
            if value.is_finite() && (least..=MOST_NS).contains(&value) {
                // Exact: at most 10¹² and not negative.
                Ok((value * 1000.0).round() as u64)
            } else {
                Err(wrong(key, value.to_string(), format!("from {least} to {MOST_NS}")))
            }
        };
        let count = |key, value: u32, most: u32| {
            if (1..=most).contains(&value) {
                Ok(value)
            } else {
                Err(wrong(key, value.to_string(), format!("from 1 to {most}")))
            }
        };
        if self.name.trim().is_empty() {
            return Err(wrong("name", "empty".into(), "a name".into()));
        }
        let mut machine = Machine {
            send_overhead: time("send_overhead_ns", self.send_overhead_ns, 0.0)?,
            recv_overhead: time("recv_overhead_ns", self.recv_overhead_ns, 0.0)?,
            gap: time("gap_ns", self.gap_ns, LEAST_NS)?,
            latency: time("latency_ns", self.latency_ns, 0.0)?,
            capacity: self.capacity.map_or(Ok(0), |n| count("capacity", n, u32::MAX))?,
            ranks: count("ranks", self.ranks, most_ranks())? as usize,
            name: self.name,
            description: self.description,
            topology: self.topology,
        };
        if self.capacity.is_none() {
            machine.capacity = machine.default_capacity();
        }
        Ok(machine)
    }
}

fn ns(picoseconds: u64) -> Ns {
    Ns(picoseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests;
