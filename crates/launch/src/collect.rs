//! Carries out a task and collects its batches, on rank processes or in virtual time.

use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bandgap_host::Placement;

use bandgap_campaign::data::Kept;
use bandgap_campaign::{Measurements, Setting, Stop, Task};
use bandgap_sim::Machine;
use bandgap_socket::nonce;
use serde::{Deserialize, Serialize};

use crate::agents::Agent;
use crate::allotted::Allotted;
use crate::group::Group;
use crate::launcher::{Ended, Launch, Progress};
use crate::local::Local;
use crate::message::{Assignment, Wait};
use crate::protocol::{Begin, Hello};
use crate::remote::Remote;
use crate::room::{Prepared, check_limits, room, with_nodes_for};
use crate::signals::signalled;
use crate::spread::Spread;
use crate::stage::Stage;
use crate::virtual_time::VirtualRunner;
use crate::{
    Classify, Exit, Failure, Result, Target, Transport, descriptors, elsewhere, outside, usage,
};

/// How the user wants ranks to be started.
#[derive(Clone)]
pub struct Options {
    /// Processors for the ranks, in order, as a list.
    pub cores: Option<String>,
    /// Number of launches.
    pub launches: u32,
    /// The only launch to carry out now, if other measurements come in between.
    pub only: Option<u32>,
    /// The seed of what differs between launches of a simulated machine.
    pub seed: u64,
    /// How ranks wait.
    pub wait: Wait,
    /// Longest wait.
    pub deadline: Duration,
    /// The library that the user named, for a transport that is a library.
    pub library: Option<PathBuf>,
    /// Variables for the processes of the ranks, where none of these names is set.
    pub environment: Vec<(String, String)>,
    /// The launcher of that library that the user named, with `{ranks}` for the number of ranks.
    pub launch_with: Option<String>,
}

impl Options {
    /// The launches to carry out now.
    fn all(&self) -> Range<u32> {
        self.only.map_or(0..self.launches, |only| only..only + 1)
    }

    /// The same, as long as there is time for another one.
    fn now(&self, time: Allotted) -> impl Iterator<Item = u32> {
        let only = self.only;
        self.all()
            .take_while(move |launch| only.is_some() || time.has_time_for(*launch, Instant::now()))
    }
}

/// What an experiment produced. Its JSON has neither batches nor end: these are journaled by themselves.
#[derive(Default, Serialize, Deserialize)]
pub struct Collected {
    /// All batches.
    #[serde(skip)]
    pub table: Measurements,
    /// How it ended.
    #[serde(skip)]
    pub ended: Ended,
    /// The processors of the ranks, each on its own host; `None` in virtual time.
    pub placement: Option<Placement>,
    /// The hosts of the ranks, by rank; empty if there is only one.
    pub hosts: Vec<String>,
    /// Launches begun.
    pub launches: u32,
    /// Whether launches of a simulated machine differ.
    pub varies: bool,
    /// The name of the experiment.
    pub experiment: String,
    /// How ranks waited; `None` in virtual time.
    pub wait: Option<Wait>,
    /// The command that started the ranks, if bandgap did not.
    pub launcher: Option<String>,
    /// The distances between the ranks' processors.
    pub distances: Vec<([usize; 2], String)>,
}

impl Collected {
    /// Nothing, because the measurement could not begin.
    pub fn nothing(failure: Failure) -> Self {
        Self { ended: Ended::failed(None, failure), ..Self::default() }
    }

    /// These batches and those of a later launch.
    pub fn then(mut self, later: Self) -> Self {
        self.table.append(later.table);
        match later.placement {
            Some(_) => Self { table: self.table, ..later },
            None => Self { ended: later.ended, launches: later.launches, ..self },
        }
    }

    /// The setting of the measurement, without floors.
    pub fn setting(&self, target: &Target, ranks: usize) -> Setting {
        Setting {
            experiment: self.experiment.clone(),
            transport: target.name(),
            wait: self.wait.map(Wait::name),
            launcher: self.launcher.clone(),
            beside: Vec::new(),
            oversubscribed: self.placement.as_ref().is_some_and(|of| of.oversubscribed),
            ranks,
            launches: self.launches,
            varies: self.varies,
            cpus: self.placement.as_ref().map(|placement| placement.cpus.clone()),
            hosts: self.hosts.clone(),
            distances: self.distances.iter().cloned().collect(),
        }
    }
}

/// What to measure, where, and how.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The machine on which ranks start.
    pub stage: &'a Stage,
    /// The target; `None` means all transports of this machine, with their floors.
    pub target: Option<&'a Target>,
    /// The number of ranks.
    pub ranks: usize,
    /// What the ranks do.
    pub task: &'a Task,
    /// How the ranks are started.
    pub options: &'a Options,
    /// The time of all launches.
    pub time: Allotted,
    /// Takes what is collected, outside timed sections.
    pub journal: &'a dyn Fn(Entry<'_>),
}

/// An entry of a journal.
pub enum Entry<'a> {
    /// The ranks that are started next.
    Begun(&'a Collected),
    /// What they measured since the entry before.
    Kept(&'a [Kept]),
}

/// Measures.
///
/// # Errors
/// Ranks could not be started, or a simulated machine cannot carry out the task. (A failure after the first batch is in
/// [`Collected::ended`], next to what was measured before it.)
pub fn collect(of: Wanted<'_>, progress: Progress<'_>) -> Result<Collected> {
    let Wanted { stage, target, ranks, .. } = of;
    if let Some(Target::Real(transport)) = target
        && transport.can.launcher
        && stage.agents().len() != ranks
    {
        let processes = stage.agents().len();
        if processes == 0 {
            return outside(of, progress);
        }
        let what = format!(
            "measure with {ranks} ranks over {transport}: its launcher has started {processes} processes"
        );
        let hint = format!("start {ranks} processes, or use --ranks {processes}");
        return Err(elsewhere!("{what}").hint(hint));
    }
    let mut table = Measurements::default();
    let collected = collect_into(of, (of.options.now(of.time), &mut table), progress)?;
    Ok(Collected { table, ..collected })
}

/// As [`collect`], with the transport's own launcher, which runs anew for each launch.
fn outside(of: Wanted<'_>, progress: Progress<'_>) -> Result<Collected> {
    let Wanted { stage, ranks, options, .. } = of;
    let (library, with) = (options.library.as_ref(), options.launch_with.as_deref());
    let command = outside::command(with, library.map(PathBuf::as_path), ranks)?;
    let mut table = Measurements::default();
    let mut all: Option<Collected> = None;
    for launch in options.now(of.time) {
        let one = outside::Outside::start(&command, ranks, with.is_none(), options.deadline);
        let one = one.and_then(|(running, (hosts, channels))| {
            stage.take(hosts, channels)?;
            let mut done = collect_into(of, (std::iter::once(launch), &mut table), progress);
            let said = stage.end_outside(running);
            // Later its words say only that a rank is gone.
            if let Ok(Collected { ended: Ended::Failed { what, .. }, .. }) = &mut done
                && table.is_empty()
                && !said.is_empty()
            {
                *what += &format!(": {said}");
            }
            done
        });
        match (one, &mut all) {
            (Ok(collected), _) => all = Some(collected),
            (Err(failure), None) => return Err(failure),
            (Err(failure), Some(before)) => before.ended = Ended::failed(Some(launch), failure),
        }
        if all.as_ref().is_some_and(|collected| collected.ended != Ended::Done) {
            break;
        }
    }
    let none = || usage!("measure with no launch");
    let launcher = Some(command.join(" "));
    Ok(Collected { table, launcher, ..all.ok_or_else(none)? })
}

/// As [`collect`], for the launches `which`; batches go to `table`.
fn collect_into(
    of: Wanted<'_>,
    (which, table): (impl Iterator<Item = u32>, &mut Measurements),
    progress: Progress<'_>,
) -> Result<Collected> {
    let Wanted { stage, target, ranks, task, options, .. } = of;
    let transports: Vec<Transport> = match target {
        Some(Target::Simulated(name)) => {
            let machine = with_nodes_for(ranks, name)?;
            let launches = machine.variation.map(|_| (options.seed, options.all()));
            let collected = in_virtual_time(&machine, launches, (ranks, task), progress)?;
            table.clone_from(&collected.table);
            return Ok(collected);
        }
        Some(Target::Real(transport)) => vec![*transport],
        None => Transport::compared(!stage.agents().is_empty()).collect(),
    };
    // The first transport carries orders; among all, it is the usual one.
    check_limits(ranks, &transports)?;
    let room = room(ranks, task, &transports)?;
    let stamped = task.stamps().class(Exit::Defect)?;
    let spread = Spread::of(stage, ranks, options.cores.as_deref())?;
    let placement = &spread.placement;
    if let Some(local) = transports.iter().find(|of| !of.can.hosts && spread.several()) {
        let several = Transport::list().filter(|of| of.can.hosts).map(|of| of.name);
        let several = several.collect::<Vec<_>>().join(" or -t ");
        return Err(usage!("measure over {local} between hosts: it works only within a host")
            .hint(format!("use -t {several}")));
    }
    // A floor's loop spins, and would keep the other side from running on a shared processor.
    let beside = if placement.oversubscribed { Vec::new() } else { task.beside.clone() };
    descriptors::check(ranks, transports.len() + usize::from(stamped))?;
    let task = &task.clone().with_floors(beside);
    let wait = match options.wait {
        // A rank that spins keeps the processor from threads that it started.
        Wait::Auto if transports.iter().all(|of| of.can.threads && of.can.block) => Wait::Block,
        Wait::Auto if placement.oversubscribed || transports.iter().any(|of| of.can.threads) => {
            Wait::Yield
        }
        Wait::Auto => Wait::Spin,
        chosen => chosen,
    };
    if wait == Wait::Block
        && let Some(spins) = transports.iter().find(|transport| !transport.can.block)
    {
        return Err(usage!("wait by blocking over {spins}: its ranks poll")
            .hint("use --wait yield, or another transport"));
    }
    let cpus = placement.cpus.iter();
    let pairs = cpus.clone().flat_map(|&a| cpus.clone().map(move |&b| [a, b]));
    let distance = |[a, b]: [usize; 2]| Some(([a, b], stage.topology.distance(a, b)?.to_string()));
    let mut collected = Collected {
        placement: Some(placement.clone()),
        hosts: spread.names(),
        experiment: task.name.clone(),
        wait: Some(wait),
        distances: pairs.filter(|[a, b]| a <= b).filter_map(distance).collect(),
        ..Collected::default()
    };
    (of.journal)(Entry::Begun(&collected));
    let mut measure = |launch: u32, table: &mut Measurements| {
        let mut agents = stage.agents.borrow_mut();
        let local = agents.is_empty().then_some((ranks, room.exposed));
        let prepared = Prepared::of(&transports, local).class(Exit::Host)?;
        let undrawn = |error| Failure::new(Exit::Host, format_args!("draw a secret: {error}"));
        let secret = nonce().map_err(undrawn)?;
        let time = of.time.of_launch(launch, options.launches, Instant::now());
        let task = task.after(table).class(Exit::Defect)?;
        let assignments: Vec<Assignment> = (0..ranks)
            .map(|rank| Assignment {
                rank,
                size: ranks,
                launch,
                cpu: placement.cpus.get(rank).copied(),
                // Probes meet in a page that all ranks map.
                probes: !placement.oversubscribed && wait != Wait::Block && agents.is_empty(),
                transports: prepared.transports.clone(),
                bares: prepared.bares.clone(),
                stamped,
                exposed: room.exposed,
                wait,
                clock: stage.clock.report(),
                work: stage.work,
                interface: None,
                library: options.library.clone(),
                environment: options.environment.clone(),
                secret,
                deadline: options.deadline,
                time,
                task: task.clone(),
            })
            .collect();
        let mut show = |done: f64, doing: &str| {
            progress((f64::from(launch) + done) / f64::from(options.launches), doing);
        };
        let descriptors = &prepared.descriptors;
        let groups: Vec<Box<dyn Group + '_>> = match agents.is_empty() {
            true => {
                vec![Box::new(Local::start(&assignments, descriptors)?)]
            }
            false => at_agents(&mut agents, &spread, &assignments, stage, room.memory)?,
        };
        let launch = Launch::of(groups, ranks, options.deadline, &stage.signals);
        let ended = launch.watch((table, &|kept| (of.journal)(Entry::Kept(kept))), &mut show);
        stage.used.borrow_mut().keep(prepared);
        ended
    };
    for launch in which {
        collected.launches = launch + 1;
        if signalled().is_some() {
            collected.ended = Ended::Interrupted;
            break;
        }
        collected.ended = match measure(launch, table) {
            Ok(ended) => ended,
            Err(failure) if table.is_empty() => return Err(failure),
            // Earlier batches are kept.
            Err(failure) => Ended::failed(Some(launch), failure),
        };
        if collected.ended != Ended::Done {
            break;
        }
    }
    Ok(collected)
}

/// Makes all agents start their ranks at the same time.
fn at_agents<'a>(
    agents: &'a mut [Agent],
    spread: &Spread,
    assignments: &[Assignment],
    stage: &Stage,
    memory: usize,
) -> Result<Vec<Box<dyn Group + 'a>>> {
    let addresses = Agent::addresses(agents);
    let mut begun = Vec::new();
    for (host, (agent, address)) in agents.iter_mut().zip(addresses).enumerate() {
        let Hello { clock, work, .. } = agent.hello;
        let own = assignments.iter().filter(|of| spread.by_rank.get(of.rank) == Some(&host));
        let ranks: Vec<Assignment> =
            own.map(|of| Assignment { clock, work, ..of.clone() }).collect();
        let Some(deadline) = ranks.first().map(|of| of.deadline) else { continue };
        let interface = stage.hosts.borrow().as_ref().and_then(|hosts| hosts.interface.clone());
        let begin = Begin { ranks, network: spread.several(), interface, address, memory };
        begun.push(Remote::begin(agent, begin, deadline));
    }
    // Waiting begins once all of them have begun.
    for remote in &mut begun {
        remote.started()?;
    }
    Ok(begun.into_iter().map(|remote| Box::new(remote) as Box<dyn Group + 'a>).collect())
}

/// Measures on a simulated machine, which must have at least `ranks` ranks: as it is, or as these launches of a run with this
/// seed meet it. Virtual time takes what it takes.
///
/// # Errors
/// The machine cannot carry out the task.
pub fn in_virtual_time(
    machine: &Machine,
    launches: Option<(u64, Range<u32>)>,
    (ranks, task): (usize, &Task),
    progress: Progress<'_>,
) -> Result<Collected> {
    let (experiment, varies) = (task.name.clone(), launches.is_some());
    let mut collected = Collected { experiment, varies, ..Collected::default() };
    let (seed, which) = launches.unwrap_or((0, 0..1));
    for launch in which.clone() {
        let own = if varies { &machine.of_launch(seed, launch) } else { machine };
        let task = task.after(&collected.table).class(Exit::Defect)?;
        let part = |done| (f64::from(launch - which.start) + done) / which.len() as f64;
        let mut show = |done, doing: &str| progress(part(done), doing);
        let mut runner = VirtualRunner::new(own, ranks, &mut show);
        (runner.launch, runner.kept) = (launch, collected.table);
        collected.ended = match task.lead(&mut runner) {
            Err(Stop::Interrupted) => Ended::Interrupted,
            other => match other.class(Exit::Input) {
                Ok(()) => Ended::Done,
                Err(failure) if runner.kept.is_empty() => return Err(failure),
                Err(failure) => Ended::failed(None, failure),
            },
        };
        (collected.table, collected.launches) = (runner.kept, launch + 1);
        if collected.ended != Ended::Done {
            break;
        }
    }
    Ok(collected)
}
