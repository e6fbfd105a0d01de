//! Ranks under their own launchers, and under those of others.

use std::time::Duration;

use crate::installed::{ALL, Installed, MPICH, OPEN_MPI, is_here};

/// More ranks than cores spin, within MPI.
const LONG: Duration = Duration::from_secs(100);
/// A wrong pair says so at once.
const SHORT: Duration = Duration::from_secs(20);

/// The library is not named: it is found.
fn passes(mpi: &Installed, ranks: usize, what: &str) {
    if !is_here(mpi.launcher) {
        return;
    }
    let (ended, lines) = mpi.start(ranks, &[what]).end(LONG);
    assert!(ended);
    let right = lines.iter().find_map(|line| line.strip_prefix("right: ")).unwrap();
    let [size, name, family] = right.split(", ").collect::<Vec<_>>()[..] else {
        panic!("{right}");
    };
    assert_eq!((size, family), (&*format!("{ranks} ranks"), &*format!("{:?}", mpi.family)));
    assert!(name.starts_with(mpi.name), "{name}");
}

#[test]
fn every_operation_of_the_library_between_2_ranks() {
    ALL.into_iter().for_each(|mpi| passes(mpi, 2, "library"));
}

#[test]
fn every_operation_of_the_library_between_4_ranks() {
    ALL.into_iter().for_each(|mpi| passes(mpi, 4, "library"));
}

#[test]
fn active_messages_there_and_back_and_from_many_to_one() {
    for ranks in [2, 4] {
        ALL.into_iter().for_each(|mpi| passes(mpi, ranks, "messages"));
    }
}

/// What each of two ranks finds below the library.
fn inside(mpi: &Installed, found: &str) {
    if is_here(mpi.launcher) {
        let (_, lines) = mpi.start(2, &["inside", mpi.library]).end(LONG);
        let said: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("inside: ")).collect();
        assert_eq!(said, [found; 2], "{lines:?}");
    }
}

#[test]
fn stamps_inside_are_counted_exactly_and_leave_nothing() {
    const POSIX: &[(&str, &str)] = &[("UCX_TLS", "posix,self")];
    const TCP: &[(&str, &str)] = &[("UCX_TLS", "tcp,self")];
    // UCP opens more interfaces than it keeps.
    const CLOSED: &[(&str, &str)] = &[
        ("UCX_TLS", "tcp,posix,sysv,self"),
        ("UCX_UNIFIED_MODE", "y"),
        ("MALLOC_PERTURB_", "165"),
    ];
    for ucx in [POSIX, TCP, CLOSED] {
        inside(&Installed { environment: ucx, ..MPICH }, "callback");
        inside(&Installed { environment: ucx, ..OPEN_MPI }, "no callback");
    }
    inside(&Installed { environment: &[("OMPI_MCA_pml", "ob1")], ..OPEN_MPI }, "elsewhere");
}

/// Each of two ranks says who started how many of them, and how many the library sees.
fn refuses(launcher: &Installed, library: &Installed, by: &str, seen: &str) {
    if !is_here(launcher.launcher) || !is_here(library.launcher) {
        return;
    }
    let (_, lines) = launcher.start(2, &["library", library.library]).end(SHORT);
    let said = lines.iter().filter_map(|line| line.strip_prefix("wrong launcher: "));
    let said: Vec<_> = said.map(|said| said.split(", ").collect::<Vec<_>>()).collect();
    assert_eq!(said.len(), 2, "{lines:?}");
    for said in said {
        assert_eq!([said[0], said[1], said[3]], [by, "2", seen]);
        assert!(said[2].starts_with(library.name), "{said:?}");
    }
}

#[test]
fn mpich_under_the_mpirun_of_open_mpi_is_refused() {
    refuses(&OPEN_MPI, &MPICH, "Open MPI's mpirun", "None");
}

#[test]
fn open_mpi_under_the_mpiexec_of_mpich_is_refused() {
    refuses(&MPICH, &OPEN_MPI, "mpiexec (hydra)", "Some(1)");
}
