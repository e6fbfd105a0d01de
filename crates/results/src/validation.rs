//! Renders the comparison of a run with its simulation: a summary of the errors, and the worst points.

use std::collections::BTreeMap;

use bandgap_record::{Row, Rows};
use bandgap_report::{Block, Cell, Head, Table, share, signed_share};

use crate::rows::cell;
use crate::shown::Context;

/// The kind of both results.
pub const VALIDATION: &str = "validation";
/// The name of the result with a row per time. The axis `of` is the time's id in the run; columns are `measured`,
/// `simulated` and `error`; labels are `name`, `group` (`fitted`, `predicted`, or `own` for a simulated run on its own
/// machine) and `verdict` (`inside`, `outside` or `undecided`).
pub const POINTS: &str = "points";
/// The name of the summary by group.
pub const SUMMARY: &str = "summary";

/// The summary by group, or the worst point of each series.
pub(crate) fn validation(rows: &Rows, context: &Context<'_>) -> Vec<Block> {
    let label = |row: &Row, name: &str| rows.label(row, name).map(ToString::to_string);
    let value = |row: &Row, name: &str| rows.cell(row, name).map_or(0.0, |of| of.value.0);
    let text = |name: &str| rows.labels.get(name).map_or(String::new(), ToString::to_string);
    if rows.axis("group").is_some() {
        let counts = ["points", "inside", "outside", "undecided"];
        let heads = [&[""], &counts[..], &["RRMSE", "geometric mean", "worst"]].concat();
        let mut table = Table::new(heads.into_iter().map(Head::new));
        for row in &rows.rows {
            let mut cells = vec![Cell::from(row.place[0].to_string())];
            cells.extend(counts.map(|name| label(row, name).map(Cell::Number).into()));
            cells.extend(["rrmse", "geometric_mean"].map(|of| Cell::Number(share(value(row, of)))));
            cells.push(Cell::Number(signed_share(value(row, "worst"))));
            table.push(cells);
        }
        let verdict = format!("Within {}: {}.", text("tolerance"), text("verdict"));
        return vec![Block::Table(table), Block::Text(verdict), Block::section("worst", "")];
    }
    let mut worst: BTreeMap<String, (u64, &Row)> = BTreeMap::new();
    for row in &rows.rows {
        let (points, known) =
            worst.entry(label(row, "name").unwrap_or_default()).or_insert((0, row));
        *points += 1;
        if value(row, "error").abs() > value(known, "error").abs() {
            *known = row;
        }
    }
    let heads = ["worst of", "points", "measured", "simulated", "error", "", "", "at"];
    let table =
        Table::new(heads.map(Head::new)).with(worst.into_iter().map(|(name, (points, row))| {
            let at = row.place[0].to_string();
            let at = at.split('/').skip_while(|part| *part != rows.transport).skip(1);
            [
                name.replace('_', " ").into(),
                Cell::Number(points.to_string()),
                cell(rows, row, "measured", context),
                cell(rows, row, "simulated", context),
                Cell::Number(signed_share(value(row, "error"))),
                label(row, "verdict").into(),
                label(row, "group").into(),
                at.collect::<Vec<_>>().join(" ").into(),
            ]
        }));
    vec![Block::Table(table)]
}
