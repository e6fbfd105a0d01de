//! One series on one screen: some of its rows, or some of its curves side by side.

use bandgap_model::hockney::off_the_line;
use bandgap_record::{Column, Form, Row, Rows, Unit};
use bandgap_report::{Block, Cell, Head, Table, signed_share};

use crate::pairs::pairs;
use crate::rows::{
    Curve, SINGLES, along, cell, curves, evenly, fit, head, place_cell, spelled, table,
};
use crate::shown::Context;

/// Curves side by side, at most.
pub(crate) const SIDE_BY_SIDE: usize = 4;
/// The usual quantity of a curve.
const TIME: &str = "time";

/// One series: some of its rows, and the number of the others.
pub fn curve(rows: &Rows, context: &Context<'_>) -> Vec<Block> {
    let usual = [vec![TIME.to_owned()]];
    let tables = match &rows.form {
        Form::Pairs => return pairs(rows, context),
        Form::SideBySide { tables, .. } => &tables[..],
        _ => &usual,
    };
    let Some(axis) = along(rows) else {
        let all: Vec<&Row> = rows.rows.iter().collect();
        return vec![Block::Table(table(rows, &all, context))];
    };
    let all = curves(rows, axis);
    match (&all[..], &rows.form) {
        (_, Form::SideBySide { .. }) | ([] | [_, _, ..], _) => {
            let one = |columns| side_by_side(rows, (axis, &all), columns, context);
            tables.iter().map(Vec::as_slice).flat_map(one).collect()
        }
        ([one], _) => {
            let some = chosen(&one.rows, most(rows, one, context));
            let more = rest(rows, some.len(), &usual[0]);
            [single(rows, (axis, one, &some), context)].into_iter().chain(more).collect()
        }
    }
}

/// The number of rows left out of a table with so many, if any.
fn rest(rows: &Rows, shown: usize, columns: &[String]) -> Option<Block> {
    let is_there = |column: &String| rows.column(column).is_some();
    let has = |row: &&Row| {
        !columns.iter().any(is_there) || columns.iter().any(|of| rows.cell(row, of).is_some())
    };
    let more = rows.rows.iter().filter(has).count().saturating_sub(shown);
    (more > 0).then(|| Block::More(format!("{more} more in -v")))
}

/// The most rows of one curve: fewer where the lines above are of more segments than one.
fn most(rows: &Rows, curve: &Curve<'_>, context: &Context<'_>) -> usize {
    let segments = fit(rows, &curve.which, context).map_or(1, |fit| fit.segments.len().max(1));
    rows.form.rows().saturating_sub(segments - 1).max(4)
}

/// At most `most` rows: both ends and powers of eight between, or else evenly spread.
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

/// Some rows of one curve: all columns, and the deviation from the fitted line.
fn single(
    rows: &Rows,
    (axis, curve, some): (&str, &Curve<'_>, &[(u64, &Row)]),
    context: &Context<'_>,
) -> Block {
    let fit = fit(rows, &curve.which, context).filter(|_| axis == "bytes");
    let mut heads = vec![Head::new(spelled(axis))];
    let is_shown = |column: &&Column| SINGLES.iter().all(|(name, ..)| column.name != *name);
    let columns: Vec<&Column> = rows.columns.iter().filter(is_shown).collect();
    for (at, column) in columns.iter().enumerate() {
        let head = head(rows, &column.name, column.unit);
        heads.push(if at < 3 { head } else { head.optional() });
    }
    if fit.is_some() {
        heads.push(Head::new("off the line").optional());
    }
    Block::Table(Table::new(heads).with(some.iter().filter_map(|&(bytes, row)| {
        let mut cells = vec![place_cell(axis, rows.place(row, axis)?)];
        cells.extend(columns.iter().map(|column| cell(rows, row, &column.name, context)));
        if let Some(fit) = fit {
            let off = rows.cell(row, TIME).zip(fit.time(bytes));
            let off = off.and_then(|(time, line)| off_the_line(time.value.0, line));
            cells.push(off.map(signed_share).map(Cell::Number).into());
        }
        Some(cells)
    })))
}

/// Several curves side by side: for each curve a column with the first of `columns` that it has.
fn side_by_side(
    rows: &Rows,
    (axis, all): (&str, &[Curve<'_>]),
    columns: &[String],
    context: &Context<'_>,
) -> Vec<Block> {
    let quantity = |curve: &Curve<'_>| {
        let has =
            |column: &&String| curve.rows.iter().any(|(_, row)| rows.cell(row, column).is_some());
        columns.iter().find(has).map(String::as_str)
    };
    let mut found: Vec<(&Curve<'_>, &str)> =
        all.iter().filter_map(|curve| Some((curve, quantity(curve)?))).collect();
    if rows.axis("variant").is_some() {
        let ranks = |curve: &Curve<'_>| {
            curve.which.iter().find(|of| of.0 == "ranks").map(|of| of.1.clone())
        };
        let most = found.iter().map(|(curve, _)| ranks(curve)).max().flatten();
        found.retain(|(curve, _)| ranks(curve) == most);
    }
    // Each transport was asked for.
    let most =
        if rows.axis("transport").is_some() { found.len() } else { SIDE_BY_SIDE * columns.len() };
    let several: Vec<(&Curve<'_>, &str)> = evenly(&found, most).copied().collect();
    let mut blocks = Vec::new();
    if several.is_empty() {
        return blocks;
    }
    if columns.first().is_some_and(|column| column != TIME) {
        blocks.push(Block::Text(meaning(rows, &columns[0])));
    }
    blocks.push(Block::Table(beside(rows, axis, &several, context)));
    let shown = several.iter().map(|(curve, _)| chosen(&curve.rows, rows.form.rows()).len());
    blocks.extend(rest(rows, shown.sum(), columns));
    blocks
}

/// A column's name and meaning.
fn meaning(rows: &Rows, column: &str) -> String {
    let meaning = rows.column(column).map_or("", |at| &rows.columns[at].meaning);
    format!("{}: {meaning}", spelled(column))
}

/// A table with one quantity of each curve.
fn beside(rows: &Rows, axis: &str, several: &[(&Curve<'_>, &str)], context: &Context<'_>) -> Table {
    let heads = several.iter().map(|(curve, column)| match rows.column(column) {
        Some(at) if rows.columns[at].unit != Unit::Second => Head::shared(curve.name()),
        _ => Head::new(curve.name()),
    });
    let longest = several.iter().map(|(curve, _)| curve).max_by_key(|curve| curve.rows.len());
    let some =
        longest.map_or_else(Vec::new, |curve| chosen(&curve.rows, rows.form.rows())).into_iter();
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
