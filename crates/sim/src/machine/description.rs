//! The file that describes a machine, and its errors.

mod network;

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::{Machine, Progress, Protocol, Variation};
use crate::error::Result;
use crate::{Network, SimError};
use network::{NetworkTable, network};

/// Contents of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: Spanned<String>,
    /// For readers of the file.
    #[serde(default, rename = "description")]
    _description: String,
    send_overhead_ns: Spanned<f64>,
    recv_overhead_ns: Spanned<f64>,
    gap_ns: Spanned<f64>,
    turnaround_ns: Option<Spanned<f64>>,
    latency_ns: Spanned<f64>,
    gap_per_byte_ns: Option<Spanned<f64>>,
    capacity: Option<Spanned<u32>>,
    ranks: Option<Spanned<u32>>,
    topology: Option<Spanned<String>>,
    network: Option<Spanned<NetworkTable>>,
    #[serde(default)]
    progress: Progress,
    nonblocking_ns: Option<Spanned<f64>>,
    daxpy_ns: Option<Spanned<f64>>,
    #[serde(default)]
    protocol: Vec<Spanned<ProtocolTable>>,
    variation: Option<Spanned<Variation>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProtocolTable {
    up_to_bytes: Option<Spanned<u64>>,
    send_overhead_ns: Spanned<f64>,
    recv_overhead_ns: Spanned<f64>,
    latency_ns: Spanned<f64>,
    gap_per_byte_ns: Spanned<f64>,
    hop_ns: Option<Spanned<f64>>,
    gap_ns: Option<Spanned<f64>>,
    overhead_per_byte_ns: Option<Spanned<f64>>,
}

/// Largest time, in nanoseconds; even then a simulation can have billions of messages.
const MOST_NS: f64 = 1e9;
/// Smallest gap: one picosecond, in nanoseconds.
const LEAST_NS: f64 = 0.001;
const PICOSECONDS: f64 = 1e3;
const FEMTOSECONDS: f64 = 1e6;

/// Default time for an element of a daxpy, in femtoseconds: two floating-point operations in a
/// nanosecond.
const USUAL_DAXPY: u64 = 1_000_000;

/// Largest default capacity.
const MOST_DEFAULT_CAPACITY: u64 = 1024;

const MOST_RANKS: u32 = Machine::MOST_RANKS as u32;

/// The machine that `text` describes; `origin` names the text in errors.
pub(super) fn parse(text: &str, origin: &str) -> Result<Machine> {
    let source = Text { text, origin };
    let description: Description = toml::from_str(text).map_err(|error| {
        source.error("", error.span().unwrap_or_default(), error.message().to_owned())
    })?;
    description.check(&source)
}

/// Text of a file, and its name in errors.
struct Text<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Text<'_> {
    fn error(&self, key: &str, place: Range<usize>, what: String) -> SimError {
        let before = &self.text.as_bytes()[..place.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        SimError::Machine { origin: self.origin.into(), line, key: key.into(), what }
    }

    fn wrong(
        &self,
        key: &str,
        place: Range<usize>,
        value: impl ToString,
        bounds: impl ToString,
    ) -> SimError {
        let (value, bounds) = (value.to_string(), bounds.to_string());
        self.error(key, place, format!("{key} is {value}; it must be {bounds}"))
    }

    /// Converts a time in nanoseconds to an integer in units of 1/`per_ns` ns.
    fn time(&self, key: &str, value: &Spanned<f64>, least: f64, per_ns: f64) -> Result<u64> {
        let ns = *value.get_ref();
        if (least..=MOST_NS).contains(&ns) {
            Ok((ns * per_ns).round() as u64)
        } else {
            Err(self.wrong(key, value.span(), ns, format!("from {least} to {MOST_NS}")))
        }
    }

    fn picoseconds(&self, key: &str, value: &Spanned<f64>) -> Result<u64> {
        self.time(key, value, 0.0, PICOSECONDS)
    }

    fn gap(&self, value: &Spanned<f64>) -> Result<u64> {
        self.time("gap_ns", value, LEAST_NS, PICOSECONDS)
    }

    fn femtoseconds(&self, key: &str, value: &Spanned<f64>) -> Result<u64> {
        self.time(key, value, 0.0, FEMTOSECONDS)
    }

    fn variation(&self, place: &Spanned<Variation>) -> Result<Variation> {
        let of = *place.get_ref();
        let all = [
            ("sigma", of.sigma, 0.0, 1.0),
            ("factor", of.factor, 0.1, 10.0),
            ("share", of.share, 0.0, 1.0),
        ];
        match all.iter().find(|(_, is, least, most)| !(least..=most).contains(&is)) {
            None => Ok(of),
            Some((key, is, least, most)) => {
                Err(self.wrong(key, place.span(), is, format!("from {least} to {most}")))
            }
        }
    }

    fn count(&self, key: &str, value: &Spanned<u32>, most: u32) -> Result<u32> {
        let count = *value.get_ref();
        if (1..=most).contains(&count) {
            Ok(count)
        } else {
            Err(self.wrong(key, value.span(), count, format!("from 1 to {most}")))
        }
    }

    /// Reads the protocols of a machine with this g and a network whose hops beyond the first take
    /// `hop`; `None` if there are no such hops.
    fn protocols(
        &self,
        tables: &[Spanned<ProtocolTable>],
        gap: u64,
        hop: Option<u64>,
    ) -> Result<Vec<Protocol>> {
        let mut protocols: Vec<Protocol> = Vec::with_capacity(tables.len());
        for (index, place) in tables.iter().enumerate() {
            let table = place.get_ref();
            let before = protocols.last().map(|protocol| protocol.up_to);
            protocols.push(Protocol {
                up_to: self.limit(place, index + 1 == tables.len(), before)?,
                send_overhead: self.picoseconds("send_overhead_ns", &table.send_overhead_ns)?,
                overhead_per_byte: table
                    .overhead_per_byte_ns
                    .as_ref()
                    .map_or(Ok(0), |of| self.femtoseconds("overhead_per_byte_ns", of))?,
                gap: table.gap_ns.as_ref().map_or(Ok(gap), |of| self.gap(of))?,
                recv_overhead: self.picoseconds("recv_overhead_ns", &table.recv_overhead_ns)?,
                latency: self.picoseconds("latency_ns", &table.latency_ns)?,
                // The network's time for a hop, unless the protocol has its own.
                hop: match (&table.hop_ns, hop) {
                    (None, hop) => hop.unwrap_or(0),
                    (Some(own), Some(_)) => self.picoseconds("hop_ns", own)?,
                    (Some(own), None) => {
                        let bounds =
                            "left out if all ranks are one hop apart; otherwise add a [network]";
                        return Err(self.wrong("hop_ns", own.span(), own.get_ref(), bounds));
                    }
                },
                gap_per_byte: self.femtoseconds("gap_per_byte_ns", &table.gap_per_byte_ns)?,
            });
        }
        Ok(protocols)
    }

    /// The longest message of a protocol; it must exceed that of the protocol before.
    fn limit(
        &self,
        table: &Spanned<ProtocolTable>,
        last: bool,
        before: Option<u64>,
    ) -> Result<u64> {
        let key = "up_to_bytes";
        let Some(place) = &table.get_ref().up_to_bytes else {
            if last {
                return Ok(u64::MAX);
            }
            let bounds = "given in every protocol but the last";
            return Err(self.wrong(key, table.span(), "missing", bounds));
        };
        let limit = *place.get_ref();
        let bounds = match before {
            _ if last => "left out of the last protocol, which is for all longer messages".into(),
            Some(before) if limit <= before => {
                format!("more than {before}, the value of the protocol before")
            }
            _ => return Ok(limit),
        };
        Err(self.wrong(key, place.span(), limit, bounds))
    }
}

impl Description {
    fn check(self, source: &Text<'_>) -> Result<Machine> {
        let name = self.name.get_ref();
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            let bounds = "a name without control characters";
            return Err(source.wrong("name", self.name.span(), name.escape_default(), bounds));
        }
        let ranks = self.ranks.as_ref().map(|ranks| source.count("ranks", ranks, MOST_RANKS));
        let ranks = ranks.transpose()?;
        let (network, hop) = self.network(source, ranks)?;
        let daxpy = self.daxpy_ns.as_ref().map(|of| source.femtoseconds("daxpy_ns", of));
        let nonblocking =
            self.nonblocking_ns.as_ref().map(|of| source.picoseconds("nonblocking_ns", of));
        let gap = source.gap(&self.gap_ns)?;
        let turnaround = self.turnaround_ns.as_ref();
        let mut machine = Machine {
            turnaround: turnaround.map_or(Ok(0), |of| source.picoseconds("turnaround_ns", of))?,
            send_overhead: source.picoseconds("send_overhead_ns", &self.send_overhead_ns)?,
            recv_overhead: source.picoseconds("recv_overhead_ns", &self.recv_overhead_ns)?,
            gap,
            latency: source.picoseconds("latency_ns", &self.latency_ns)?,
            capacity: 0,
            ranks: ranks.map_or(network.size(), |ranks| ranks as usize),
            progress: self.progress,
            nonblocking: nonblocking.transpose()?.unwrap_or(0),
            daxpy_per_element: daxpy.transpose()?.unwrap_or(USUAL_DAXPY),
            hop: hop.unwrap_or(0),
            network,
            protocols: source.protocols(&self.protocol, gap, hop)?,
            variation: self.variation.as_ref().map(|of| source.variation(of)).transpose()?,
            name: self.name.into_inner(),
        };
        machine.capacity = match &self.capacity {
            Some(capacity) => source.count("capacity", capacity, u32::MAX)?,
            None => default_capacity(&machine),
        };
        let Some(value) = self.gap_per_byte_ns else { return Ok(machine) };
        if !machine.protocols.is_empty() {
            let bounds = "left out if there are protocols";
            return Err(source.wrong("gap_per_byte_ns", value.span(), value.get_ref(), bounds));
        }
        machine.protocols.push(Protocol {
            gap_per_byte: source.femtoseconds("gap_per_byte_ns", &value)?,
            ..machine.words()
        });
        Ok(machine)
    }

    /// How ranks are connected, and h. Checks that the network has a node for each rank.
    fn network(&self, source: &Text<'_>, ranks: Option<u32>) -> Result<(Network, Option<u64>)> {
        if let Some(topology) = &self.topology {
            let bounds = match (topology.get_ref().as_str(), &self.network) {
                ("crossbar", None) => "",
                (_, Some(_)) => "left out if there is a table [network], which has its own",
                _ => "crossbar; put other topologies into a table [network], with their size",
            };
            if !bounds.is_empty() {
                let place = topology.span();
                return Err(source.wrong("topology", place, topology.get_ref(), bounds));
            }
        }
        let found = network(source, self.network.as_ref(), ranks.unwrap_or(MOST_RANKS))?;
        let nodes = found.0.size();
        match &self.ranks {
            Some(ranks) if *ranks.get_ref() as usize > nodes => {
                let bounds = format!("from 1 to {nodes}, the number of the network's nodes");
                Err(source.wrong("ranks", ranks.span(), ranks.get_ref(), bounds))
            }
            _ => Ok(found),
        }
    }
}

/// The default capacity, as described at [`Machine::capacity`].
fn default_capacity(machine: &Machine) -> u32 {
    let hops = u64::from(machine.network.diameter());
    let latency = machine.latency + hops.saturating_sub(1) * machine.hop;
    let rtt = 2 * (machine.send_overhead + latency + machine.recv_overhead);
    let sent_within_rtt = match machine.send_overhead {
        0 => 0,
        send_overhead => rtt.div_ceil(send_overhead),
    };
    let capacity = (2 * rtt.div_ceil(machine.gap)).max(sent_within_rtt);
    u32::try_from(capacity.clamp(2, MOST_DEFAULT_CAPACITY)).expect("clamped")
}
