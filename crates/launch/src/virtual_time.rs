//! The runner in virtual time: programs are recorded rank by rank and replayed on a machine.

use std::time::{Duration, Instant};

use bandgap_comm::{Delay, Stamp};
use bandgap_kernels::{Job, pass, reduce, run, transfer};
use bandgap_sim::{Machine, record, replay};

use bandgap_campaign::data::{Measured, Table};
use bandgap_campaign::runner::{Executed, Runner, Stop};

/// Runs jobs on a simulated LogGP machine.
pub struct VirtualRunner<'a> {
    machine: &'a Machine,
    size: usize,
    begun: Instant,
    kept: Table,
    progress: &'a mut dyn FnMut(f64, &str),
    stopped: &'a dyn Fn() -> bool,
}

impl<'a> VirtualRunner<'a> {
    /// A runner of `size` ranks on `machine`, until `stopped` says so.
    pub fn new(
        machine: &'a Machine,
        size: usize,
        progress: &'a mut dyn FnMut(f64, &str),
        stopped: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { machine, size, begun: Instant::now(), kept: Table::default(), progress, stopped }
    }

    /// What was measured.
    pub fn into_table(self) -> Table {
        self.kept
    }
}

const PICOSECONDS: f64 = 1e3;

impl Runner for VirtualRunner<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn capacity(&self) -> usize {
        self.machine.capacity() as usize
    }

    fn virtual_time(&self) -> bool {
        true
    }

    fn launch(&self) -> u32 {
        0
    }

    fn run(&mut self, job: &Job) -> Result<Executed, Stop> {
        if (self.stopped)() {
            return Err(Stop::Interrupted);
        }
        let schedule = if job.passes_messages() {
            record(self.size, |comm| pass(comm, job))
        } else if job.moves_bytes() {
            record(self.size, |am| transfer(am, job))
        } else {
            record(self.size, |am| run(am, job))
        };
        let schedule = schedule.map_err(|error| Stop::Sim(Box::new(error)))?;
        let replayed =
            replay(&schedule, self.machine).map_err(|error| Stop::Sim(Box::new(error)))?;
        let (timed, _) = job.timed(self.size);
        let marks: Vec<Stamp> =
            replayed.marks[timed].iter().map(|ps| Stamp::from_ticks(*ps)).collect();
        let samples = reduce(job, &marks);
        let ns = |ticks: Vec<u64>| ticks.iter().map(|t| *t as f64 / PICOSECONDS).collect();
        Ok(Executed { issue: ns(samples.issue), drained: ns(samples.drained), probe: None })
    }

    fn delay(&self, ns: f64) -> Delay {
        Delay { iterations: 1, picoseconds: (ns * PICOSECONDS).round() as u64 }
    }

    fn time_delay(&mut self, delay: Delay, _messages: u32, samples: u32) -> Vec<f64> {
        vec![delay.picoseconds as f64 / PICOSECONDS; samples as usize]
    }

    fn keep(&mut self, measured: Measured) -> Result<(), Stop> {
        self.kept.push(measured);
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
