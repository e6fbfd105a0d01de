//! The result of simulating a schedule: when it ends, and which parameters that depends on.

use std::collections::BTreeMap;

use bandgap_record::{Number, Quantity, Seconds, Unit};
use bandgap_report::{Block, Cell, Head, Table, scaled, share};
use bandgap_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::shown::{Context, Shown, counted, grouped};
use crate::timeline::{Span, timeline};

/// The simulation of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// The schedule's name.
    pub name: String,
    /// Bytes of each message, if all have the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The algorithm; for a GOAL schedule, the arithmetic.
    pub variant: String,
    /// The machine, with its parameters.
    pub machine: String,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of operations; 0 where the replay was ended.
    pub operations: u64,
    /// Number of messages; 0 where the replay was ended.
    pub messages: u64,
    /// Equal parts of a kernel's operation, such as 2 for there and back; `time` is that of one. 1 for a schedule.
    #[serde(default)]
    pub parts: u64,
    /// Operations of a kernel that follow one another; `time` is that of each. 1 for a schedule.
    #[serde(default)]
    pub in_a_row: u64,
    /// The time that noise took from all ranks together; absent without noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Seconds>,
    /// When the last rank ends.
    pub end: Seconds,
    /// When each rank ends; empty for more than 65,536 ranks.
    pub finish: Vec<Seconds>,
    /// One of the `parts` of the end, and of its operations `in_a_row`. Only a lower bound where the replay was ended, as
    /// soon as another algorithm was certain to be faster.
    pub time: Quantity,
    /// The critical path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_path: Option<CriticalPath>,
    /// How the end depends on the parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// What the ranks did, where it [has room](Self::has_room) and no noise; of several points of a kernel only one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Span>,
}

/// The critical path: steps without a pause from time 0 to the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticalPath {
    /// The rank that ends last.
    pub rank: u64,
    /// Number of steps.
    pub steps: u64,
    /// The time spent on each of L, o, g, G, O and computation.
    pub shares: BTreeMap<String, Seconds>,
    /// The time that the path spends at each of its ranks.
    pub ranks: Vec<AtRank>,
    /// The first 65,536 steps.
    pub operations: Vec<AtOperation>,
}

/// The time of a critical path at a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtRank {
    /// The rank.
    pub rank: u64,
    /// Number of steps.
    pub steps: u64,
    /// Their time.
    pub time: Seconds,
}

/// A step of a critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtOperation {
    /// The rank whose time it is.
    pub at: u64,
    /// The kind of step: compute, send, interface, flight, transfer (of further bytes) or receive.
    pub part: String,
    /// The rank of the operation; for a message, that of its send.
    pub rank: u64,
    /// The operation's number there, from 1.
    pub operation: u64,
    /// Its line; absent for a binary schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// When the step ends; it begins when the one before it ends.
    pub end: Seconds,
}

/// How an end T depends on parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// dT/dL and the others, by the parameter's letter.
    pub derivatives: BTreeMap<String, Derivative>,
    /// The next L at which dT/dL changes, if T is convex in L; absent if none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_latency: Option<Seconds>,
    /// By how much L may grow before T grows by 1 %; absent without messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Seconds>,
}

/// The one-sided derivatives of T by a parameter: plain numbers; bytes for G.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Derivative {
    /// The derivative towards smaller values.
    pub left: Number,
    /// The derivative towards greater values.
    pub right: Number,
    /// Whether T jumps there because simultaneous events change their order.
    pub jumps: bool,
}

/// The most ranks whose ends are listed on a screen, and in detail.
const RANKS: usize = 8;
const RANKS_IN_DETAIL: usize = 64;
/// The most operations of a timeline.
const OPERATIONS: u64 = 1024;

impl Shown for Simulation {
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        vec![(format!("{}/time", self.id()), Some(&self.time), !self.time.is_lower_bound())]
    }

    fn detail(&self, _: &Context<'_>) -> Vec<Block> {
        let mut blocks = self.blocks(RANKS_IN_DETAIL);
        if !self.timeline.is_empty() {
            let ranks: Vec<u64> = (0..self.ranks).collect();
            let end = self.end.0.0;
            let caption = format!("On {}. Framed: what determines the end", self.machine);
            let words = [format!("{} on {} ranks", self.name, self.ranks), caption];
            blocks.push(Block::Gantt(timeline(&self.timeline, &ranks, [0.0, end], words)));
        }
        blocks
    }

    /// A table with a line for each simulated kernel; all of a single schedule.
    fn short(&self, context: &Context<'_>) -> Vec<Block> {
        let all = context.of::<Self>().filter(|of| of.sensitivity.is_none());
        let all: Vec<&Self> = all.collect();
        match (self.bytes, all.first()) {
            (None, _) => self.blocks(RANKS),
            _ if self.sensitivity.is_some() => self.blocks(RANKS),
            (Some(_), Some(first)) if std::ptr::eq(*first, self) => {
                let row = match self.in_a_row {
                    0 | 1 => "one".to_owned(),
                    count => format!("each of {count} in a row"),
                };
                let way = if self.parts == 2 { "half of there and back, " } else { "" };
                let time = &*format!("t ({way}{row})");
                let heads = ["", "ranks", "bytes", "algorithm", "messages", time, "last rank ends"];
                let mut table = Table::new(heads.map(Head::new));
                for of in all {
                    let number = |number: u64| Cell::Number(grouped(number as f64));
                    let beyond = of.time.is_lower_bound();
                    let time = |time| Cell::Number(format!("> {}", scaled(time, Unit::Second)));
                    let end = of.end.0.0;
                    table.push([
                        Cell::from(of.name.clone()),
                        number(of.ranks),
                        number(of.bytes.unwrap_or(0)),
                        of.variant.clone().into(),
                        if beyond { Cell::Empty } else { number(of.messages) },
                        if beyond { time(of.time.value.0) } else { context.cell("", &of.time) },
                        if beyond { time(end) } else { Cell::Number(scaled(end, Unit::Second)) },
                    ]);
                }
                vec![Block::Text(format!("on {}", self.machine)), Block::Table(table)]
            }
            _ => Vec::new(),
        }
    }
}

/// The values by parameter, in the usual order of the parameters.
fn in_order<T>(of: &BTreeMap<String, T>) -> impl Iterator<Item = (&'static str, &T)> {
    let names = ["L", "o", "g", "G", "O", "computation"];
    names.into_iter().filter_map(|name| Some((name, of.get(name)?)))
}

/// A time to the nanosecond, or to the picosecond if it is not whole nanoseconds.
fn exactly(of: Seconds) -> String {
    let ns = of.0.0 * 1e9;
    let rest = ((ns - ns.floor()) * 1e3).round();
    match rest > 0.0 && rest < 1e3 && ns < 1e12 {
        true => format!("{}.{rest:03} ns", grouped(ns.floor())),
        false => format!("{} ns", grouped(ns)),
    }
}

impl Simulation {
    fn id(&self) -> String {
        let Self { name, ranks, variant, .. } = self;
        let of = self.bytes.map(|bytes| format!("/bytes={bytes}/variant={variant}"));
        format!("simulation/{name}{}/ranks={ranks}", of.unwrap_or_default())
    }

    /// Whether its timeline has room in a run and in a picture.
    pub fn has_room(&self) -> bool {
        self.ranks <= RANKS_IN_DETAIL as u64 && (1..=OPERATIONS).contains(&self.operations)
    }

    /// The end: exactly, or with the ends of its interval.
    fn when(&self) -> String {
        let time = |of| scaled(of, Unit::Second);
        let end = self.end.0.0;
        let parts = (self.parts.max(1) * self.in_a_row.max(1)) as f64;
        match self.time.interval() {
            Some((low, high)) if low < high => {
                let [low, high] = [low, high].map(|end| time(end * parts));
                format!("{} ({low} to {high})", time(end))
            }
            _ => format!("{} ({})", exactly(self.end), time(end)),
        }
    }

    fn blocks(&self, most: usize) -> Vec<Block> {
        let count = |of: u64, what: &str| counted(of as usize, what);
        // A kernel has bytes and an algorithm.
        let of = self.bytes.map_or(String::new(), |bytes| {
            format!(" ({}, {})", Bytes(bytes), self.variant.replace('_', " "))
        });
        let ranks = count(self.ranks, "rank");
        let title = format!("{}{of} on {}, {ranks}", self.name, self.machine);
        let mut blocks = vec![Block::section(self.id(), title)];
        if self.time.is_lower_bound() {
            let end = scaled(self.end.0.0, Unit::Second);
            blocks
                .push(Block::Text(format!("Its last rank ends after {end}: not replayed further")));
            return blocks;
        }
        let [operations, messages] = [(self.operations, "operation"), (self.messages, "message")]
            .map(|of| count(of.0, of.1));
        blocks.push(Block::Text(format!("{operations}, {messages}")));
        blocks.push(Block::Text(format!("End: {}", self.when())));
        if self.parts == 2 {
            let time = scaled(self.time.value.0, Unit::Second);
            blocks.push(Block::Text(format!("t: {time} (half of there and back)")));
        }
        if let Some(Seconds(Number(lost))) = self.lost {
            let lost = scaled(lost, Unit::Second);
            blocks.push(Block::Text(format!("Noise takes {lost} from all ranks together")));
        }
        if self.finish.len() > 1 && self.finish.len() <= most {
            let ends = self.finish.iter().enumerate();
            let rows = ends.map(|(rank, end)| [rank.to_string(), exactly(*end)].map(Cell::Number));
            blocks.push(Block::Table(Table::new(["rank", "end"].map(Head::new)).with(rows)));
        }
        if let Some(of) = &self.sensitivity {
            let is_same = of.derivatives.values().all(|of| of.left == of.right);
            let heads: &[&str] = if is_same { &["", ""] } else { &["", "less", "more"] };
            let mut table = Table::new(heads.iter().copied().map(Head::new));
            for (letter, of) in in_order(&of.derivatives) {
                let jumps =
                    if of.jumps { " (T jumps: events of one time change places)" } else { "" };
                let sides = [of.left, of.right];
                let cells = sides[usize::from(is_same)..].iter();
                let cells = cells.map(|of| Cell::Number(grouped(of.0)));
                let unit = if letter == "G" { " in bytes" } else { "" };
                let name = format!("dT/d{letter}{unit}{jumps}").into();
                table.push([name].into_iter().chain(cells));
            }
            blocks.push(Block::Table(table));
            let time = |of: Seconds| scaled(of.0.0, Unit::Second);
            let next =
                of.critical_latency.map(|of| format!("dT/dL changes next at L = {}", exactly(of)));
            let may =
                of.tolerance.map(|of| format!("L may grow by {} until T grows by 1 %", time(of)));
            let both: Vec<String> = next.into_iter().chain(may).collect();
            if !both.is_empty() {
                blocks.push(Block::Text(both.join("; ")));
            }
        }
        blocks.extend(self.critical_path.as_ref().map(|path| {
            let spent = in_order(&path.shares).filter(|(_, of)| of.0.0 != 0.0);
            let spent = spent.map(|(on, of)| format!("{on} {}", share(of.0.0 / self.end.0.0)));
            Block::Text(format!(
                "Critical path: {} at {}, to rank {}: {}",
                count(path.steps, "step"),
                count(path.ranks.len() as u64, "rank"),
                path.rank,
                spent.collect::<Vec<_>>().join(", ")
            ))
        }));
        blocks
    }
}
