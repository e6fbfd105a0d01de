//! Adopts processes that mpirun, mpiexec, srun or the user started. The first process is the launcher, the first on each
//! host is the agent there, and the others wait for the end.

use std::cell::Cell;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use bandgap_mpi::find;
use bandgap_socket::star::{Centre, call};

use crate::agents::Gathered;
use crate::divide::{divide, run_on};
use crate::failure::lost;
use crate::meet::{Meeting, Way, manager, variable, way};
use crate::message::Channel;
use crate::protocol::{ProcessRole, Who};
use crate::{Exit, Failure, Result, Transport, agent, elsewhere};

/// Longest wait for the process that ran this process's launcher.
const JOINING: Duration = Duration::from_secs(30);
/// A wait for the other processes after which the user is told of it.
const LONG: Duration = Duration::from_secs(2);

/// A name; the variables that show that it started this process; those with the rank and the number of processes; and one
/// without which the processes cannot meet, except by `BANDGAP_JOIN`.
type Starter = (&'static str, &'static [&'static str], &'static str, &'static str, &'static str);

/// What starters without a variable for it do not tell.
const NUMBER: &str = "the number of processes";

/// Starters of processes, the most specific first.
const STARTERS: [Starter; 10] = [
    (USER, &["BANDGAP_RANK"], "BANDGAP_RANK", "BANDGAP_SIZE", "BANDGAP_JOIN"),
    (USER, &["BANDGAP_SIZE"], "BANDGAP_RANK", "BANDGAP_SIZE", "BANDGAP_JOIN"),
    ("jsrun", &["JSM_NAMESPACE_RANK"], "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", NAMESPACE),
    ("Open MPI's mpirun", &[OPEN_MPI], OPEN_MPI, "OMPI_COMM_WORLD_SIZE", OPEN_MPI),
    // A batch script has the first variable, but no step.
    ("srun", &["SLURM_PROCID", STEP], "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", STEP),
    ("PALS", &["PALS_RANKID"], "PALS_RANKID", "PMI_SIZE", "PALS_APID"),
    ("mpiexec", &["PMI_RANK"], "PMI_RANK", "PMI_SIZE", "PMI_FD"),
    ("mpirun_rsh", &["MV2_COMM_WORLD_RANK"], "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", JOIN),
    ("a launcher with PMIx", &["PMIX_RANK"], "PMIX_RANK", NUMBER, NAMESPACE),
    (USER, &[JOIN], "BANDGAP_RANK", "BANDGAP_SIZE", JOIN),
];
const USER: &str = "BANDGAP_RANK";
const JOIN: &str = "BANDGAP_JOIN";
const OPEN_MPI: &str = "OMPI_COMM_WORLD_RANK";
const STEP: &str = "SLURM_STEP_ID";
const NAMESPACE: &str = "PMIX_NAMESPACE";

/// The starters that have started this process, by the environment.
fn shown(set: impl Fn(&str) -> Option<String>) -> impl Iterator<Item = &'static Starter> {
    STARTERS.iter().filter(move |(_, by, ..)| by.iter().all(|name| set(name).is_some()))
}

/// How to run the program alone although somebody started several processes.
fn alone() -> String {
    let unset: Vec<String> = shown(variable).map(|(_, by, ..)| format!("-u {}", by[0])).collect();
    format!("to run alone: env {} bandgap …", unset.join(" "))
}

/// This process, as one of several that somebody else started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// Who started them.
    pub by: &'static str,
    /// The rank of this process.
    pub rank: usize,
    /// Number of processes, at least two.
    pub size: usize,
    /// What keeps them from meeting.
    lacks: Option<&'static str>,
}

impl Adopted {
    /// Detects from the environment whether this process is one of several.
    pub fn found() -> Option<Self> {
        Self::one_of(2, variable)
    }

    /// The first of the processes that this starter had started in an earlier run.
    pub fn earlier(by: &str, size: usize) -> Option<Self> {
        let &(by, ..) = STARTERS.iter().find(|(known, ..)| *known == by)?;
        Some(Self { by, rank: 0, size, lacks: None })
    }

    /// As [`Self::found`], if there are at least `least` processes or nothing tells how many.
    fn one_of(least: usize, set: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| set(name)?.trim().parse::<usize>().ok();
        let of = |&(by, _, rank, size, meet): &Starter| {
            let (at, of) = (number(rank), number(size));
            let wrong = [
                (at.is_none_or(|at| of.is_some_and(|of| at >= of)), rank),
                (of.is_none(), size),
                (set(meet).or_else(|| set(JOIN)).is_none(), meet),
            ];
            let lacks = wrong.iter().find(|(wrong, _)| *wrong).map(|(_, name)| *name);
            Self { by, rank: at.unwrap_or(0), size: of.unwrap_or(least), lacks }
        };
        // What the user says counts, whole or not.
        let counts = |of: &Self| of.lacks.is_none() || of.by == USER;
        let found = shown(&set).map(of).find(counts).or_else(|| shown(&set).map(of).next());
        found.filter(|found| found.size >= least)
    }

    /// The transport whose own launcher started these processes, if they can initialise its library.
    pub fn transport(&self, library: Option<&Path>) -> Option<Transport> {
        let managed = ["PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"];
        let managed = managed.iter().any(|name| std::env::var_os(name).is_some());
        let found = managed && std::env::var_os("BANDGAP_JOIN").is_none() && find(library).is_ok();
        Transport::named().find(|transport| found && transport.can.launcher)
    }

    /// Refuses more ranks than there are processes, and processes that cannot meet.
    ///
    /// # Errors
    /// `ranks` is greater than the number of processes, or something is missing.
    pub fn check(&self, ranks: usize) -> Result<()> {
        if let Some(lacks) = self.lacks {
            let set =
                "set BANDGAP_JOIN=HOST:PORT of rank 0, BANDGAP_SECRET_FILE, BANDGAP_RANK and _SIZE";
            let what =
                elsewhere!("join the other processes ({}): {lacks} is missing or wrong", self.by);
            return Err(what.hint(format_args!("{set}; {}", alone())));
        }
        if ranks <= self.size {
            return Ok(());
        }
        Err(elsewhere!("run {ranks} ranks: of processes, {} has started {}", self.by, self.size)
            .hint("start more processes, or use fewer --ranks"))
    }

    /// Takes part as a process other than the first. `apart`: each process has a rank of its own.
    ///
    /// # Errors
    /// The first process is not there, or was lost.
    pub fn join(&self, apart: bool, deadline: Duration) -> Result<()> {
        let until = Instant::now() + deadline;
        let met = way(self.by, self.size, apart).and_then(|way| way.look_up(until));
        let joined = met.and_then(|(meeting, _kept)| self.called(meeting, self.rank, until));
        joined.map_err(|of| Failure { what: format!("{} (process {})", of.what, self.rank), ..of })
    }

    /// Asks the process manager, if it can, to end the other processes because the first one ends.
    pub fn abandon(&self, exit: Exit) {
        if let Some(mut manager) = manager().filter(|_| self.by == "mpiexec") {
            // A manager that is gone need not be told.
            let _ = manager.write_all(format!("cmd=abort exitcode={}\n", exit.code()).as_bytes());
        }
    }

    /// Joins the process that ran this process's launcher and wrote its address to the file `place`.
    ///
    /// # Errors
    /// That process is gone, or no launcher started this one.
    pub fn join_outside(place: &Path) -> Result<()> {
        let adopted = Self::one_of(1, variable)
            .ok_or_else(|| elsewhere!("join a run: no launcher has started this process"))?;
        let until = Instant::now() + JOINING;
        let (meeting, _) = Way::Shared(vec![place.to_owned()]).look_up(until)?;
        adopted.called(meeting, adopted.rank + 1, until)
    }

    fn called(&self, meeting: Meeting, number: usize, until: Instant) -> Result<()> {
        let Meeting { addresses, secret } = meeting;
        let stream = call(&addresses, number, secret, until).map_err(lost)?;
        let mut channel = Channel::new(stream);
        channel.send(&Who::here()).map_err(lost)?;
        channel.await_until(until).map_err(lost)?;
        match channel.receive().map_err(lost)? {
            Some(ProcessRole::Agent(cpus)) => {
                run_on(&cpus);
                agent::over(channel)
            }
            Some(ProcessRole::Idle) => {
                // Whatever arrives means the end.
                let _ = channel.receive::<()>();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Gathers the other processes, as the first one. The first `needed` processes get ranks. `apart`: each process has a
    /// rank of its own, as MPI requires; otherwise the processes of a host share one agent. Tells of a
    /// long wait.
    ///
    /// # Errors
    /// Not all processes joined in time.
    pub fn gather(&self, needed: usize, apart: bool, deadline: Duration) -> Result<Gathered> {
        let until = Instant::now() + deadline;
        let way = way(self.by, self.size, apart)?;
        let centre = Centre::listen(way.port(), false).map_err(lost)?;
        let port = centre.port().map_err(lost)?;
        let mut published = way.publish(port, until)?;
        let kept = published.kept.take();
        let hint = format!("do all processes run bandgap with the same command? {}", alone());
        let long = Cell::new(Some(Instant::now() + LONG));
        let tell = || {
            if long.get().is_some_and(|at| Instant::now() > at) {
                long.set(None);
                eprintln!("bandgap: waits for the {} processes of {}; {hint}", self.size, self.by);
            }
            false
        };
        let streams = centre.wait(published.secret, self.size, until, &tell);
        let streams = streams.map_err(|error| lost(error).hint(&hint))?;
        drop(published);
        let (hosts, agents, idle) = divide(Some(Who::here()), needed, apart, streams, until)?;
        let hosts = Some(hosts).filter(|hosts| hosts.places.len() > 1);
        Ok(Gathered { hosts, agents, idle, kept })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Adopted> {
        let all: BTreeMap<&str, &str> = variables.iter().copied().collect();
        Adopted::one_of(2, |name| all.get(name).map(|value| (*value).to_owned()))
    }

    #[test]
    fn who_started_it_is_seen_in_the_environment() {
        let by = |variables: &[(&str, &str)]| of(variables).map(|of| (of.by, of.rank, of.size));
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
        assert_eq!(by(&open_mpi), Some(("Open MPI's mpirun", 1, 2)));
        let hydra = [("PMI_RANK", "3"), ("PMI_SIZE", "4"), ("PMI_FD", "8")];
        assert_eq!(by(&hydra), Some(("mpiexec", 3, 4)));
        let step = [
            ("SLURM_PROCID", "1"),
            ("SLURM_NTASKS", "8"),
            ("SLURM_STEP_ID", "0"),
            ("SLURM_STEP_NUM_TASKS", "2"),
        ];
        assert_eq!(by(&step), Some(("srun", 1, 2)));
        // Slurm's PMI-2 sets both, but srun is the starter.
        assert_eq!(by(&[&step[..], &hydra].concat()).map(|of| of.0), Some("srun"));
        assert!(of(&step).unwrap().check(2).is_ok());
        // A batch script is not a step, and a single process is not adopted.
        assert_eq!(by(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
        assert_eq!(by(&[("PMI_RANK", "0"), ("PMI_SIZE", "1"), ("PMI_FD", "8")]), None);
        let own = [("BANDGAP_RANK", "0"), ("BANDGAP_SIZE", "2"), ("BANDGAP_JOIN", "a:4000")];
        assert_eq!(by(&[&own[..], &open_mpi].concat()).map(|of| of.0), Some("BANDGAP_RANK"));
    }
    #[test]
    fn processes_that_cannot_meet_are_refused_with_what_is_missing() {
        let refused = |variables: &[(&str, &str)], missing: &str| {
            let failure = of(variables).unwrap().check(2).unwrap_err();
            assert_eq!(failure.exit, crate::Exit::Remote);
            assert!(failure.what.contains(missing), "{}", failure.what);
        };
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
        let own = [("BANDGAP_RANK", "0"), ("BANDGAP_SIZE", "2")];
        // What the user has set counts, whatever else is set.
        refused(&[&own[..], &open_mpi].concat(), "BANDGAP_JOIN");
        refused(&[("BANDGAP_SIZE", "2"), ("BANDGAP_JOIN", "a:1")], "BANDGAP_RANK");
        refused(&[("BANDGAP_JOIN", "a:1")], "BANDGAP_RANK");
        refused(&[("BANDGAP_RANK", "1"), ("BANDGAP_JOIN", "a:1")], "BANDGAP_SIZE");
        refused(&[("BANDGAP_RANK", "2"), own[1], ("BANDGAP_JOIN", "a:1")], "BANDGAP_RANK");
        let pals = [("PALS_RANKID", "1"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        refused(&pals, "PALS");
        refused(&pals[1..], "PMI_FD");
        refused(&[("PMI_RANK", "4"), ("PMI_SIZE", "4"), ("PMI_FD", "8")], "PMI_RANK");
        refused(&[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "a")], "number");
        refused(&[("JSM_NAMESPACE_RANK", "0"), ("JSM_NAMESPACE_SIZE", "2")], "jsrun");
        // Whoever says where rank 0 is needs nothing else of them; nor do those that tell all.
        for more in [("BANDGAP_JOIN", "a:1"), ("PALS_APID", "7"), ("PMI_FD", "8")] {
            assert!(of(&[&pals[..], &[more]].concat()).unwrap().check(2).is_ok(), "{more:?}");
        }
        assert!(of(&open_mpi).unwrap().check(2).is_ok());
        assert_eq!(of(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
    }
}
