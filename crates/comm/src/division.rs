//! How a breakdown divides the time of a message over a transport: a table that the transport gives.
//!
//! The numbers of points and borders are the transport's own. An order carries them, and only the transport knows what
//! they mean.
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
    /// What is divided.
    pub models: &'static [Model],
    /// The point at which two stamps follow each other: what an interval contains of them. `None` where parts are
    /// differences of times with as many stamps.
    pub pair: Option<u8>,
}

/// A time that is the sum of parts.
#[derive(Debug)]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// The kernel that takes this time, between the first two ranks.
    pub kernel: &'static str,
    /// Messages of a sample. A batch is one sample.
    pub messages: u32,
    /// How many times over each of them takes this time.
    pub ways: u32,
    /// The point at which no stamp is taken, so that the whole is observed.
    pub whole: u8,
    /// What it is the sum of.
    pub parts: &'static [Part],
    /// How its parts follow from what is timed; `None` where each is as it was timed, without the cost of stamps.
    pub derivation: Option<&'static Derivation>,
}

/// A part of a model.
#[derive(Debug, PartialEq)]
pub struct Part {
    /// The name of the component.
    pub name: &'static str,
    /// What kind of part spends the time.
    pub category: Category,
    /// Whose it is.
    pub layer: Layer,
    /// Where it is spent.
    pub side: Side,
    /// Where it is timed.
    pub at: At,
    /// What its time is counted for.
    pub per: Per,
    /// How many stamps' cost an interval contains.
    pub stamps: f64,
    /// The share of what is timed that belongs to it.
    pub share: f64,
    /// The border at which an inserted computation makes it longer.
    pub border: Option<u8>,
}

/// Where a time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// At this point of the transport's.
    Point(u8),
    /// On this floor: half a round trip. Of a round the least batch counts, since a loop that does nothing but poll can
    /// hold a line up for microseconds at a time.
    Floor(&'static Floor),
    /// Nowhere: it follows from others.
    Derived,
}

/// What a part's time is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// One interval, whichever rank stamps it.
    Interval,
    /// One message, of all intervals of the first rank.
    Message,
}

/// Parts that follow from what is timed.
#[derive(Debug)]
pub struct Derivation {
    /// What is timed for it in each round, beside the parts with a place of their own.
    pub timings: &'static [Timing],
    /// What is looked at before the first round.
    pub looks: &'static [AtBorder],
    /// A computation and its border, from the intervals that were looked at, in nanoseconds.
    pub computation: fn(&[f64]) -> (u8, Delay),
    /// The parts from what was timed, by name.
    pub parts: fn(&Times<'_>) -> Derived,
}

/// Something that is timed in each round.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Its name, unlike those of all parts.
    pub name: &'static str,
    /// Where it is timed.
    pub at: At,
    /// Whether the computation of the derivation is done there.
    pub computing: bool,
}

/// Nanoseconds by launch and round.
pub type ByRound = BTreeMap<u64, f64>;

/// What was timed, by name.
pub type Times<'a> = dyn Fn(&str) -> ByRound + 'a;

/// What a derivation gives.
#[derive(Debug)]
pub struct Derived {
    /// The parts, in the order of the model's.
    pub parts: Vec<ByRound>,
    /// Time of the software that passes while the message is on its way, and so is in no part.
    pub hidden: ByRound,
    /// Whether the computation shows how much that is.
    pub is_seen: bool,
}

impl Part {
    /// All that is timed there, each interval with the cost of a stamp; nothing is inserted into it.
    pub const fn new(name: &'static str, about: (Category, Layer, Side), at: At) -> Self {
        let ((category, layer, side), per) = (about, Per::Interval);
        Self { name, category, layer, side, at, per, stamps: 1.0, share: 1.0, border: None }
    }
}

impl Model {
    /// All that is timed in each round, but the whole.
    pub fn timings(&self) -> impl Iterator<Item = Timing> {
        let timed = |part: &Part| Timing { name: part.name, at: part.at, computing: false };
        let own = self.parts.iter().map(timed).filter(|timing| timing.at != At::Derived);
        own.chain(self.derivation.into_iter().flat_map(|of| of.timings).copied())
    }
}

impl Division {
    /// The parts that an inserted computation makes longer, each with its model and border.
    pub fn borders(&self) -> impl Iterator<Item = (&'static Model, &'static Part, u8)> {
        let of = |model: &'static Model| {
            model.parts.iter().filter_map(move |part| Some((model, part, part.border?)))
        };
        self.models.iter().flat_map(of)
    }

    /// The floors that are timed for it.
    pub fn floors(&self) -> impl Iterator<Item = &'static Floor> {
        let floor = |of: Timing| if let At::Floor(floor) = of.at { Some(floor) } else { None };
        self.models.iter().flat_map(Model::timings).filter_map(floor)
    }
}

/// What is done at a transport's points and borders in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtBorder {
    /// The point that is stamped; 0 where the ordinary connection carries the batch.
    pub point: u8,
    /// The computation that is inserted, and its border.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted: Option<(u8, Delay)>,
}

impl AtBorder {
    /// This point, with nothing inserted.
    pub fn point(point: u8) -> Self {
        Self { point, inserted: None }
    }

    /// Iterations of the computation that is inserted, whatever its border.
    pub fn iterations(self) -> u32 {
        self.inserted.map_or(0, |(_, computation)| computation.iterations)
    }
}

/// What one rank timed in a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// The sum of the intervals, in ticks.
    pub ticks: i64,
    /// How many there are.
    pub count: u64,
}

/// Takes the stamps of a batch.
pub trait Stamping {
    /// A batch begins.
    fn begin(&self, at: AtBorder);
    /// The batch is over. Gives what was timed.
    fn end(&self) -> Timed;
}

/// A transport that can take stamps within a message's way.
pub trait Stamped: Transport {
    /// How the time of a message over it is divided.
    const DIVISION: &'static Division;
    /// [`Transport::Endpoint`] with stamps.
    type Stamped<T: Timer>: Bulk;

    /// Connects this rank with the others once more, with stamps. Memory is not exposed.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    fn stamped<T: Timer>(
        meeting: &mut dyn Rendezvous,
        timer: T,
    ) -> Result<(Self::Stamped<T>, Rc<dyn Stamping>)>;
}

/// A transport over memory, where one processor shows the time of a message's software: it does both sides.
pub trait Together: Transport {
    /// How the time of a message over it is divided.
    const DIVISION: &'static Division;

    /// Both ends of a connection within this process, and what is timed without the software.
    ///
    /// # Errors
    /// The operating system refused.
    fn both_ends<T: Timer>() -> Result<BothEnds<Self::Endpoint, T>>;
}

/// The ends of ranks 0 and 1, and what is timed without the software.
pub type BothEnds<E, T> = ([E; 2], Box<BareTrips<T>>);

/// Does so many round trips without the software above the lines, and returns the ticks of all. `None` of a point that is timed
/// with the software.
pub type BareTrips<T> = dyn Fn(AtBorder, u32, &T) -> Option<u64>;
