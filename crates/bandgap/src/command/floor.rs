//! `bandgap floor`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::floors::{FloorPlan, RANKS};
use bandgap_campaign::{Setting, Task};
use bandgap_comm::Floor;
use bandgap_launch::{Classify, Exit, Result, floors, usage};
use clap::Args;

use crate::args::{Effort, Measure, OfLibrary, Output, Precision, Ranks, Reach, Seats};
use crate::session::Session;

/// Time for the command.
const USUAL: Duration = Duration::from_secs(30);

/// Which floors, and how well.
#[derive(Clone, Debug, Args)]
pub struct Floors {
    /// Floors to measure; none named = all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    at: Seats,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    precision: Precision,
    #[command(flatten)]
    output: Output,
}

/// Measures the floors named, or all.
///
/// # Errors
/// A name is none, ranks could not be started, or results not be written.
pub fn run(floor: &Floors) -> Result<Exit> {
    let Floors { names, at, effort, precision, output } = floor;
    let floors = chosen(names)?;
    // Between two ranks of this machine, over all that it has.
    let (transport, ranks, at) = (Vec::new(), Vec::new(), at.clone());
    let ranks =
        Ranks { transport, ranks, at, reach: Reach::default(), of_library: OfLibrary::default() };
    let (effort, precision, output) = (*effort, *precision, output.clone());
    let measure = &Measure { ranks, effort, precision, output, adopted: None, native: None };
    let mut session = Session::open("floor", measure, USUAL, [("floors", 1.0)])?;
    let plan = FloorPlan { asked: session.asked(), floors, pause: 0.0 };
    let task = Task::of(&plan).class(Exit::Defect)?;
    session.sink.plan(&task);
    let collected = session.collect_with(&task, None, RANKS, &measure.options())?;
    let setting = Setting {
        ranks: RANKS,
        launches: collected.launches,
        cpus: collected.placement.as_ref().map(|placement| placement.cpus.clone()),
        ..Setting::default()
    };
    session.assemble(collected, &setting, &plan.asked.unstamped(), |measured| {
        assemble::floors(measured, &plan.floors)
    })?;
    // Not every machine has all of them; who names one wants it.
    let has = |name: &String| {
        let ids = session.sink.run.results.iter().flat_map(|of| of.as_shown().quantities());
        ids.into_iter().any(|(id, ..)| id.split('/').nth(1) == Some(name))
    };
    if !names.iter().all(has) {
        session.note(Exit::Missing);
    }
    session.close()
}

/// The floors named; all when none is. A layer brings those it stands on.
fn chosen(names: &[String]) -> Result<Vec<Floor>> {
    let all = floors();
    let find = |name: &str| all.iter().position(|floor| floor.name == name);
    let mut chosen = vec![names.is_empty(); all.len()];
    for name in names {
        let at = find(name).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|floor| &*floor.name).collect();
            usage!("measure {name}: there is no such floor")
                .hint(format!("floors are {}", known.join(", ")))
        })?;
        chosen[at] = true;
        let below = all[at].over.iter().filter_map(|over| find(over));
        below.for_each(|below| chosen[below] = true);
    }
    let named = all.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(named.map(|(floor, _)| floor).collect())
}
