//! The file that describes a machine, and what can be wrong in it.

use serde::Deserialize;
use toml::Spanned;

use super::{Machine, Protocol, Topology};
use crate::SimError;

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
    gap_per_byte_ns: Option<Spanned<f64>>,
    capacity: Option<u32>,
    #[serde(default = "most_ranks")]
    ranks: u32,
    #[serde(default)]
    topology: Topology,
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

/// Smallest gap: one picosecond.
const LEAST_NS: f64 = 0.001;
/// Longest overhead, gap and latency: one second.
const MOST_NS: f64 = 1e9;
const PICOSECONDS: f64 = 1e3;
const FEMTOSECONDS: f64 = 1e6;

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
        line: source.line(error.span().map_or(0, |span| span.start)),
        what: error.message().to_owned(),
    })?;
    description.check(&source)
}

impl Text<'_> {
    /// The line of the byte at `offset`, from 1.
    fn line(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    fn wrong(&self, key: &'static str, value: String, bounds: String) -> SimError {
        SimError::Value { origin: self.origin.into(), key, value, bounds }
    }

    /// As [`Text::wrong`], for a key that may come in several tables.
    fn wrong_at<T>(
        &self,
        place: &Spanned<T>,
        key: &'static str,
        value: String,
        bounds: String,
    ) -> SimError {
        let origin = format!("{}, line {}", self.origin, self.line(place.span().start));
        SimError::Value { origin, key, value, bounds }
    }

    fn time(&self, key: &'static str, value: f64, least: f64) -> Result<u64, SimError> {
        whole(value, least, PICOSECONDS)
            .ok_or_else(|| self.wrong(key, value.to_string(), bounds(least)))
    }

    fn time_at(
        &self,
        key: &'static str,
        value: &Spanned<f64>,
        per_ns: f64,
    ) -> Result<u64, SimError> {
        whole(*value.get_ref(), 0.0, per_ns)
            .ok_or_else(|| self.wrong_at(value, key, value.get_ref().to_string(), bounds(0.0)))
    }

    fn count(&self, key: &'static str, value: u32, most: u32) -> Result<u32, SimError> {
        if (1..=most).contains(&value) {
            Ok(value)
        } else {
            Err(self.wrong(key, value.to_string(), format!("from 1 to {most}")))
        }
    }

    /// The protocols of the tables, in their order.
    fn protocols(&self, tables: &[Spanned<ProtocolTable>]) -> Result<Vec<Protocol>, SimError> {
        let mut protocols: Vec<Protocol> = Vec::with_capacity(tables.len());
        for (index, place) in tables.iter().enumerate() {
            let table = place.get_ref();
            let last = index + 1 == tables.len();
            let before = protocols.last().map(|protocol| protocol.up_to);
            let limit = self.limit(place, last, before)?;
            let time = |key, value| self.time_at(key, value, PICOSECONDS);
            protocols.push(Protocol {
                up_to: limit,
                send_overhead: time("send_overhead_ns", &table.send_overhead_ns)?,
                recv_overhead: time("recv_overhead_ns", &table.recv_overhead_ns)?,
                latency: time("latency_ns", &table.latency_ns)?,
                gap_per_byte: self.time_at(
                    "gap_per_byte_ns",
                    &table.gap_per_byte_ns,
                    FEMTOSECONDS,
                )?,
            });
        }
        Ok(protocols)
    }

    /// The longest message of a protocol, which is longer than that of the protocol before.
    fn limit(
        &self,
        place: &Spanned<ProtocolTable>,
        last: bool,
        before: Option<u64>,
    ) -> Result<u64, SimError> {
        const KEY: &str = "up_to_bytes";
        match (&place.get_ref().up_to_bytes, last) {
            (None, true) => Ok(u64::MAX),
            (None, false) => {
                let bounds = "given in every protocol but the last".into();
                Err(self.wrong_at(place, KEY, "missing".into(), bounds))
            }
            (Some(limit), true) => {
                let bounds = "left out of the last protocol, which is for all longer messages";
                Err(self.wrong_at(limit, KEY, limit.get_ref().to_string(), bounds.into()))
            }
            (Some(limit), false) => match before {
                Some(before) if *limit.get_ref() <= before => {
                    let bounds = format!("more than {before}, the one before: protocols ascend");
                    Err(self.wrong_at(limit, KEY, limit.get_ref().to_string(), bounds))
                }
                _ => Ok(*limit.get_ref()),
            },
        }
    }
}

/// A time in nanoseconds as a whole number of smaller units; exact, as it is at most 10¹⁵.
fn whole(value: f64, least: f64, per_ns: f64) -> Option<u64> {
    let good = value.is_finite() && (least..=MOST_NS).contains(&value);
    good.then(|| (value * per_ns).round() as u64)
}

fn bounds(least: f64) -> String {
    format!("from {least} to {MOST_NS}")
}

impl Description {
    fn check(self, source: &Text<'_>) -> Result<Machine, SimError> {
        if self.name.trim().is_empty() {
            return Err(source.wrong("name", "empty".into(), "a name".into()));
        }
        let mut machine = Machine {
            send_overhead: source.time("send_overhead_ns", self.send_overhead_ns, 0.0)?,
            recv_overhead: source.time("recv_overhead_ns", self.recv_overhead_ns, 0.0)?,
            gap: source.time("gap_ns", self.gap_ns, LEAST_NS)?,
            latency: source.time("latency_ns", self.latency_ns, 0.0)?,
            capacity: self.capacity.map_or(Ok(0), |n| source.count("capacity", n, u32::MAX))?,
            ranks: source.count("ranks", self.ranks, most_ranks())? as usize,
            protocols: source.protocols(&self.protocol)?,
            name: self.name,
            description: self.description,
            topology: self.topology,
        };
        if self.capacity.is_none() {
            machine.capacity = machine.default_capacity();
        }
        let gap_per_byte = &self.gap_per_byte_ns;
        if machine.protocols.is_empty() {
            let gap_per_byte = gap_per_byte
                .as_ref()
                .map(|value| source.time_at("gap_per_byte_ns", value, FEMTOSECONDS))
                .transpose()?;
            machine.protocols.push(Protocol {
                up_to: if gap_per_byte.is_some() { u64::MAX } else { 0 },
                send_overhead: machine.send_overhead,
                recv_overhead: machine.recv_overhead,
                latency: machine.latency,
                gap_per_byte: gap_per_byte.unwrap_or(0),
            });
        } else if let Some(value) = gap_per_byte {
            let bounds = "left out where there are protocols".into();
            let text = value.get_ref().to_string();
            return Err(source.wrong_at(value, "gap_per_byte_ns", text, bounds));
        }
        Ok(machine)
    }
}
