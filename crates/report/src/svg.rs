//! A figure as a self-contained SVG with a white background, one font and no script. The same figure gives the same
//! bytes.

mod bars;
mod gantt;
mod heat;
mod ink;
mod legend;
mod paper;

use crate::block::{Block, SECTION_PARTS};
use crate::figure::{Figure, Reference};
use crate::scale::{Placed, Plane};

pub(crate) use bars::tint;
pub use gantt::svg_gantt;
pub(crate) use heat::{STEPS, tint as tint_of_pair};
use ink::{AXIS, GRID, MUTED, NAME, REGION, colour};
use paper::{Anchor, Paper, STROKE};

const WIDTH: f64 = 760.0;
const PLOT_HEIGHT: f64 = 330.0;
const LEFT: f64 = 84.0;
/// Width of the legend.
const RIGHT: f64 = 160.0;
const TOP: f64 = 64.0;

/// Position of the plot on the paper, and its axes.
struct Frame {
    /// Upper and lower edge of the plot.
    top: f64,
    bottom: f64,
    plane: Plane,
}

impl Frame {
    const WIDTH: f64 = WIDTH - LEFT - RIGHT;
    const RIGHT: f64 = LEFT + Frame::WIDTH;

    fn across(&self, value: f64) -> f64 {
        self.column(self.plane.x.place(value))
    }

    /// Ends of a range of x on the paper; `None` if it is not in view.
    fn span(&self, from: f64, to: f64) -> Option<(f64, f64)> {
        let (from, to) = (self.across(from), self.across(to));
        (from < to).then_some((from, to))
    }

    fn down(&self, value: f64) -> f64 {
        self.row(self.plane.y.place(value))
    }

    /// The abscissa on paper of a position on the horizontal axis.
    fn column(&self, place: f64) -> f64 {
        LEFT + Frame::WIDTH * place
    }

    /// The ordinate on paper of a position on the vertical axis.
    fn row(&self, place: f64) -> f64 {
        self.top + PLOT_HEIGHT * (1.0 - place)
    }
}

/// Draws figures, bars and heat maps below one another, under the title of the first, and in a corner where they come
/// from. Other blocks are left out.
pub fn svg(blocks: &[Block], source: &str) -> String {
    let whole = blocks.iter().map(height).sum::<f64>();
    let told: Vec<_> = blocks.iter().filter_map(Block::picture).collect();
    let says: Vec<&str> = told.iter().map(|(_, says)| *says).filter(|of| !of.is_empty()).collect();
    let title = told.first().map_or("", |(title, _)| title);
    let mut paper = Paper::new(WIDTH, whole, title, &says.join(" "));
    let mut top = 0.0;
    for block in blocks {
        match block {
            Block::Figure(figure) => panel(&mut paper, figure, top),
            Block::Bars(bars) => bars::draw(&mut paper, bars, top),
            Block::Heat(heat) => heat::draw(&mut paper, heat, top),
            _ => {}
        }
        top += height(block);
    }
    paper.text((WIDTH - 8.0, whole - 5.0), Anchor::End, &ink::SOURCE, source);
    paper.finish()
}

fn height(block: &Block) -> f64 {
    match block {
        Block::Figure(figure) => TOP + f64::max(PLOT_HEIGHT + 58.0, legend::height(figure)),
        Block::Bars(bars) => bars::height(bars),
        Block::Heat(heat) => heat::height(heat),
        _ => 0.0,
    }
}

/// Draws `figure` below `above`.
fn panel(paper: &mut Paper, figure: &Figure, above: f64) {
    let [x, y] = figure.extent();
    let plane = Plane { x: Placed::new(&figure.x, x, 10), y: Placed::new(&figure.y, y, 9) };
    let top = above + TOP;
    let frame = Frame { top, bottom: top + PLOT_HEIGHT, plane };
    paper.text((LEFT, above + 26.0), Anchor::Start, &ink::TITLE, &figure.title);
    let caption = [&*figure.caption, &missing(figure, &frame.plane)];
    let caption = caption.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    paper.text((LEFT, above + 45.0), Anchor::Start, &ink::SUBTITLE, &caption.join(SECTION_PARTS));
    let (x, y) = ((LEFT, Frame::RIGHT), (frame.bottom, frame.top));
    paper.begin_plane([(&frame.plane.x, x), (&frame.plane.y, y)].map(|(of, ends)| of.told(ends)));
    regions(paper, figure, &frame);
    paper.begin("ticks", "");
    axes(paper, &frame);
    paper.end();
    axis_titles(paper, &frame);
    region_names(paper, figure, &frame);
    references(paper, figure, &frame);
    // Fits are below measured curves, the first fit on top.
    let (bare, marked): (Vec<usize>, Vec<usize>) =
        (0..figure.series.len()).partition(|index| figure.series[*index].twin.is_some());
    for index in bare.into_iter().rev().chain(marked) {
        series(paper, figure, &frame, index);
    }
    reference_names(paper, figure, &frame);
    paper.end();
    legend::draw(paper, figure, WIDTH - RIGHT + 18.0, top + 6.0);
}

/// Says which places of x the axis cannot show, such as 0 B on a logarithmic one.
fn missing(figure: &Figure, plane: &Plane) -> String {
    let points = figure.series.iter().filter(|of| of.twin.is_none()).flat_map(|of| &of.points);
    let mut places: Vec<f64> = points.map(|point| point.x).filter(|x| !plane.x.shows(*x)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let places: Vec<String> = places.into_iter().map(|x| figure.place_of(x)).collect();
    if places.is_empty() { String::new() } else { format!("not shown: {}", places.join(", ")) }
}

fn axes(paper: &mut Paper, frame: &Frame) {
    let Frame { top, bottom, plane: Plane { x, y } } = frame;
    let rows = || y.ticks.iter().map(|tick| (frame.row(tick.place), &tick.label));
    let columns = || x.ticks.iter().map(|tick| (frame.column(tick.place), &tick.label));
    // By kind, since lines of a kind are one element.
    for (y, _) in rows() {
        paper.line((LEFT, y), (Frame::RIGHT, y), (GRID, 0.8, None));
    }
    for (y, _) in rows() {
        paper.line((LEFT - 5.0, y), (LEFT, y), (AXIS, 1.0, None));
    }
    for (x, _) in columns() {
        paper.line((x, *bottom), (x, bottom + 5.0), (AXIS, 1.0, None));
    }
    paper.line((LEFT, *top), (LEFT, *bottom), (AXIS, 1.0, None));
    paper.line((LEFT, *bottom), (Frame::RIGHT, *bottom), (AXIS, 1.0, None));
    for (y, label) in rows() {
        paper.text((LEFT - 9.0, y + 4.0), Anchor::End, &ink::LABEL, label);
    }
    for (x, label) in columns() {
        paper.text((x, bottom + 18.0), Anchor::Middle, &ink::LABEL, label);
    }
    for y in y.minor.iter().map(|place| frame.row(*place)) {
        paper.line((LEFT - 3.0, y), (LEFT, y), (AXIS, 0.8, None));
    }
    for x in x.minor.iter().map(|place| frame.column(*place)) {
        paper.line((x, *bottom), (x, bottom + 3.0), (AXIS, 0.8, None));
    }
}

fn axis_titles(paper: &mut Paper, frame: &Frame) {
    let Plane { x, y } = &frame.plane;
    paper.text(
        (frame.column(0.5), frame.bottom + 39.0),
        Anchor::Middle,
        &ink::AXIS_TITLE,
        &x.title,
    );
    paper.upright_text((18.0, frame.row(0.5)), Anchor::Middle, &ink::AXIS_TITLE, &y.title);
}

/// Bands behind the plot.
fn regions(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    paper.begin("region", "");
    for (index, region) in figure.regions.iter().enumerate() {
        let Some((from, to)) = frame.span(region.from, region.to) else { continue };
        paper.rectangle((from, frame.top), (to - from, PLOT_HEIGHT), ink::band(index));
        if index > 0 {
            paper.line((from, frame.top), (from, frame.bottom), (ink::BORDER, 0.8, Some("2 3")));
        }
    }
    paper.end();
}

/// Names at the tops of the bands, rotated in narrow bands.
fn region_names(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    paper.begin("region", "");
    for region in figure.regions.iter().filter(|region| !region.label.is_empty()) {
        let Some((from, to)) = frame.span(region.from, region.to) else { continue };
        let (middle, name) = ((from + to) / 2.0, &region.label);
        if paper::text_width(name, &REGION) + 6.0 <= to - from {
            paper.text((middle, frame.top + 14.0), Anchor::Middle, &REGION, name);
        } else {
            paper.upright_text((middle + 4.0, frame.top + 6.0), Anchor::End, &REGION, name);
        }
    }
    paper.end();
}

/// Ends of a level on the paper; `None` if it is not in view.
fn stretch(reference: &Reference, frame: &Frame) -> Option<(f64, f64)> {
    frame.span(reference.from, reference.to).filter(|_| frame.plane.y.shows(reference.y))
}

/// Dashed lines for the levels.
fn references(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    paper.begin("level", "");
    for reference in &figure.references {
        let Some((from, to)) = stretch(reference, frame) else { continue };
        let y = frame.down(reference.y);
        let colour = match reference.series {
            Some(series) => of_curve(figure, series),
            None => MUTED,
        };
        paper.line((from, y), (to, y), (colour, 1.1, Some("6 4")));
    }
    paper.end();
}

/// Names of the levels above their right ends, over the curves.
fn reference_names(paper: &mut Paper, figure: &Figure, frame: &Frame) {
    paper.begin("level", "");
    let named = figure.references.iter().filter(|reference| !reference.name.is_empty());
    let ending = |reference| Some((reference, stretch(reference, frame)?.1));
    let mut names: Vec<(&Reference, f64)> = named.filter_map(ending).collect();
    names.sort_by(|(a, _), (b, _)| a.y.total_cmp(&b.y));
    // From the bottom up, each name stays above the one before, and below the names of regions.
    let least = frame.top + if figure.regions.is_empty() { 0.0 } else { 28.0 };
    let mut last = f64::INFINITY;
    for (reference, end) in names {
        last = (frame.down(reference.y) - 6.0).min(last - 12.5).max(least);
        paper.text((end - 5.0, last), Anchor::End, &NAME, &reference.name);
    }
    paper.end();
}

/// The colour of a curve.
fn of_curve(figure: &Figure, curve: usize) -> &'static str {
    let (place, count) = figure.place(curve);
    colour(place, count)
}

fn series(paper: &mut Paper, figure: &Figure, frame: &Frame, index: usize) {
    let series = &figure.series[index];
    let (colour, place) = (of_curve(figure, index), figure.place(index).0);
    let dash = series.twin.map(|_| "6 4");
    paper.begin_curve(&format!("c{place}"), colour);
    for line in frame.plane.lines(series) {
        let points = line.into_iter().map(|(x, y)| (frame.column(x), frame.row(y)));
        paper.path(points, (colour, 1.6, dash));
    }
    let marked = if series.twin.is_some() { &[][..] } else { &series.points };
    for point in frame.plane.shown(marked) {
        paper.begin("point", &format!("{}: {}", series.name, figure.told(point)));
        let (x, y) = (frame.across(point.x), frame.down(point.y));
        let interval = point.interval.filter(|(low, high)| low < high);
        if let Some((low, high)) = interval.filter(|(_, high)| frame.plane.y.shows(*high)) {
            let (bottom, top) = (frame.down(low), frame.down(high));
            // The marker would hide a short interval.
            if bottom - top > 2.0 * legend::RADIUS {
                let stroke = (colour, STROKE, None);
                paper.line((x, bottom), (x, top), stroke);
                for end in [bottom, top] {
                    paper.line((x - 3.0, end), (x + 3.0, end), stroke);
                }
            }
        }
        legend::mark(paper, (x, y), place, colour, point.precision);
        paper.end();
    }
    paper.end_curve();
}

#[cfg(test)]
mod tests;
