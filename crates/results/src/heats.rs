//! Heat maps of pairs of ranks.

use std::iter::repeat;

use bandgap_record::{Place, Row, Rows};
use bandgap_report::Heat;

/// The name of rows of pairs.
pub const PAIRS: &str = "pairs";

/// A heat map of each column.
pub fn heats(rows: &Rows, title: &str) -> Vec<Heat> {
    let names = names(rows);
    let map = |at: usize| Heat {
        title: format!("{title}: {}", rows.columns[at].name),
        names: names.clone(),
        unit: rows.columns[at].unit,
        cells: rows
            .rows
            .iter()
            .filter_map(|row| Some((ends(rows, row)?, row.cells[at].as_ref()?.value.0)))
            .filter(|(_, value)| *value > 0.0)
            .collect(),
    };
    (0..rows.columns.len()).map(map).collect()
}

fn ends(rows: &Rows, row: &Row) -> Option<[usize; 2]> {
    let at = |axis| rows.place(row, axis).and_then(Place::number).map(|rank| rank as usize);
    Some([at("from")?, at("to")?])
}

/// The ranks, each with its host where there are several.
fn names(rows: &Rows) -> Vec<String> {
    let mut names = Vec::new();
    for row in &rows.rows {
        let Some(ends) = ends(rows, row) else { continue };
        let hosts = rows.label(row, "hosts").map_or_else(String::new, ToString::to_string);
        for (rank, host) in ends.into_iter().zip(hosts.split(" - ").chain(repeat(""))) {
            names.resize(names.len().max(rank + 1), String::new());
            names[rank] = format!("{rank} {host}").trim_end().to_owned();
        }
    }
    names
}
