//! The rank that measures and decides.

use std::time::{Duration, Instant};

use bandgap_comm::Word;
use bandgap_kernels::COMMAND;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bench::Bench;
use super::command;
use super::ticks::per_round;
use crate::live::{QUIT, flush, probe_ns};
use crate::message::Channel;
use bandgap_campaign::data::{Batch, Measured};
use bandgap_campaign::floors::{FLOORS, Floor, FloorPlan, key as floor_key};
use bandgap_campaign::placement::straddles;
use bandgap_campaign::runner::Stop;

/// Rounds over all floors at least and at most.
const ROUNDS: std::ops::Range<usize> = 7..60;

/// Rank 0: visits the floors in rounds until each is known well enough.
pub(super) struct Leader<'a> {
    pub(super) bench: &'a mut Bench,
    pub(super) channel: &'a mut Channel,
    pub(super) plan: &'a FloorPlan,
    pub(super) launch: u32,
}

impl Leader<'_> {
    pub(super) fn measure(mut self) -> Result<(), Stop> {
        let mut order = Xoshiro256PlusPlus::seed_from_u64(self.plan.seed);
        let begun = Instant::now();
        let mut open: Vec<&Floor> =
            self.plan.floors.iter().filter_map(|&at| FLOORS.get(at)).collect();
        for floor in &open {
            // Code, caches and sockets warm up; what it measures is not kept.
            self.visit(floor)?;
        }
        let mut done = 0;
        for round in 0..ROUNDS.end {
            open.shuffle(&mut order);
            let mut measured = Vec::with_capacity(open.len());
            for floor in &open {
                let batch = self.visit(floor)?;
                measured.push(Measured { key: floor_key(floor.name), batch });
            }
            open.retain(|floor| {
                !measured
                    .iter()
                    .any(|m| m.batch.samples.is_empty() && m.key == floor_key(floor.name))
            });
            let spent = begun.elapsed().as_secs_f64() / self.plan.budget;
            let share = spent.max(round as f64 / ROUNDS.end as f64).min(1.0);
            done = round + 1;
            flush(self.channel, measured, share, &format!("round {done}"))?;
            if round + 1 >= ROUNDS.start && spent > 1.0 {
                break;
            }
            std::thread::sleep(Duration::from_secs_f64(self.plan.pause.clamp(0.0, 1.0)));
        }
        self.command([QUIT, 0, 0, 0])?;
        self.bench.shm.executor().active().settle()?;
        flush(self.channel, Vec::new(), 1.0, &format!("{done} rounds"))
    }

    fn command(&mut self, words: [Word; 4]) -> Result<(), Stop> {
        let active = self.bench.shm.executor().active();
        active.request(1, COMMAND, words)?;
        Ok(active.await_replies()?)
    }

    /// One batch of one floor.
    fn visit(&mut self, floor: &Floor) -> Result<Batch, Stop> {
        let done = self.bench.shm.executor().active().state().as_ref().done + 1;
        self.command(command::words(floor))?;
        let (ticks, probe) = self.bench.bracketed(floor)?;
        self.bench.shm.executor().active().serve_until(|state| state.as_ref().done >= done)?;
        let clock = self.bench.clock;
        let probe = probe.map(|ticks| ticks.map(|t| probe_ns(&clock, t)));
        let (samples, mut rejected) = match ticks {
            Ok(ticks) => (ticks.iter().map(|t| per_round(floor, &clock, *t)).collect(), None),
            Err(reason) => (Vec::new(), Some(format!("cannot be had here: {reason}"))),
        };
        rejected = rejected.or_else(|| straddles(probe));
        Ok(Batch { samples, probe, delay: None, launch: self.launch, rejected })
    }
}
