//! The list of curves beside the plot.

use crate::figure::{Figure, Style};

use super::ink::{LABEL, LEGEND, MUTED, colour};
use super::marker;
use super::paper::{Anchor, Paper};

const LINE: f64 = 18.0;

/// Draws it with its upper left corner at `x`, `y`.
pub(super) fn draw(paper: &mut Paper, figure: &Figure, x: f64, y: f64) {
    if figure.series.is_empty() {
        return;
    }
    paper.text((x, y + 4.0), Anchor::Start, &LEGEND, &figure.legend);
    let count = figure.series.len();
    for (index, series) in figure.series.iter().enumerate() {
        let middle = y + LINE * (index as f64 + 1.1);
        let colour = colour(index, count);
        if series.style != Style::Points {
            paper.line((x, middle), (x + 22.0, middle), colour, 1.6, series.style.dash());
        }
        if !series.style.is_bare() {
            marker::draw(paper, (x + 11.0, middle), index, colour, true);
        }
        paper.text((x + 29.0, middle + 4.0), Anchor::Start, &LABEL, &series.name);
    }
    if figure.has_unconverged() {
        let middle = y + LINE * (count as f64 + 1.6);
        marker::draw(paper, (x + 11.0, middle), 0, MUTED, false);
        paper.text((x + 29.0, middle + 4.0), Anchor::Start, &LEGEND, "not converged");
    }
}
