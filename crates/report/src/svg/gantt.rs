//! A Gantt chart as an SVG.

use crate::block::Gantt;
use crate::figure::{Axis, Dimension, Scale};
use crate::scale::Placed;

use super::ink::{self, GRID, INK, LABEL, MUTED};
use super::paper::{Anchor, Paper};
use super::{LEFT, TOP, WIDTH};

const LENGTH: f64 = WIDTH - LEFT - 20.0;
/// Distance between rows, and height of a slice.
const ROW: f64 = 15.0;
const THICK: f64 = 10.0;

/// Draws a Gantt chart. Highlighted slices have a frame, highlighted arrows are darker.
pub fn svg_gantt(chart: &Gantt) -> String {
    let bottom = TOP + ROW * chart.rows.len() as f64;
    let mut paper = Paper::new(WIDTH, bottom + 62.0, &chart.title, &chart.caption);
    paper.text((LEFT, 26.0), Anchor::Start, &ink::TITLE, &chart.title);
    paper.text((LEFT, 45.0), Anchor::Start, &ink::SUBTITLE, &chart.caption);
    let (label, scale) = ("time".to_owned(), Scale::Linear);
    let axis = Axis { label, scale, dimension: Dimension::Time };
    let time = Placed::new(&axis, Some((0.0, chart.length)), 8);
    let across = |at: f64| LEFT + LENGTH * time.place(at);
    let middle = |row: usize| TOP + ROW * (row as f64 + 0.5);
    for tick in &time.ticks {
        let x = LEFT + LENGTH * tick.place;
        paper.line((x, TOP), (x, bottom), (GRID, 0.8, None));
        paper.text((x, bottom + 15.0), Anchor::Middle, &LABEL, &tick.label);
    }
    for (row, name) in chart.rows.iter().enumerate() {
        paper.text((LEFT - 9.0, middle(row) + 4.0), Anchor::End, &LABEL, name);
    }
    for arrow in &chart.arrows {
        let [from, to] = [arrow.from, arrow.to].map(|(at, row)| (across(at), middle(row)));
        let (colour, width) = if arrow.marked { (INK, 1.4) } else { (MUTED, 0.5) };
        paper.line(from, to, (colour, width, None));
    }
    for slice in &chart.slices {
        let (left, right) = (across(slice.from), across(slice.to));
        let top = middle(slice.row) - THICK / 2.0;
        let (fill, size) = (ink::kind(slice.kind, 0, 1), (right - left, THICK));
        paper.rectangle((left, top), size, &fill);
        if slice.marked {
            let corners = [(left, top), (right, top), (right, top + THICK), (left, top + THICK)];
            paper.polygon(corners.into_iter(), "none", INK);
        }
    }
    for (kind, name) in chart.kinds.iter().enumerate() {
        let x = LEFT + 110.0 * kind as f64;
        paper.rectangle((x, bottom + 38.0), (THICK, THICK), &ink::kind(kind, 0, 1));
        paper.text((x + 16.0, bottom + 47.0), Anchor::Start, &LABEL, name);
    }
    paper.text((LEFT + LENGTH, bottom + 47.0), Anchor::End, &ink::AXIS_TITLE, &time.title);
    paper.finish()
}
