//! The file that describes a machine, and what can be wrong in it.

mod network;
mod text;

use serde::Deserialize;
use toml::Spanned;

use super::{Machine, Progress, Protocol};
use crate::SimError;
use network::{Connected, NetworkTable, network};
use text::Text;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: String,
    /// For readers of the file.
    #[serde(default, rename = "description")]
    _description: String,
    send_overhead_ns: f64,
    recv_overhead_ns: f64,
    gap_ns: f64,
    latency_ns: f64,
    gap_per_byte_ns: Option<Spanned<f64>>,
    capacity: Option<u32>,
    ranks: Option<Spanned<u32>>,
    topology: Option<Spanned<String>>,
    network: Option<Spanned<NetworkTable>>,
    #[serde(default)]
    progress: Progress,
    #[serde(default)]
    nonblocking_ns: f64,
    #[serde(default = "usual_daxpy")]
    daxpy_ns: f64,
    #[serde(default)]
    protocol: Vec<Spanned<ProtocolTable>>,
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
}

/// Smallest gap: one picosecond.
const LEAST_NS: f64 = 0.001;
const PICOSECONDS: f64 = 1e3;
const FEMTOSECONDS: f64 = 1e6;

/// Largest default capacity.
const MOST_DEFAULT_CAPACITY: u64 = 1024;

/// Two floating-point operations in a nanosecond.
fn usual_daxpy() -> f64 {
    1.0
}

fn most_ranks() -> u32 {
    Machine::MOST_RANKS as u32
}

/// The machine that `text` describes; `origin` names the text in errors.
pub(super) fn parse(text: &str, origin: &str) -> Result<Machine, SimError> {
    let source = Text { text, origin };
    let description: Description = toml::from_str(text).map_err(|error| SimError::Syntax {
        origin: origin.into(),
        line: source.line(error.span().unwrap_or_default()),
        what: error.message().to_owned(),
    })?;
    description.check(&source)
}

impl Text<'_> {
    /// The protocols of the tables, in their order, on a machine so connected.
    fn protocols(
        &self,
        tables: &[Spanned<ProtocolTable>],
        connected: &Connected,
    ) -> Result<Vec<Protocol>, SimError> {
        let mut protocols: Vec<Protocol> = Vec::with_capacity(tables.len());
        for (index, place) in tables.iter().enumerate() {
            let table = place.get_ref();
            let before = protocols.last().map(|protocol| protocol.up_to);
            let time = |key, value| self.time_at(key, value, PICOSECONDS);
            protocols.push(Protocol {
                up_to: self.limit(place, index + 1 == tables.len(), before)?,
                send_overhead: time("send_overhead_ns", &table.send_overhead_ns)?,
                recv_overhead: time("recv_overhead_ns", &table.recv_overhead_ns)?,
                latency: time("latency_ns", &table.latency_ns)?,
                hop: self.hop(table.hop_ns.as_ref(), connected)?,
                gap_per_byte: self.gap_per_byte(&table.gap_per_byte_ns)?,
            });
        }
        Ok(protocols)
    }

    /// h of a protocol: the network's, unless it has its own.
    fn hop(&self, own: Option<&Spanned<f64>>, connected: &Connected) -> Result<u64, SimError> {
        let Some(value) = own else { return Ok(connected.hop) };
        if connected.network.has_distances() {
            return self.time_at("hop_ns", value, PICOSECONDS);
        }
        let bounds = "left out where all ranks are one hop apart: give a [network]";
        Err(self.wrong("hop_ns", Some(value.span()), value.get_ref(), bounds))
    }

    fn gap_per_byte(&self, value: &Spanned<f64>) -> Result<u64, SimError> {
        self.time_at("gap_per_byte_ns", value, FEMTOSECONDS)
    }

    /// The longest message of a protocol, which is longer than that of the protocol before.
    fn limit(
        &self,
        table: &Spanned<ProtocolTable>,
        last: bool,
        before: Option<u64>,
    ) -> Result<u64, SimError> {
        let wrong = |place, value: String, bounds: String| {
            Err(self.wrong("up_to_bytes", Some(place), value, bounds))
        };
        let Some(place) = &table.get_ref().up_to_bytes else {
            if last {
                return Ok(u64::MAX);
            }
            let bounds = "given in every protocol but the last";
            return wrong(table.span(), "missing".into(), bounds.into());
        };
        let limit = *place.get_ref();
        let bounds = match before {
            _ if last => "left out of the last protocol, which is for all longer messages".into(),
            Some(before) if limit <= before => {
                format!("more than {before}, the one before: protocols ascend")
            }
            _ => return Ok(limit),
        };
        wrong(place.span(), limit.to_string(), bounds)
    }
}

impl Description {
    fn check(self, source: &Text<'_>) -> Result<Machine, SimError> {
        if self.name.trim().is_empty() {
            return Err(source.wrong("name", None, "empty", "a name"));
        }
        if self.name.chars().any(char::is_control) {
            let bounds = "a name without control characters";
            return Err(source.wrong("name", None, self.name.escape_default(), bounds));
        }
        let time = |key, value, least| source.time(key, None, value, least, PICOSECONDS);
        let ranks = self.ranks(source)?;
        let connected = self.connected(source, ranks)?;
        let protocols = source.protocols(&self.protocol, &connected)?;
        let Connected { network, hop } = connected;
        let mut machine = Machine {
            send_overhead: time("send_overhead_ns", self.send_overhead_ns, 0.0)?,
            recv_overhead: time("recv_overhead_ns", self.recv_overhead_ns, 0.0)?,
            gap: time("gap_ns", self.gap_ns, LEAST_NS)?,
            latency: time("latency_ns", self.latency_ns, 0.0)?,
            capacity: self
                .capacity
                .map_or(Ok(0), |n| source.count("capacity", None, n, u32::MAX))?,
            ranks: ranks.map_or(network.topology().size(), |ranks| ranks as usize),
            progress: self.progress,
            nonblocking: time("nonblocking_ns", self.nonblocking_ns, 0.0)?,
            daxpy_per_element: source.time("daxpy_ns", None, self.daxpy_ns, 0.0, FEMTOSECONDS)?,
            hop,
            network,
            protocols,
            name: self.name,
        };
        if self.capacity.is_none() {
            machine.capacity = default_capacity(&machine);
        }
        let Some(value) = self.gap_per_byte_ns else { return Ok(machine) };
        if !machine.protocols.is_empty() {
            let bounds = "left out where there are protocols";
            let place = Some(value.span());
            return Err(source.wrong("gap_per_byte_ns", place, value.get_ref(), bounds));
        }
        machine.protocols.push(Protocol {
            up_to: u64::MAX,
            send_overhead: machine.send_overhead,
            recv_overhead: machine.recv_overhead,
            latency: machine.latency,
            hop: machine.hop,
            gap_per_byte: source.gap_per_byte(&value)?,
        });
        Ok(machine)
    }

    /// The ranks that the file gives.
    fn ranks(&self, source: &Text<'_>) -> Result<Option<u32>, SimError> {
        let count = |ranks: &Spanned<u32>| {
            source.count("ranks", Some(ranks.span()), *ranks.get_ref(), most_ranks())
        };
        self.ranks.as_ref().map(count).transpose()
    }

    /// The network, which has room for the ranks.
    fn connected(&self, source: &Text<'_>, ranks: Option<u32>) -> Result<Connected, SimError> {
        if let Some(topology) = &self.topology {
            let bounds = match (topology.get_ref().as_str(), &self.network) {
                ("crossbar", None) => None,
                (_, Some(_)) => Some("left out beside a table [network], which has its own"),
                _ => {
                    Some("crossbar; others are the topology of a table [network], with their size")
                }
            };
            if let Some(bounds) = bounds {
                return Err(source.wrong(
                    "topology",
                    Some(topology.span()),
                    topology.get_ref(),
                    bounds,
                ));
            }
        }
        let found = network(source, self.network.as_ref(), ranks.unwrap_or_else(most_ranks))?;
        let nodes = found.network.topology().size();
        match &self.ranks {
            Some(ranks) if *ranks.get_ref() as usize > nodes => {
                let bounds = format!("from 1 to {nodes}, the nodes of the network");
                Err(source.wrong("ranks", Some(ranks.span()), ranks.get_ref(), bounds))
            }
            _ => Ok(found),
        }
    }
}

/// The capacity where the file gives none, as [`Machine::capacity`] says.
fn default_capacity(machine: &Machine) -> u32 {
    let hops = u64::from(machine.network.topology().diameter());
    let latency = machine.latency + hops.saturating_sub(1) * machine.hop;
    let rtt = 2 * (machine.send_overhead + latency + machine.recv_overhead);
    let sent_within_rtt = match machine.send_overhead {
        0 => 0,
        send_overhead => rtt.div_ceil(send_overhead),
    };
    let capacity = (2 * rtt.div_ceil(machine.gap)).max(sent_within_rtt);
    u32::try_from(capacity.clamp(2, MOST_DEFAULT_CAPACITY)).expect("clamped")
}
