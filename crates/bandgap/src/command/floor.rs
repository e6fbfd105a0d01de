//! `bandgap floor`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::floors::{FloorPlan, RANKS};
use bandgap_campaign::sizes::Sizes;
use bandgap_campaign::{Setting, Task};
use bandgap_comm::Floor;
use bandgap_launch::{Classify, Exit, Result, Wait, between_hosts, floors, needs_library, usage};
use clap::Args;

use crate::args::{Effort, Measure, OfLibrary, Output, Precision, Ranks, Reach, Seats};
use crate::refused::refuse;
use crate::session::Session;

/// Time for the command.
const USUAL: Duration = Duration::from_secs(30);

/// The floors to measure, and how precisely.
#[derive(Clone, Debug, Args)]
pub struct Floors {
    /// Floors to measure; none named = all but those of a library
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Lengths of the messages of udp, from 8 to 65507 [default: 8,64,1KiB,8KiB,65507]
    #[arg(long, value_name = "SIZES", value_parser = sizes)]
    sizes: Option<Sizes>,
    #[command(flatten)]
    at: Seats,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    precision: Precision,
    #[command(flatten)]
    pub output: Output,
}

/// Measures the named floors, or all but those of a library.
///
/// # Errors
/// A name is unknown, ranks could not be started, or results not be written.
pub fn run(floor: &Floors) -> Result<Exit> {
    let Floors { names, sizes, at, reach, effort, precision, output } = floor;
    let mut floors = chosen(names, reach.is_named())?;
    let mut lossy = floors.iter_mut().filter(|floor| !floor.sizes.is_empty()).peekable();
    refuse("measure", &[(sizes.is_some() && lossy.peek().is_none(), "--sizes", "name udp")])?;
    if let Some(sizes) = sizes {
        let all: Vec<u64> = sizes.all(false).into_iter().map(u64::from).collect();
        lossy.for_each(|floor| floor.sizes = all.clone().into());
    }
    // Between two ranks, over all transports of the machine.
    let (transport, ranks, at, reach) = (Vec::new(), Vec::new(), at.clone(), reach.clone());
    let ranks = Ranks { transport, ranks, at, reach, of_library: OfLibrary::default() };
    let (effort, precision, output) = (*effort, precision.clone(), output.clone());
    let measure = &Measure { ranks, effort, precision, output, adopted: None, native: None };
    let mut session = Session::open("floor", measure, USUAL, [("floors", 1.0)])?;
    let plan = FloorPlan { asked: session.asked(), floors, pause: 0.0 };
    let task = Task::of(&plan).class(Exit::Defect)?;
    session.sink.plan(&task);
    let collected = session.collect_with(&task, None, RANKS, &measure.options())?;
    let setting = Setting {
        experiment: task.name.clone(),
        wait: collected.wait.map(Wait::name),
        ranks: RANKS,
        launches: collected.launches,
        cpus: collected.placement.as_ref().map(|placement| placement.cpus.clone()),
        hosts: collected.hosts.clone(),
        ..Setting::default()
    };
    session.assemble(collected, &setting, &plan.asked.unstamped(), |measured| {
        assemble::floors(measured, &plan.floors)
    })?;
    // Not every machine has every floor, but a named one must be there.
    let has = |name: &String| {
        let ids = session.sink.run.results.iter().flat_map(|of| of.as_shown().quantities());
        ids.into_iter().any(|(id, ..)| id.split('/').nth(1) == Some(name))
    };
    if !names.iter().all(has) {
        session.note(Exit::Missing);
    }
    session.close()
}

/// Sizes of datagrams.
fn sizes(text: &str) -> Result<Sizes, String> {
    let sizes: Sizes = text.parse()?;
    let (least, most) = sizes.ends();
    match least >= 8 && most <= 65_507 {
        true => Ok(sizes),
        false => Err("datagrams have from 8 to 65507 bytes".to_owned()),
    }
}

/// The named floors, or all but those of a library; with several hosts, only floors between hosts. A layer brings the floors below it.
fn chosen(names: &[String], hosts: bool) -> Result<Vec<Floor>> {
    let mut all = floors();
    all.retain(|floor| !hosts || between_hosts(floor));
    let find = |name: &str| all.iter().position(|floor| floor.name == name);
    let usual = |floor: &Floor| names.is_empty() && !needs_library(floor);
    let mut chosen: Vec<bool> = all.iter().map(usual).collect();
    for name in names {
        let at = find(name).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|floor| &*floor.name).collect();
            let whose = if hosts { " between hosts" } else { "" };
            usage!("measure {name}: there is no such floor{whose}")
                .hint(format!("floors are {}", known.join(", ")))
        })?;
        chosen[at] = true;
        let below = all[at].over.iter().filter_map(|over| find(over));
        below.for_each(|below| chosen[below] = true);
    }
    let named = all.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(named.map(|(floor, _)| floor).collect())
}
