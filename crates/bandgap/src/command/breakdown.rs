//! `bandgap breakdown`: where the time of a message goes.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use bandgap_assemble::{Divided, Made, breakdown, table_breakdown};
pub use bandgap_campaign::breakdown::BYTES;
use bandgap_campaign::breakdown::{BREAKDOWN, BreakdownPlan};
use bandgap_campaign::floors::RANKS;
use bandgap_campaign::sizes::Sizes;
use bandgap_comm::Division;
use bandgap_launch::{Classify, Exit, Result, Target, Wait, usage};
use bandgap_units::{Bytes, Ns};
use clap::Args;

use super::components::{Source, load, rule};
use super::pcie_trace::{self, PcieTrace};
use super::series::left_out;
use crate::args::Measure;
use crate::output::close_given;
use crate::session::Session;

/// Examples in the help.
pub const HELP: &str = "Examples:
  bandgap breakdown
  bandgap breakdown -t tcp --insert 50ns,1us
  mpirun -n 2 bandgap breakdown                           inside an MPI that uses UCX
  bandgap breakdown --from thunderx2-connectx4            the paper's stack
  bandgap breakdown --from table.csv
  bandgap breakdown --pcie-trace trace.csv --without-switch direct.csv";

/// Time for the command.
const USUAL: Duration = Duration::from_secs(20);
/// Possible lengths of inserted computations, in nanoseconds.
const INSERTED: RangeInclusive<f64> = 20.0..=1e5;
/// The default length of inserted computations, in nanoseconds.
const USUALLY_INSERTED: f64 = 200.0;
/// Options of a measurement, which given components exclude.
const MEASURING: &str =
    "transport ranks cores wait deadline time_budget launches check hosts hostfile";
/// Options that give components.
const GIVEN: [&str; 5] = ["from", "id", "pcie_trace", "without_switch", "set"];

/// What is divided: without --from or --pcie-trace, a message over --transport.
#[derive(Clone, Debug, Args)]
#[command(mut_args(|arg| match GIVEN.contains(&arg.get_id().as_str()) {
    true => arg.conflicts_with_all(MEASURING.split(' ')),
    false => arg,
}))]
pub struct Breakdown {
    #[command(flatten)]
    pub source: Source,
    /// Over sockets and MPI: computations of known length that are inserted at each border, to see whether they come back; one or
    /// several, as 50ns,1us [default: over sockets 200ns]
    #[arg(
        long,
        value_name = "TIME",
        value_delimiter = ',',
        conflicts_with_all = ["from", "pcie_trace"]
    )]
    pub insert: Vec<Ns>,
    /// Inside MPI: lengths of messages, each divided by itself [default: 8]
    #[arg(long, value_name = "SIZES", conflicts_with_all = ["from", "pcie_trace"])]
    pub sizes: Option<Sizes>,
    #[command(flatten)]
    pub trace: PcieTrace,
    #[command(flatten)]
    pub measure: Measure,
}

/// Prints models, shares and bars.
///
/// # Errors
/// The table cannot be read or is wrong; ranks could not be started; or the result cannot be written.
pub fn run(of: &Breakdown) -> Result<Exit> {
    let Breakdown { source, insert, sizes, trace, measure } = of;
    match (&trace.pcie_trace, &source.from) {
        (Some(file), _) => {
            pcie_trace::run(trace, file, source, (&measure.precision, &measure.output))
        }
        (None, Some(from)) => given(from, source.id.as_deref(), measure),
        (None, None) => {
            if measure.one_size(RANKS)? != RANKS {
                return Err(usage!("break down a message: it is between 2 ranks"));
            }
            if let Some(time) = insert.iter().find(|time| !INSERTED.contains(&time.0)) {
                let [least, most] = [INSERTED.start(), INSERTED.end()].map(|end| Ns(*end));
                return Err(usage!("insert {time}: from {least} to {most} is possible"));
            }
            let all = |sizes: &Sizes| sizes.all(false).into_iter().map(|of| of as usize).collect();
            let sizes: Vec<usize> = sizes.as_ref().map_or(vec![BYTES], all);
            for target in measure.targets() {
                let division = division(&target, measure)?;
                if !division.any_length && sizes != [BYTES] {
                    return Err(usage!("break down messages of other lengths over {target}")
                        .hint("leave out --sizes, or use -t mpi"));
                }
                if division.borders().next().is_none() && !insert.is_empty() {
                    let what = "its time is divided without stamps";
                    return Err(usage!("insert a computation over {target}: {what}")
                        .hint("leave out --insert, or name a socket transport"));
                }
            }
            let stages =
                sizes.iter().map(|bytes| (format!("{} breakdown", Bytes(*bytes as u64)), 1.0));
            let share = 1.0 / (sizes.len() * measure.targets().len()) as f64;
            let part = |session: &mut Session<'_>| {
                sizes.iter().try_for_each(|bytes| {
                    if sizes.len() > 1 {
                        session.share(share);
                    }
                    self::measure(session, *bytes, insert)
                })
            };
            Session::each("breakdown", measure, USUAL * sizes.len() as u32, stages, part)
        }
    }
}

/// Breaks down given components, or prints the breakdown of a run: a measured one compared round by round, which its
/// components alone cannot do.
fn given(from: &Path, id: Option<&str>, measure: &Measure) -> Result<Exit> {
    let Divided { table, breakdown, notes } = load(from, id)?;
    let level = measure.precision.confidence.0;
    let mut made = match breakdown.filter(|recorded| recorded.measured.is_some()) {
        Some(recorded) => Made { results: vec![recorded.into()], ..Made::default() },
        None => table_breakdown(&table, rule(&measure.precision), level).class(Exit::Defect)?,
    };
    made.notes.extend(notes);
    close_given("breakdown", (&measure.precision, &measure.output), made, Exit::Fine)
}

/// Breaks down messages over the session's target, or notes why that is impossible.
///
/// # Errors
/// Ranks could not be started, or results not be written.
pub fn measure(session: &mut Session<'_>, bytes: usize, insert: &[Ns]) -> Result<()> {
    let division = match division(&session.target, session.measure) {
        Ok(division) => division,
        Err(failure) => {
            let name = format!("breakdown over {}", session.target);
            session.sink.note(left_out("", &name, &failure.what));
            session.progress.next(": left out");
            return Ok(());
        }
    };
    let mut inserted: Vec<f64> = match insert {
        // Each takes as long as all else, and over a library batches are long.
        [] if session.target.can(|can| can.once) => Vec::new(),
        [] => vec![USUALLY_INSERTED],
        some => some.iter().map(|time| time.0).collect(),
    };
    inserted.sort_by(f64::total_cmp);
    inserted.dedup();
    let plan = BreakdownPlan { asked: session.asked(), bytes, inserted };
    session.measure(&plan, RANKS, (&[BREAKDOWN], &|_| true), |measured| {
        breakdown(measured, &plan, division)
    })
}

/// How the target divides the time of a message.
fn division(target: &Target, measure: &Measure) -> Result<&'static Division> {
    if measure.ranks.at.wait == Wait::Block {
        let what = "break down a message while ranks sleep: what they wait for is then the system's wake-up";
        return Err(usage!("{what}").hint("leave out --wait block"));
    }
    let hint = "name a transport of this machine, or a table with --from";
    match target {
        Target::Real(transport) => transport
            .division
            .ok_or_else(|| usage!("break down {target}: it takes no stamps").hint(hint)),
        Target::Simulated(_) => {
            let why = "in virtual time there is no software to time";
            Err(usage!("break down {target}: {why}").hint(hint))
        }
    }
}
