//! Files that are an MPI, and files that are none.

use std::path::Path;
use std::process::Command;

use bandgap_mpi::{Loaded, MpiError, everywhere, find};

use crate::installed::{ALL, is_here};

#[test]
fn what_is_installed_is_found_with_its_launcher() {
    for mpi in ALL.into_iter().filter(|mpi| is_here(mpi.launcher)) {
        let mut all: Vec<Loaded> = Vec::new();
        for found in everywhere().iter().filter_map(|path| Loaded::open(path).ok()) {
            if all.iter().all(|other| other.path != found.path) {
                all.push(found);
            }
        }
        let one = all.iter().find(|one| one.family == mpi.family).unwrap();
        assert!(one.name().starts_with(mpi.name), "{one:?}");
        assert!(one.version.contains(one.name().rsplit(' ').next().unwrap()), "{one:?}");
        assert!(!one.version.contains('\0'));
        let launcher = one.launcher().unwrap();
        assert_eq!(launcher.file_name().unwrap(), mpi.launcher);
        assert_eq!(Loaded::open(&one.path).unwrap().version, one.version);
        assert_eq!(all.iter().filter(|other| other.path == one.path).count(), 1);
        // By its name, as the loader finds it.
        assert_eq!(find(Some(Path::new(mpi.library))).unwrap().family, mpi.family);
    }
}

#[test]
fn what_is_no_mpi_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let open = |path: &Path| Loaded::open(path).unwrap_err();
    let missing = folder.path().join("libmpi.so.12");
    let own = std::fs::read("/proc/self/exe").unwrap();
    // The loader would map a file whose end is missing, and its user would end by SIGBUS.
    let cut = file("cut.so", &own[..own.len() / 2]);
    for path in [missing, file("text.so", b"no library"), file("empty.so", b""), cut] {
        assert!(matches!(open(&path), MpiError::Open(error) if error.path == path));
    }
    // This program, for another machine, and for another class.
    let [machine, class] = [(18, 8), (4, 1)].map(|(at, value)| {
        let mut other = own.clone();
        other[at] = value;
        let MpiError::Open(error) = open(&file("other.so", &other)) else { panic!() };
        error.reason
    });
    // The loader has a message of its own for each.
    assert_eq!(machine, class);
    let error = open(Path::new("libm.so.6"));
    assert!(
        matches!(error, MpiError::NoSymbol { symbol: "MPI_Get_library_version", .. }),
        "{error}"
    );
}

#[test]
fn an_mpi_of_another_interface_is_refused_by_its_name() {
    if !is_here("cc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("fancy.c"), folder.path().join("libfancy.so"));
    let text = "#include <string.h>
        int MPI_Get_library_version(char *at, int *len) {
            memcpy(at, \"Fancy MPI 1.0\\0\\0\", 15); *len = 15; return 0;
        }
        int MPI_Abi_get_version(int *major, int *minor) { *major = *minor = -1; return 0; }";
    std::fs::write(&source, text).unwrap();
    let cc = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(cc.unwrap().success());
    match Loaded::open(&library).unwrap_err() {
        MpiError::UnknownAbi { version, path } => {
            assert_eq!((version.as_str(), path), ("Fancy MPI 1.0", library));
        }
        other => panic!("{other}"),
    }
}
