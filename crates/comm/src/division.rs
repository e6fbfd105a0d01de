//! How a breakdown divides the time of a message over a transport: a table that the transport
//! provides.
//!
//! Points and borders are numbers that only the transport understands. An order carries them.
//!
//! *Source*: "Breaking Band: A Breakdown of High-performance Communication", section 3: components are timed one at a
//! time.

use std::collections::BTreeMap;
use std::rc::Rc;

use bandgap_units::{Category, Delay, Layer, Side};
use serde::{Deserialize, Serialize};

use crate::{Bulk, Floor, Rendezvous, Result, Timer, Transport};

/// How the time of a message over a transport is divided.
#[derive(Debug)]
pub struct Division {
    /// Whether messages may have any length.
    pub any_length: bool,
    /// What messages can pass, by bits of [`Timed::passed`].
    pub passes: &'static [&'static str],
    /// The times that are divided.
    pub models: &'static [Model],
    /// The point at which two stamps follow each other, which shows the cost of stamps in an
    /// interval. `None` if parts are differences of times with equally many stamps.
    pub pair: Option<u8>,
    /// The same for intervals that end behind an awaited load, where a stamp waits for it ([`Part::awaited`]).
    pub awaited: Option<u8>,
}

/// A time that is the sum of parts.
#[derive(Debug)]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// The kernel whose time it is, between the first two ranks.
    pub kernel: &'static str,
    /// Messages per sample. A batch is one sample.
    pub messages: u32,
    /// How many times each message takes this time: 2 if it goes there and back. Of a window, its messages.
    pub ways: u32,
    /// The point at which no stamp is taken, to observe the whole.
    pub whole: u8,
    /// The point at which all places between its parts have a stamp. The whole is then longer by the stamps, less what
    /// the processor would have done at once with something else.
    pub all: Option<u8>,
    /// The parts.
    pub parts: &'static [Part],
    /// How its parts follow from what is timed; `None` if each is timed directly.
    pub derivation: Option<&'static Derivation>,
}

/// A part of a model.
#[derive(Debug, PartialEq)]
pub struct Part {
    /// The name of the component.
    pub name: &'static str,
    /// The category of what spends the time.
    pub category: Category,
    /// The layer that spends the time.
    pub layer: Layer,
    /// The side on which it is spent.
    pub side: Side,
    /// Where it is timed.
    pub at: At,
    /// What its time is divided by.
    pub per: Per,
    /// Number of stamps whose cost an interval contains.
    pub stamps: f64,
    /// The part's share of the timed interval.
    pub share: f64,
    /// The border at which an inserted computation lengthens it.
    pub border: Option<u8>,
    /// How many intervals each message must have, to half a thousandth; `None` if their number may vary.
    pub exact: Option<f64>,
    /// Whether it may be missing: messages may pass no such point.
    pub optional: bool,
    /// Whether its interval ends behind an awaited load.
    pub awaited: bool,
    /// Another part, which its interval contains at its end: its own time is by how much the interval is longer.
    pub contains: Option<&'static str>,
}

/// Where a time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// At this point.
    Point(u8),
    /// On this floor, half a round trip. The least batch of a round counts, since a loop that only
    /// polls can delay a cache line for microseconds.
    Floor(&'static Floor),
    /// Nowhere: it follows from other times.
    Derived,
}

/// What a part's time is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Per interval, on whichever rank.
    Interval,
    /// Per message: all intervals of the first rank.
    Message,
}

/// How parts follow from what is timed.
#[derive(Debug)]
pub struct Derivation {
    /// What is timed in each round, besides the parts that are timed themselves.
    pub timings: &'static [Timing],
    /// What is timed once before the first round.
    pub looks: &'static [AtBorder],
    /// A computation and its border, from the intervals of `looks` in nanoseconds.
    pub computation: fn(&[f64]) -> (u8, Delay),
    /// The parts from what was timed, by name.
    pub parts: fn(&Times<'_>) -> Derived,
}

/// Something that is timed in each round.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Its name, which is different from the names of all parts.
    pub name: &'static str,
    /// Where it is timed.
    pub at: At,
    /// Whether the derivation's computation is done there.
    pub computing: bool,
}

/// Nanoseconds by launch and round.
pub type ByRound = BTreeMap<u64, f64>;

/// What was timed, by name.
pub type Times<'a> = dyn Fn(&str) -> ByRound + 'a;

/// The result of a derivation.
#[derive(Debug)]
pub struct Derived {
    /// The parts, in the model's order.
    pub parts: Vec<ByRound>,
    /// Time of the software that overlaps with the transfer, and so belongs to no part.
    pub hidden: ByRound,
    /// Whether the computation confirms it.
    pub is_seen: bool,
}

impl Part {
    /// A part that has all of its interval, with the cost of one stamp, and no border.
    pub const fn new(
        name: &'static str,
        (category, layer, side): (Category, Layer, Side),
        at: At,
    ) -> Self {
        Self {
            name,
            category,
            layer,
            side,
            at,
            per: Per::Interval,
            stamps: 1.0,
            share: 1.0,
            border: None,
            exact: None,
            optional: false,
            awaited: false,
            contains: None,
        }
    }
}

impl Model {
    /// Everything that is timed in each round, except the whole.
    pub fn timings(&self) -> impl Iterator<Item = Timing> {
        let timed = |part: &Part| Timing { name: part.name, at: part.at, computing: false };
        let own = self.parts.iter().map(timed).filter(|timing| timing.at != At::Derived);
        own.chain(self.derivation.into_iter().flat_map(|of| of.timings).copied())
    }
}

impl Division {
    /// The parts that an inserted computation lengthens, each with its model and border.
    pub fn borders(&self) -> impl Iterator<Item = (&'static Model, &'static Part, u8)> {
        let of = |model: &'static Model| {
            model.parts.iter().filter_map(move |part| Some((model, part, part.border?)))
        };
        self.models.iter().flat_map(of)
    }

    /// The floors that are timed.
    pub fn floors(&self) -> impl Iterator<Item = &'static Floor> {
        let floor = |of: Timing| if let At::Floor(floor) = of.at { Some(floor) } else { None };
        self.models.iter().flat_map(Model::timings).filter_map(floor)
    }
}

/// Stamps and inserted computation of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtBorder {
    /// The point that is stamped; 0 for none, on the ordinary connection.
    pub point: u8,
    /// The border of an inserted computation, and the computation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted: Option<(u8, Delay)>,
}

impl AtBorder {
    /// Stamps at this point, without an inserted computation.
    pub fn point(point: u8) -> Self {
        Self { point, inserted: None }
    }

    /// Iterations of the inserted computation, at whatever border.
    pub fn iterations(self) -> u32 {
        self.inserted.map_or(0, |(_, computation)| computation.iterations)
    }
}

/// Times that one rank measured in a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// Sum of the intervals, in ticks.
    pub ticks: i64,
    /// Number of intervals.
    pub count: u64,
    /// Number of intervals that began, where it must be known exactly.
    #[serde(default)]
    pub begun: u64,
    /// What its messages passed, as bits of [`Division::passes`].
    #[serde(default)]
    pub passed: u32,
}

/// Takes the stamps of a batch.
pub trait Stamping {
    /// Begins a batch.
    fn begin(&self, at: AtBorder);
    /// Ends the batch, and returns its times.
    fn end(&self) -> Timed;
}

/// A transport that can take stamps along a message's path.
pub trait Stamped: Transport {
    /// How the time of a message over it is divided.
    const DIVISION: &'static Division;
    /// [`Transport::Endpoint`] with stamps.
    type Stamped<T: Timer>: Bulk;

    /// Makes a second connection with the other ranks, with stamps and without exposed memory.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    fn stamped<T: Timer>(
        meeting: &mut Rendezvous<'_>,
        timer: T,
    ) -> Result<(Self::Stamped<T>, Rc<dyn Stamping>)>;
}

/// A transport over memory. One process does both sides of a message, which shows the time of its
/// software.
pub trait Together: Transport {
    /// How the time of a message over it is divided.
    const DIVISION: &'static Division;

    /// Both ends of a connection within this process, and round trips without the software.
    ///
    /// # Errors
    /// The operating system refused.
    fn both_ends<T: Timer>() -> Result<BothEnds<Self::Endpoint, T>>;
}

/// The ends of ranks 0 and 1, and round trips without the software.
pub type BothEnds<E, T> = ([E; 2], Box<BareTrips<T>>);

/// Does this number of round trips on the cache lines alone, without the software, and returns
/// their total ticks. `None` if the point is timed with the software.
pub type BareTrips<T> = dyn Fn(AtBorder, u32, &T) -> Option<u64>;
