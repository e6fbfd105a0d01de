//! The installed MPI as a transport.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;

use bandgap_comm::{Can, CommError, Rendezvous, Result};
use bandgap_fabric::Ucx;
use bandgap_host::ClockSource;
use bandgap_kernels::{Added, Entry};
use bandgap_mpi::{OVER_UCX, World, command, find, start};
use bandgap_tagged::Fabric;
use bandgap_units::Library;

use crate::foreign::{self, Foreign};
use crate::inside::{self, Learnt};
use crate::machine::{Machine, Parts};
use crate::stamped::StampedEnd;

/// Most ranks.
const RANKS: usize = 4096;

/// The transport's name on the command line and in run files.
pub const NAME: &str = "mpi";
/// A short description.
pub const MEANING: &str = "the MPI that is installed, found at run time";

/// Prefixes of the variables that configure Open MPI and the layers below it.
const OF_OPEN_MPI: [&str; 3] = ["OMPI_MCA_", "UCX_", "FI_"];
/// Those of MPICH, and of what descends from it.
const OF_MPICH: [&str; 5] = ["MPICH_", "MPIR_CVAR_", "I_MPI_", "UCX_", "FI_"];
/// Prefixes of those that a launcher sets for each job, or for its own options.
const OF_JOBS: [&str; 12] = [
    "OMPI_MCA_hwloc_base_binding_policy",
    "OMPI_MCA_rmaps_base_oversubscribe",
    "OMPI_MCA_PREFIXES",
    "OMPI_MCA_cpu_type",
    "OMPI_MCA_num_procs",
    "OMPI_MCA_orte_",
    "OMPI_MCA_ess",
    "OMPI_MCA_pmix",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_mpi_oversubscribe",
    "OMPI_MCA_shmem_RUNTIME",
    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
];

/// The transport's abilities.
pub const CAN: Can = Can {
    ranks: RANKS,
    hosts: true,
    launcher: true,
    once: true,
    messages: true,
    collectives: true,
    library: Some("--mpi-lib"),
    ..Can::USUAL
};

/// Connects this rank.
///
/// # Errors
/// There is no MPI, it refused, or it numbers the ranks differently.
pub fn connect(
    _inherited: Vec<OwnedFd>,
    exposed: usize,
    meeting: &mut Rendezvous<'_>,
    parts: Parts,
) -> Result<Box<dyn Machine>> {
    let world = match WORLD.with_borrow(Clone::clone) {
        Some(world) => world,
        None => start(find(meeting.library)?, meeting.stamped)?,
    };
    WORLD.set(Some(Rc::clone(&world)));
    let [there, size] = [world.rank, world.size];
    if [there, size] != [meeting.rank, meeting.size] {
        let (rank, ranks) = (meeting.rank, meeting.size);
        let what = format!("be rank {rank} of {ranks}: MPI says {there} of {size}");
        return Err(CommError::SetUp(what.into()));
    }
    Ok(Box::new(Foreign::of(world, exposed, parts, described)?))
}

/// Connects this rank's end that takes stamps inside the library.
///
/// # Errors
/// MPI was started without them, or refused.
pub fn stamped(_: &mut Rendezvous<'_>, parts: Parts) -> Result<StampedEnd> {
    let world = WORLD.with_borrow(Clone::clone).filter(|world| world.inside().is_some());
    let clock = parts.clock;
    let counts = clock.report().source == ClockSource::CycleCounter;
    let Some(world) = world.filter(|_| counts) else {
        let what = "stamp inside MPI: this process began without stamps, or has no cycle counter";
        return Err(CommError::SetUp(what.into()));
    };
    let (mut rank, learnt) = (Foreign::of(world, 0, parts, described)?, Learnt::default());
    Ok(Box::new(move |order| inside::run(&mut rank, &clock, &learnt, order)))
}

thread_local! {
    /// The MPI of this process, which can be initialised only once.
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// Finalises MPI, if it was initialised. All ranks do so once their machines have ended.
///
/// # Errors
/// MPI refused.
pub fn finalize() -> Result<()> {
    Ok(WORLD.take().map_or(Ok(()), World::finalize)?)
}

/// Adds this transport to those that a kernel is compiled for.
pub fn on<E: Entry>(kernel: Added) -> Added {
    foreign::on::<E, World>(kernel)
}

fn described(world: &World) -> Library {
    let of = &world.loaded;
    let named = [of.name(), of.version.trim().to_owned()];
    let begins = |name: &str, all: &[&str]| all.iter().any(|with| name.starts_with(with));
    let is_its = |name: &str| begins(name, variables(&of.version)) && !begins(name, &OF_JOBS);
    let described = Library::of(named, &of.path, is_its);
    // What Open MPI does not use it has closed again.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let sends_with = sends_with(&described, &maps);
    // What is mapped need not be used.
    let is_over = sends_with.as_ref().is_some_and(|with| with.contains("ucx"));
    let ucx = of.fabrics().into_iter().find(|file| is_over && file.contains("libucp"));
    let facts = ucx.iter().flat_map(|file| Ucx::below(Path::new(file))).collect();
    Library { launcher: command(), sends_with, facts, ..described }
}

fn variables(version: &str) -> &'static [&'static str] {
    if version.contains("Open MPI") { &OF_OPEN_MPI } else { &OF_MPICH }
}

/// MPICH's device, or the layer of Open MPI among the files of this process, else what it was told to use: without that
/// it would not have begun.
fn sends_with(of: &Library, maps: &str) -> Option<String> {
    let device = of.version.split_whitespace().find(|word| word.starts_with("ch4:"));
    let loaded = |what: &str| {
        let (_, name) = maps.split_once(&format!("/mca_{what}_"))?;
        let name = name.split_once(".so").map(|(name, _)| name)?;
        Some(format!("{what} {name}"))
    };
    let told = |what| Some(format!("{what} {}", of.environment.get(&format!("OMPI_MCA_{what}"))?));
    // Messages of the layer cm go over another one.
    let pml = || loaded("pml").filter(|of| of != "pml cm");
    let found = device.map(str::to_owned).or_else(pml).or_else(|| loaded("mtl"));
    found.or_else(|| told("pml")).or_else(|| told("mtl"))
}

/// The variables with which an MPI sends over this transport, if that is UCX or a way of it.
pub fn over(transport: &str) -> Vec<(String, String)> {
    let (name, way) = transport.split_once(':').unwrap_or((transport, ""));
    if name != Ucx::NAME {
        return Vec::new();
    }
    let only = format!("{way},self");
    let way = (!way.is_empty()).then_some(("UCX_TLS", &*only));
    OVER_UCX
        .into_iter()
        .chain(way)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Whether this MPI is known to have sent over UCX with these variables.
pub fn is_over(of: &Library, variables: &[(String, String)]) -> bool {
    let is_ucx = matches!(of.sends_with.as_deref(), Some("pml ucx" | "ch4:ucx"));
    let begins = self::variables(&of.version);
    let mut its = variables.iter().filter(|of| begins.iter().any(|with| of.0.starts_with(with)));
    is_ucx && its.all(|(name, value)| of.environment.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(version: &str, variables: &[(String, String)]) -> Library {
        let environment = variables.iter().cloned().collect();
        let of = Library { version: version.to_owned(), environment, ..Library::default() };
        Library { sends_with: sends_with(&of, ""), ..of }
    }

    #[test]
    fn what_open_mpi_sends_with_is_the_layer_that_it_kept_open() {
        let open_mpi = library("Open MPI v4.1.4", &[("OMPI_MCA_pml".into(), "ob1,ucx".into())]);
        let line = |of: &str| format!("7f-80 r-xp 00 /usr/lib/openmpi3/mca_{of}.so\n");
        let of = |all: &[&str]| {
            sends_with(&open_mpi, &all.iter().map(|of| line(of)).collect::<String>())
        };
        assert_eq!(of(&["btl_vader", "pml_ob1", "pml_ob1"]).as_deref(), Some("pml ob1"));
        assert_eq!(of(&["mtl_ofi", "pml_cm"]).as_deref(), Some("mtl ofi"));
        assert_eq!(of(&[]).as_deref(), Some("pml ob1,ucx"));
    }

    #[test]
    fn an_mpi_adds_something_to_ucx_only_where_it_is_known_to_send_over_it() {
        let posix = over("ucx:posix");
        let has = |of: &[(String, String)], name: &str| of.iter().any(|(known, _)| known == name);
        assert!(posix.contains(&("UCX_TLS".to_owned(), "posix,self".to_owned())));
        assert!(has(&over("ucx"), "OMPI_MCA_pml") && !has(&over("ucx"), "UCX_TLS"));
        assert!(over("tcp").is_empty() && over("ofi:tcp").is_empty());
        let [open_mpi, mpich] = ["Open MPI v4.1.4", "MPICH Version: 4.0.2 MPICH Device: ch4:ucx"];
        for (version, sends_with) in [(open_mpi, "pml ucx"), (mpich, "ch4:ucx")] {
            let of = library(version, &posix);
            assert_eq!(of.sends_with.as_deref(), Some(sends_with));
            assert!(is_over(&of, &posix) && !is_over(&of, &over("ucx:tcp")), "{version}");
            // Each of its own is needed.
            for left_out in 0..posix.len() {
                let rest = [&posix[..left_out], &posix[left_out + 1..]].concat();
                let is_its = variables(version).iter().any(|of| posix[left_out].0.starts_with(of));
                let of = Library { sends_with: of.sends_with.clone(), ..library(version, &rest) };
                assert_eq!(is_over(&of, &posix), !is_its, "{version}: {left_out}");
            }
        }
        let other = library("MPICH Device: ch4:ofi", &posix);
        assert!(other.sends_with.as_deref() == Some("ch4:ofi") && !is_over(&other, &posix));
        assert_eq!(library("Intel(R) MPI Library 2021.18", &[]).sends_with, None);
    }
}
