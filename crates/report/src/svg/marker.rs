//! Marks for measured points, a shape for each series.

use crate::Precision;

use super::paper::Paper;

/// Half the extent of a mark.
pub(super) const RADIUS: f64 = 3.4;

/// Radius of the dot inside a hollow mark.
const DOT: f64 = 1.2;

/// Draws the mark of series `index`; hollow when the point did not converge, with a dot inside where
/// it is at the clock's limit.
pub(super) fn draw(
    paper: &mut Paper,
    at: (f64, f64),
    index: usize,
    colour: &str,
    precision: Precision,
) {
    let fill = if precision == Precision::Converged { colour } else { "#ffffff" };
    outline(paper, at, index, colour, fill);
    if precision == Precision::ClockLimited {
        paper.circle(at, DOT, colour, colour);
    }
}

fn outline(paper: &mut Paper, at: (f64, f64), index: usize, colour: &str, fill: &str) {
    let r = RADIUS;
    let corners: &[(f64, f64)] = match index % 4 {
        0 => return paper.circle(at, r, fill, colour),
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
        _ => &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
    };
    let corners = corners.iter().map(|(x, y)| (at.0 + x * r, at.1 + y * r));
    paper.polygon(corners, fill, colour);
}
