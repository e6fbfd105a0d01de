//! The runner in virtual time: programs are recorded rank by rank and replayed on a machine.

use std::time::{Duration, Instant};

use bandgap_campaign::data::{Kept, Probe, Table};
use bandgap_campaign::runner::{Executed, Runner, Stop};
use bandgap_comm::Delay;
use bandgap_kernels::{Order, fact, program};
use bandgap_sim::{Machine, Recorder, SimError, record, replay};

/// Carries out orders on a simulated LogGP machine.
pub struct VirtualRunner<'a> {
    pub machine: &'a Machine,
    /// Number of ranks.
    pub size: usize,
    /// When the measurement began.
    pub begun: Instant,
    /// What was measured.
    pub kept: Table,
    pub progress: &'a mut dyn FnMut(f64, &str),
    /// Whether the user stopped the run.
    pub stopped: &'a dyn Fn() -> bool,
}

const PICOSECONDS: f64 = 1e3;

fn refused(error: SimError) -> Stop {
    Stop::Sim(Box::new(error))
}

impl Runner for VirtualRunner<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn capacity(&self) -> usize {
        self.machine.capacity as usize
    }

    fn virtual_time(&self) -> bool {
        true
    }

    fn launch(&self) -> u32 {
        0
    }

    fn run(&mut self, order: &Order) -> Result<Executed, Stop> {
        if (self.stopped)() {
            return Err(Stop::Interrupted);
        }
        let fact = fact(&order.kernel)?;
        let rank = program::<Recorder>(order)?;
        let schedule = record(order.ranks, |recorder| rank(recorder)).map_err(refused)?;
        let replayed = replay(&schedule, self.machine).map_err(refused)?;
        let samples = (fact.samples)(order, self.size, &replayed.marks)?;
        let ns = |ticks: &[u64]| ticks.iter().map(|ps| *ps as f64 / PICOSECONDS).collect();
        let column = |name| (name, ns(samples.column(name)));
        Ok(Executed { samples: samples.names().map(column).collect(), ..Executed::default() })
    }

    fn look(&mut self, _order: &Order) -> Result<Option<Probe>, Stop> {
        Ok(None)
    }

    fn delay(&self, ns: f64) -> Delay {
        Delay { iterations: 1, picoseconds: (ns * PICOSECONDS).round() as u64 }
    }

    fn time_delay(&mut self, delay: Delay, _messages: u32, samples: u32) -> Vec<f64> {
        vec![delay.picoseconds as f64 / PICOSECONDS; samples as usize]
    }

    fn keep(&mut self, kept: Kept) -> Result<(), Stop> {
        self.kept.push(kept);
        Ok(())
    }

    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        (self.progress)(done, doing);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
