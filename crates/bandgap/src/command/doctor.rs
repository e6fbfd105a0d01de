//! `bandgap doctor`.

use std::collections::BTreeSet;
use std::time::Duration;

use bandgap_campaign::Task;
use bandgap_campaign::floors::FloorPlan;
use bandgap_campaign::plan::Asked;
use bandgap_host::doctor::{Evidence, Pinning, PlacementState, examine};
use bandgap_host::machine::{Machine, Mpi, on};
use bandgap_launch::{Classify, Collected, Exit, Failure, Options, Transport, mpis};
use bandgap_report::{Block, Cell, Head, Table};
use bandgap_results::fitness;
use bandgap_stats::State;
use serde_json::Value;

use crate::args::Measure;
use crate::session::{Session, one_size};

/// Time that the noise of each core is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Time for watching placement states, in seconds.
const WATCH: f64 = 2.0;

/// Examines the machine and grades it.
///
/// # Errors
/// The machine does not show its processors, or the record cannot be written.
pub fn run(measure: &Measure) -> Result<Exit, Failure> {
    let measure = &Measure { output: measure.output.only_asked(), ..measure.clone() };
    let stages = vec![("doctor".to_owned(), 1.0)];
    let mut session = Session::open("doctor", measure, Duration::from_secs(4), stages)?;
    if measure.has_hosts() {
        session.stage.look(LOOK);
        let (blocks, bad) = {
            let agents = session.stage.agents();
            session.sink.hosts(&agents);
            let of = agents.iter().map(|agent| (&*agent.host, &agent.hello.machine));
            graded(&of.collect::<Vec<_>>())
        };
        return close(session, blocks, bad);
    }
    let ranks = one_size(measure, 2)?;
    let placement = session.stage.place(ranks, measure.ranks.at.cores.as_deref())?;
    let cpus: BTreeSet<usize> = placement.cpus.iter().copied().collect();
    let noise = session.stage.noise(cpus, LOOK);
    let states = if placement.oversubscribed { None } else { states(&mut session)? };
    let host = session.stage.machine(2);
    let checks = examine(&Evidence {
        description: &host.description,
        topology: &session.stage.topology,
        clock: &host.clock,
        noise: &noise,
        placement: &placement,
        pinning: pinning(&placement.cpus),
        states: states.as_deref(),
    });
    let mpi = mpis();
    let libraries = libraries(&mpi);
    session.describe(Machine { noise, checks, mpi, ..host });
    let (mut blocks, bad) = graded(&[("", &session.sink.run.host)]);
    blocks.extend(libraries);
    close(session, blocks, bad)
}

/// Says it; a bad machine is a verdict.
fn close(mut session: Session<'_>, blocks: Vec<Block>, bad: bool) -> Result<Exit, Failure> {
    session.sink.say(blocks);
    session.note(if bad { Exit::Doubtful } else { Exit::Fine });
    session.close()
}

/// The MPIs that are installed.
fn libraries(mpi: &[Mpi]) -> Vec<Block> {
    if mpi.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(["MPI", "", "library", "started by"].map(Head::new));
    for of in mpi {
        let used = if of.used { "-t mpi" } else { "" };
        let launcher = of.launcher.clone().unwrap_or_default();
        table
            .push([of.name.clone(), used.to_owned(), of.library.clone(), launcher].map(Cell::from));
    }
    vec![Block::Gap, Block::Table(table)]
}

/// What was found, of several hosts what is not good; what to do about it, and whether it is fit; and whether something
/// is bad.
fn graded(hosts: &[(&str, &Value)]) -> (Vec<Block>, bool) {
    let mut table = Table::new(["host", "check", "", "found"].map(Head::new));
    let (mut doubts, mut bad) = (Vec::new(), false);
    for (host, machine) in hosts {
        let host = (hosts.len() > 1).then_some(*host);
        for check in machine["checks"].as_array().into_iter().flatten() {
            let of = |name: &str| check[name].as_str().unwrap_or_default();
            if host.is_none() || of("grade") != "good" {
                let cells = ["name", "grade", "found"].map(|name| of(name).into());
                table.push([host.into()].into_iter().chain(cells));
            }
            let advice = check["advice"].as_str().map_or(String::new(), |of| format!(": {of}"));
            let doubt = Block::Doubt(format!("{}: {}{advice}", of("name"), of("matters")));
            if ["warning", "bad"].contains(&of("grade")) && !doubts.contains(&doubt) {
                doubts.push(doubt);
            }
            bad |= of("grade") == "bad";
        }
    }
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(doubts);
    blocks.extend(fitness(hosts.iter().map(|(_, machine)| *machine)).map(Block::Text));
    (blocks, bad)
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
fn states(session: &mut Session<'_>) -> Result<Option<Vec<PlacementState>>, Failure> {
    let usual = Transport::usual().beside(&["signature"]);
    let plan = FloorPlan {
        asked: Asked { precision: 0.0, budget: WATCH, check: false, ..session.asked() },
        floors: usual.into_iter().map(|beside| beside.floor).collect(),
        pause: WATCH / 60.0,
    };
    let once = Options { launches: 1, ..session.measure.options() };
    let task = Task::of(&plan).class(Exit::Defect)?;
    // The noise is measured by now, and is not lost for it.
    let collected = session.collect_with(&task, None, 2, &once).unwrap_or_else(Collected::nothing);
    session.end(&collected.ended);
    let judged = plan.asked.unstamped().judge(&collected.table);
    let states = judged.states.lines.states();
    let all: usize = states.iter().map(|state| state.probes).sum();
    let share = |state: &State| (state.centre, state.probes as f64 / all as f64);
    Ok((!states.is_empty()).then(|| states.iter().map(share).collect()))
}
