//! What is read of files, and which line of them is refused.

mod inputs;
mod tables;
mod tools;
mod variants;

use std::fs;
use std::path::Path;

use bandgap_import::{Choice, Remark, SizeTable, TableError, read_size_table};

fn text(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs").join(name);
    fs::read_to_string(file).expect("an input")
}

fn read(text: &str) -> Result<SizeTable, TableError> {
    read_size_table(text.as_bytes(), &Choice::default())
}

#[track_caller]
fn table(text: &str) -> SizeTable {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[track_caller]
fn remarks(text: &str) -> Vec<Remark> {
    table(text).remarks
}

/// Sizes and microseconds.
fn times(table: &SizeTable) -> Vec<(u64, f64)> {
    let micro = |ns: f64| (ns * 1e3).round() / 1e6;
    table.rows.iter().map(|row| (row.bytes, micro(row.time_ns))).collect()
}

/// The line that is refused, and why.
#[track_caller]
fn why(text: &str) -> (u64, String) {
    match read(text) {
        Err(TableError::Line(line, why)) => (line, why),
        other => panic!("{other:?}\n{text}"),
    }
}

#[track_caller]
fn refused(text: &str) -> u64 {
    why(text).0
}
