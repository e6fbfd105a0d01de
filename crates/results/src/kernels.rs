//! Several series on one screen: a line for each kernel, and what else there is.

use std::collections::BTreeMap;

use bandgap_record::{Place, Quantity, Row, Rows, Unit};
use bandgap_report::{Block, Cell, Head, Precision, Shown as Drawn, Table, written};
use bandgap_units::{Ns, significant};

use crate::curves::curve;
use crate::pairs::pairs;
use crate::rows::{PAIRS, along, cell, fit, spelled, worded};
use crate::shown::Context;

/// Series that are no kernels: what models rest on, and what has blocks of its own.
const NO_KERNELS: [&str; 6] = ["message_costs", "layers", "contention", "overlap", PAIRS, "fan_in"];

/// Several rows: a line for each kernel, then what else there is.
pub fn kernels(all: &[&Rows], context: &Context<'_>) -> Vec<Block> {
    let is_kernel = |rows: &&&Rows| rows.kind == "series" && !NO_KERNELS.contains(&&*rows.name);
    let lines: Vec<Vec<Cell>> =
        all.iter().filter(is_kernel).filter_map(|rows| kernel(rows, all, context)).collect();
    let mut blocks = Vec::new();
    if !lines.is_empty() {
        let times = ["", "", "small", "", "large"].map(Head::new);
        let rates = [Head::shared("r∞"), Head::shared("n½").optional()];
        let rest = [Head::new("grows as"), Head::shared("floor")];
        let is_one = lines.len() == 1;
        let table = Table::new(times.into_iter().chain(rates).chain(rest));
        blocks.push(Block::Table(table.with(lines)));
        // Of a single kernel there is room for some of its rows.
        let one = all.iter().find(is_kernel).filter(|rows| is_one && rows.rows.len() > 1);
        if let Some(rows) = one {
            blocks.push(Block::Gap);
            blocks.extend(curve(rows, context));
        }
    }
    let floors: Vec<&Rows> = all.iter().copied().filter(|rows| rows.kind == "floor").collect();
    if !floors.is_empty() {
        blocks.push(Block::Table(self::floors(&floors, context)));
    }
    for rows in all.iter().filter(|rows| rows.kind == "series") {
        match rows.name.as_str() {
            PAIRS => blocks.extend(pairs(rows, context)),
            "fan_in" => blocks.extend(curve(rows, context)),
            "contention" => blocks.extend(slowed(rows)),
            "overlap" => blocks.extend(hidden(rows)),
            _ => {}
        }
    }
    let told = |what: &str, kind: &str, words: fn(&Rows) -> Option<String>| {
        let its = all.iter().filter(|rows| rows.kind == kind);
        let of: Vec<String> = its.filter_map(|rows| words(rows)).collect();
        (!of.is_empty()).then(|| Block::Text(format!("{what}: {}", of.join("; "))))
    };
    blocks.extend(told("algorithms", "fastest", algorithms));
    blocks.extend(told("each further hop", "hops", hops));
    blocks
}

/// The curve that stands for a series: of the most ranks, the nearest ones, and at each size the fastest.
fn standing<'a>(rows: &'a Rows) -> Vec<(u64, &'a Row)> {
    let number = |row: &Row, axis: &str| rows.place(row, axis).and_then(|of| of.number());
    let ranks = rows.rows.iter().filter_map(|row| number(row, "ranks")).max();
    let hops = rows.rows.iter().filter_map(|row| number(row, "hops")).min();
    let its = |row: &&Row| number(row, "ranks") == ranks && number(row, "hops") == hops;
    let size =
        |row: &Row| ["bytes", "elements", "dimension"].iter().find_map(|axis| number(row, axis));
    let time = |row: &Row| rows.cell(row, "time").map_or(f64::INFINITY, |of| of.value.0);
    let mut found: Vec<(u64, &'a Row)> = Vec::new();
    for row in rows.rows.iter().filter(its) {
        let at = size(row).unwrap_or(0);
        match found.iter_mut().find(|(own, _)| *own == at) {
            Some((_, known)) if time(row) < time(known) => *known = row,
            Some(_) => {}
            None => found.push((at, row)),
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found
}

/// The line of a kernel.
fn kernel(rows: &Rows, all: &[&Rows], context: &Context<'_>) -> Option<Vec<Cell>> {
    let its = standing(rows);
    let (small, large) = (its.first()?.1, its.last()?.1);
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
    let mut line = vec![Cell::from(rows.name.replace('_', " "))];
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

/// What the time of a series grows as, as far as it is decided.
fn grows(rows: &Rows, small: &Row, all: &[&Rows]) -> Option<String> {
    let is_its =
        |of: &&&Rows| of.kind == "growth" && of.name == rows.name && of.transport == rows.transport;
    let growth = all.iter().find(is_its)?;
    let same = |row: &&Row| {
        let mut places = growth.axes.iter().zip(&row.place);
        places.all(|(axis, at)| rows.place(small, axis).is_none_or(|own| own == at))
    };
    let row = growth.rows.iter().find(same)?;
    let slope = row.cells.first().and_then(Option::as_ref);
    Some(match (growth.label(row, "law")?.to_string().as_str(), slope) {
        ("linear", _) if rows.axis("dimension").is_some() => "N".to_owned(),
        ("linear", _) => "P".to_owned(),
        ("quadratic", _) => "N²".to_owned(),
        ("logarithmic", Some(slope)) => format!("log₂ P +{}", Ns::from_secs(slope.value.0)),
        _ => "?".to_owned(),
    })
}

/// A quantity in a line of text.
fn said(quantity: &Quantity) -> String {
    let precision = if quantity.converged { Precision::Converged } else { Precision::No };
    written(&Drawn::new(quantity, precision))
}

/// All floors and layers: what they reach, what they are over or lose, and what they are.
fn floors(all: &[&Rows], context: &Context<'_>) -> Table {
    let heads = ["floor", "reaches", "over"].map(Head::new);
    let heads = heads.into_iter().chain([Head::new("").optional()]);
    let each = all.iter().flat_map(|rows| rows.rows.iter().map(move |row| (rows, row)));
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
        let meaning = rows.label(row, "meaning").map(ToString::to_string);
        [
            Cell::from([rows.name.clone()].into_iter().chain(at).collect::<Vec<_>>().join(" ")),
            cell(rows, row, name, context),
            if over.is_empty() { Cell::Empty } else { over.into() },
            meaning.into(),
        ]
    }))
}

/// How many times as long an echo takes, where it is slowed most, for each load and what it shares with it.
fn slowed(rows: &Rows) -> Option<Block> {
    let mut most: BTreeMap<(&str, u64), &Quantity> = BTreeMap::new();
    for row in &rows.rows {
        let load = rows.place(row, "load").and_then(Place::number);
        let Some((slowdown, load)) = rows.cell(row, "slowdown").zip(load) else { continue };
        let shared = match rows.label(row, "between") {
            Some(Place::Text(between)) if between == "channel" => " on a shared channel",
            Some(Place::Text(between)) if between == "nothing" => " on other channels",
            _ => "",
        };
        let known = most.entry((shared, load)).or_insert(slowdown);
        if known.value.0 < slowdown.value.0 {
            *known = slowdown;
        }
    }
    let told: Vec<String> = most
        .into_iter()
        .map(|((shared, load), of)| format!("{} at {load} % load{shared}", said(of)))
        .collect();
    (!told.is_empty())
        .then(|| Block::Text(format!("contention: times as long, at most: {}", told.join(", "))))
}

/// The greatest share of an exchange that is hidden, and the greatest loss, where there is one.
fn hidden(rows: &Rows) -> Option<Block> {
    let all = rows.rows.iter().filter_map(|row| Some((row, rows.cell(row, "hidden")?)));
    let mut all: Vec<(&Row, &Quantity)> = all.collect();
    all.sort_by(|a, b| a.1.value.0.total_cmp(&b.1.value.0));
    let place = |row: &Row| {
        let of = |axis| rows.place(row, axis).map_or(String::new(), |at| worded(axis, at));
        format!("{} beside {} elements", of("bytes"), of("elements"))
    };
    let (most, share) = all.last()?;
    let mut told = format!("overlap: {} of {} is hidden", said(share), place(most));
    let (least, loss) = all.first()?;
    if loss.high.is_some_and(|high| high.0 < 0.0) {
        told += &format!("; a loss at {} ({})", place(least), said(loss));
    }
    Some(Block::Text(told))
}

/// Which algorithms are the fastest, on the most ranks: `broadcast: tree below 32 KiB, chain above`. Between two ranks they
/// hardly differ.
fn algorithms(rows: &Rows) -> Option<String> {
    let ranks = rows.rows.iter().filter_map(|row| rows.place(row, "ranks")?.number()).max()?;
    if ranks < 3 {
        return None;
    }
    let its = rows.rows.iter().filter(|row| rows.place(row, "ranks") == Some(&ranks.into()));
    let ranges: Vec<(String, Option<&Quantity>)> = its
        .filter_map(|row| {
            Some((spelled(&rows.label(row, "variant")?.to_string()), rows.cell(row, "begins")))
        })
        .collect();
    let size = |of: &Quantity| match of.unit {
        Unit::Byte => bandgap_report::scaled(of.value.0, Unit::Byte),
        _ => format!("{:.0}", of.value.0),
    };
    let mut told: Vec<String> = Vec::new();
    for (at, (variant, _)) in ranges.iter().enumerate() {
        let end = ranges.get(at + 1).and_then(|(_, from)| *from);
        told.push(match (end, at) {
            (Some(end), _) => format!("{variant} below {}", size(end)),
            (None, 0) => format!("{variant} throughout"),
            (None, _) => format!("{variant} above"),
        });
    }
    Some(format!("{} {}", rows.name.replace('_', " "), told.join(", ")))
}

/// What a further hop takes, by segment: `echo 25 µs up to 64 B`.
fn hops(rows: &Rows) -> Option<String> {
    let of = rows.rows.iter().filter_map(|row| {
        let to = rows.label(row, "to_bytes")?;
        Some(format!("{} up to {}", said(rows.cell(row, "h")?), worded("bytes", to)))
    });
    let of: Vec<String> = of.collect();
    (!of.is_empty()).then(|| format!("{} {}", spelled(&rows.name), of.join(", ")))
}

#[cfg(test)]
mod tests;
