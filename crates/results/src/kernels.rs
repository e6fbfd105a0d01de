//! Several series on one screen: a line for each kernel, then all other rows.

use std::collections::BTreeMap;

use bandgap_model::growth::Law;
use bandgap_record::{Form, Place, Quantity, Row, Rows, Unit};
use bandgap_report::{Block, Cell, Head, Precision, Shown as Drawn, Table, written};
use bandgap_units::{Ns, significant};

use crate::curves::curve;
use crate::rows::{along, cell, fit, growth, spelled, worded};
use crate::shown::{Context, by_key};

/// Several series: a line for each kernel, then floors, curves and sentences.
pub fn kernels(all: &[&Rows], context: &Context<'_>) -> Vec<Block> {
    let is_kernel = |rows: &&&Rows| matches!(rows.form, Form::Kernel { .. });
    let own: Vec<&Rows> = all.iter().filter(is_kernel).copied().collect();
    let is_one = |of: fn(&Rows) -> &str| own.iter().all(|rows| of(rows) == of(own[0]));
    let (one_name, one_way) = (is_one(|rows| &rows.name), is_one(|rows| &rows.transport));
    let named = |rows: &Rows| match (one_name, one_way) {
        (_, true) => spelled(&rows.name),
        (true, false) => rows.transport.clone(),
        (false, false) => format!("{} {}", spelled(&rows.name), rows.transport),
    };
    let line = |rows: &&Rows| kernel(rows, named(rows), all, context);
    let lines: Vec<Vec<Cell>> = own.iter().filter_map(line).collect();
    let mut blocks = Vec::new();
    if !lines.is_empty() {
        let times = ["", "", "small", "", "large"].map(Head::new);
        let rates = [Head::shared("r∞"), Head::shared("n½").optional()];
        let rest = [Head::new("grows as"), Head::shared("floor")];
        let is_one = lines.len() == 1;
        let table = Table::new(times.into_iter().chain(rates).chain(rest));
        blocks.push(Block::Table(table.with(lines)));
        // For a single kernel there is room for some of its rows.
        let one = all.iter().find(is_kernel).filter(|rows| is_one && rows.rows.len() > 1);
        if let Some(rows) = one {
            blocks.push(Block::section(rows.id(), ""));
            blocks.extend(curve(rows, context));
        }
    }
    let floors: Vec<&Rows> = all.iter().copied().filter(|rows| rows.form == Form::Floor).collect();
    if !floors.is_empty() {
        blocks.push(Block::Table(self::floors(&floors, context)));
    }
    let mut told = Vec::new();
    for rows in all {
        match &rows.form {
            Form::Pairs | Form::Curve => blocks.extend(curve(rows, context)),
            Form::SideBySide { tables, by, .. } => {
                let column = tables.first().and_then(|columns| columns.first());
                blocks.extend(column.and_then(|column| greatest(rows, column, by.as_deref())));
            }
            Form::Ranges { title, of } => told.extend(ranges(rows, of).map(|words| (title, words))),
            _ => {}
        }
    }
    let told = by_key(told).into_iter().map(|(title, of)| format!("{title}: {}", of.join("; ")));
    blocks.extend(told.map(Block::Text));
    blocks
}

/// The curve that represents a series: most ranks, least hops, and the fastest variant at each size.
fn standing<'a>(rows: &'a Rows) -> Vec<(u64, &'a Row)> {
    let number = |row: &Row, axis: &str| rows.place(row, axis).and_then(|of| of.number());
    let ranks = rows.rows.iter().filter_map(|row| number(row, "ranks")).max();
    let hops = rows.rows.iter().filter_map(|row| number(row, "hops")).min();
    let its = |row: &&Row| number(row, "ranks") == ranks && number(row, "hops") == hops;
    let size =
        |row: &Row| ["bytes", "elements", "dimension"].iter().find_map(|axis| number(row, axis));
    let time = |row: &Row| rows.cell(row, "time").map_or(f64::INFINITY, |of| of.value.0);
    let mut found = BTreeMap::<u64, &'a Row>::new();
    for row in rows.rows.iter().filter(its) {
        let fastest = found.entry(size(row).unwrap_or(0)).or_insert(row);
        if time(row) < time(fastest) {
            *fastest = row;
        }
    }
    found.into_iter().collect()
}

/// The line of a kernel.
fn kernel(rows: &Rows, named: String, all: &[&Rows], context: &Context<'_>) -> Option<Vec<Cell>> {
    let its = standing(rows);
    // What sends nothing is no small message.
    let sends = |(_, row): &&(u64, &Row)| !row.labels.contains_key("sends");
    let (small, large) = (its.iter().find(sends).or(its.first())?.1, its.last()?.1);
    let axis = along(rows).filter(|axis| *axis != "ranks");
    let size = |row: &Row| {
        let place = axis.and_then(|axis| rows.place(row, axis));
        let words = place.map(|place| match axis {
            Some("bytes") => worded("bytes", place),
            Some("dimension") => format!("N {place}"),
            _ => format!("n {place}"),
        });
        Cell::from(words.map(Cell::Number))
    };
    let mut line = vec![Cell::from(named)];
    line.extend([size(small), cell(rows, small, "time", context)]);
    line.extend(match its.len() {
        1 => [Cell::Empty, Cell::Empty],
        _ => [size(large), cell(rows, large, "time", context)],
    });
    let which: Vec<_> = rows.axes.iter().map(String::as_str).zip(&large.place).collect();
    let fit = fit(rows, &which, context).filter(|fit| !fit.segments.is_empty());
    for name in ["r_inf", "n_half"] {
        let last = fit.and_then(|fit| fit.last(name));
        line.push(last.map(|(id, of)| context.cell(&id, of)).into());
    }
    let parts = fit.map(|fit| match fit.segments.len() {
        1 => "n".to_owned(),
        parts => format!("n, {parts} parts"),
    });
    line.push(grows(rows, small, all).or(parts).into());
    let over = rows.cell(small, "over_floor");
    line.push(over.map_or(Cell::Empty, |of| Cell::Number(significant(of.value.0, 3))));
    Some(line)
}

/// The law by which the time of a series grows, if decided.
fn grows(rows: &Rows, small: &Row, all: &[&Rows]) -> Option<String> {
    let has = |axis: &str, at: &Place| rows.place(small, axis).is_none_or(|own| own == at);
    let (laws, row, law, words) = growth(rows, all.iter().copied(), has)?;
    Some(match (law, laws.cell(row, "slope")) {
        (Law::Logarithmic, Some(slope)) => format!("log₂ P +{}", Ns::from_secs(slope.value.0)),
        _ => words.to_owned(),
    })
}

/// A quantity in a line of text.
fn said(quantity: &Quantity) -> String {
    let precision = if quantity.converged { Precision::Converged } else { Precision::No };
    written(&Drawn::new(quantity, precision))
}

/// All floors and layers: value, ratios to floors below, losses, and meaning.
fn floors(all: &[&Rows], context: &Context<'_>) -> Table {
    let heads = ["floor", "reaches", "over"].map(Head::new);
    let heads = heads.into_iter().chain([Head::new("").optional()]);
    let each = all.iter().flat_map(|rows| rows.rows.iter().map(move |row| (rows, row)));
    let is_one = all.iter().all(|rows| rows.transport == all[0].transport);
    Table::new(heads).with(each.map(|(rows, row)| {
        let name = rows.columns.first().map_or("", |column| &column.name);
        let over = rows.columns.iter().zip(&row.cells).filter_map(|(column, cell)| {
            let below = column.name.strip_prefix("over_")?;
            Some(format!("{} {below}", said(cell.as_ref()?)))
        });
        let lost = rows.cell(row, "lost").zip(rows.cell(row, "sent"));
        let lost = lost.map(|(lost, sent)| format!("{} of {} lost", lost.value.0, sent.value.0));
        let over = over.chain(lost).collect::<Vec<_>>().join(", ");
        let at = rows.axes.iter().zip(&row.place).map(|(axis, place)| worded(axis, place));
        let on = (!is_one).then(|| rows.transport.clone());
        let meaning = rows.label(row, "meaning").map(ToString::to_string);
        [
            Cell::from(
                [rows.name.clone()].into_iter().chain(on).chain(at).collect::<Vec<_>>().join(" "),
            ),
            cell(rows, row, name, context),
            if over.is_empty() { Cell::Empty } else { over.into() },
            meaning.into(),
        ]
    }))
}

/// The greatest value of a quantity, for each place on the axis `by`; without one, over all rows, and the lowest value if
/// its interval is below 0.
fn greatest(rows: &Rows, column: &str, by: Option<&str>) -> Option<Block> {
    let words = |row: &Row| {
        let places =
            rows.axes.iter().zip(&row.place).filter(|(axis, _)| by.is_none_or(|by| by == *axis));
        let places = places.map(|(axis, at)| format!("{} {}", spelled(axis), worded(axis, at)));
        let labels = row.labels.iter().filter(|_| by.is_some());
        let labels = labels.map(|(name, of)| format!("{} {of}", spelled(name)));
        places.chain(labels).collect::<Vec<_>>().join(", ")
    };
    let at = |(row, of): (&Row, &Quantity)| format!("{} ({})", said(of), words(row));
    let all = || rows.rows.iter().filter_map(|row| Some((row, rows.cell(row, column)?)));
    let mut most = BTreeMap::<_, (&Row, &Quantity)>::new();
    for (row, of) in all() {
        let known = most.entry(by.map(|axis| (rows.place(row, axis), &row.labels)));
        let known = known.or_insert((row, of));
        if known.1.value.0 < of.value.0 {
            *known = (row, of);
        }
    }
    let least = all().min_by(|a, b| a.1.value.0.total_cmp(&b.1.value.0))?;
    let is_loss = by.is_none() && least.1.high.is_some_and(|high| high.0 < 0.0);
    let loss = if is_loss { format!("; at least {}", at(least)) } else { String::new() };
    let most = most.into_values().map(at).collect::<Vec<_>>().join(", ");
    let (name, column) = (spelled(&rows.name), spelled(column));
    Some(Block::Text(format!("{name}: {column} at most {most}{loss}")))
}

/// What holds in each range of sizes, for the most ranks: `broadcast tree below 32 KiB, chain above`. A range begins at
/// its quantity `begins`, or else above its place on `from`.
fn ranges(rows: &Rows, of: &str) -> Option<String> {
    let ranks = |row: &Row| rows.place(row, "ranks").and_then(Place::number);
    let most = rows.rows.iter().map(ranks).max()?;
    let its: Vec<&Row> = rows.rows.iter().filter(|row| ranks(row) == most).collect();
    let end = |next: &&Row| match rows.cell(next, "begins") {
        Some(of) if of.unit == Unit::Byte => {
            format!("below {}", bandgap_report::scaled(of.value.0, Unit::Byte))
        }
        Some(of) => format!("below {:.0}", of.value.0),
        None => {
            let size = rows.place(next, "from").map(|at| worded("bytes", at));
            format!("up to {}", size.unwrap_or_default())
        }
    };
    let words = its.iter().enumerate().filter_map(|(at, row)| {
        let label = rows.label(row, of).map(|of| spelled(&of.to_string()));
        let holds = label.or_else(|| rows.cell(row, of).map(said))?;
        Some(match (its.get(at + 1), at) {
            (Some(next), _) => format!("{holds} {}", end(next)),
            (None, 0) => format!("{holds} throughout"),
            (None, _) => format!("{holds} above"),
        })
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("{} {}", spelled(&rows.name), words.join(", ")))
}

#[cfg(test)]
mod tests;
