//! `bandgap breakdown`: where the time of a message goes.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use bandgap_campaign::breakdown::{BreakdownPlan, Division};
use bandgap_campaign::floors::RANKS;
use bandgap_comm::Divided;
use bandgap_launch::{Classify, Exit, Failure, Target, Wait, floors};
use bandgap_results::assemble;
use bandgap_results::breakdown::assemble::breakdown;
use bandgap_stats::Rule;
use bandgap_units::Ns;
use clap::Args;

use super::components::{Loaded, Source, load};
use super::measure::{Session, one_size};
use super::pcie_trace::{self, PcieTrace};
use crate::args::{Measure, Output};
use crate::output::Sink;

/// Lengths of computations that can be inserted, in nanoseconds.
const INSERTED: RangeInclusive<f64> = 20.0..=1e5;
/// The usual one.
const USUAL: f64 = 200.0;

/// What is divided.
#[derive(Debug, Args)]
pub struct Breakdown {
    /// Components that are known: thunderx2-connectx4 (the paper's), a table in CSV (`-` reads standard input), or a run
    /// with a breakdown or a LogP signature. Without it, those of --transport are measured
    #[arg(long, value_name = "PRESET|TABLE|RUN")]
    pub from: Option<PathBuf>,
    /// Of a run with several signatures, the first whose name holds this: a transport (tcp) or a size (16KiB)
    /// [default: the first of small messages, else of the longest transfer]
    #[arg(long, value_name = "WORDS", requires = "from")]
    pub signature: Option<String>,
    /// Over sockets: computations of known length that are inserted at each border, to see whether they come back; one or
    /// several, as 50ns,1us [default: 200ns]
    #[arg(
        long,
        value_name = "TIME",
        value_delimiter = ',',
        conflicts_with_all = ["from", "pcie_trace"]
    )]
    pub insert: Vec<Ns>,
    #[command(flatten)]
    pub trace: PcieTrace,
}

/// Prints models, percentages and bars.
///
/// # Errors
/// The table cannot be read or is wrong; ranks could not be started; or the result cannot be written.
pub(super) fn run(of: &Breakdown, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let source = of.from.clone().map(|from| Source { from, signature: of.signature.clone() });
    match (&of.trace.pcie_trace, &source) {
        (Some(file), from) => pcie_trace::run(&of.trace, file, from.as_ref(), measure, output),
        (None, Some(source)) => divided(source, measure, output),
        (None, None) => measured(&of.insert, measure, output),
    }
}

/// Of components that are known, or as a run has it: what was measured was compared round by round, which its components do
/// not tell. Keeps files only where `--out` says so.
fn divided(source: &Source, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let Loaded { table, breakdown: recorded, warnings } = load(source)?;
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let result = match recorded.filter(|recorded| recorded.measured.is_some()) {
        Some(recorded) => *recorded,
        None => breakdown(&table, rule, measure.confidence.0).class(Exit::Defect)?,
    };
    let mut sink = Sink::open(&output.only_asked(), "breakdown", measure)?;
    warnings.iter().for_each(|warning| sink.warn_once(warning));
    let exit = sink.add(vec![result.into()])?;
    sink.close(output.judged(exit))
}

/// Of a transport of this machine.
fn measured(inserted: &[Ns], measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    if let Some(time) = inserted.iter().find(|time| !INSERTED.contains(&time.0)) {
        let [least, most] = [INSERTED.start(), INSERTED.end()].map(|end| Ns(*end));
        let what = format!("insert {time}: from {least} to {most} is possible");
        return Err(Failure::new(Exit::Usage, what));
    }
    let ranks = one_size(measure, RANKS)?;
    if ranks != RANKS {
        return Err(Failure::new(Exit::Usage, "break down a message: it is between 2 ranks"));
    }
    if measure.wait == Wait::Block {
        let what = "break down a message while ranks sleep: what they wait for is then the system's wake-up";
        return Err(Failure::new(Exit::Usage, what).hint("leave out --wait block"));
    }
    let mut session = Session::open("breakdown", measure, output)?;
    let divided = divided_by(&session.target)?;
    if matches!(divided, Division::Lines(_)) && !inserted.is_empty() {
        let what = format!(
            "insert a computation over {}: its time is divided without stamps",
            session.target
        );
        return Err(
            Failure::new(Exit::Usage, what).hint("leave out --insert, or name a socket transport")
        );
    }
    let plan =
        BreakdownPlan { asked: session.asked(), inserted: lengths(&divided, inserted), divided };
    session.measure(&plan, ranks, |setting, table| assemble::breakdown(setting, &plan, table))?;
    session.close()
}

/// The lengths of what is inserted, each once.
fn lengths(divided: &Division, inserted: &[Ns]) -> Vec<f64> {
    let mut lengths: Vec<f64> = match (divided, inserted) {
        (Division::Lines(_), _) => Vec::new(),
        (Division::Calls, []) => vec![USUAL],
        (Division::Calls, some) => some.iter().map(|time| time.0).collect(),
    };
    lengths.sort_by(f64::total_cmp);
    lengths.dedup();
    lengths
}

/// How the time of a message over the target can be divided.
fn divided_by(target: &Target) -> Result<Division, Failure> {
    let transport = match target {
        Target::Real(transport) => transport,
        Target::Simulated(_) => {
            let what = format!("break down {target}: in virtual time there is no software to time");
            let hint = "name a transport of this machine, or a table with --from";
            return Err(Failure::new(Exit::Usage, what).hint(hint));
        }
    };
    match transport.divided {
        Divided::Calls => Ok(Division::Calls),
        Divided::Lines(name) => {
            let floor = floors().into_iter().find(|floor| floor.name == name);
            let none = || Failure::new(Exit::Defect, format!("find the floor {name}"));
            Ok(Division::Lines(floor.ok_or_else(none)?))
        }
    }
}
