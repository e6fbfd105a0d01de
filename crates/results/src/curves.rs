//! One series on one screen: some of its rows, or some of its curves side by side.

use bandgap_record::{Row, Rows, Unit};
use bandgap_report::{Block, Cell, Head, Table, signed_share};

use crate::pairs::pairs;
use crate::rows::{
    Curve, PAIRS, along, cell, curves, evenly, fit, head, place_cell, spelled, table,
};
use crate::shown::Context;

/// Rows of one series on a screen, at most, and of one kernel of an application.
pub(crate) const MOST: usize = 9;
const FEW: usize = 5;
/// The series with most rows: PARKBENCH's, and transfers.
const LONG: [&str; 6] = ["comms1", "comms2", "comms3", "synch1", "bulk_store", "bulk_get"];
/// Curves side by side, at most.
pub(crate) const SIDE_BY_SIDE: usize = 4;

/// One series: some of its rows, the others counted.
pub fn curve(rows: &Rows, context: &Context<'_>) -> Vec<Block> {
    match rows.name.as_str() {
        PAIRS => return pairs(rows, context),
        "overlap" => return side_by_side(rows, "hidden", context),
        "contention" => return contention(rows, context),
        _ => {}
    }
    let Some(axis) = along(rows) else { return side_by_side(rows, "time", context) };
    let all = curves(rows, axis);
    let [one] = &all[..] else { return side_by_side(rows, "time", context) };
    let blocks = [single(rows, (axis, one), context)].into_iter();
    blocks.chain(rest(rows, &all, "time")).collect()
}

/// What is left out of a table, where something is.
fn rest(rows: &Rows, of: &[Curve<'_>], column: &str) -> Option<Block> {
    let shown = |of: &Curve<'_>| chosen(&of.rows, most(rows)).len();
    let shown: usize = of.iter().take(SIDE_BY_SIDE).map(shown).sum();
    let at = rows.column(column);
    let has = |row: &&Row| at.is_none_or(|at| row.cells[at].is_some());
    let more = rows.rows.iter().filter(has).count().saturating_sub(shown);
    (more > 0).then(|| Block::Text(format!("{more} more in -v")))
}

/// How many rows of a series are shown.
fn most(rows: &Rows) -> usize {
    if LONG.contains(&&*rows.name) { MOST } else { FEW }
}

/// So many rows: at both ends and at powers of eight between, or else evenly spread.
fn chosen<'a>(all: &[(u64, &'a Row)], most: usize) -> Vec<(u64, &'a Row)> {
    if all.len() <= most {
        return all.to_vec();
    }
    let last = all.len() - 1;
    let is_eighth = |of: u64| of >= 8 && of.is_power_of_two() && of.ilog2().is_multiple_of(3);
    let mut places: Vec<usize> =
        (0..=last).filter(|at| [0, last].contains(at) || is_eighth(all[*at].0)).collect();
    if places.len() < most / 2 {
        places = (0..=last).collect();
    }
    evenly(&places, most).map(|at| all[*at]).collect()
}

/// Some rows of one curve: its time and what belongs to it, and how far it is off the fitted line.
fn single(rows: &Rows, (axis, curve): (&str, &Curve<'_>), context: &Context<'_>) -> Block {
    let fit = fit(rows, &curve.which, context).filter(|_| axis == "bytes");
    let mut heads = vec![Head::new(spelled(axis))];
    for (at, column) in rows.columns.iter().enumerate() {
        let head = head(rows, &column.name, column.unit);
        heads.push(if at < 3 { head } else { head.optional() });
    }
    if fit.is_some() {
        heads.push(Head::new("off the line").optional());
    }
    let some = chosen(&curve.rows, most(rows)).into_iter();
    Block::Table(Table::new(heads).with(some.filter_map(|(bytes, row)| {
        let mut cells = vec![place_cell(axis, rows.place(row, axis)?)];
        cells.extend(rows.columns.iter().map(|column| cell(rows, row, &column.name, context)));
        if let Some(fit) = fit {
            let off = rows.cell(row, "time").zip(fit.time(bytes));
            let off = off.map(|(time, line)| signed_share(1.0 - line / time.value.0));
            cells.push(off.map(Cell::Number).into());
        }
        Some(cells)
    })))
}

/// One quantity of several curves, a column for each.
pub fn side_by_side(rows: &Rows, column: &str, context: &Context<'_>) -> Vec<Block> {
    let Some(axis) = along(rows) else {
        let all: Vec<&Row> = rows.rows.iter().collect();
        return vec![Block::Table(table(rows, &all, context))];
    };
    let has =
        |curve: &Curve<'_>| curve.rows.iter().any(|(_, row)| rows.cell(row, column).is_some());
    let mut all: Vec<Curve<'_>> = curves(rows, axis).into_iter().filter(has).collect();
    if rows.axis("variant").is_some() {
        let ranks = |curve: &Curve<'_>| {
            curve.which.iter().find(|of| of.0 == "ranks").map(|of| of.1.clone())
        };
        let most = all.iter().map(ranks).max().flatten();
        all.retain(|curve| ranks(curve) == most);
    }
    let several: Vec<(&Curve<'_>, &str)> =
        evenly(&all, SIDE_BY_SIDE).map(|curve| (curve, column)).collect();
    let mut blocks = Vec::new();
    if column != "time" {
        blocks.push(Block::Text(meaning(rows, column)));
    }
    blocks.push(Block::Table(beside(rows, axis, &several, context)));
    blocks.extend(rest(rows, &all, column));
    blocks
}

/// What a column is.
fn meaning(rows: &Rows, column: &str) -> String {
    let meaning = rows.column(column).map_or("", |at| &rows.columns[at].meaning);
    format!("{}: {meaning}", spelled(column))
}

/// A table of one quantity of each curve.
fn beside(rows: &Rows, axis: &str, several: &[(&Curve<'_>, &str)], context: &Context<'_>) -> Table {
    let heads = several.iter().map(|(curve, column)| match rows.column(column) {
        Some(at) if rows.columns[at].unit != Unit::Second => Head::shared(curve.name()),
        _ => Head::new(curve.name()),
    });
    let longest = several.iter().map(|(curve, _)| curve).max_by_key(|curve| curve.rows.len());
    let some = longest.map_or_else(Vec::new, |curve| chosen(&curve.rows, most(rows))).into_iter();
    let table = Table::new([Head::new(spelled(axis))].into_iter().chain(heads));
    table.with(some.filter_map(|(at, first)| {
        let value = move |(curve, column): &(&Curve<'_>, &str)| {
            let row = curve.rows.iter().find(|(own, _)| *own == at);
            row.map_or(Cell::Empty, |(_, row)| cell(rows, row, column, context))
        };
        let place = place_cell(axis, rows.place(first, axis)?);
        Some([place].into_iter().chain(several.iter().map(value)))
    }))
}

/// An echo without a load, and how many times as long it takes under loads.
fn contention(rows: &Rows, context: &Context<'_>) -> Vec<Block> {
    let all = curves(rows, "bytes");
    let is_idle = |curve: &Curve<'_>| curve.which.iter().any(|of| *of == ("load", &0_u64.into()));
    let column = |curve: &Curve<'_>| if is_idle(curve) { "time" } else { "slowdown" };
    let several: Vec<(&Curve<'_>, &str)> =
        all.iter().take(2 * SIDE_BY_SIDE).map(|curve| (curve, column(curve))).collect();
    let mut blocks = vec![Block::Text(meaning(rows, "slowdown"))];
    blocks.push(Block::Table(beside(rows, "bytes", &several, context)));
    blocks.extend(rest(rows, &all, "time"));
    blocks
}
