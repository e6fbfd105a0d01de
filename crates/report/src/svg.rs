//! A figure as a self-contained SVG: white ground, one font, no script, and the same bytes for the
//! same figure.

mod ink;
mod legend;
mod marker;
mod paper;

use crate::figure::{Figure, Mark, Reference, Region, Style};
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
    /// The upper edge of the plot.
    top: f64,
    x: Placed,
    y: Placed,
}

impl Frame {
    const WIDTH: f64 = WIDTH - LEFT - RIGHT;

    fn across(&self, value: f64) -> f64 {
        LEFT + Frame::WIDTH * self.x.place(value)
    }

    fn down(&self, value: f64) -> f64 {
        self.at(self.y.place(value))
    }

    /// The ordinate on paper of a place on the vertical axis.
    fn at(&self, place: f64) -> f64 {
        self.top + PLOT_HEIGHT * (1.0 - place)
    }
}

/// Draws `figure`.
pub fn svg(figure: &Figure) -> String {
    svg_panels(std::slice::from_ref(figure))
}

/// Draws figures below one another; the first one's title is that of the whole.
pub fn svg_panels(figures: &[Figure]) -> String {
    let height = figures.iter().map(height).sum();
    let (title, subtitle) =
        figures.first().map_or(("", ""), |first| (&first.title, &first.subtitle));
    let mut paper = Paper::new(WIDTH, height, title, subtitle);
    let mut top = 0.0;
    for figure in figures {
        panel(&mut paper, figure, top);
        top += self::height(figure);
    }
    paper.finish()
}

fn notes(figure: &Figure) -> Vec<String> {
    figure.notes.iter().flat_map(|note| wrapped(note)).collect()
}

/// How much paper a figure takes.
fn height(figure: &Figure) -> f64 {
    TOP + PLOT_HEIGHT + 58.0 + NOTE_LINE * notes(figure).len() as f64
}

/// Draws `figure` from `above` on.
fn panel(paper: &mut Paper, figure: &Figure, above: f64) {
    let [x, y] = figure.extent();
    let top = above + TOP;
    let frame = Frame { top, x: Placed::new(&figure.x, x, 10), y: Placed::new(&figure.y, y, 9) };
    paper.text(LEFT, above + 26.0, Anchor::Start, 15.0, INK, &figure.title).bold();
    paper.text(LEFT, above + 45.0, Anchor::Start, 11.5, MUTED, &figure.subtitle);
    regions(paper, figure, &frame);
    axes(paper, &frame);
    region_names(paper, figure, &frame);
    references(paper, figure, &frame);
    // Fitted lines lie below what was measured, the first of them on top.
    let (bare, marked): (Vec<usize>, Vec<usize>) =
        (0..figure.series.len()).partition(|index| figure.series[*index].style.is_bare());
    for index in bare.into_iter().rev().chain(marked) {
        series(paper, figure, &frame, index);
    }
    marks(paper, figure, &frame);
    reference_names(paper, figure, &frame);
    legend::draw(paper, figure, WIDTH - RIGHT + 18.0, top + 6.0);
    for (line, note) in notes(figure).iter().enumerate() {
        let y = top + PLOT_HEIGHT + 62.0 + NOTE_LINE * line as f64;
        paper.text(LEFT, y, Anchor::Start, 10.5, MUTED, note);
    }
}

fn wrapped(note: &str) -> Vec<String> {
    textwrap::wrap(note, 118).into_iter().map(|line| line.into_owned()).collect()
}

fn axes(paper: &mut Paper, frame: &Frame) {
    let (right, bottom) = (LEFT + Frame::WIDTH, frame.top + PLOT_HEIGHT);
    for tick in &frame.y.ticks {
        let y = frame.at(tick.place);
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
        let y = frame.at(*place);
        paper.line((LEFT - 3.0, y), (LEFT, y), AXIS, 0.8, None);
    }
    for place in &frame.x.minor {
        let x = LEFT + Frame::WIDTH * place;
        paper.line((x, bottom), (x, bottom + 3.0), AXIS, 0.8, None);
    }
    paper.line((LEFT, frame.top), (LEFT, bottom), AXIS, 1.0, None);
    paper.line((LEFT, bottom), (right, bottom), AXIS, 1.0, None);
    let middle = LEFT + Frame::WIDTH / 2.0;
    paper.text(middle, bottom + 39.0, Anchor::Middle, 12.0, INK, &frame.x.title);
    paper
        .text(18.0, frame.top + PLOT_HEIGHT / 2.0, Anchor::Middle, 12.0, INK, &frame.y.title)
        .upright();
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
        paper.rectangle((from, frame.top), (to - from, PLOT_HEIGHT), ink::band(index));
        if index > 0 {
            paper.line(
                (from, frame.top),
                (from, frame.top + PLOT_HEIGHT),
                ink::BORDER,
                0.8,
                Some("2 3"),
            );
        }
    }
}

/// The bands' names at their tops, upright in bands too narrow for them.
fn region_names(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    for region in figure.regions.iter().filter(|region| !region.label.is_empty()) {
        let Some((from, to)) = band(region, frame) else { continue };
        let (middle, name) = ((from + to) / 2.0, &region.label);
        if paper::text_width(name, 10.5) + 6.0 <= to - from {
            paper.text(middle, frame.top + 14.0, Anchor::Middle, 10.5, MUTED, name).italic();
        } else {
            paper
                .text(middle + 4.0, frame.top + 6.0, Anchor::End, 10.5, MUTED, name)
                .italic()
                .upright();
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
        let dash = series.style.dash();
        for stretch in series.stretches() {
            let points =
                stretch.iter().filter(|point| frame.x.shows(point.x) && frame.y.shows(point.y));
            paper.path(points.map(|point| at(point.x, point.y)), colour, 1.6, dash);
        }
    }
    if series.style.is_bare() {
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

/// Rings on the curves, with a line down to the axis and a name beside each.
fn marks(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    let shown = |mark: &&Mark| frame.x.shows(mark.x) && frame.y.shows(mark.y);
    for mark in figure.marks.iter().filter(shown) {
        let (x, y) = (frame.across(mark.x), frame.down(mark.y));
        paper.line((x, y), (x, frame.top + PLOT_HEIGHT), INK, 0.9, Some("1.5 3"));
        paper.circle((x, y), 5.2, "none", INK);
        // Curves rise to the right, so there is room below; but not beyond the frame.
        let wide = paper::text_width(&mark.name, 10.5) + 14.0;
        let fits = x + wide <= LEFT + Frame::WIDTH;
        let (x, anchor) = if fits { (x + 9.0, Anchor::Start) } else { (x - 9.0, Anchor::End) };
        let y = (y + 13.0).min(frame.top + PLOT_HEIGHT - 5.0);
        paper.text(x, y, anchor, 10.5, INK, &mark.name).haloed();
    }
}

#[cfg(test)]
mod tests;
