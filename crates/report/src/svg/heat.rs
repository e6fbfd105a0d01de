//! A heat map of pairs as an SVG.

use std::collections::BTreeMap;

use bandgap_record::Unit;
use bandgap_units::significant_short;

use crate::block::Heat;
use crate::number::{multiple, scaled};

use super::ink::{self, LABEL, NAME, colour};
use super::paper::{Anchor, At, Paper};

const LEFT: f64 = 130.0;
const TOP: f64 = 120.0;
const BELOW: f64 = 46.0;
/// Longest side of the square, and of a cell.
const SIDE: f64 = 600.0;
const CELL: f64 = 44.0;
/// Shortest side of a cell with a name next to it, and with its value inside.
const NAMED: f64 = 9.0;
const WRITTEN: f64 = 30.0;
/// Number of colours.
pub(crate) const STEPS: usize = 8;

pub(super) fn height(heat: &Heat) -> f64 {
    TOP + BELOW + cell(heat) * heat.names.len() as f64
}

/// The colour of a place between the least (0) and the greatest value (1): the worst are dark.
pub(crate) fn tint(heat: &Heat, place: f64) -> &'static str {
    let place = if heat.unit == Unit::Second { 1.0 - place } else { place };
    colour((place * (STEPS - 1) as f64).round() as usize, STEPS)
}

fn cell(heat: &Heat) -> f64 {
    (SIDE / heat.names.len().max(1) as f64).min(CELL)
}

pub(super) fn draw(paper: &mut Paper, heat: &Heat, above: f64) {
    let (side, top) = (cell(heat), above + TOP);
    let [low, high] = heat.ends();
    let unit = multiple(heat.unit, high);
    let title = format!("{} ({})", heat.title, unit.symbol);
    paper.text((20.0, above + 28.0), Anchor::Start, &ink::TITLE, &title);
    let tint = |value: f64| {
        tint(heat, if high > low { (value / low).ln() / (high / low).ln() } else { 0.0 })
    };
    let ranks = 0..heat.names.len();
    let mut tinted = BTreeMap::<&str, Vec<At>>::new();
    let mut written = Vec::new();
    for (row, column) in ranks.clone().flat_map(|row| ranks.clone().map(move |of| (row, of))) {
        let at = (LEFT + side * column as f64, top + side * row as f64);
        let value = heat.cells.get(&[row.min(column), row.max(column)]);
        if let Some(&value) = value {
            tinted.entry(tint(value)).or_default().push(at);
            written.push((at, value));
        } else if row != column {
            // What was not measured is struck out.
            let up = |x: f64| (at.0 + side * x, at.1 + side * (1.0 - x));
            paper.line(up(0.2), up(0.8), (ink::BORDER, 1.0, None));
        }
    }
    for (tint, places) in tinted {
        paper.squares(places, side, tint);
    }
    for ((x, y), value) in written.into_iter().filter(|_| side >= WRITTEN) {
        let text = significant_short(unit.count(value), 3);
        paper.text((x + side / 2.0, y + side / 2.0 + 4.0), Anchor::Middle, &NAME, &text);
    }
    for (rank, name) in heat.names.iter().enumerate().filter(|_| side >= NAMED) {
        let middle = side * (rank as f64 + 0.5);
        paper.text((LEFT - 6.0, top + middle + 4.0), Anchor::End, &LABEL, name);
        paper.upright_text((LEFT + middle + 4.0, top - 6.0), Anchor::Start, &LABEL, name);
    }
    let below = top + side * heat.names.len() as f64 + 14.0;
    for step in 0..STEPS {
        let value = low * (high / low).powf(step as f64 / (STEPS - 1) as f64);
        paper.rectangle((LEFT + 20.0 * step as f64, below), (20.0, 12.0), tint(value));
    }
    let [low, high] = [low, high].map(|value| scaled(value, heat.unit));
    paper.text((LEFT - 6.0, below + 11.0), Anchor::End, &LABEL, &low);
    let end = LEFT + 20.0 * STEPS as f64 + 6.0;
    paper.text((end, below + 11.0), Anchor::Start, &LABEL, &high);
}
