//! Echo between two ranks, while two others load the machine.

use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Contention, LOAD, LOADS, Order, Pair, Refused, WHOLE, fact};
use bandgap_stats::batch_value;
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::data::{Chosen, Kept};
use crate::experiment::{Experiment, Point, VIRTUAL_SAMPLES, all_or_none};
use crate::judge::Judged;
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Executed, Runner, Stop};
use crate::series::{Part, SeriesPlan, Step, key};
use crate::sizes::{rounds, samples_within};

/// The name of the series.
pub const CONTENTION: &str = "contention";

/// Samples of a look.
const LOOK: u32 = 6;
/// Samples of a batch, and bytes that it moves at most before they become fewer.
const SAMPLES: u32 = 20;
const BATCH_BYTES: u64 = 2 << 20;
const LEAST_SAMPLES: u32 = 4;
/// How much longer than the echo the load is to last.
const MARGIN: f64 = 2.0;
/// Looks for that, and messages of the first.
const LOOKS: usize = 8;
const FIRST: u32 = 16;
/// Messages of a load at most.
const MOST: u32 = 1 << 20;
/// Share of the budget after which no more sizes are looked at.
const LOOKING: f64 = 0.5;
/// Bytes of the messages of echo's own curve: powers of four.
const CURVE: [u32; 8] = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// What is between an echo and a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// They share a channel of the network.
    Channel,
    /// They share no channel of the network.
    Nothing,
    /// They are on one machine.
    Machine,
}

/// An echo, and a load beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// The rank that times, and its peer.
    pub echo: [usize; 2],
    /// From which rank to which the load goes.
    pub load: [usize; 2],
    /// What they have in common.
    pub between: Between,
}

/// What the user asked for: the times of echo over sizes, without a load and under loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentionPlan {
    /// How precisely, and in which time.
    pub asked: Asked,
    /// Which ranks; no two with the same echo.
    pub pairs: Vec<Beside>,
    /// Number of ranks.
    pub ranks: usize,
    /// Bytes of the echo's messages, ascending. The curve that the loads are chosen of does not depend on
    /// them.
    pub sizes: Vec<u32>,
}

/// Under which it is kept how long the messages of a load are, in percent of echo's peak.
pub fn load_key(echo: [usize; 2], percent: u32) -> Key {
    Key::new("load").at("percent", percent).at("from", echo[0]).at("to", echo[1])
}

impl Beside {
    /// Whether so many ranks can do it.
    ///
    /// # Errors
    /// They cannot: there are too few, say.
    pub fn check(&self, ranks: usize) -> Result<(), Refused> {
        let order = Order::of(&self.idle(0), 1, ranks);
        (fact(&order.kernel)?.check)(&order, ranks)
    }

    /// The echo of messages of this length, without a load.
    fn idle(&self, bytes: u32) -> Contention {
        let [echo, load] =
            [self.echo, self.load].map(|[requester, replier]| Pair { requester, replier });
        let (messages, bytes) = (rounds(bytes.into()), bytes as usize);
        Contention { echo, load, messages, bytes, load_messages: 0, load_bytes: 0 }
    }
}

impl ContentionPlan {
    /// Its points as those of a series.
    pub fn series(&self) -> SeriesPlan {
        let mut steps = Vec::new();
        for beside in &self.pairs {
            for &size in &self.sizes {
                steps.extend(LOADS.map(|(name, _)| self.step(beside, size, name)));
            }
        }
        SeriesPlan { asked: self.asked.clone(), steps, samples: SAMPLES }
    }

    /// One point of the series.
    pub fn step(&self, beside: &Beside, size: u32, load: &str) -> Step {
        let variant = Some(load.to_owned());
        let step = Step::new(CONTENTION, size, rounds(size.into()), self.ranks);
        Step { pair: beside.echo, variant, ..step }
    }

    fn order(&self, kernel: &Contention, samples: u32) -> Order {
        Order::of(kernel, samples, self.ranks)
    }

    /// A batch without and one with the longest load that there may be, as far as memory goes.
    fn orders(&self) -> impl Iterator<Item = Order> {
        let load = CURVE.into_iter().max().unwrap_or(0);
        let longest = self.sizes.iter().copied().chain([load]).max().unwrap_or(0);
        self.pairs.iter().flat_map(move |beside| {
            let idle = beside.idle(longest);
            let loaded = Contention { load_messages: FIRST, load_bytes: load as usize, ..idle };
            [idle, loaded].map(|kernel| self.order(&kernel, 1))
        })
    }
}

impl Planned for ContentionPlan {
    const NAME: &'static str = CONTENTION;

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut Loaded { plan: self }, &Plan::new(&self.asked))
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        Room::passing(ranks, tuning, self.orders())
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        let beside = Beside { echo: [0, 1], load: [2, 3], between: Between::Machine };
        let (pairs, ranks, sizes) = (vec![beside], 4, vec![8]);
        Self { asked: asked.clone(), pairs, ranks, sizes }
    }
}

/// The length from which on messages reach this share of the greatest bandwidth on a curve of times,
/// ascending in length.
///
/// *Formula*: between two neighbours of the curve t is taken to be a line, t = a + b·n; n/t = r there
/// where n = r·a/(1 − r·b).
/// *Assumes* that the bandwidth rises up to there.
fn reaching(curve: &[(u32, f64)], share: f64) -> Option<u32> {
    let rate = |&(bytes, time): &(u32, f64)| f64::from(bytes) / time;
    let wanted = share * curve.iter().map(rate).fold(0.0, f64::max);
    let first = curve.iter().position(|at| rate(at) >= wanted)?;
    let (bytes, time) = curve[first];
    let Some(&(below, before)) = first.checked_sub(1).and_then(|at| curve.get(at)) else {
        return Some(bytes);
    };
    let slope = (time - before) / f64::from(bytes - below);
    let start = before - slope * f64::from(below);
    let length = wanted * start / (1.0 - wanted * slope);
    Some(if length.is_finite() { (length.ceil() as u32).clamp(below, bytes) } else { bytes })
}

/// The experiment.
struct Loaded<'a> {
    plan: &'a ContentionPlan,
}

impl Loaded<'_> {
    /// Half a round trip for each length of the curve.
    fn curve(&self, beside: &Beside, runner: &mut dyn Runner) -> Result<Vec<(u32, f64)>, Stop> {
        let mut curve = Vec::new();
        for bytes in CURVE {
            let kernel = beside.idle(bytes);
            let done = runner.run(&self.plan.order(&kernel, LOOK))?;
            let time = batch_value(done.column(WHOLE)) / (2.0 * f64::from(kernel.messages));
            if time > 0.0 {
                curve.push((bytes, time));
            }
        }
        Ok(curve)
    }

    /// The kernel with so many messages of its load that they outlast the echo; looked for from so many
    /// messages on. `None` where [`MOST`] do not.
    fn outlasting(
        &self,
        idle: &Contention,
        length: u32,
        first: u32,
        runner: &mut dyn Runner,
    ) -> Result<Option<Contention>, Stop> {
        // In virtual time all samples are alike.
        let samples = if runner.virtual_time() { VIRTUAL_SAMPLES } else { LOOK };
        let mut kernel = Contention { load_messages: first, load_bytes: length as usize, ..*idle };
        for _ in 0..LOOKS {
            let done = runner.run(&self.plan.order(&kernel, samples))?;
            let [echo, load] = [WHOLE, LOAD].map(|name| {
                let column = done.column(name);
                if column.is_empty() { 0.0 } else { batch_value(column) }
            });
            let sent = f64::from(kernel.load_messages);
            let enough = MARGIN * echo * sent / load.max(f64::MIN_POSITIVE);
            // The echo begins when the first message is there.
            let wanted = (1.2 * enough).ceil() + 1.0;
            if enough <= sent {
                kernel.load_messages = kernel.load_messages.min(wanted as u32);
                return Ok(Some(kernel));
            }
            if kernel.load_messages == MOST {
                let lasts = load >= outlasts(echo, kernel.messages);
                return Ok(lasts.then_some(kernel));
            }
            // A load that did not outlast the echo has slowed only a part of it.
            kernel.load_messages = wanted.min(f64::from(MOST)) as u32;
        }
        Ok(Some(kernel))
    }
}

/// How long a load is to last beside an echo of so long and so many round trips: with the message that
/// lets the echo begin.
fn outlasts(echo: f64, trips: u32) -> f64 {
    echo * (1.0 + 1.0 / f64::from(trips))
}

/// A load as it is looked for from one size of the echo to the next.
struct Load {
    name: &'static str,
    /// Bytes of a message; none without a load.
    length: Option<u32>,
    /// Messages from which on so many are looked for that outlast the echo, and round trips and bytes
    /// of the echo that they were found for. `None` from the size on that no number outlasts.
    from: Option<(u32, Contention)>,
}

impl Load {
    /// Messages to begin with beside this echo: longer messages of a single round trip take longer as
    /// they have more bytes.
    fn first(&self, idle: &Contention) -> Option<f64> {
        let (messages, found) = self.from.as_ref()?;
        let longer = match found.messages {
            1 => idle.bytes as f64 / found.bytes.max(1) as f64,
            _ => 1.0,
        };
        let first = f64::from(*messages) * longer.max(1.0);
        (first <= MARGIN * f64::from(MOST)).then(|| first.min(f64::from(MOST)).ceil())
    }
}

impl Loaded<'_> {
    /// The loads beside an echo, and that without one.
    fn loads(&self, beside: &Beside, runner: &mut dyn Runner) -> Result<Vec<Load>, Stop> {
        let curve = self.curve(beside, runner)?;
        let mut loads = Vec::new();
        for (name, percent) in LOADS {
            let from = Some((FIRST, beside.idle(0)));
            if percent == 0 {
                loads.push(Load { name, length: None, from });
                continue;
            }
            // A curve without a bandwidth has no such length: there is no such load.
            let Some(length) = reaching(&curve, f64::from(percent) / 100.0) else { continue };
            let looked = curve.iter().map(|(n, time)| (n.to_string(), *time)).collect();
            let chosen = Chosen { variant: Some(length.to_string()), way: None, looked };
            runner.keep(Kept::Chosen { key: load_key(beside.echo, percent), chosen })?;
            loads.push(Load { name, length: Some(length), from });
        }
        Ok(loads)
    }

    /// The point of this size under this load; `None` where no number of messages outlasts the echo.
    fn point(
        &self,
        beside: &Beside,
        size: u32,
        load: &mut Load,
        runner: &mut dyn Runner,
    ) -> Result<Option<Point>, Stop> {
        let idle = beside.idle(size);
        let kernel = match load.length {
            None => Some(idle),
            Some(length) => match load.first(&idle) {
                Some(first) => self.outlasting(&idle, length, first as u32, runner)?,
                None => None,
            },
        };
        load.from = kernel.map(|kernel| (kernel.load_messages, idle));
        Ok(kernel.map(|kernel| {
            let samples = samples_within(BATCH_BYTES, size, idle.messages, LEAST_SAMPLES, SAMPLES);
            let key = key(&self.plan.step(beside, size, load.name), Part::Whole);
            Point::new(key, self.plan.order(&kernel, samples))
        }))
    }
}

impl Experiment for Loaded<'_> {
    /// The least size first, each under all loads: where the looks take half of the budget, the sizes
    /// that remain are left out.
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let begun = runner.elapsed();
        let mut beside = Vec::new();
        for pair in &self.plan.pairs {
            beside.push((pair, self.loads(pair, runner)?));
        }
        let mut points = Vec::new();
        for &size in &self.plan.sizes {
            let spent = runner.elapsed().saturating_sub(begun).as_secs_f64();
            if !points.is_empty() && spent > LOOKING * self.plan.asked.budget {
                break;
            }
            for (pair, loads) in &mut beside {
                for load in loads {
                    points.extend(self.point(pair, size, load, runner)?);
                }
            }
        }
        Ok(points)
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let trips = point.key.number("messages").unwrap_or(1) as f64;
        let times = done.column(WHOLE).iter().map(|time| time / (2.0 * trips)).collect();
        vec![(point.key.clone(), times)]
    }

    /// A batch whose load did not outlast the echo in each sample, with the message that let the echo
    /// begin. To leave out only such samples would leave out the slowest echoes.
    fn rejects(&self, point: &Point, done: &Executed) -> Option<String> {
        let trips = point.key.number("messages").unwrap_or(1) as u32;
        let samples = done.column(WHOLE).iter().zip(done.column(LOAD));
        let short = samples.filter(|(echo, load)| **load < outlasts(**echo, trips)).count();
        let all = done.column(LOAD).len();
        (short > 0)
            .then(|| format!("the load did not outlast the echo in {short} of {all} samples"))
    }

    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        all_or_none(judged, points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Scripted, taking};

    #[test]
    fn lengths_reach_their_share_of_the_peak() {
        // t = 100 + n: the peak is 1000/1100, half of it is reached where n/(100 + n) = 5/11, at 250/3.
        let curve: Vec<(u32, f64)> = [1, 10, 100, 1000].map(|n| (n, 100.0 + f64::from(n))).to_vec();
        assert_eq!(reaching(&curve, 0.5), Some(84));
        // 9/11 at 450.
        assert!(matches!(reaching(&curve, 0.9), Some(450 | 451)));
        assert_eq!(reaching(&curve, 1.0), Some(1000));
        assert_eq!(reaching(&curve[..1], 0.5), Some(1));
        assert_eq!(reaching(&[], 0.5), None);
    }

    /// A machine where a round trip takes 100 ns and two for each byte, twice that under a load, and a
    /// load's message 10 ns; `echo` is how many times as long the first sample of a timed batch takes.
    fn machine(echo: impl Fn(&Contention) -> f64 + 'static) -> Scripted {
        let mut runner = Scripted::new(move |order| {
            let kernel: Contention = order.kernel(4).unwrap();
            let loaded = kernel.load_messages > 0;
            let trip = (100.0 + 2.0 * kernel.bytes as f64) * if loaded { 2.0 } else { 1.0 };
            let mut done = taking(order, trip * f64::from(kernel.messages));
            if loaded {
                let load = vec![10.0 * f64::from(kernel.load_messages); order.samples as usize];
                done.samples.insert(LOAD, load);
                if order.probed {
                    done.samples.get_mut(WHOLE).unwrap()[0] *= echo(&kernel);
                }
            }
            Ok(done)
        });
        runner.size = 4;
        runner
    }

    fn plan(sizes: &[u32], budget: f64) -> ContentionPlan {
        ContentionPlan { sizes: sizes.to_vec(), ..ContentionPlan::short(&Asked::usual(budget)) }
    }

    fn at(plan: &ContentionPlan, size: u32, load: &str) -> Key {
        key(&plan.step(&plan.pairs[0], size, load), Part::Whole)
    }

    #[test]
    fn loads_outlast_the_echo_and_hardly_more_than_a_look_finds_how_many_messages_do() {
        let sizes = [0, 64, 4 << 10, 64 << 10, 256 << 10];
        let plan = plan(&sizes, 1e9);
        let mut runner = machine(|_| 1.0);
        plan.lead(&mut runner).unwrap();
        let judged = plan.asked.judge(&runner.kept);
        for size in sizes {
            let idle = 50.0 + f64::from(size);
            for (load, times) in
                LOADS.map(|(name, percent)| (name, if percent > 0 { 2.0 } else { 1.0 }))
            {
                assert_eq!(judged.point(&at(&plan, size, load)).unwrap().value, times * idle);
            }
        }
        for order in runner.timed() {
            let kernel: Contention = order.kernel(4).unwrap();
            let load = 10.0 * f64::from(kernel.load_messages);
            let echo = 2.0 * (100.0 + 2.0 * kernel.bytes as f64) * f64::from(kernel.messages);
            let lasting = MARGIN * echo..=1.5 * MARGIN * echo;
            assert!(kernel.load_messages == 0 || lasting.contains(&load), "{kernel:?}");
        }
        let looks = runner.ran().filter(|order| order.samples == LOOK && !order.probed);
        assert!(looks.count() <= CURVE.len() + 2 * (2 * sizes.len() - 1));
        // t = 50 + n: of the peak, half is reached at 50 B, where the curve has not begun; nine tenths at
        // 450.
        let chosen = |percent| runner.kept.chosen(&load_key([0, 1], percent)).unwrap();
        assert_eq!([50, 90].map(|percent| chosen(percent).looked.len()), [CURVE.len(); 2]);
        assert_eq!(chosen(50).variant.as_deref(), Some("64"));
        assert!(matches!(chosen(90).variant.as_deref(), Some("449" | "450")));
    }

    #[test]
    fn a_batch_whose_load_does_not_outlast_each_echo_is_kept_as_rejected() {
        let plan = plan(&[8], 30.0);
        let mut runner = machine(|kernel| if kernel.load_bytes == 64 { 9.0 } else { 1.0 });
        runner.cost = 1.0;
        plan.lead(&mut runner).unwrap();
        let judged = plan.asked.judge(&runner.kept);
        assert!(judged.point(&at(&plan, 8, "50 % load")).is_none());
        assert!(judged.point(&at(&plan, 8, "90 % load")).is_some());
        let batches = runner.kept.batches(&at(&plan, 8, "50 % load"));
        let why = "the load did not outlast the echo in 1 of 20 samples";
        assert!(batches.len() > 1);
        for batch in batches {
            assert_eq!((batch.rejected.as_deref(), batch.samples.len()), (Some(why), 20));
        }
    }

    #[test]
    fn without_a_bandwidth_there_is_no_load_and_where_none_outlasts_no_point() {
        let plan = plan(&[0, 1 << 30], 1e9);
        let mut runner = machine(|_| 1.0);
        plan.lead(&mut runner).unwrap();
        let count =
            |runner: &Scripted, size, load| runner.kept.batches(&at(&plan, size, load)).len();
        // 2^20 messages take 10 ms, an echo of 1 GiB 4 s.
        for load in ["50 % load", "90 % load"] {
            assert!(count(&runner, 0, load) > 0 && count(&runner, 1 << 30, load) == 0);
        }
        assert!(count(&runner, 1 << 30, "idle") > 0);
        let mut runner = Scripted::steady(0.0);
        runner.size = 4;
        plan.lead(&mut runner).unwrap();
        assert!(count(&runner, 0, "idle") > 0);
        assert_eq!(["50 % load", "90 % load"].map(|load| count(&runner, 0, load)), [0, 0]);
    }

    #[test]
    fn looks_take_half_of_the_budget_and_the_longest_sizes_are_left_out() {
        let sizes = [0, 64, 256, 1024];
        let plan = plan(&sizes, 24.0);
        let mut runner = machine(|_| 1.0);
        // The curve takes 8 s; two looks or more a size, and after those of 64 B more than 12 s are over.
        runner.cost = 1.0;
        plan.lead(&mut runner).unwrap();
        let has = |size| !runner.kept.batches(&at(&plan, size, "90 % load")).is_empty();
        assert!(has(0) && !has(1024));
        for size in sizes {
            assert_eq!(has(size), !runner.kept.batches(&at(&plan, size, "idle")).is_empty());
        }
    }
}
