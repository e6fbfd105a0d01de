//! `bandgap export`: files for other programs.

mod replayed;
mod timeline;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bandgap_assemble::Calibrated;
use bandgap_launch::{Classify, Exit, Result, input, usage};
use bandgap_record::RunDir;
use bandgap_results::{View, drawn, json_lines, openmetrics, osu, page, values};
use bandgap_sim::{Loggops, write_perfetto};
use clap::{Args, ValueEnum};

use super::compare::kept_comparison;
use super::fit::named;
use super::show::{found, kept};
use super::simulate::{How, Points, kernel, machine_of};
use crate::args::Axes;
use crate::output::{print, printed, unwritten};
use crate::refused::{applicable, unmade};
use timeline::Shown;

/// Examples.
pub const HELP: &str =
    "A kernel is exported at one point: one number of ranks, one size, one algorithm.

Examples:
  bandgap export LAST --to machine --out cluster.toml    what -t sim:cluster.toml reads
  bandgap export LAST -t tcp --to loggopsim              LogGOPSim's arguments
  bandgap export LAST --to simgrid --out platform.xml    a platform, and the command that goes with it
  bandgap export LAST --to csv                           --to json-lines, openmetrics: a line a value
  bandgap export LAST --to osu                           for what reads osu_latency, osu_bw, osu_allreduce
  bandgap export LAST --to svg --out figures             all figures; --to gnuplot: data and scripts
  bandgap export barrier --to goal -t sim:myrinet -n 1024 --out barrier.goal
  bandgap export broadcast --to perfetto -t sim:ipsc860 -n 128 --on 0-31 --out broadcast.json
  bandgap export barrier --to svg -t sim:myrinet -n 16 > barrier.svg
  bandgap export schedule.goal --to svg --loggops L=2500,o=1500 --until 1ms --out schedule.svg";

/// What to export, and in which format.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// A run (directory, run.json, the beginning of a name, LAST); or a kernel (barrier, …), or a schedule in GOAL
    #[arg(value_name = "RUN|KERNEL|FILE")]
    pub what: PathBuf,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Format,
    #[command(flatten)]
    pub points: Points,
    #[command(flatten)]
    pub how: How,
    /// The unit of LogGOPSim's times [default: ns]
    #[arg(long, value_enum)]
    pub unit: Option<Unit>,
    /// Parameters of a schedule in GOAL, as of simulate
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub loggops: Option<Loggops>,
    #[command(flatten)]
    pub shown: Shown,
    /// Axes of a run's figures [default: log]
    #[arg(long, value_enum)]
    pub axes: Option<Axes>,
    /// The file that is written, which must be new; of a run's figures the directory. Needed for these
    /// and for simgrid; else by default standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The unit of LogGOPSim's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Nanoseconds
    Ns,
    /// Picoseconds, in which G is a whole number: a schedule's calc must then be in them too
    Ps,
}

/// Formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A run's machine, as -t sim:FILE.toml reads it
    Machine,
    /// A run's machine as arguments of LogGOPSim
    Loggopsim,
    /// A run's machine as a platform of SimGrid, with the command that it needs
    Simgrid,
    /// All values of a run or a comparison
    Csv,
    /// A run as a page for a browser, as of `report`
    Html,
    /// All values of a run, an object of JSON a line
    JsonLines,
    /// All values of a run as OpenMetrics, for Prometheus
    Openmetrics,
    /// Latencies and bandwidths of a run as text of the OSU benchmarks
    Osu,
    /// A kernel's messages and computations as GOAL text, for LogGOPSim and others
    Goal,
    /// A timeline of a kernel or schedule in JSON, for ui.perfetto.dev and chrome://tracing
    Perfetto,
    /// A timeline as a picture, of at most 64 ranks; of a run all its figures
    Svg,
    /// A run's figures as data and scripts
    Gnuplot,
}

/// Default and greatest number of hosts of SimGrid's platform.
const HOSTS: usize = 16;
const MOST_HOSTS: usize = 1024;

/// Exports a run, kernel or schedule.
///
/// # Errors
/// It does not exist or has no such format, or the file cannot be written.
pub fn run(of: &Export) -> Result<Exit> {
    of.takes()?;
    match of.to {
        Format::Machine => of.put(of.machine()?.toml(&mut |of| of.value)),
        Format::Loggopsim => {
            let in_picoseconds = of.unit == Some(Unit::Ps);
            of.put(of.machine()?.loggopsim(in_picoseconds).map_err(unmade)?)
        }
        Format::Simgrid => of.platform(),
        Format::Csv => of.put(
            match kept_comparison(&of.what) {
                Some(comparison) => comparison.csv(),
                None => values(&kept(&of.what)?.1),
            }
            .class(Exit::Defect)?,
        ),
        Format::Html => of.put(page(&kept(&of.what)?.1)),
        Format::JsonLines => of.put(json_lines(&kept(&of.what)?.1)),
        Format::Openmetrics => of.put(openmetrics(&kept(&of.what)?.1)),
        Format::Osu => {
            let (path, run) = kept(&of.what)?;
            let text = osu(&run);
            let failed = || input!("export {} as of OSU: it has no such series", path.display());
            let none =
                || failed().hint("comms1, and comet stream, all_reduce and others give some");
            if text.is_empty() { Err(none()) } else { of.put(text) }
        }
        Format::Goal => replayed::goal(of),
        Format::Perfetto if of.is_of_run() => Err(usage!("export a timeline of a run")
            .hint("export --to machine first, then a kernel with -t sim:FILE.toml")),
        Format::Perfetto => {
            let seen = replayed::seen(of)?;
            of.write(|to| write_perfetto(&seen, to))
        }
        Format::Gnuplot => of.figures(),
        Format::Svg if of.is_of_run() => of.figures(),
        Format::Svg => of.put(timeline::svg(&named(&of.what), &replayed::seen(of)?)?),
    }?;
    Ok(Exit::Fine)
}

impl Export {
    /// Refuses options without use for the format.
    fn takes(&self) -> Result<()> {
        let is_timeline = matches!(self.to, Format::Perfetto | Format::Svg) && !self.is_of_run();
        let is_figures = matches!(self.to, Format::Svg | Format::Gnuplot) && self.is_of_run();
        let is_replay = is_timeline || self.to == Format::Goal;
        let is_machine = matches!(self.to, Format::Machine | Format::Loggopsim | Format::Simgrid);
        let (points, shown) = (&self.points, &self.shown);
        let all = [
            ("--transport", points.transport.is_some(), is_replay || is_machine),
            ("--ranks", !points.ranks.is_empty(), is_replay || self.to == Format::Simgrid),
            ("--sizes", points.sizes.is_some(), is_replay),
            ("--algorithm", points.algorithm.is_some(), is_replay),
            ("--one-latency", self.how.one_latency, is_machine),
            ("--unit", self.unit.is_some(), self.to == Format::Loggopsim),
            ("--loggops", self.loggops.is_some(), is_timeline),
            ("--on", shown.on.is_some(), is_timeline),
            ("--from", shown.from.is_some(), is_timeline),
            ("--until", shown.until.is_some(), is_timeline),
            ("--axes", self.axes.is_some(), is_figures),
        ];
        applicable(&all, &format!("{} in this format", self.what.display()), "leave it out")
    }

    /// Whether a run is exported: its directory, its file, or its name is given.
    fn is_of_run(&self) -> bool {
        let path = &self.what;
        let is_run = path.is_dir() || path.extension().is_some_and(|end| end == "json");
        self.to == Format::Gnuplot
            || kernel(path).is_none() && (is_run || !path.exists() && found(path).is_ok())
    }

    /// Writes a run's figures to a new directory.
    fn figures(&self) -> Result<()> {
        let (path, run) = kept(&self.what)?;
        let is_gnuplot = self.to == Format::Gnuplot;
        let view = View { linear: self.axes == Some(Axes::Linear), ..View::default() };
        let is_its = |(name, _): &(String, String)| name.starts_with("gnuplot/") == is_gnuplot;
        let files: Vec<(String, String)> = drawn(&run, view).into_iter().filter(is_its).collect();
        if files.is_empty() {
            return Err(input!("export the figures of {}: it has none", path.display())
                .hint("--to csv has its values"));
        }
        let directory =
            RunDir::create(self.out("figures to no directory", "figures")?).class(Exit::Output)?;
        for (name, content) in files {
            let name = name.strip_prefix("gnuplot/").unwrap_or(&name);
            directory.write(name, content.as_bytes()).class(Exit::Output)?;
        }
        Ok(())
    }

    /// The machine that a run measured.
    fn machine(&self) -> Result<Calibrated> {
        machine_of(&self.what, &self.points, self.how)
    }

    /// The file or directory, which must be named.
    fn out(&self, what: &str, like: &str) -> Result<&Path> {
        self.out.as_deref().ok_or_else(|| {
            let failure = usage!("export {what}");
            failure.hint(format!("name one, as in --out {like}"))
        })
    }

    fn platform(&self) -> Result<()> {
        let machine = self.machine()?;
        let path = self.out("a platform to no file", "platform.xml")?;
        let hosts = match self.points.ranks[..] {
            [] => HOSTS,
            [hosts @ 2..=MOST_HOSTS] => hosts,
            _ => {
                return Err(usage!("export a platform of other than 2 to {MOST_HOSTS} hosts"));
            }
        };
        machine.moves_bytes().map_err(unmade)?;
        self.put(machine.simgrid_platform(hosts))?;
        print(machine.simgrid_command(&path.display().to_string(), hosts).as_bytes())
    }

    /// Writes content to the file, or to standard output.
    fn put(&self, content: impl AsRef<[u8]>) -> Result<()> {
        self.write(|to| to.write_all(content.as_ref()))
    }

    /// Lets `content` write to the file, or to standard output.
    fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let buffered = |to: &mut dyn Write| {
            let mut to = BufWriter::new(to);
            content(&mut to)?;
            to.flush()
        };
        match &self.out {
            None => printed(|| buffered(&mut io::stdout().lock())),
            Some(path) => {
                let mut file = File::create_new(path).map_err(|error| unwritten(path, &error))?;
                buffered(&mut file).map_err(|error| {
                    // Half a file is useless, and the next export needs a new file.
                    let _ = fs::remove_file(path);
                    unwritten(path, &error)
                })
            }
        }
    }
}
