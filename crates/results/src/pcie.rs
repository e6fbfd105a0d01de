//! What a PCIe analyser's trace says, in short.

use bandgap_record::{Row, Rows};
use bandgap_report::Block;

use crate::rows::table;
use crate::shown::Context;

/// The kind of rows that are of a trace: the times between its packets, each with its spread, and what follows from
/// them.
pub const PCIE_TRACE: &str = "pcie_trace";

/// What follows from a trace; nothing of one from which nothing does.
pub(crate) fn derived(rows: &Rows, context: &Context<'_>) -> Option<Block> {
    let some: Vec<&Row> = rows.rows.iter().filter(|row| row.spread.is_none()).collect();
    (!some.is_empty()).then(|| Block::Table(table(rows, &some, context)))
}
