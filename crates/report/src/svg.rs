//! A figure as a self-contained SVG: white ground, one font, no script, and the same bytes for the
//! same figure.

mod ink;
mod legend;
mod marker;
mod paper;

use crate::figure::{Figure, Reference, Region, Style};
use crate::scale::Placed;

use ink::{AXIS, GRID, INK, MUTED, colour};
use paper::{Anchor, Paper};

const WIDTH: f64 = 760.0;
const PLOT_HEIGHT: f64 = 330.0;
const LEFT: f64 = 68.0;
/// Room for the legend.
const RIGHT: f64 = 148.0;
const TOP: f64 = 64.0;
const NOTE_LINE: f64 = 15.0;

/// Where the plot lies on the paper, and its two axes.
struct Frame {
    x: Placed,
    y: Placed,
}

impl Frame {
    const WIDTH: f64 = WIDTH - LEFT - RIGHT;

    fn across(&self, value: f64) -> f64 {
        LEFT + Frame::WIDTH * self.x.place(value)
    }

    fn down(&self, value: f64) -> f64 {
        TOP + PLOT_HEIGHT * (1.0 - self.y.place(value))
    }
}

/// Draws `figure`.
pub fn svg(figure: &Figure) -> String {
    let [x, y] = figure.extent();
    let frame = Frame { x: Placed::new(&figure.x, x, 10), y: Placed::new(&figure.y, y, 9) };
    let notes: Vec<String> = figure.notes.iter().flat_map(|note| wrapped(note)).collect();
    let height = TOP + PLOT_HEIGHT + 58.0 + NOTE_LINE * notes.len() as f64;
    let mut paper = Paper::new(WIDTH, height, &figure.title, &figure.subtitle);

    paper.text(LEFT, 26.0, Anchor::Start, 15.0, INK, &figure.title).bold();
    paper.text(LEFT, 45.0, Anchor::Start, 11.5, MUTED, &figure.subtitle);
    regions(&mut paper, figure, &frame);
    axes(&mut paper, &frame);
    region_names(&mut paper, figure, &frame);
    references(&mut paper, figure, &frame);
    for index in 0..figure.series.len() {
        series(&mut paper, figure, &frame, index);
    }
    reference_names(&mut paper, figure, &frame);
    legend::draw(&mut paper, figure, WIDTH - RIGHT + 18.0, TOP + 6.0);
    for (line, note) in notes.iter().enumerate() {
        let y = TOP + PLOT_HEIGHT + 62.0 + NOTE_LINE * line as f64;
        paper.text(LEFT, y, Anchor::Start, 10.5, MUTED, note);
    }
    paper.finish()
}

fn wrapped(note: &str) -> Vec<String> {
    textwrap::wrap(note, 118).into_iter().map(|line| line.into_owned()).collect()
}

fn axes(paper: &mut Paper, frame: &Frame) {
    let (right, bottom) = (LEFT + Frame::WIDTH, TOP + PLOT_HEIGHT);
    for tick in &frame.y.ticks {
        let y = TOP + PLOT_HEIGHT * (1.0 - tick.place);
        paper.line((LEFT, y), (right, y), GRID, 0.8, None);
        paper.line((LEFT - 5.0, y), (LEFT, y), AXIS, 1.0, None);
        paper.text(LEFT - 9.0, y + 4.0, Anchor::End, 11.0, INK, &tick.label);
    }
    for tick in &frame.x.ticks {
        let x = LEFT + Frame::WIDTH * tick.place;
        paper.line((x, bottom), (x, bottom + 5.0), AXIS, 1.0, None);
        paper.text(x, bottom + 18.0, Anchor::Middle, 11.0, INK, &tick.label);
    }
    for place in &frame.y.minor {
        let y = TOP + PLOT_HEIGHT * (1.0 - place);
        paper.line((LEFT - 3.0, y), (LEFT, y), AXIS, 0.8, None);
    }
    for place in &frame.x.minor {
        let x = LEFT + Frame::WIDTH * place;
        paper.line((x, bottom), (x, bottom + 3.0), AXIS, 0.8, None);
    }
    paper.line((LEFT, TOP), (LEFT, bottom), AXIS, 1.0, None);
    paper.line((LEFT, bottom), (right, bottom), AXIS, 1.0, None);
    let middle = LEFT + Frame::WIDTH / 2.0;
    paper.text(middle, bottom + 39.0, Anchor::Middle, 12.0, INK, &frame.x.title);
    paper.text(18.0, TOP + PLOT_HEIGHT / 2.0, Anchor::Middle, 12.0, INK, &frame.y.title).upright();
}

/// Where a region begins and ends on the paper; `None` where nothing of it is in view.
fn band(region: &Region, frame: &Frame) -> Option<(f64, f64)> {
    let end = |value: f64, outer: f64| if value.is_finite() { frame.across(value) } else { outer };
    let (from, to) = (end(region.from, LEFT), end(region.to, LEFT + Frame::WIDTH));
    (from < to).then_some((from, to))
}

/// Bands behind the plot.
fn regions(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    for (index, region) in figure.regions.iter().enumerate() {
        let Some((from, to)) = band(region, frame) else { continue };
        paper.rectangle((from, TOP), (to - from, PLOT_HEIGHT), ink::band(index));
        if index > 0 {
            paper.line((from, TOP), (from, TOP + PLOT_HEIGHT), ink::BORDER, 0.8, Some("2 3"));
        }
    }
}

/// The bands' names at their tops, upright in bands too narrow for them.
fn region_names(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    for region in &figure.regions {
        let Some((from, to)) = band(region, frame) else { continue };
        let (middle, name) = ((from + to) / 2.0, &region.label);
        if paper::text_width(name, 10.5) + 6.0 <= to - from {
            paper.text(middle, TOP + 14.0, Anchor::Middle, 10.5, MUTED, name).italic();
        } else {
            paper.text(middle + 4.0, TOP + 6.0, Anchor::End, 10.5, MUTED, name).italic().upright();
        }
    }
}

/// Dashed lines across the plot.
fn references(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    for reference in figure.references.iter().filter(|reference| frame.y.shows(reference.y)) {
        let y = frame.down(reference.y);
        let colour = match reference.series {
            Some(series) => colour(series, figure.series.len()),
            None => MUTED,
        };
        paper.line((LEFT, y), (LEFT + Frame::WIDTH, y), colour, 1.1, Some("6 4"));
    }
}

/// The references' names above their right ends, over the curves.
fn reference_names(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    let named = |reference: &&Reference| frame.y.shows(reference.y) && !reference.name.is_empty();
    let mut names: Vec<&Reference> = figure.references.iter().filter(named).collect();
    names.sort_by(|a, b| a.y.total_cmp(&b.y));
    // From the bottom up, each name keeps clear of the one below it.
    let mut last = f64::INFINITY;
    for reference in names {
        last = (frame.down(reference.y) - 6.0).min(last - 12.5);
        let right = LEFT + Frame::WIDTH - 5.0;
        paper.text(right, last, Anchor::End, 10.5, INK, &reference.name).haloed();
    }
}

fn series(paper: &mut Paper, figure: &Figure, frame: &Frame, index: usize) {
    let series = &figure.series[index];
    let colour = colour(index, figure.series.len());
    let shown =
        || series.points.iter().filter(|point| frame.x.shows(point.x) && frame.y.shows(point.y));
    let at = |x: f64, y: f64| (frame.across(x), frame.down(y));
    if series.style != Style::Points {
        let dash = (series.style == Style::Dashed).then_some("6 4");
        paper.path(shown().map(|point| at(point.x, point.y)), colour, 1.6, dash);
    }
    if series.style == Style::Dashed {
        return;
    }
    for point in shown() {
        if let Some((low, high)) =
            point.interval.filter(|(low, high)| frame.y.shows(*high) && low < high)
        {
            let ((x, bottom), (_, top)) = (at(point.x, low), at(point.x, high));
            // An interval that the marker hides anyway is not worth its ink.
            if bottom - top > 2.0 * marker::RADIUS {
                paper.line((x, bottom), (x, top), colour, 1.1, None);
                for end in [bottom, top] {
                    paper.line((x - 3.0, end), (x + 3.0, end), colour, 1.1, None);
                }
            }
        }
        marker::draw(paper, at(point.x, point.y), index, colour, point.converged);
    }
}

#[cfg(test)]
mod tests;
