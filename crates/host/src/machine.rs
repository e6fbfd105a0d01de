//! What a run ran on, for its record.

use std::io;
use std::thread::{Builder, scope};
use std::time::Duration;

use serde::Serialize;

use crate::doctor::{Check, Evidence, Pinning, examine};
use crate::noise::fixed_work_quantum;
use crate::{
    ClockReport, CycleClock, Description, NoiseReport, Result, Topology, WorkRate, pin, place,
};

/// Time that noise is looked at on each core after a measurement.
pub const GLANCE: Duration = Duration::from_millis(100);

/// A machine as it is recorded with every run.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Hardware and system.
    pub description: Description,
    /// The clock's calibration, cost and resolution.
    pub clock: ClockReport,
    /// The delay loop's calibration.
    pub work: WorkRate,
    /// Noise of the cores measured on; empty until it was looked at.
    pub noise: Vec<(usize, NoiseReport)>,
    /// Whether it is fit to measure on.
    pub checks: Vec<Check>,
    /// The MPIs that are installed, where somebody has looked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mpi: Vec<Mpi>,
}

/// An MPI that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mpi {
    /// Its name and version.
    pub name: String,
    /// The library.
    pub library: String,
    /// The family of binary interfaces that it is of.
    pub abi: String,
    /// What starts its ranks.
    pub launcher: Option<String>,
    /// Whether it is the one that would be used.
    pub used: bool,
}

impl Machine {
    /// Describes the machine, without its noise, for so many ranks.
    pub fn of(topology: &Topology, clock: &CycleClock, work: WorkRate, ranks: usize) -> Self {
        let (description, clock) = (Description::read(topology), clock.report());
        let (noise, checks, mpi) = (Vec::new(), Vec::new(), Vec::new());
        let of = Self { description, clock, work, noise, checks, mpi };
        of.with_noise(topology, ranks, Vec::new())
    }

    /// The same with this noise, and graded with it.
    pub fn with_noise(
        mut self,
        topology: &Topology,
        ranks: usize,
        noise: Vec<(usize, NoiseReport)>,
    ) -> Self {
        self.noise = noise;
        if let Ok(placement) = place(topology, ranks, None) {
            self.checks = examine(&Evidence {
                description: &self.description,
                topology,
                clock: &self.clock,
                noise: &self.noise,
                placement: &placement,
                pinning: Pinning::Unknown,
                states: None,
            });
        }
        self
    }
}

/// Noise of each of `cpus`, for `duration` each, one after the other, so that none disturbs another. Cores that
/// cannot be looked at are left out, and all that remain once `go_on` says no.
pub fn noise(
    clock: &CycleClock,
    cpus: impl IntoIterator<Item = usize>,
    duration: Duration,
    go_on: impl Fn() -> bool,
) -> Vec<(usize, NoiseReport)> {
    let look = |cpu| on(cpu, || fixed_work_quantum(clock, duration)).ok()?.ok();
    let awaited = cpus.into_iter().take_while(|_| go_on());
    awaited.filter_map(|cpu| Some((cpu, look(cpu)?))).collect()
}

/// What `work` returns on this core, or why the core refuses it. It runs in a thread of its own, so that only that
/// stays pinned.
///
/// # Errors
/// The system refuses a thread.
pub fn on<T: Send>(cpu: usize, work: impl FnOnce() -> T + Send) -> io::Result<Result<T>> {
    scope(|threads| {
        let thread = Builder::new().spawn_scoped(threads, || pin(cpu).map(|()| work()))?;
        thread.join().map_err(|_| io::Error::other("the thread panicked"))
    })
}
