//! Groups of options that several commands flatten.

pub mod limits;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bandgap_launch::{Adopted, Hosts, Options, Result, Target, Transport, Wait, usage};
use bandgap_results::counted;
use bandgap_sim::Machine;
use bandgap_units::{Fraction, Ns};
use clap::Args;

use crate::refused::refuse;
use limits::Limits;
pub use values::{Axes, nothing_asked, precision};
use values::{confidence, time};

/// Defaults of options that have no effect in virtual time.
const USUAL_SEED: u64 = 1;
const USUAL_LAUNCHES: u32 = 5;

/// Which ranks, and where.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Ranks")]
pub struct Ranks {
    #[arg(short, long, value_name = "TRANSPORT", value_delimiter = ',', help = transports())]
    pub transport: Vec<Target>,
    /// Number of ranks; collectives accept a list, e.g. 2,4,8 [default: as few as are needed]
    #[arg(short = 'n', long, value_name = "N", value_delimiter = ',')]
    pub ranks: Vec<usize>,
    #[command(flatten)]
    pub at: Seats,
    #[command(flatten)]
    pub reach: Reach,
    #[command(flatten)]
    pub of_library: OfLibrary,
}

/// The help of `--transport`, from the lists of transports and machines.
fn transports() -> String {
    let listed = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().join(", ");
    let with_ways = |of: Transport| match of.can.argument {
        Some(_) => format!("{of}[:WAY]"),
        None => of.to_string(),
    };
    format!(
        "{}, or sim:MACHINE, a machine in virtual time ({}, or a file FILE.toml); several are \
         measured one after the other [default: {}; of run and layers {}]",
        listed(&mut Transport::named().map(with_ways)),
        listed(&mut Machine::built_in().map(str::to_owned)),
        Transport::usual(),
        listed(&mut Transport::compared(false).map(|of| of.to_string())),
    )
}

/// Where ranks run, and how they wait.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Ranks")]
pub struct Seats {
    /// Processors for the ranks, in order: 0,1 or 0-3 [default: one core each, nearest first]
    #[arg(long, value_name = "LIST")]
    pub cores: Option<String>,
    /// How ranks wait for messages
    #[arg(long, value_enum, default_value_t = Wait::Auto)]
    pub wait: Wait,
    /// Longest wait for a message before the run is given up
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time, hide_short_help = true)]
    pub deadline: Ns,
}

/// Which hosts ranks are started on, and how they are reached.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Hosts")]
pub struct Reach {
    /// Hosts of the ranks, started by ssh: a:4,user@b:4 [default: this one]
    #[arg(short = 'H', long, value_name = "LIST")]
    pub hosts: Option<String>,
    /// A file of hosts, one a line: a, a:4 or a slots=4
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub hostfile: Option<PathBuf>,
    /// Interface between the hosts, by name or address [default: the one by which a host was reached]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub interface: Option<String>,
    /// What runs a command on a host, with its options [default: ssh]
    #[arg(long, value_name = "COMMAND", hide_short_help = true)]
    pub ssh_command: Option<String>,
    /// Copy this program to the hosts, and remove it afterwards
    #[arg(long, hide_short_help = true)]
    pub copy: bool,
}

/// The library of a transport that is one, and what starts its ranks.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Libraries")]
pub struct OfLibrary {
    /// The library of -t mpi [default: that of the launcher, or of mpirun on PATH]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub mpi_lib: Option<PathBuf>,
    /// The library of -t ucx [default: the one that is installed]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ucx_lib: Option<PathBuf>,
    /// The library of -t ofi [default: the one that is installed]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ofi_lib: Option<PathBuf>,
    /// What starts the ranks of -t mpi, {ranks} being their number [default: the library's own mpirun -n {ranks}]
    #[arg(long, value_name = "COMMAND", hide_short_help = true)]
    pub launch_with: Option<String>,
}

impl OfLibrary {
    /// The library of this transport, if one is named.
    pub fn library(&self, of: &Transport) -> Option<&Path> {
        let named = [
            ("--mpi-lib", &self.mpi_lib),
            ("--ucx-lib", &self.ucx_lib),
            ("--ofi-lib", &self.ofi_lib),
        ];
        named.into_iter().find(|(option, _)| of.can.library == Some(option))?.1.as_deref()
    }
}

impl Reach {
    /// Whether hosts are named.
    pub fn is_named(&self) -> bool {
        self.hosts.is_some() || self.hostfile.is_some()
    }

    /// Refuses options about reaching hosts if there are none to reach. `adopted`: adopted processes may be on several.
    ///
    /// # Errors
    /// Such an option is given.
    pub fn check(&self, adopted: bool) -> Result<()> {
        let (none, hint) = (!self.is_named(), "name them: -H a,b");
        let all = [
            (self.interface.is_some() && none && !adopted, "--interface without hosts", hint),
            (self.ssh_command.is_some() && none, "--ssh-command without hosts", hint),
            (self.copy && none, "--copy without hosts", hint),
        ];
        refuse("run", &all)
    }

    /// The hosts, if any are named.
    ///
    /// # Errors
    /// The list or the file is wrong.
    pub fn hosts(&self) -> Result<Option<Hosts>> {
        if !self.is_named() {
            return Ok(None);
        }
        let ssh = self.ssh_command.as_deref().unwrap_or("ssh");
        let ssh: Vec<String> = ssh.split_whitespace().map(str::to_owned).collect();
        if ssh.is_empty() {
            return Err(usage!("use an empty --ssh-command"));
        }
        let (interface, copy) = (self.interface.clone(), self.copy);
        let mut named = Hosts::of(self.hosts.as_deref(), self.hostfile.as_deref())?;
        (named.ssh, named.interface, named.copy) = (ssh, interface, copy);
        Ok(Some(named))
    }
}

/// How precise values are to be.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Precision")]
pub struct Precision {
    /// Half-width of the interval, over the estimate, at which a value has converged
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = precision)]
    pub precision: Fraction,
    /// Confidence level of all intervals
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = confidence, hide_short_help = true)]
    pub confidence: Fraction,
    /// Seed of the order of points, of the bootstrap and of a simulated machine that varies
    #[arg(long, value_name = "N", default_value_t = USUAL_SEED, overrides_with = "seed", hide_short_help = true)]
    pub seed: u64,
    #[command(flatten)]
    pub limits: Limits,
}

/// How long to measure.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Effort")]
pub struct Effort {
    /// Time of the whole command: reaching hosts, starting ranks, warm-up and all launches. Where it is short there are
    /// fewer launches, Δ, sizes and rounds
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time_budget: Option<Ns>,
    /// Sets of fresh processes; intervals hold the variance between them [default: 5; of the signatures of `run` 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub launches: Option<u32>,
    /// Compare every message in every round, not only before the first timed one
    #[arg(long, hide_short_help = true)]
    pub check: bool,
}

/// Where results go, and how much of them is printed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Directory for the run's files; new or empty [default: of what measures, a new one in
    /// bandgap-runs]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep no files
    #[arg(long, conflicts_with = "out", hide_short_help = true)]
    pub no_save: bool,
    /// Write the run as JSON to a file, or with - to standard output, where nothing else is then printed
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// No progress, no notes
    #[arg(short, long)]
    pub quiet: bool,
    /// Make the run of what a killed one has left in this directory, and measure nothing.
    #[arg(skip)]
    pub take_up: Option<PathBuf>,
    #[command(flatten)]
    pub shown: Shown,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Shown {
    /// Print everything: all rows and parameters, plots, notes
    #[arg(short, long)]
    pub verbose: bool,
    /// Draw plots below the table
    #[arg(long)]
    pub plot: bool,
    /// Axes of plots
    #[arg(long, value_enum, default_value_t = Axes::Log, hide_short_help = true)]
    pub axes: Axes,
}

/// The options of a measuring command.
#[derive(Clone, Debug, Args)]
pub struct Measure {
    #[command(flatten)]
    pub ranks: Ranks,
    #[command(flatten)]
    pub effort: Effort,
    #[command(flatten)]
    pub precision: Precision,
    #[command(flatten)]
    pub output: Output,
    /// The processes that somebody else started, if this is one of them.
    #[arg(skip)]
    pub adopted: Option<Adopted>,
    /// The transport of their launcher, if the options name none.
    #[arg(skip)]
    pub native: Option<Transport>,
}

/// The options of one command, and those of all measuring commands.
#[derive(Clone, Debug, Args)]
pub struct With<T: Args> {
    #[command(flatten)]
    pub of: T,
    #[command(flatten)]
    pub measure: Measure,
}

impl Measure {
    /// The time for the whole command, by default `usual`.
    pub fn budget(&self, usual: Duration) -> Duration {
        self.effort.time_budget.map_or(usual, |ns| Duration::from_secs_f64(ns.as_secs()))
    }

    /// The named target, or the default transport for one host or for several.
    pub fn target(&self) -> Target {
        let several = self.has_hosts();
        let usual = || Transport::list().find(|of| of.can.hosts || !several);
        let usual = || Target::Real(self.native.or_else(usual).unwrap_or_else(Transport::usual));
        self.ranks.transport.first().cloned().unwrap_or_else(usual)
    }

    /// The named targets, or the default one.
    pub fn targets(&self) -> Vec<Target> {
        match self.ranks.transport.as_slice() {
            [] => vec![self.target()],
            named => named.to_vec(),
        }
    }

    /// The same options for each target alone.
    pub fn each(&self) -> impl Iterator<Item = Self> {
        self.targets().into_iter().map(|target| {
            let mut one = self.clone();
            one.ranks.transport = vec![target];
            one
        })
    }

    /// Whether ranks may be on several hosts: hosts are named, or this process is adopted.
    pub fn has_hosts(&self) -> bool {
        self.ranks.reach.is_named() || self.adopted.is_some()
    }

    /// Adopts the processes that somebody else started, unless the options ask for other ranks. If no transport is named
    /// and each process gets a rank, the transport is that of their launcher. `all`: by default all processes take part.
    pub fn adopt(&mut self, adopted: Adopted, all: bool) {
        if !self.ranks.reach.is_named()
            && !matches!(self.ranks.transport.first(), Some(Target::Simulated(_)))
        {
            let usual = if all { adopted.size } else { 2 };
            let each = self.ranks.transport.is_empty() && self.most(usual) == adopted.size;
            let library = self.ranks.of_library.mpi_lib.as_deref();
            self.native = if each { adopted.transport(library) } else { None };
            self.adopted = Some(adopted);
        }
    }

    /// The greatest number of ranks that the options name, or `all`.
    pub fn most(&self, all: usize) -> usize {
        self.ranks.ranks.iter().copied().max().unwrap_or(all)
    }

    /// Number of launches, by default `usual`; processes that a transport's own launcher started serve only one.
    pub fn launches_or(&self, usual: u32) -> u32 {
        let is_one = self.adopted.is_some() && self.is_apart();
        if is_one { 1 } else { self.effort.launches.unwrap_or(usual) }
    }

    /// Number of launches.
    pub fn launches(&self) -> u32 {
        self.launches_or(USUAL_LAUNCHES)
    }

    /// Refuses options without use: about reaching hosts that are not named, or about a library that is not measured.
    ///
    /// # Errors
    /// Such an option is given.
    pub fn check_reach(&self) -> Result<()> {
        let native = self.native.map(Target::Real);
        let measured: Vec<&Target> = self.ranks.transport.iter().chain(&native).collect();
        let apart = measured.iter().find(|target| target.can(|can| can.launcher));
        if let Some(apart) = apart.filter(|_| self.ranks.reach.is_named()) {
            return Err(usage!("start ranks of {apart} by ssh: its own launcher starts them")
                .hint(format!("mpiexec -hosts a,b -n 2 bandgap … -t {apart}, or --launch-with")));
        }
        let of = &self.ranks.of_library;
        for transport in Transport::named() {
            let Some(option) = transport.can.library else { continue };
            let its = |target: &&Target| target.can(|can| can.library == Some(option));
            let library = of.library(&transport).is_some() && !measured.iter().any(its);
            let starter = of.launch_with.is_some() && transport.can.launcher && apart.is_none();
            let hint = format!("add -t {transport}");
            refuse("run", &[(library, option, &hint), (starter, "--launch-with", &hint)])?;
        }
        self.ranks.reach.check(self.adopted.is_some())?;
        let is_virtual = |target: &&Target| matches!(target, Target::Simulated(_));
        let all_virtual = !measured.is_empty() && measured.iter().all(is_virtual);
        // A replay needs no hosts, no processors and no time; no two differ on a machine that does not vary.
        let all_exact = all_virtual && measured.iter().all(|of| of.is_exact());
        let (effort, at) = (&self.effort, &self.ranks.at);
        let given = [
            (self.ranks.reach.is_named(), "--hosts"),
            (at.cores.is_some(), "--cores"),
            (at.wait != Wait::Auto, "--wait"),
            (at.deadline != Ns(30e9), "--deadline"),
            (effort.time_budget.is_some(), "--time-budget"),
            (effort.launches.is_some_and(|of| of != USUAL_LAUNCHES) && all_exact, "--launches"),
            (effort.check, "--check"),
            (self.precision.seed != USUAL_SEED && all_exact, "--seed"),
        ];
        let hint = "it has no effect there: leave it out";
        let all = given.map(|(given, option)| (given && all_virtual, option, hint));
        refuse("measure in virtual time", &all)
    }

    /// Whether the transport's own launcher starts the ranks, each in a process of its own.
    pub fn is_apart(&self) -> bool {
        self.target().can(|can| can.launcher)
    }

    /// Longest wait.
    pub fn deadline(&self) -> Duration {
        Duration::from_secs_f64(self.ranks.at.deadline.as_secs())
    }

    /// The options for a command in which all ranks take part: the number of ranks defaults to that of the hosts' slots,
    /// or of the adopted processes.
    ///
    /// # Errors
    /// As [`Reach::hosts`].
    pub fn everywhere(&self) -> Result<Self> {
        let mut all = self.clone();
        let named = self.ranks.reach.hosts()?.map(|hosts| hosts.slots());
        let adopted = self.adopted.as_ref().map(|adopted| adopted.size);
        if let Some(slots) = named.or(adopted).filter(|_| self.ranks.ranks.is_empty()) {
            all.ranks.ranks = vec![slots.max(2)];
        }
        Ok(all)
    }

    /// The number of ranks, by default `least`.
    ///
    /// # Errors
    /// The options name several numbers, or too few ranks.
    pub fn one_size(&self, least: usize) -> Result<usize> {
        match self.ranks.ranks.as_slice() {
            [] => Ok(least),
            [ranks] if *ranks < least => {
                let ranks = counted(*ranks, "rank");
                Err(usage!("measure with {ranks}: at least {least} are needed")
                    .hint("give more --ranks"))
            }
            [ranks] => Ok(*ranks),
            _ => Err(usage!("measure with several numbers of ranks")
                .hint("give one number; collectives (comet, comms3, synch1) accept a list")),
        }
    }

    /// How ranks are started.
    pub fn options(&self) -> Options {
        Options {
            cores: self.ranks.at.cores.clone(),
            launches: self.launches(),
            only: None,
            seed: self.precision.seed,
            wait: self.ranks.at.wait,
            deadline: self.deadline(),
            library: None,
            environment: Vec::new(),
            launch_with: self.ranks.of_library.launch_with.clone(),
        }
    }
}

impl Output {
    /// The options for a command that keeps files only if `--out` asks for them.
    pub fn only_asked(&self) -> Self {
        Self { no_save: self.out.is_none(), ..self.clone() }
    }
}
