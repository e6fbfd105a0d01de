//! `bandgap export`: what other programs read.

mod perfetto;
mod timeline;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bandgap_launch::{Classify, Exit, Failure, recorded};
use bandgap_sim::{Loggops, Timeline, Window, observe, observe_goal, write_goal};
use clap::{Args, ValueEnum};

use super::fit::named;
use super::simulate::{Points, failed, kernel, read};
use super::simulate_kernel::{Planned, planned};
use crate::output::printed;
use timeline::Shown;

/// Examples.
pub const HELP: &str =
    "A kernel is exported at one point: one number of ranks, one size, one algorithm.

Examples:
  bandgap export barrier --to goal -t sim:myrinet -n 1024 --out barrier.goal
  bandgap export broadcast --to perfetto -t sim:ipsc860 -n 128 --on 0-31 --out broadcast.json
  bandgap export barrier --to svg -t sim:myrinet -n 16 > barrier.svg
  bandgap export schedule.goal --to svg --loggops L=2500,o=1500 --until 1ms --out schedule.svg";

/// What is exported, and for whom.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// A kernel (barrier, broadcast, …), or a schedule in GOAL (`-` reads standard input)
    #[arg(value_name = "KERNEL|FILE")]
    pub what: PathBuf,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Format,
    #[command(flatten)]
    pub points: Points,
    /// Parameters of a schedule in GOAL, as of simulate
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub loggops: Option<Loggops>,
    #[command(flatten)]
    pub shown: Shown,
    /// The file that is written [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A kernel's messages and computations as GOAL text, for LogGOPSim and others
    Goal,
    /// A timeline in JSON, for ui.perfetto.dev and chrome://tracing
    Perfetto,
    /// A timeline as a picture, of at most 64 ranks
    Svg,
}

/// Exports something.
///
/// # Errors
/// It is not there or has no such form, or it cannot be written.
pub fn run(of: &Export) -> Result<Exit, Failure> {
    let seen = || timeline::seen(&of.shown, |window| replayed(of, window));
    match of.to {
        Format::Goal => goal(of)?,
        Format::Perfetto => {
            let seen = seen()?;
            write(of.out.as_deref(), |to| perfetto::write(&seen, to))?;
        }
        Format::Svg => {
            let picture = timeline::svg(&named(&of.what), &seen()?)?;
            write(of.out.as_deref(), |to| to.write_all(picture.as_bytes()))?;
        }
    }
    Ok(Exit::Fine)
}

/// A kernel with its only point.
fn one_point(of: &Export, kernel: &str) -> Result<Planned, Failure> {
    let planned = planned(&of.points, "export", kernel)?;
    match planned.points.len() {
        1 => Ok(planned),
        many => {
            let what = format!("export {kernel} at {many} points");
            Err(Failure::new(Exit::Usage, what)
                .hint("name one of -n, --sizes and --algorithm each"))
        }
    }
}

/// A replay of what is named, through a window.
fn replayed(of: &Export, window: &Window) -> Result<Timeline, Failure> {
    let Some(kernel) = kernel(&of.what) else {
        of.points.of_no_kernel("export", &of.what)?;
        let (goal, loggops) = (read(&of.what)?, of.loggops.unwrap_or_default());
        return observe_goal(&goal, &loggops, window)
            .map_err(|error| failed("simulate", &named(&of.what), error));
    };
    if of.loggops.is_some() {
        return Err(Failure::new(Exit::Usage, format!("export {kernel} with --loggops")));
    }
    let Planned { machine, points, .. } = one_point(of, kernel)?;
    let (_, schedule) = recorded(&machine, &points[0].1, true)?;
    observe(&schedule, &machine, window).class(Exit::Input)
}

fn goal(of: &Export) -> Result<(), Failure> {
    let refused = |what: &str| Failure::new(Exit::Usage, format!("export {what}"));
    let Some(kernel) = kernel(&of.what) else {
        return Err(refused(&format!("{} as GOAL", of.what.display()))
            .hint("kernels are barrier, broadcast, …"));
    };
    let of_others = [
        (of.loggops.is_some(), "--loggops"),
        (of.shown.on.is_some(), "--on"),
        (of.shown.from.is_some(), "--from"),
        (of.shown.until.is_some(), "--until"),
    ];
    if let Some((_, option)) = of_others.iter().find(|(given, _)| *given) {
        return Err(refused(&format!("{kernel} as GOAL with {option}")));
    }
    let Planned { machine, points, .. } = one_point(of, kernel)?;
    let (_, schedule) = recorded(&machine, &points[0].1, false)?;
    if !schedule.is_passing() {
        return Err(refused(&format!("{kernel} as GOAL: it has Active Messages"))
            .hint("kernels over message passing can be: echo, exchange, broadcast, barrier, …"));
    }
    write(of.out.as_deref(), |mut to| write_goal(&schedule, &mut to))
}

/// Writes to a file, or to standard output.
fn write(
    out: Option<&Path>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let buffered = |to: &mut dyn Write| {
        let mut to = BufWriter::new(to);
        content(&mut to)?;
        to.flush()
    };
    match out {
        None => printed(|| buffered(&mut io::stdout().lock())),
        Some(path) => {
            File::create(path).and_then(|mut file| buffered(&mut file)).map_err(|error| {
                Failure::new(Exit::Output, format!("write {}: {error}", path.display()))
            })
        }
    }
}
