//! `bandgap doctor`.

use std::collections::BTreeSet;
use std::time::Duration;

use bandgap_campaign::Task;
use bandgap_campaign::floors::FloorPlan;
use bandgap_campaign::plan::Asked;
use bandgap_host::doctor::{Check, Evidence, Grade, Pinning, PlacementState, examine};
use bandgap_host::machine::{Machine, Mpi, on};
use bandgap_launch::{Agent, Classify, Collected, Exit, Failure, Options, Transport, mpis};
use bandgap_report::{Block, Cell, Head, Table};
use bandgap_stats::State;

use crate::args::Measure;
use crate::session::{Session, counted, one_size};

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
        let (blocks, bad) = of_hosts(&session.stage.agents());
        session.sink.say(blocks);
        session.sink.hosts(&session.stage.agents());
        if bad {
            session.note(Exit::Doubtful);
        }
        return session.close();
    }
    let ranks = one_size(measure, 2)?;
    let placement = session.stage.place(ranks, measure.ranks.cores.as_deref())?;
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
    session.sink.say(blocks(&checks));
    session.sink.say(libraries(&mpi));
    if checks.iter().any(|check| check.grade >= Grade::Bad) {
        session.note(Exit::Doubtful);
    }
    session.describe(Machine { noise, checks, mpi, ..host });
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

/// What is not good on each host, and whether something is bad.
fn of_hosts(agents: &[Agent]) -> (Vec<Block>, bool) {
    let mut table = Table::new(["host", "check", "", "found"].map(Head::new));
    let (mut doubtful, mut bad) = (0, 0);
    for agent in agents {
        let checks = agent.hello.machine["checks"].as_array().into_iter().flatten();
        for check in checks.filter(|check| check["grade"] != "good") {
            let of = |name: &str| Cell::from(check[name].as_str().unwrap_or_default().to_owned());
            table.push([agent.host.clone().into(), of("name"), of("grade"), of("found")]);
            doubtful += usize::from(check["grade"] == "warning");
            bad += usize::from(check["grade"] == "bad");
        }
    }
    let verdict = match (bad, doubtful) {
        (0, 0) => format!("fit to measure on: {}", counted(agents.len(), "host")),
        (0, warnings) => format!("usable: {}", counted(warnings, "warning")),
        (bad, _) => format!("not fit to measure on: {} bad", counted(bad, "check")),
    };
    (vec![Block::Table(table), Block::Text(verdict)], bad > 0)
}

/// A table of checks, what to do about those that are not good, and whether the machine is fit.
fn blocks(checks: &[Check]) -> Vec<Block> {
    let mut table = Table::new(["check", "", "found"].map(Head::new));
    for check in checks {
        let grade = match check.grade {
            Grade::Good => "good",
            Grade::Note => "note",
            Grade::Warning => "warning",
            Grade::Bad => "bad",
        };
        table.push([Cell::from(check.name.clone()), grade.into(), check.found.clone().into()]);
    }
    let mut blocks = vec![Block::Table(table)];
    let advised = checks.iter().filter(|check| check.grade >= Grade::Warning);
    for check in advised {
        let advice = check.advice.as_deref().map_or(String::new(), |of| format!(": {of}"));
        blocks.push(Block::Doubt(format!("{}: {}{advice}", check.name, check.matters)));
    }
    let count = |grade| checks.iter().filter(|check| check.grade == grade).count();
    blocks.push(Block::Text(match (count(Grade::Bad), count(Grade::Warning)) {
        (0, 0) => "fit to measure on".to_owned(),
        (0, warnings) => format!("usable: {warnings} of {} checks warn", checks.len()),
        (bad, _) => format!("not fit to measure on: {bad} of {} checks are bad", checks.len()),
    }));
    blocks
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
