//! The experiment of overlap: an exchange and a computation one after the other, at the same time,
//! and each alone.

use bandgap_comm::passing::Tuning;
use bandgap_kernels::{ISSUE, Order, Overlap, OverlapMode, Pair, Refused, TAKE, fact};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::campaign::campaign;
use crate::data::{Described, Kept, Scarce};
use crate::experiment::{Experiment, Point, all_or_none};
use crate::judge::Judged;
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Executed, Runner, Stop};
use crate::series::by_time;
use crate::sizes::{BATCH_BYTES, rounds, samples_within};

/// The name of overlaps in keys.
pub const OVERLAP: &str = "overlap";

/// Smallest number of samples in a batch.
const LEAST_SAMPLES: u32 = 8;
/// Share of the budget after which no more lengths are tried.
const LENGTHS: f64 = 0.5;
/// Bytes of an element of both vectors.
const ELEMENT: u32 = 2 * size_of::<f64>() as u32;

/// The overlaps that the user asked for: each length of messages with each length of vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverlapPlan {
    /// Precision and time.
    pub asked: Asked,
    /// The rank that times, and its peer.
    pub pair: [usize; 2],
    /// Lengths of messages, in bytes.
    pub sizes: Vec<u32>,
    /// Lengths of the vectors of the computation.
    pub elements: Vec<u32>,
    /// Samples of a batch of short messages.
    pub samples: u32,
}

/// A mode, with a message length if it exchanges and a vector length if it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The mode.
    pub mode: OverlapMode,
    /// Bytes of a message; 0 if none is exchanged.
    pub bytes: u32,
    /// Elements of a vector; 0 if nothing is computed.
    pub elements: u32,
}

impl Cell {
    /// The cell of a mode, without the lengths that do not concern it.
    pub fn of(mode: OverlapMode, bytes: u32, elements: u32) -> Self {
        let bytes = if mode.exchanges() { bytes } else { 0 };
        Self { mode, bytes, elements: if mode.computes() { elements } else { 0 } }
    }

    /// The key of its times: of one exchange, one computation, or both.
    pub fn key(self) -> Key {
        let key =
            Key::new(OVERLAP).at("mode", self.mode.to_string()).at("messages", self.messages());
        let key = if self.mode.exchanges() { key.at("bytes", self.bytes) } else { key };
        if self.mode.computes() { key.at("elements", self.elements) } else { key }
    }

    /// The description of its point. An exchange or a computation alone lacks the other's axis.
    fn described(self, pair: [usize; 2]) -> Described {
        let [from, to] = pair;
        let mut point = Described {
            bytes: self.bytes.into(),
            moved: self.bytes.into(),
            timed: self.messages().into(),
            pair: Some(pair),
            ..Described::default()
        };
        point = if self.mode.exchanges() { point.at("bytes", self.bytes) } else { point };
        point = if self.mode.computes() { point.at("elements", self.elements) } else { point };
        point.with("from", from).with("to", to)
    }

    /// Exchanges or computations per sample. Overheads are timed one by one.
    fn messages(self) -> u32 {
        match self.mode {
            OverlapMode::Overheads => 1,
            _ => rounds(self.load().into()),
        }
    }

    /// Bytes that are sent or computed with.
    fn load(self) -> u32 {
        self.bytes.max(self.elements.saturating_mul(ELEMENT))
    }
}

impl OverlapPlan {
    /// All different cells, by the length of messages and then of vectors.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &bytes in &self.sizes {
            for &elements in &self.elements {
                for mode in OverlapMode::ALL {
                    let cell = Cell::of(mode, bytes, elements);
                    if !cells.contains(&cell) {
                        cells.push(cell);
                    }
                }
            }
        }
        cells
    }

    /// A batch of a cell with this computation.
    fn order(&self, cell: Cell, work: bandgap_comm::Delay) -> Order {
        let [requester, replier] = self.pair;
        let (messages, pair) = (cell.messages(), Pair { requester, replier });
        let bytes = cell.bytes as usize;
        let kernel = Overlap { pair, messages, bytes, work, mode: cell.mode };
        let samples =
            samples_within(BATCH_BYTES, cell.load(), messages, LEAST_SAMPLES, self.samples);
        // Ranks beyond the two need not meet with them.
        Order::of(&kernel, samples, pair.among())
    }

    /// Checks that this number of ranks can do it.
    ///
    /// # Errors
    /// There are too few ranks, or the longest messages or vectors do not fit.
    pub fn check(&self, ranks: usize) -> Result<(), Refused> {
        self.orders().try_for_each(|order| (fact(&order.kernel)?.check)(&order, ranks))
    }

    /// One batch of each cell, to determine the memory; the time of its computation is 0.
    fn orders(&self) -> impl Iterator<Item = Order> {
        self.cells().into_iter().map(move |cell| {
            let work = bandgap_comm::Delay { iterations: cell.elements, picoseconds: 0 };
            self.order(cell, work)
        })
    }
}

impl Experiment for &OverlapPlan {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let budget = &Budget::from_now(runner, self.asked.budget);
        let (all, mut points) = (self.cells(), Vec::new());
        // The cells of a length of messages and of vectors begin with a blocking exchange.
        for cells in all.chunk_by(|_, next| next.mode != OverlapMode::Blocking) {
            if !points.is_empty() && budget.spent(runner) > LENGTHS {
                let share = points.len() as f64 / all.len() as f64;
                runner.keep(Kept::Cut { what: Scarce::Points, share })?;
                break;
            }
            let point = |&cell: &Cell| {
                let order = self.order(cell, runner.daxpy(cell.elements));
                let point = Point::new(cell.key(), order).described(cell.described(self.pair));
                point.checked_if(cell.mode.exchanges())
            };
            let mut new: Vec<Point> = cells.iter().map(point).collect();
            by_time(new.iter_mut().map(|point| &mut point.order), budget, runner)?;
            points.append(&mut new);
        }
        Ok(points)
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let both = done.column(ISSUE).iter().zip(done.column(TAKE));
        let samples = match point.key.text("mode") == Some(&OverlapMode::Overheads.to_string()) {
            true => both.map(|(issue, take)| issue + take).collect(),
            false => point.once(done),
        };
        vec![(point.key.clone(), samples)]
    }

    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        all_or_none(judged, points)
    }
}

impl Planned for OverlapPlan {
    const NAME: &'static str = OVERLAP;

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut { self }, &Plan::new(&self.asked)).map(drop)
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        let longest = self.elements.iter().max().copied().unwrap_or(0);
        let vectors = longest as usize * ELEMENT as usize;
        let room = Room::passing(ranks, tuning, self.orders());
        Room { memory: room.memory + vectors, ..room }
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        let (pair, samples) = ([0, 1], 20);
        Self { asked: asked.clone(), pair, sizes: vec![8], elements: vec![10], samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::{Scripted, taking};

    fn plan(sizes: &[u32], elements: &[u32]) -> OverlapPlan {
        let (asked, pair) = (Asked::usual(1e9), [1, 0]);
        OverlapPlan { asked, pair, sizes: sizes.into(), elements: elements.into(), samples: 50 }
    }

    #[test]
    fn what_concerns_no_message_or_no_vector_is_timed_once() {
        let plan = plan(&[0, 8, 1 << 20], &[0, 100]);
        let of = |mode| plan.cells().into_iter().filter(|cell| cell.mode == mode).count();
        assert_eq!(OverlapMode::ALL.map(of), [6, 6, 3, 2, 3]);
        let keys: std::collections::BTreeSet<Key> =
            plan.cells().into_iter().map(Cell::key).collect();
        assert_eq!(keys.len(), plan.cells().len());
    }

    #[test]
    fn where_a_message_waits_long_one_length_is_measured_at_least_twice() {
        // 5 ms each: an exchange or computation of 16 takes 80 ms, and a launch a second at most.
        let mut runner = Scripted::new(|order| {
            let kernel: Overlap = order.kernel(2).unwrap();
            Ok(taking(order, 5e6 * f64::from(kernel.messages)))
        });
        (runner.timed, runner.usual, runner.latest) = (true, 0.1, 1.0);
        let plan = plan(&[0, 8], &[16, 100]);
        plan.lead(&mut runner).unwrap();
        let twice = |cell: &Cell| runner.kept.batches(&cell.key()).len() == 2;
        let measured: Vec<Cell> = plan.cells().into_iter().filter(twice).collect();
        assert_eq!(measured, OverlapMode::ALL.map(|mode| Cell::of(mode, 0, 16)));
        assert!(runner.timed().all(|order| order.samples == 1));
        assert_eq!(runner.kept.share(Scarce::Points), 5.0 / 14.0);
    }

    #[test]
    fn times_are_of_one_exchange_and_all_are_visited_in_all_rounds() {
        let plan = plan(&[8, 1 << 20], &[16, 4096]);
        let mut wide = 0;
        let mut runner = Scripted::new(move |order| {
            let kernel: Overlap = order.kernel(2).unwrap();
            // One point scatters, so that all are visited until its seventh batch.
            let scatters = kernel.mode == OverlapMode::Exchange && kernel.bytes == 8;
            let off = if scatters && order.probed {
                wide += 1;
                if wide == 1 { 1.4 } else { 1.0 }
            } else {
                1.0
            };
            let mut done = taking(order, 64.0 * off * f64::from(kernel.messages));
            if kernel.mode == OverlapMode::Overheads {
                done.samples.insert(ISSUE, vec![3.0; order.samples as usize]);
                done.samples.insert(TAKE, vec![4.0; order.samples as usize]);
            }
            Ok(done)
        });
        plan.lead(&mut runner).unwrap();
        let judged = plan.asked.judge(&runner.kept);
        for cell in plan.cells() {
            let batches = runner.kept.batches(&cell.key());
            let scattering = Cell::of(OverlapMode::Exchange, 8, 0).key();
            assert_eq!(batches.len(), runner.kept.batches(&scattering).len());
            let overheads = cell.mode == OverlapMode::Overheads;
            let expected = if overheads { 7.0 } else { 64.0 };
            if cell.key() != scattering {
                assert_eq!(judged.point(&cell.key()).unwrap().value, expected);
            }
        }
        // 64 KiB of messages or of vectors, sixteen times at most.
        let messages = |mode, bytes, elements| Cell::of(mode, bytes, elements).messages();
        assert_eq!(messages(OverlapMode::Blocking, 8, 16), 16);
        assert_eq!(messages(OverlapMode::Blocking, 8, 1024), 4);
        assert_eq!(messages(OverlapMode::Exchange, 1 << 20, 0), 1);
        assert_eq!(messages(OverlapMode::Computation, 1 << 20, 16), 16);
        assert_eq!(messages(OverlapMode::Overheads, 8, 16), 1);
    }
}
