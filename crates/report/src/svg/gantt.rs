//! A Gantt chart as an SVG.

use crate::block::Gantt;
use crate::printable::told;
use crate::scale::Placed;

use super::ink::{self, GRID, INK, LABEL, MUTED};
use super::paper::{Anchor, Paper, text_width};
use super::{LEFT, TOP, WIDTH};

/// Distance between rows, and height of a slice.
const ROW: f64 = 15.0;
const THICK: f64 = 10.0;

/// Letters of a row's name.
const NAME: usize = 60;

/// Draws a Gantt chart. What leaves the axis ends at its edge. Highlighted slices have a frame, highlighted arrows are darker.
pub fn svg_gantt(chart: &Gantt) -> String {
    let names: Vec<String> = chart.rows.iter().map(|name| told(name, NAME)).collect();
    let left = names.iter().map(|name| text_width(name, &LABEL) + 14.0).fold(LEFT, f64::max);
    let length = WIDTH - left - 20.0;
    let bottom = TOP + ROW * chart.rows.len() as f64;
    let mut paper = Paper::new(WIDTH, bottom + 62.0, &chart.title, &chart.caption);
    paper.text((LEFT, 26.0), Anchor::Start, &ink::TITLE, &chart.title);
    paper.text((LEFT, 45.0), Anchor::Start, &ink::SUBTITLE, &chart.caption);
    let axis = Placed::new(&chart.axis, Some(chart.ends.into()), 8);
    let across = |at: f64| left + length * axis.place(at);
    let middle = |row: usize| TOP + ROW * (row as f64 + 0.5);
    if let Some(ends) = chart.band {
        let [from, to] = ends.map(across);
        paper.rectangle((from, TOP), (to - from, bottom - TOP), ink::band(0));
    }
    for tick in &axis.ticks {
        let x = left + length * tick.place;
        paper.line((x, TOP), (x, bottom), (GRID, 0.8, None));
        paper.text((x, bottom + 15.0), Anchor::Middle, &LABEL, &tick.label);
    }
    for (row, name) in names.iter().enumerate() {
        paper.text((left - 9.0, middle(row) + 4.0), Anchor::End, &LABEL, name);
    }
    for arrow in &chart.arrows {
        let [from, to] = [arrow.from, arrow.to].map(|(at, row)| (across(at), middle(row)));
        let (colour, width) = if arrow.marked { (INK, 1.4) } else { (MUTED, 0.5) };
        paper.line(from, to, (colour, width, None));
    }
    for slice in &chart.slices {
        let (from, to) = (across(slice.from), across(slice.to));
        let top = middle(slice.row) - THICK / 2.0;
        let (fill, size) = (ink::kind(slice.kind, 0, 1), (to - from, THICK));
        paper.rectangle((from, top), size, &fill);
        if slice.marked {
            let corners = [(from, top), (to, top), (to, top + THICK), (from, top + THICK)];
            paper.polygon(corners.into_iter(), "none", INK);
        }
    }
    for (kind, name) in chart.kinds.iter().enumerate() {
        let x = left + 110.0 * kind as f64;
        paper.rectangle((x, bottom + 38.0), (THICK, THICK), &ink::kind(kind, 0, 1));
        paper.text((x + 16.0, bottom + 47.0), Anchor::Start, &LABEL, name);
    }
    paper.text((left + length, bottom + 47.0), Anchor::End, &ink::AXIS_TITLE, &axis.title);
    paper.finish()
}
