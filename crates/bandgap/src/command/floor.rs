//! `bandgap floor`.

use super::describe::Host;
use super::signature::worse;
use crate::args::{Measure, Output};
use crate::output::Sink;
use crate::progress::Progress;
use bandgap_campaign::Task;
use bandgap_campaign::floors::{FLOORS, FloorPlan};
use bandgap_launch::Exit;
use bandgap_launch::{self as launch, Stage};
use bandgap_launch::{Classify, Failure};
use bandgap_launch::{Ended, Transport};
use bandgap_results::assemble;

/// Measures the floors named, or all.
///
/// # Errors
/// A name is none, ranks could not be started, or results not be written.
pub fn run(names: &[String], measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let floors = chosen(names)?;
    if measure.ranks.is_some_and(|ranks| ranks != 2) {
        return Err(Failure::new(Exit::Usage, "measure floors with other than 2 ranks"));
    }
    if let Some(target) = &measure.transport {
        let what =
            format!("measure floors over {target}: they are those of the machine, all at once");
        return Err(Failure::new(Exit::Usage, what).hint("leave out --transport"));
    }
    let mut sink = Sink::open(output, "floor", measure)?;
    let stage = Stage::new()?;
    let plan = FloorPlan {
        floors,
        precision: measure.precision.0,
        confidence: measure.confidence.0,
        budget: measure.budget().as_secs_f64(),
        pause: 0.0,
        seed: measure.seed,
    };
    let task = Task::Floors(plan.clone());
    sink.plan(&task);
    let collected = {
        let progress = Progress::new("floor", output.quiet);
        let mut show = |done: f64, doing: &str| progress.show(done, doing);
        launch::on_processes(&stage, Transport::Shm, 2, &task, &measure.options(), &mut show)?
    };
    if let Some(placement) = &collected.placement {
        sink.host(&Host::look(&stage, &placement.cpus));
    }
    let mut exit = Exit::Fine;
    let measured = assemble::floors(&collected.table, &plan).class(Exit::Defect)?;
    for warning in &measured.unavailable {
        sink.warn(warning);
    }
    exit = worse(exit, sink.add_all(measured.results)?);
    match &collected.ended {
        Ended::Done => {}
        Ended::Interrupted => {
            sink.interrupted();
            exit = Exit::Interrupted;
        }
        Ended::Failed(failure) => {
            sink.failed(&format!("rank {}: {}", failure.rank, failure.what));
            exit = failure.exit;
        }
    }
    sink.close(exit)
}

/// Indices of the floors named; of all when none is. A layer brings those it stands on.
fn chosen(names: &[String]) -> Result<Vec<usize>, Failure> {
    if names.is_empty() {
        return Ok((0..FLOORS.len()).collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let at = FLOORS.iter().position(|floor| floor.name == name).ok_or_else(|| {
            let all: Vec<&str> = FLOORS.iter().map(|floor| floor.name).collect();
            Failure::new(Exit::Usage, format!("measure {name}: there is no floor of this name"))
                .hint(format!("there are {}", all.join(", ")))
        })?;
        chosen.push(at);
        let below = |over: &&str| FLOORS.iter().position(|floor| floor.name == *over);
        chosen.extend(FLOORS[at].over.iter().filter_map(below));
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}
