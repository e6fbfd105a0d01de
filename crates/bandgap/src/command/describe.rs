//! What a run ran on, for its record.

use std::time::Duration;

use bandgap_host::{
    ClockReport, Description, NoiseReport, WorkRate, noise::fixed_work_quantum, pin,
};
use bandgap_launch::Stage;
use serde::Serialize;

/// Time that noise is looked at on each core after a measurement.
const GLANCE: Duration = Duration::from_millis(100);

/// The machine as it is recorded with every run.
#[derive(Debug, Serialize)]
pub struct Host {
    /// Hardware, system and limits.
    pub description: Description,
    /// The clock's calibration, cost and resolution.
    pub clock: ClockReport,
    /// The delay loop's calibration.
    pub work: WorkRate,
    /// Noise of the cores measured on.
    pub noise: Vec<(usize, NoiseReport)>,
}

impl Host {
    /// Describes the machine, with a short look at the noise of `cpus`.
    pub fn look(stage: &Stage, cpus: &[usize]) -> Self {
        Self {
            description: Description::read(&stage.topology),
            clock: stage.clock.report(),
            work: stage.work,
            noise: noise(stage, cpus, GLANCE),
        }
    }
}

/// Noise of each of `cpus`, for `duration` each, one after the other.
pub fn noise(stage: &Stage, cpus: &[usize], duration: Duration) -> Vec<(usize, NoiseReport)> {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    let clock = stage.clock;
    cpus.into_iter()
        .filter_map(|cpu| {
            // In a thread of its own, so that only it stays pinned.
            let look = std::thread::spawn(move || {
                pin(cpu).ok().map(|()| fixed_work_quantum(&clock, duration))
            });
            look.join().ok().flatten().map(|report| (cpu, report))
        })
        .collect()
}
