//! The tables of constants against the headers that are installed.

use std::fmt::Write;
use std::process::Command;

use bandgap_mpi::{Constant, Family};

use crate::installed::{Installed, MPICH, OPEN_MPI, is_here, skipped};

/// A program of C that prints what its header says otherwise.
fn program(family: Family) -> String {
    let of = family.constants();
    let mut checks = String::new();
    let handles = [
        ("MPI_COMM_WORLD", of.world),
        ("MPI_BYTE", of.byte),
        ("MPI_DOUBLE", of.double),
        ("MPI_SUM", of.sum),
        ("MPI_ERRORS_RETURN", of.errors_return),
        ("MPI_STATUS_IGNORE", Constant::Value(of.ignore)),
    ];
    for (name, constant) in handles {
        let value = match constant {
            Constant::Value(value) => format!("(intptr_t){value:#x}"),
            Constant::Symbol(symbol) => format!("(intptr_t)&{}", symbol),
        };
        writeln!(checks, "CHECK({name}, {value})").unwrap();
    }
    for (name, value) in [
        ("MPI_ANY_SOURCE", of.any_source as isize),
        ("MPI_THREAD_SINGLE", 0),
        ("MPI_SUCCESS", 0),
        ("offsetof(MPI_Status, MPI_SOURCE)", of.source_at as isize),
        ("sizeof(MPI_Comm)", if family == Family::Mpich { 4 } else { 8 }),
        ("sizeof(MPI_Status) <= 64", 1),
        ("MPI_MAX_LIBRARY_VERSION_STRING <= 16384", 1),
        ("MPI_MAX_ERROR_STRING <= 2048", 1),
    ] {
        writeln!(checks, "CHECK({name}, {value})").unwrap();
    }
    format!(
        "#include <mpi.h>
        #include <stddef.h>
        #include <stdint.h>
        #include <stdio.h>
        #define CHECK(X, Y) if ((intptr_t)(X) != (intptr_t)(Y)) printf(\"%s\\n\", #X);
        int main(void) {{ {checks} puts(\"compared\"); }}"
    )
}

fn compare(mpi: &Installed) {
    // Debian's compilers come without the headers.
    let included = format!("echo '#include <mpi.h>' | {} -E -x c - > /dev/null 2>&1", mpi.compiler);
    let has_header = || Command::new("sh").args(["-c", &included]).status().unwrap().success();
    if !is_here(mpi.compiler) || !(has_header() || skipped("mpi.h")) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("constants.c"), folder.path().join("constants"));
    std::fs::write(&source, program(mpi.family)).unwrap();
    let compiled = Command::new(mpi.compiler).args(["-w", "-o"]).args([&binary, &source]).status();
    assert!(compiled.unwrap().success());
    let said = Command::new(&binary).output().unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&said).lines().collect::<Vec<_>>(), ["compared"]);
}

#[test]
fn constants_are_those_of_the_header_of_mpich() {
    compare(&MPICH);
}

#[test]
fn constants_are_those_of_the_header_of_open_mpi() {
    compare(&OPEN_MPI);
}
