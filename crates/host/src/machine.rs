//! The machine that a run used, for its record.

use std::io;
use std::thread::{Builder, scope};
use std::time::Duration;

use bandgap_units::Library;
use serde::{Deserialize, Serialize};

use crate::doctor::{Check, Evidence, Pinning, PlacementState, examine};
use crate::noise::fixed_work_quantum;
use crate::{
    ClockReport, CycleClock, Description, NoiseReport, Placement, Result, Topology, WorkRate, pin,
    place,
};

/// Time for which noise is measured on each core after a measurement.
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
    /// Noise of the cores that were used; empty until it is measured.
    pub noise: Vec<(usize, NoiseReport)>,
    /// Checks of whether it is fit to measure on.
    pub checks: Vec<Check>,
    /// Installed MPIs, if they were searched for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mpi: Vec<Mpi>,
    /// Installed libraries of fabrics, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fabrics: Vec<Library>,
}

/// An installed MPI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mpi {
    /// Name and version.
    pub name: String,
    /// The library.
    pub library: String,
    /// Family of binary interfaces that it belongs to.
    pub abi: String,
    /// Program that starts its ranks.
    pub launcher: Option<String>,
    /// Whether bandgap would use it.
    pub used: bool,
    /// Files of the libraries of fabrics that it is linked with or loads.
    pub fabrics: Vec<String>,
}

impl Machine {
    /// Describes the machine for `ranks` ranks, without noise.
    pub fn of(topology: &Topology, clock: &CycleClock, work: WorkRate, ranks: usize) -> Self {
        let (description, clock) = (Description::read(topology), clock.report());
        let (noise, checks, mpi, fabrics) = Default::default();
        Self { description, clock, work, noise, checks, mpi, fabrics }.unseated(topology, ranks)
    }

    /// Checks it for so many ranks, wherever they are.
    pub fn unseated(self, topology: &Topology, ranks: usize) -> Self {
        match place(topology, ranks, None) {
            Ok(placement) => self.checked(topology, &placement, Pinning::Unknown, None),
            Err(_) => self,
        }
    }

    /// Checks it, with what was found out about the cores of these ranks.
    pub fn checked(
        mut self,
        topology: &Topology,
        placement: &Placement,
        pinning: Pinning,
        states: Option<&[PlacementState]>,
    ) -> Self {
        let (description, clock, noise) = (&self.description, &self.clock, &self.noise[..]);
        let evidence = Evidence { description, topology, clock, noise, placement, pinning, states };
        self.checks = examine(&evidence);
        self
    }
}

/// Whether ranks can be pinned to these cores.
pub fn pinning(cpus: &[usize]) -> Pinning {
    for &cpu in cpus {
        match on(cpu, || ()) {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => return Pinning::Refused(reason.to_string()),
            Err(_) => return Pinning::Unknown,
        }
    }
    Pinning::Held
}

/// Noise of each of `cpus`, for `duration` each, one after the other, so that none disturbs
/// another. Cores that cannot be measured are left out, and so are all that remain when `go_on`
/// returns false.
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

/// Runs `work` on this core, or returns why the core refuses it. It runs in its own thread, so that
/// only that thread is pinned.
///
/// # Errors
/// The system refuses to start a thread.
pub fn on<T: Send>(cpu: usize, work: impl FnOnce() -> T + Send) -> io::Result<Result<T>> {
    scope(|threads| {
        let thread = Builder::new().spawn_scoped(threads, || pin(cpu).map(|()| work()))?;
        thread.join().map_err(|_| io::Error::other("the thread panicked"))
    })
}
