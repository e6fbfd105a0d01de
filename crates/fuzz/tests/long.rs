//! A table of very many lines, which is made here since no corpus should hold it.

use std::fmt::Write;

use bandgap_fuzz::{Verdict, target, try_one};

/// Rows of a table that once took two seconds, since something was made anew for each line.
const ROWS: usize = 119_000;

/// Only the processor's time for this thread counts, the least of three: what else a machine does is no fault of a reader.
#[test]
fn a_table_of_very_many_short_rows_is_read_in_time() {
    let mut table = "kind,messages,delay_ns,elapsed_ns\n".to_owned();
    for row in 0..ROWS {
        writeln!(table, "issue,{},0,{}.5", 1 + row % 9, row % 100).unwrap();
    }
    let logp = try_one(target("logp-table").unwrap(), table.as_bytes());
    assert_eq!((logp.verdict, logp.fault), (Some(Verdict::Accepted), None), "{:?}", logp.took);
    // Reads it once, and fits the first rows only.
    let fit = try_one(target("fit-logp").unwrap(), table.as_bytes());
    assert_eq!(fit.fault, None, "{:?}", fit.took);
}
