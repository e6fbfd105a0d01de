//! `bandgap doctor`.

mod checks;

use std::collections::BTreeSet;
use std::time::Duration;

use bandgap_campaign::Task;
use bandgap_campaign::floors::FloorPlan;
use bandgap_campaign::plan::Asked;
use bandgap_host::doctor::{Evidence, Grade, Pinning, PlacementState, examine};
use bandgap_host::{Description, NoiseReport};
use bandgap_launch::{Classify, Collected, Exit, Failure, Options, Transport, collect};
use bandgap_record::Number;
use bandgap_results::noise::{CoreNoise, Noise};
use bandgap_stats::State;

use super::describe::{noise, on};
use super::measure::{Session, one_size};
use crate::args::{Measure, Output};
use crate::progress::Progress;

/// Time that the noise of each core is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Time for watching placement states, in seconds.
const WATCH: f64 = 2.0;

/// Examines the machine and grades it.
///
/// # Errors
/// The machine does not show its processors, or the record cannot be written.
pub fn run(measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let output = output.only_asked();
    let mut session = Session::open("doctor", measure, &output)?;
    let stage = &session.stage;
    let ranks = one_size(measure, 2)?;
    let placement = stage.place(ranks, measure.cores.as_deref())?;
    let description = Description::read(&stage.topology);
    let progress = Progress::new("doctor", output.quiet);
    progress.show(0.1, "noise");
    let cpus: BTreeSet<usize> = placement.cpus.iter().copied().collect();
    let noise = noise(stage, cpus, LOOK);
    progress.show(0.4, "placement states");
    let states =
        if placement.oversubscribed { None } else { states(&mut session, measure, &progress)? };
    drop(progress);
    let stage = &session.stage;
    let checks = examine(&Evidence {
        description: &description,
        topology: &stage.topology,
        clock: &stage.clock.report(),
        noise: &noise,
        placement: &placement,
        pinning: pinning(&placement.cpus),
        states: states.as_deref(),
    });
    let host = serde_json::json!({
        "description": description, "clock": stage.clock.report(), "noise": noise, "checks": checks,
    });
    session.sink.host(&host);
    let table = checks::table(&checks, &session.sink.layout);
    session.add_below(&table, vec![recorded(&noise).into()])?;
    let bad = checks.iter().any(|check| check.grade >= Grade::Bad);
    session.close_with(if bad { Exit::Doubtful } else { Exit::Fine })
}

/// The noise of each core as it is recorded.
fn recorded(noise: &[(usize, NoiseReport)]) -> Noise {
    let core = |(core, report): &(usize, NoiseReport)| CoreNoise {
        core: *core as u32,
        quantum: report.quantum.into(),
        samples: report.samples as u64,
        median: report.median.into(),
        mean: report.mean.into(),
        p99: report.p99.into(),
        p999: report.p99_9.into(),
        max: report.max.into(),
        threshold: report.threshold.into(),
        detours_per_second: Number(report.detours_per_second),
        time_lost: Number(report.time_lost),
    };
    Noise { cores: noise.iter().map(core).collect() }
}

/// Whether ranks can be pinned to their processors.
fn pinning(cpus: &[usize]) -> Pinning {
    for &cpu in cpus {
        match on(cpu, || ()) {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => return Pinning::Refused(reason.to_string()),
            Err(_) => return Pinning::Unknown,
        }
    }
    Pinning::Held
}

/// The placement states seen within two seconds, with their shares.
fn states(
    session: &mut Session<'_>,
    measure: &Measure,
    progress: &Progress,
) -> Result<Option<Vec<PlacementState>>, Failure> {
    let usual = Transport::usual().beside(&["signature"]);
    let plan = FloorPlan {
        asked: Asked { precision: 0.0, budget: WATCH, check: false, ..session.asked() },
        floors: usual.into_iter().map(|beside| beside.floor).collect(),
        pause: WATCH / 60.0,
    };
    let once = Options { launches: 1, ..measure.options() };
    let mut show = |done: f64, doing: &str| progress.show(done, doing);
    let task = Task::of(&plan).class(Exit::Defect)?;
    // The noise is measured by now, and is not lost for it.
    let collected = collect(&session.stage, None, 2, &task, &once, &mut show)
        .unwrap_or_else(Collected::nothing);
    session.end(&collected, 2);
    let judged = plan.judge(&collected.table);
    let states = judged.states().lines.states();
    let all: usize = states.iter().map(|state| state.probes).sum();
    let share = |state: &State| (state.centre, state.probes as f64 / all as f64);
    Ok((!states.is_empty()).then(|| states.iter().map(share).collect()))
}
