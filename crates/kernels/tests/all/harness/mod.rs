//! Ranks as threads that carry out orders.

pub mod native;
pub mod spoilt;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::inproc::{self, InprocLink};
use bandgap_comm::passing::Tuning;
use bandgap_comm::{Bulk, CommError, Credited, DeadlineWatch, Stamp, Timer, Waiting, Watch};
use bandgap_kernels::{Executor, Failed, Order, Outcome};
use bandgap_shm::{Exposed, Readable, Segment, ShmEndpoint};

/// A clock for tests.
#[derive(Clone, Copy)]
pub struct WallClock(Instant);

impl WallClock {
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Timer for WallClock {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(self.0.elapsed().as_nanos() as u64)
    }
    fn work(&self, iterations: u32) {
        (0..iterations).for_each(|i| _ = std::hint::black_box(i));
    }
}

/// Long enough for any machine.
pub const PATIENT: DeadlineWatch = DeadlineWatch(Duration::from_secs(60));

/// Gives up after so many looks in vain, however long they take.
#[derive(Clone, Copy, Debug)]
pub struct Impatient {
    pub most: u32,
    pub looks: u32,
    pub waited: Duration,
}

impl Impatient {
    pub const NEW: Self = Self { most: 40, looks: 0, waited: Duration::ZERO };
}

impl Watch for Impatient {
    fn check(&mut self, waited: Duration, waiting_for: &'static str) -> Result<(), CommError> {
        // A new wait begins at 0.
        self.looks = if waited < self.waited { 0 } else { self.looks + 1 };
        self.waited = waited;
        match self.looks > self.most {
            true => Err(CommError::Deadline { waited, waiting_for }),
            false => Ok(()),
        }
    }
}

/// Slots so small that messages take every way.
pub const TUNING: Tuning = Tuning { chunk: 4 << 10, slots: 4, request: 512 };

/// The links of ranks that expose memory for transfers of up to so many bytes and for slots.
pub fn links(size: usize, bytes: usize) -> Vec<InprocLink> {
    let exposed = (2 * bytes).max(TUNING.memory(size));
    inproc::links(size, 256).into_iter().map(|link| link.exposing(exposed)).collect()
}

/// What each rank has of each order, up to the first that failed.
pub type Outcomes = Vec<Vec<Result<Outcome, Failed>>>;

/// A rank that carries out orders.
pub trait Obeys: Send {
    fn obey(&mut self, order: &Order) -> Result<Outcome, Failed>;
    /// Does what peers may wait for; says whether that is possible.
    fn idle(&mut self) -> bool;
}

impl<E: Bulk + Send, T: Timer + Send, W: Watch + Send> Obeys for Executor<E, T, W> {
    fn obey(&mut self, order: &Order) -> Result<Outcome, Failed> {
        self.execute(order)
    }
    fn idle(&mut self) -> bool {
        self.active().poll().is_ok()
    }
}

/// Lets nobody wait for a rank whose thread panics.
struct Panics<'a>(&'a AtomicBool);

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

/// Gives all orders to all ranks, one after the other.
pub fn carry_out(ranks: Vec<impl Obeys>, orders: &[Order]) -> Outcomes {
    let size = ranks.len();
    let (returned, failed) = (&AtomicUsize::new(0), &AtomicBool::new(false));
    let run = |mut rank: Box<dyn Obeys + '_>| {
        let _panics = Panics(failed);
        let mut outcomes = Vec::new();
        for (order, before) in orders.iter().zip(1..) {
            let outcome = rank.obey(order);
            let ended = outcome.is_err();
            outcomes.push(outcome);
            if ended {
                failed.store(true, Ordering::Relaxed);
                break;
            }
            returned.fetch_add(1, Ordering::Relaxed);
            // Orders do not overlap.
            while returned.load(Ordering::Relaxed) < size * before {
                if failed.load(Ordering::Relaxed) || !rank.idle() {
                    return outcomes;
                }
                std::thread::yield_now();
            }
        }
        outcomes
    };
    std::thread::scope(|scope| {
        let start = |rank| scope.spawn(move || run(Box::new(rank)));
        let ranks: Vec<_> = ranks.into_iter().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Executors over `endpoints`.
pub fn executors<E: Bulk, W: Watch + Copy>(
    endpoints: Vec<E>,
    watch: W,
) -> Vec<Executor<E, WallClock, W>> {
    let clock = WallClock::new();
    let slots = Some((0, &TUNING));
    let executor = |endpoint| Executor::new(endpoint, slots, Waiting::Yield, watch, clock).unwrap();
    endpoints.into_iter().map(executor).collect()
}

/// Ends of ranks over shared memory, which read each other's private memory.
pub fn over_shared_memory(size: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, 64).unwrap();
    let exposed = Exposed::create(size, TUNING.memory(size).max(1 << 19)).unwrap();
    let endpoint = |rank| {
        let endpoint = ShmEndpoint::attach(&segment, rank, size).unwrap();
        let readable = Readable::of(Ok(vec![std::process::id(); size]));
        endpoint.exposing(exposed.clone()).unwrap().reading(readable)
    };
    (0..size).map(endpoint).collect()
}

/// Executors over links without faults.
pub fn in_process(size: usize) -> Vec<Executor<Credited<InprocLink>, WallClock, DeadlineWatch>> {
    let endpoints = links(size, 1 << 18).into_iter().map(|link| Credited::new(link, 16));
    executors(endpoints.collect(), PATIENT)
}
