//! `bandgap doctor`.

use std::time::Duration;

use bandgap_campaign::Task;
use bandgap_campaign::floors::FloorPlan;
use bandgap_campaign::plan::Asked;
use bandgap_host::doctor::PlacementState;
use bandgap_host::machine::{Machine, pinning};
use bandgap_launch::{Classify, Collected, Exit, Result, Transport, placed, seat, survey};
use bandgap_results::doctor;
use bandgap_stats::State;
use bandgap_units::Fraction;
use clap::Args;

use crate::args::{Effort, Measure, OfLibrary, Output, Precision, Ranks, Reach, Seats};
use crate::session::Session;

/// Time for the noise of each core.
const LOOK: Duration = Duration::from_millis(500);
/// Time for watching placement states, in seconds.
const WATCH: f64 = 2.0;

/// The ranks, the hosts, and the output.
#[derive(Clone, Debug, Args)]
pub struct Doctor {
    /// Number of ranks [default: 2]
    #[arg(short = 'n', long, value_name = "N")]
    ranks: Option<usize>,
    #[command(flatten)]
    at: Seats,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    output: Output,
}

/// Examines the machine and grades it.
///
/// # Errors
/// The machine does not show its processors, or the record cannot be written.
pub fn run(of: &Doctor) -> Result<Exit> {
    let Doctor { ranks, at, reach, output } = of.clone();
    let (transport, ranks) = (Vec::new(), ranks.into_iter().collect());
    let ranks = Ranks { transport, ranks, at, reach, of_library: OfLibrary::default() };
    let effort = Effort { time_budget: None, launches: Some(1), check: false };
    let (precision, confidence) = (Fraction(0.05), Fraction(0.95));
    let precision = Precision { precision, confidence, seed: 1, limits: Default::default() };
    let output = output.only_asked();
    let measure = &Measure { ranks, effort, precision, output, adopted: None, native: None };
    let mut session = Session::open("doctor", measure, Duration::from_secs(4), [("doctor", 1.0)])?;
    // What it grades cannot be looked at later.
    session.sink.journal = None;
    let cores = measure.ranks.at.cores.as_deref();
    if let Some(hosts) = measure.ranks.reach.hosts()? {
        let ranks = measure.most(hosts.slots()).max(hosts.count());
        seat(&session.stage, ranks, cores)?;
        session.stage.look(LOOK);
        session.sink.hosts(&session.stage.agents());
        return close(session);
    }
    let ranks = measure.one_size(2)?;
    let placement = placed(&session.stage.topology, ranks, cores)?;
    let host = session.stage.examine(&placement, LOOK);
    let states = if placement.oversubscribed { None } else { states(&mut session)? };
    let topology = &session.stage.topology;
    let host = host.checked(topology, &placement, pinning(&placement.cpus), states.as_deref());
    let mpi = survey::mpis();
    session.describe(Machine { fabrics: survey::fabrics(&mpi), mpi, ..host });
    close(session)
}

/// Prints the grades. A bad machine is a negative verdict.
fn close(mut session: Session<'_>) -> Result<Exit> {
    let (blocks, bad) = doctor(&session.sink.run);
    session.sink.say(blocks);
    session.note(if bad { Exit::Doubtful } else { Exit::Fine });
    session.close()
}

/// The placement states seen within [`WATCH`], with their shares.
fn states(session: &mut Session<'_>) -> Result<Option<Vec<PlacementState>>> {
    let usual = Transport::usual().beside(&["signature"]);
    let plan = FloorPlan {
        asked: Asked { precision: 0.0, budget: WATCH, check: false, ..session.asked() },
        floors: usual.into_iter().map(|beside| beside.floor).collect(),
        pause: WATCH / 60.0,
    };
    let task = Task::of(&plan).class(Exit::Defect)?;
    // A failure here must not lose the measured noise.
    let collected = session
        .collect_with(&task, None, 2, &session.measure.options())
        .unwrap_or_else(Collected::nothing);
    session.end(&collected.ended);
    let judged = plan.asked.unstamped().judge(&collected.table);
    let states = judged.states.lines.states();
    let all: usize = states.iter().map(|state| state.probes).sum();
    let share = |state: &State| (state.centre, state.probes as f64 / all as f64);
    Ok((!states.is_empty()).then(|| states.iter().map(share).collect()))
}
