//! Where the time of a message goes on a transport of bandgap's: every part is timed in batches of its own, between
//! batches without a stamp.

mod inserted;
mod rounds;

use std::ops::RangeInclusive;

use bandgap_comm::{AtBorder, Border, Delay, Floor, Stamping};
use bandgap_kernels::{Asking, BareLoop, Burst, Kernel as _, Order, Pair, PingPong, WHOLE};
use bandgap_stats::interval::Interval;
use bandgap_stats::quantile::median;
use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::control::Control;
use crate::experiment::{Experiment, Point};
use crate::judge::Judged;
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Reaches};
use crate::runner::{AtRank, Executed, Runner, Stop};

pub use inserted::{Came, Longer, came_back};
pub use rounds::{Hidden, Rounds, Seen, rounds};

/// The name of parts among keys.
pub const BREAKDOWN: &str = "breakdown";

/// Round trips of a batch.
pub const ROUND_TRIPS: u32 = 150;
/// Requests of a batch: so many that those still under way at the end hardly count.
pub const REQUESTS: u32 = 1500;
/// Batches of each point in a round, of which the middle one counts: a stall makes one of them many times longer.
const VISITS: u32 = 3;

/// Rounds at least and at most.
const ROUNDS: RangeInclusive<u32> = 8..=60;
/// Rounds at most where computations are inserted: what comes back of them is a small difference of long times.
const ROUNDS_INSERTED: u32 = 10_000;
/// Half-width of a model's error at which it is known well enough, unless what it says is undecided.
pub const ENOUGH: f64 = 0.01;
/// A model counts when it is this near to what was observed.
pub const TOLERANCE: f64 = 0.05;

/// What is modelled.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord)]
#[display(rename_all = "snake_case")]
pub enum Model {
    /// Half a round trip.
    Latency,
    /// The time from one request to the next, where a rank sends as fast as it can.
    Injection,
}

impl Model {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Latency, Self::Injection];

    /// What is timed for it by stamps around calls, each in batches of its own, with its name as a component.
    pub fn calls(self) -> [(&'static str, Stamping); 4] {
        match self {
            Self::Latency => [
                ("turn", Stamping::Turn),
                ("visible", Stamping::Visible),
                ("poll", Stamping::Gap),
                ("receive", Stamping::Receive),
            ],
            Self::Injection => [
                ("send_calls", Stamping::Send),
                ("receive_calls", Stamping::Receive),
                ("failing_polls", Stamping::Failing),
                ("own_code", Stamping::Own),
            ],
        }
    }
}

/// How much of the time that is stamped belongs to the model: what arrives between two polls waits for half of what lies
/// between them.
fn share(part: Stamping) -> f64 {
    if part == Stamping::Gap { 0.5 } else { 1.0 }
}

/// What is timed where lines are divided: half a round trip, and round trips that one processor does alone.
const OF_LINES: [Stamping; 4] =
    [Stamping::Nothing, Stamping::Together, Stamping::Lines, Stamping::Pair];

/// Borders at which a computation is inserted, and what must become longer by it.
pub const BORDERS: [(Border, Stamping); 4] = [
    (Border::Turn, Stamping::Turn),
    (Border::Send, Stamping::Visible),
    (Border::Poll, Stamping::Gap),
    (Border::Receive, Stamping::Receive),
];

fn word(of: &impl Serialize) -> String {
    match serde_json::to_value(of) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// The key of a part of a model; of [`Stamping::Nothing`] the whole time.
pub fn key(model: Model, part: Stamping) -> Key {
    Key::new(BREAKDOWN).at("model", model.to_string()).at("part", word(&part))
}

/// The key of the transfer of a line, one way.
pub fn slot_key() -> Key {
    Key::new(BREAKDOWN).at("model", Model::Latency.to_string()).at("part", "slot")
}

/// The key of the same exchange where each side computes before it stores.
pub fn busy_key(of: &Key) -> Key {
    of.clone().at("of", "busy")
}

/// The key of how many intervals of a part there are for each message.
pub fn count_key(model: Model, part: Stamping) -> Key {
    key(model, part).at("of", "count")
}

/// The key of a part of the latency where a computation of so many nanoseconds was inserted.
pub fn inserted_key(part: Stamping, border: Border, ns: f64) -> Key {
    let ps = (ns * 1e3).round() as u64;
    key(Model::Latency, part).at("border", word(&border)).at("inserted_ps", ps)
}

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakdownPlan {
    /// How precisely, and in which time.
    pub asked: Asked,
    /// How the time of a message can be divided.
    pub divided: Division,
    /// Computations that are inserted at each border, in nanoseconds.
    pub inserted: Vec<f64>,
}

/// How the time of a message over a transport can be divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Division {
    /// By stamps around the calls of the system.
    Calls,
    /// Into the transfer of a line, which this floor times, and the software's part, which one processor shows by itself.
    Lines(Floor),
}

impl Division {
    /// The models that it divides.
    pub fn models(&self) -> &'static [Model] {
        match self {
            Self::Calls => &Model::ALL,
            Self::Lines(_) => &[Model::Latency],
        }
    }
}

/// An order of a model's kernel.
fn order(model: Model) -> Order {
    let pair = Pair { requester: 0, replier: 1 };
    match model {
        Model::Latency => Order::of(&PingPong { pair, messages: ROUND_TRIPS }, 1, 2),
        Model::Injection => {
            let (asking, delay) = (Asking::OneToOne(pair), bandgap_comm::Delay::NONE);
            Order::of(&Burst { asking, messages: REQUESTS, delay }, 1, 2)
        }
    }
}

fn point(model: Model, key: Key, at: AtBorder) -> Point {
    // Checked where nothing is stamped: the messages are the same.
    let is_bare = at == AtBorder::default();
    let order = Order { at_border: Some(at), ..order(model) };
    Point { visits: VISITS, ..Point::new(key, order).checked_if(is_bare) }
}

/// A point of a model, where this is stamped.
fn stamped(model: Model, stamping: Stamping) -> Point {
    point(model, key(model, stamping), AtBorder { stamping, inserted: None })
}

impl BreakdownPlan {
    fn of_calls(&self, runner: &dyn Runner) -> Vec<Point> {
        let mut points = Vec::new();
        for model in Model::ALL {
            points.push(stamped(model, Stamping::Nothing));
            points.extend(model.calls().map(|(_, part)| stamped(model, part)));
        }
        points.push(stamped(Model::Latency, Stamping::Pair));
        for &ns in &self.inserted {
            let delay = runner.delay(ns);
            for (border, part) in BORDERS {
                for stamping in [part, Stamping::Nothing] {
                    let at = AtBorder { stamping, inserted: Some((border, delay)) };
                    let key = inserted_key(stamping, border, ns);
                    let control = Control::of(delay, ROUND_TRIPS);
                    points.push(Point { control, ..point(Model::Latency, key, at) });
                }
            }
        }
        points
    }
}

/// Batches of a first look at how long the software takes.
const LOOKS: usize = 5;
/// Blocks of a computation that is looked at.
const LOOKED_AT: u32 = 4;

/// A computation of so many blocks before each store of the bare exchange.
fn turn(blocks: u32, ns: f64) -> Option<(Border, Delay)> {
    let picoseconds = (ns * 1e3).round() as u64;
    Some((Border::Turn, Delay { iterations: blocks, picoseconds }))
}

/// The computation that takes about as long as the software of one way. Part of it is hidden behind the transfer, as part
/// of the software is.
fn as_software(runner: &mut dyn Runner) -> Result<Option<(Border, Delay)>, Stop> {
    let mut look = |stamping, inserted| {
        let at_border = Some(AtBorder { stamping, inserted });
        let order = Order { at_border, ..order(Model::Latency) };
        let times = (0..LOOKS).map(|_| Ok(stamped_time(&runner.run(&order)?).unwrap_or(0.0)));
        Ok::<f64, Stop>(median(&times.collect::<Result<Vec<f64>, Stop>>()?))
    };
    let lines = look(Stamping::Lines, None)?;
    let software = look(Stamping::Together, None)? - lines;
    let blocks = (look(Stamping::Lines, turn(LOOKED_AT, 0.0))? - lines) / f64::from(LOOKED_AT);
    let wanted = if blocks > 0.0 { (software / blocks).round().max(1.0) } else { 1.0 };
    Ok(turn(wanted as u32, wanted * blocks.max(0.0) / 2.0))
}

fn of_lines(floor: &Floor, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
    let mut points: Vec<Point> = OF_LINES.map(|part| stamped(Model::Latency, part)).to_vec();
    let bare = |key, turn| {
        let order = crate::bare::turned(floor, floor.bytes(), turn);
        Point { checked: None, visits: VISITS, ..Point::new(key, order) }
    };
    let inserted = as_software(runner)?;
    let blocks = inserted.map_or(0, |(_, computation)| computation.iterations);
    points.extend([bare(slot_key(), 0), bare(busy_key(&slot_key()), blocks)]);
    let at = AtBorder { stamping: Stamping::Lines, inserted };
    points.push(point(Model::Latency, busy_key(&key(Model::Latency, Stamping::Lines)), at));
    Ok(points)
}

/// The length of an interval that all ranks stamped together; `None` where there was none.
fn stamped_time(done: &Executed) -> Option<f64> {
    let sum = |of: fn(&AtRank) -> f64| done.at_border.iter().map(of).sum::<f64>();
    let (ns, count) = (sum(|rank| rank.ns), sum(|rank| rank.count as f64));
    (count > 0.0).then(|| ns / count)
}

impl Experiment for &BreakdownPlan {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        match &self.divided {
            Division::Calls => Ok(self.of_calls(runner)),
            Division::Lines(floor) => of_lines(floor, runner),
        }
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        if let Division::Lines(floor) = &self.divided
            && point.order.kernel == BareLoop::NAME
        {
            return vec![(point.key.clone(), crate::bare::samples_of(floor, done))];
        }
        let stamping = point.order.at_border.unwrap_or_default().stamping;
        let (key, latency) = (&point.key, point.key.text("model") == Some("latency"));
        let whole = done.column(WHOLE).iter();
        match (stamping, latency) {
            (Stamping::Nothing, true) => {
                vec![(key.clone(), whole.map(|ns| ns / f64::from(2 * ROUND_TRIPS)).collect())]
            }
            (Stamping::Nothing, false) => {
                vec![(key.clone(), whole.map(|ns| ns / f64::from(REQUESTS)).collect())]
            }
            // Both ranks do alike.
            (_, true) => {
                stamped_time(done).map_or_else(Vec::new, |ns| vec![(key.clone(), vec![ns])])
            }
            (_, false) => done.at_border.first().map_or_else(Vec::new, |requester| {
                let each = |sum: f64| vec![sum / f64::from(REQUESTS)];
                let count = key.clone().at("of", "count");
                vec![(key.clone(), each(requester.ns)), (count, each(requester.count as f64))]
            }),
        }
    }

    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        let known = |model: &Model| {
            let rounds = rounds(judged, *model, &self.divided);
            let error = rounds.and_then(|rounds| rounds.error(judged.confidence));
            error.is_some_and(|error| {
                let Interval { low, high } = error.interval;
                let straddles = |limit: f64| low <= limit && limit <= high;
                error.interval.half_width() <= ENOUGH
                    && !straddles(TOLERANCE)
                    && !straddles(-TOLERANCE)
            })
        };
        if !self.divided.models().iter().all(known) {
            return (0..points.len()).collect();
        }
        let came = came_back(judged, &self.inserted);
        let decided =
            |came: &Came| came.part.comes_back().is_some() && came.whole.comes_back().is_some();
        if came.iter().all(decided) {
            return Vec::new();
        }
        // Nothing is inserted into the injection, and what is known of it is enough.
        let of_latency = |at: &usize| points[*at].order.kernel == PingPong::NAME;
        (0..points.len()).filter(of_latency).collect()
    }

    fn rounds(&self) -> RangeInclusive<u32> {
        let most = if self.inserted.is_empty() { *ROUNDS.end() } else { ROUNDS_INSERTED };
        *ROUNDS.start()..=most
    }
}

impl Planned for BreakdownPlan {
    const NAME: &'static str = "breakdown";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut { self }, &Plan::new(&self.asked.unstamped()))
    }

    fn reaches(&self) -> Reaches {
        Reaches::Stamps
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone(), divided: Division::Calls, inserted: vec![100.0] }
    }
}

#[cfg(test)]
mod tests;
