//! What a run measured beside what was simulated: rows of times, and a summary of their errors.

use bandgap_record::{Place, Quantity, Row, Rows};
use bandgap_report::{Block, Cell, Head, Table, share, signed_share};

use crate::rows::{spelled, worded};
use crate::shown::Context;

/// The kind of these rows. Their columns are `measured`, `simulated` and `error`, and they have the labels `group`
/// (`fitted` or `predicted`) and `verdict` (`inside`, `outside` or `undecided`).
pub const VALIDATION: &str = "validation";
/// The name of the summary: a row for each group.
pub const SUMMARY: &str = "summary";

/// Whether some point is outside of the tolerance.
pub fn is_outside(rows: &Rows) -> bool {
    rows.rows.iter().any(|row| label(rows, row, "verdict") == "outside")
}

fn label(rows: &Rows, row: &Row, name: &str) -> String {
    rows.label(row, name).map_or(String::new(), Place::to_string)
}

/// The summary, and of each series its worst point.
pub(crate) fn validation(all: &[&Rows], context: &Context<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for rows in all.iter().filter(|rows| rows.name == SUMMARY) {
        let counts = ["points", "inside", "outside", "undecided"];
        let heads = ["RRMSE", "geometric mean", "worst", "at"];
        let heads = [&[""][..], &counts, &heads].concat();
        let mut table = Table::new(heads.into_iter().map(Head::new));
        for row in &rows.rows {
            let count = |name: &&str| Cell::Number(label(rows, row, name));
            let of = |name: &str| rows.cell(row, name).map(|of| of.value.0);
            let mut cells = vec![Cell::from(label(rows, row, "group"))];
            cells.extend(counts.iter().map(count));
            let of_errors = ["rrmse", "geometric_mean"].map(|name| of(name).map(share));
            cells.extend(of_errors.map(|of| of.map(Cell::Number).into()));
            cells.push(of("worst").map(|of| Cell::Number(signed_share(of))).into());
            cells.push(label(rows, row, "worst_at").into());
            table.push(cells);
        }
        let text = |name| rows.labels.get(name).map_or(String::new(), Place::to_string);
        blocks.push(Block::Table(table));
        let verdict = format!("Within {}: {}.", text("tolerance"), text("verdict"));
        blocks.extend([Block::Text(verdict), Block::Gap]);
    }
    let heads = ["", "", "points", "worst at", "measured", "simulated", "error", ""].map(Head::new);
    let mut table = Table::new(heads);
    for rows in all.iter().filter(|rows| rows.name != SUMMARY) {
        let size = |row: &&Row| rows.cell(row, "error").map_or(0.0, |of| of.value.0.abs());
        let worst = rows.rows.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        let Some(row) = worst else { continue };
        let id = rows.row_id(row);
        let cell = |name: &str, of: &Quantity| context.cell(&format!("{id}/{name}"), of);
        let value = |name: &str| rows.cell(row, name).map(|of| cell(name, of)).into();
        let place = rows.axes.iter().zip(&row.place);
        let place = place.map(|(axis, at)| format!("{} {}", spelled(axis), worded(axis, at)));
        let error = rows.cell(row, "error").map(|of| Cell::Number(signed_share(of.value.0)));
        table.push([
            rows.name.replace('_', " ").into(),
            label(rows, row, "group").into(),
            Cell::Number(rows.rows.len().to_string()),
            place.collect::<Vec<_>>().join(", ").into(),
            value("measured"),
            value("simulated"),
            error.into(),
            label(rows, row, "verdict").into(),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks
}
