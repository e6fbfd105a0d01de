//! The file that describes a machine, and what can be wrong in it.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::{Machine, Protocol};
use crate::SimError;

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
    #[serde(default = "most_ranks")]
    ranks: u32,
    #[serde(default, rename = "topology")]
    _topology: Topology,
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
}

/// How processors are connected.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Topology {
    /// The same L between any two ranks. Messages contend at their ends only, as LogP assumes.
    #[default]
    Crossbar,
}

/// Smallest gap: one picosecond.
const LEAST_NS: f64 = 0.001;
/// Longest overhead, gap and latency: one second.
const MOST_NS: f64 = 1e9;
const PICOSECONDS: f64 = 1e3;
const FEMTOSECONDS: f64 = 1e6;

/// Largest default capacity.
const MOST_DEFAULT_CAPACITY: u64 = 1024;

fn most_ranks() -> u32 {
    1 << 20
}

/// The text that a machine is read from.
struct Text<'a> {
    text: &'a str,
    origin: &'a str,
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
    /// The line where `place` begins, from 1.
    fn line(&self, place: Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..place.start.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// The error that `key` has this value. It names the line of a key that may come in several
    /// tables: one of which the place is given.
    fn wrong(
        &self,
        key: &'static str,
        place: Option<Range<usize>>,
        value: impl ToString,
        bounds: impl Into<String>,
    ) -> SimError {
        let line = place.map(|place| format!(", line {}", self.line(place))).unwrap_or_default();
        let (origin, value) = (format!("{}{line}", self.origin), value.to_string());
        SimError::Value { origin, key, value, bounds: bounds.into() }
    }

    /// A time in nanoseconds as a whole number of smaller units; exact, as it is at most 10¹⁵.
    fn time(
        &self,
        key: &'static str,
        place: Option<Range<usize>>,
        value: f64,
        least: f64,
        per_ns: f64,
    ) -> Result<u64, SimError> {
        if (least..=MOST_NS).contains(&value) {
            Ok((value * per_ns).round() as u64)
        } else {
            Err(self.wrong(key, place, value, format!("from {least} to {MOST_NS}")))
        }
    }

    fn time_at(
        &self,
        key: &'static str,
        value: &Spanned<f64>,
        per_ns: f64,
    ) -> Result<u64, SimError> {
        self.time(key, Some(value.span()), *value.get_ref(), 0.0, per_ns)
    }

    fn count(&self, key: &'static str, value: u32, most: u32) -> Result<u32, SimError> {
        if (1..=most).contains(&value) {
            Ok(value)
        } else {
            Err(self.wrong(key, None, value, format!("from 1 to {most}")))
        }
    }

    /// The protocols of the tables, in their order.
    fn protocols(&self, tables: &[Spanned<ProtocolTable>]) -> Result<Vec<Protocol>, SimError> {
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
                gap_per_byte: self.gap_per_byte(&table.gap_per_byte_ns)?,
            });
        }
        Ok(protocols)
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
        let time = |key, value, least| source.time(key, None, value, least, PICOSECONDS);
        let mut machine = Machine {
            send_overhead: time("send_overhead_ns", self.send_overhead_ns, 0.0)?,
            recv_overhead: time("recv_overhead_ns", self.recv_overhead_ns, 0.0)?,
            gap: time("gap_ns", self.gap_ns, LEAST_NS)?,
            latency: time("latency_ns", self.latency_ns, 0.0)?,
            capacity: self.capacity.map_or(Ok(0), |n| source.count("capacity", n, u32::MAX))?,
            ranks: source.count("ranks", self.ranks, most_ranks())? as usize,
            protocols: source.protocols(&self.protocol)?,
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
            gap_per_byte: source.gap_per_byte(&value)?,
        });
        Ok(machine)
    }
}

/// The capacity where the file gives none, as [`Machine::capacity`] says.
fn default_capacity(machine: &Machine) -> u32 {
    let rtt = 2 * (machine.send_overhead + machine.latency + machine.recv_overhead);
    let sent_within_rtt = match machine.send_overhead {
        0 => 0,
        send_overhead => rtt.div_ceil(send_overhead),
    };
    let capacity = (2 * rtt.div_ceil(machine.gap)).max(sent_within_rtt);
    u32::try_from(capacity.clamp(2, MOST_DEFAULT_CAPACITY)).expect("clamped")
}
