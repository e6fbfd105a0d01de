//! What a run ran on, for its record.

use std::io;
use std::thread::{Builder, scope};
use std::time::Duration;

use bandgap_host::doctor::{Check, Evidence, Pinning, examine};
use bandgap_host::{
    ClockReport, Description, HostError, NoiseReport, WorkRate, noise::fixed_work_quantum, pin,
};
use bandgap_launch::Stage;
use serde::Serialize;

/// Time that noise is looked at on each core after a measurement.
pub const GLANCE: Duration = Duration::from_millis(100);

/// The machine as it is recorded with every run.
#[derive(Debug, Serialize)]
pub struct Host {
    /// Hardware, system and limits.
    pub description: Description,
    /// The clock's calibration, cost and resolution.
    pub clock: ClockReport,
    /// The delay loop's calibration.
    pub work: WorkRate,
    /// Noise of the cores measured on; empty until it was looked at.
    pub noise: Vec<(usize, NoiseReport)>,
    /// Whether it is fit to measure on.
    pub checks: Vec<Check>,
}

impl Host {
    /// Describes the machine, without its noise.
    pub fn of(stage: &Stage) -> Self {
        let description = Description::read(&stage.topology);
        let clock = stage.clock.report();
        let checks = match stage.place(2, None) {
            Ok(placement) => examine(&Evidence {
                description: &description,
                topology: &stage.topology,
                clock: &clock,
                noise: &[],
                placement: &placement,
                pinning: Pinning::Unknown,
                states: None,
            }),
            Err(_) => Vec::new(),
        };
        Self { description, clock, work: stage.work, noise: Vec::new(), checks }
    }
}

/// Noise of each of `cpus`, for `duration` each, one after the other, so that none disturbs another. Cores that
/// cannot be looked at are left out, and all that remain once a signal asks to end.
pub fn noise(
    stage: &Stage,
    cpus: impl IntoIterator<Item = usize>,
    duration: Duration,
) -> Vec<(usize, NoiseReport)> {
    let clock = &stage.clock;
    let look = |cpu| on(cpu, || fixed_work_quantum(clock, duration)).ok()?.ok();
    let awaited = cpus.into_iter().take_while(|_| !stage.signalled());
    awaited.filter_map(|cpu| Some((cpu, look(cpu)?))).collect()
}

/// What `work` returns on this core, or why the core refuses it. It runs in a thread of its own, so that only that
/// stays pinned.
///
/// # Errors
/// The system refuses a thread.
pub fn on<T: Send>(
    cpu: usize,
    work: impl FnOnce() -> T + Send,
) -> io::Result<Result<T, HostError>> {
    scope(|threads| {
        let thread = Builder::new().spawn_scoped(threads, || pin(cpu).map(|()| work()))?;
        thread.join().map_err(|_| io::Error::other("the thread panicked"))
    })
}
