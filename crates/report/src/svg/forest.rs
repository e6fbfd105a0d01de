//! Changes with their intervals as an SVG.

use crate::block::{ChangeOf, Forest};
use crate::figure::{Axis, Dimension, Scale};
use crate::scale::Placed;
use crate::text::signed_share;

use super::ink::{self, GRID, INK, LABEL, MUTED};
use super::legend::RADIUS;
use super::paper::{Anchor, Paper};
use super::{TOP, WIDTH};

const LEFT: f64 = 320.0;
/// Width of the verdicts.
const RIGHT: f64 = 110.0;
const LENGTH: f64 = WIDTH - LEFT - RIGHT;
const ROW: f64 = 18.0;
/// Letters of a name.
const LETTERS: usize = 50;
/// The axis shows at least so many times the changes that count as none, and at most a doubling.
const TIMES: f64 = 3.0;
const MOST: f64 = 1.0;

/// Draws changes; an interval that leaves the axis ends at its edge.
pub(crate) fn svg_forest(chart: &Forest) -> String {
    let bottom = TOP + ROW * chart.rows.len() as f64;
    let mut paper = Paper::new(WIDTH, bottom + 46.0, &chart.title, &chart.caption);
    paper.text((20.0, 26.0), Anchor::Start, &ink::TITLE, &chart.title);
    paper.text((20.0, 45.0), Anchor::Start, &ink::SUBTITLE, &chart.caption);
    let [low, high] = chart.within;
    let values = chart.rows.iter().map(|row| row.value.abs());
    let reach = values.fold(TIMES * high.max(-low), f64::max).min(MOST);
    let (label, scale) = ("change (%)".to_owned(), Scale::Linear);
    let axis = Axis { label, scale, dimension: Dimension::Count };
    let percent = Placed::new(&axis, Some((-100.0 * reach, 100.0 * reach)), 8);
    let across = |share: f64| LEFT + LENGTH * percent.place(100.0 * share);
    let margin = across(high) - across(low);
    paper.rectangle((across(low), TOP), (margin, bottom - TOP), ink::band(0));
    for tick in &percent.ticks {
        let x = LEFT + LENGTH * tick.place;
        paper.line((x, TOP), (x, bottom), (GRID, 0.8, None));
    }
    paper.line((across(0.0), TOP), (across(0.0), bottom), (MUTED, 1.0, None));
    for tick in &percent.ticks {
        let at = (LEFT + LENGTH * tick.place, bottom + 15.0);
        paper.text(at, Anchor::Middle, &LABEL, &tick.label);
    }
    let title = (LEFT + LENGTH / 2.0, bottom + 36.0);
    paper.text(title, Anchor::Middle, &ink::AXIS_TITLE, &percent.title);
    for (at, ChangeOf { name, value, interval, verdict }) in chart.rows.iter().enumerate() {
        let y = TOP + ROW * (at as f64 + 0.5);
        paper.begin("change", &format!("{name}: {}", signed_share(*value)));
        let cut = if name.chars().count() > LETTERS { "…" } else { "" };
        let name: String = name.chars().take(LETTERS).collect();
        paper.text((LEFT - 10.0, y + 4.0), Anchor::End, &LABEL, &(name + cut));
        if let Some((from, to)) = interval {
            paper.line((across(*from), y), (across(*to), y), (INK, 1.4, None));
        }
        paper.circle((across(*value), y), RADIUS, INK, INK);
        paper.text((LEFT + LENGTH + 12.0, y + 4.0), Anchor::Start, &LABEL, verdict);
        paper.end();
    }
    paper.finish()
}
