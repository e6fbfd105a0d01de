//! `bandgap floor`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::floors::{FloorPlan, RANKS};
use bandgap_campaign::sizes::Sizes;
use bandgap_campaign::{Setting, Task};
use bandgap_comm::Floor;
use bandgap_launch::{
    Classify, Exit, Result, Target, between_hosts, floors, floors_of, needs_library, usage,
};
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
    /// Only floors of these transports, of which a library may have a way: ucx:posix,ofi:tcp
    #[arg(short, long, value_name = "TRANSPORT", value_delimiter = ',')]
    transport: Vec<Target>,
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
    of_library: OfLibrary,
    #[command(flatten)]
    pub output: Output,
}

/// Measures the named floors, or all but those of a library.
///
/// # Errors
/// A name is unknown, ranks could not be started, or results not be written.
pub fn run(floor: &Floors) -> Result<Exit> {
    let Floors { names, transport, sizes, at, reach, effort, precision, of_library, output } =
        floor.clone();
    let of = |all, meant| chosen(all, &names, meant, reach.is_named());
    let mut parts = match &transport[..] {
        [] => vec![of(floors(), false)?],
        named => named.iter().map(|one| of(floors_of(&one.name()), true)).collect::<Result<_>>()?,
    };
    let lossy = parts.iter_mut().flatten();
    let mut lossy = lossy.filter(|floor| !floor.sizes.is_empty()).peekable();
    refuse("measure", &[(sizes.is_some() && lossy.peek().is_none(), "--sizes", "name udp")])?;
    if let Some(sizes) = sizes {
        let all: Vec<u64> = sizes.all(false).into_iter().map(u64::from).collect();
        lossy.for_each(|floor| floor.sizes = all.clone().into());
    }
    // Between two ranks, by default over all transports of the machine.
    let ranks = Ranks { transport, ranks: Vec::new(), at, reach, of_library };
    let measure = &Measure { ranks, effort, precision, output, adopted: None, native: None };
    let mut parts = parts.into_iter();
    Session::each("floor", measure, USUAL, [("floors", 1.0)], |session| {
        let target = Some(session.target.clone()).filter(|_| !measure.ranks.transport.is_empty());
        let floors = parts.next().unwrap_or_default();
        let plan = FloorPlan { asked: session.asked(), floors, pause: 0.0 };
        let task = Task::of(&plan).class(Exit::Defect)?;
        session.sink.plan(&task);
        let collected = session.collect_with(&task, target.as_ref(), RANKS, &measure.options())?;
        let setting = Setting {
            transport: target.map(|target| target.name()).unwrap_or_default(),
            ..collected.setting(&session.target, RANKS)
        };
        session.assemble(collected, &setting, &plan.asked.unstamped(), |measured| {
            assemble::floors(measured, &plan.floors)
        })?;
        // Not every machine has every floor, but a named one must be there.
        let has = |name: &String| {
            let results = session.sink.run.results.iter().filter_map(|of| of.as_rows());
            results.filter(|of| of.transport == setting.transport).any(|of| of.name == *name)
        };
        if !names.iter().all(has) {
            session.note(Exit::Missing);
        }
        Ok(())
    })
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

/// Of all floors those of these names, or if none is named all but those of a library, which may be `meant`; with several
/// hosts, only floors between hosts. A layer brings the floors below it.
fn chosen(mut all: Vec<Floor>, names: &[String], meant: bool, hosts: bool) -> Result<Vec<Floor>> {
    all.retain(|floor| !hosts || between_hosts(floor));
    let whose = if hosts { " between hosts" } else { "" };
    if all.is_empty() {
        return Err(usage!("measure floors: the transport has none{whose}"));
    }
    if let Some(name) = names.iter().find(|name| all.iter().all(|floor| floor.name != **name)) {
        let known: Vec<&str> = all.iter().map(|floor| &*floor.name).collect();
        return Err(usage!("measure {name}: there is no such floor{whose}")
            .hint(format!("floors are {}", known.join(", "))));
    }
    let is_named = |floor: &Floor| names.iter().any(|name| *name == floor.name);
    let below: Vec<_> =
        all.iter().filter(|of| is_named(of)).flat_map(|of| &*of.over).cloned().collect();
    all.retain(|floor| match names {
        [] => meant || !needs_library(floor),
        _ => is_named(floor) || below.contains(&floor.name),
    });
    Ok(all)
}
