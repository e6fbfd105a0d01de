//! The legend next to the plot.

use crate::Precision;

use crate::figure::Figure;

use super::ink::{LABEL, LEGEND, MUTED, colour};
use super::paper::{Anchor, At, Paper};

const LINE: f64 = 18.0;

/// Meanings of hollow marks.
const LESS_PRECISE: [(Precision, &str); 2] =
    [(Precision::No, "not converged"), (Precision::ClockLimited, "at the clock's limit")];

/// Characters of a name per line.
const LETTERS: usize = 19;

/// A name, wrapped.
fn wrapped(name: &str) -> Vec<String> {
    textwrap::wrap(name, LETTERS).into_iter().map(|line| line.into_owned()).collect()
}

/// Height of the legend.
pub(super) fn height(figure: &Figure) -> f64 {
    let lines: usize = figure.named().map(|(_, series)| wrapped(&series.name).len()).sum();
    let notes = u8::from(figure.has(Precision::ClockLimited)) + u8::from(has_fits(figure));
    LINE * (lines as f64 + 3.0 + f64::from(notes))
}

fn has_fits(figure: &Figure) -> bool {
    figure.series.iter().any(|series| series.twin.is_some())
}

/// Draws the legend with its upper left corner at `x`, `y`.
pub(super) fn draw(paper: &mut Paper, figure: &Figure, x: f64, y: f64) {
    if figure.series.is_empty() {
        return;
    }
    paper.text((x, y + 4.0), Anchor::Start, &LEGEND, &figure.legend);
    let count = figure.named().count();
    let mut line = 0;
    for (index, series) in figure.named().filter(|(_, series)| !series.name.is_empty()) {
        let middle = y + LINE * (line as f64 + 1.1);
        let colour = colour(index, count);
        paper.begin(&format!("key c{index}"), "");
        paper.line((x, middle), (x + 22.0, middle), (colour, 1.6, None));
        mark(paper, (x + 11.0, middle), index, colour, Precision::Converged);
        for name in wrapped(&series.name) {
            let middle = y + LINE * (line as f64 + 1.1);
            paper.text((x + 29.0, middle + 4.0), Anchor::Start, &LABEL, &name);
            line += 1;
        }
        paper.end();
    }
    let mut middle = y + LINE * (line as f64 + 1.6);
    if has_fits(figure) {
        paper.line((x, middle), (x + 22.0, middle), (MUTED, 1.6, Some("6 4")));
        paper.text((x + 29.0, middle + 4.0), Anchor::Start, &LEGEND, "fitted line");
        middle += LINE;
    }
    for (precision, words) in LESS_PRECISE {
        if figure.has(precision) {
            mark(paper, (x + 11.0, middle), 0, MUTED, precision);
            paper.text((x + 29.0, middle + 4.0), Anchor::Start, &LEGEND, words);
            middle += LINE;
        }
    }
}

/// Half the extent of a mark.
pub(super) const RADIUS: f64 = 3.4;

/// Radius of the dot inside a hollow mark.
const DOT: f64 = 1.2;

/// Draws the mark of series `index`: hollow if the point did not converge, with a dot inside if it is at the clock's
/// limit.
pub(super) fn mark(paper: &mut Paper, at: At, index: usize, colour: &str, precision: Precision) {
    let fill = if precision == Precision::Converged { colour } else { "#ffffff" };
    outline(paper, at, index, colour, fill);
    if precision == Precision::ClockLimited {
        paper.circle(at, DOT, colour, colour);
    }
}

fn outline(paper: &mut Paper, at: At, index: usize, colour: &str, fill: &str) {
    let r = RADIUS;
    let corners: &[At] = match index % 4 {
        0 => return paper.circle(at, r, fill, colour),
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
        _ => &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
    };
    let corners = corners.iter().map(|(x, y)| (at.0 + x * r, at.1 + y * r));
    paper.polygon(corners, fill, colour);
}
