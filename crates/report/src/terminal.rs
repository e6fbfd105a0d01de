//! A figure in a terminal: lines in braille dots, and a letter for the points of each curve.

use std::ops::Range;

use crate::Precision;

use crate::Layout;
use crate::figure::Figure;
use crate::scale::{Placed, Plane};

/// Codes of colours of every terminal; the user's theme defines their look.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 34, 31];

/// A point of any curve at the clock's limit.
const LIMITED: char = '~';

/// Draws `figure` over the width of the layout.
pub fn plot(figure: &Figure, layout: &Layout) -> String {
    let width = layout.columns();
    let rows = (width / 4).clamp(10, 11);
    let [x, y] = figure.extent();
    let y = Placed::new(&figure.y, y, rows / 2);
    let left = y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0) + 1;
    let names = figure.references.iter().map(|reference| reference.name.chars().count());
    let right = names.max().map_or(1, |longest| longest + 1);
    let columns = width.saturating_sub(left + 1 + right).max(16);
    let x = Placed::new(&figure.x, x, columns / 8);
    let plane = Plane { x, y };

    let mut canvas = Canvas::new(columns, rows, layout.ascii);
    let mut ends = vec![String::new(); rows];
    let mut unnamed = Vec::new();
    let mut headline = vec![' '; columns];
    for region in &figure.regions {
        let Range { start: from, end: to } = span(&plane, &canvas, region.from..region.to);
        if from > 0 {
            canvas.border(from);
        }
        let length = region.label.chars().count();
        if from + length < to {
            let start = from + (to - from - length).div_ceil(2);
            headline.iter_mut().skip(start).zip(region.label.chars()).for_each(|(a, b)| *a = b);
        } else {
            unnamed.push(region.label.as_str());
        }
    }
    for reference in figure.references.iter().filter(|reference| plane.y.shows(reference.y)) {
        let row = canvas.row(plane.y.place(reference.y));
        let across = span(&plane, &canvas, reference.from..reference.to);
        if across.is_empty() {
            continue;
        }
        canvas.level(row, across);
        if !reference.name.is_empty() {
            let end = &mut ends[row];
            end.push_str(if end.is_empty() { " " } else { ", " });
            end.push_str(&reference.name);
        }
    }
    draw(figure, &plane, &mut canvas);

    let caption = match figure.caption.as_str() {
        "" => String::new(),
        caption => format!(" ({caption})"),
    };
    let mut out = layout.paragraph(&format!("{}{caption}", figure.title));
    push(&mut out, &plane.y.title);
    if headline.iter().any(|character| *character != ' ') {
        push(&mut out, &format!("{:left$} {}", "", headline.iter().collect::<String>()));
    }
    let (bar, corner, dash, tick_mark) =
        if layout.ascii { ('|', '+', '-', '+') } else { ('│', '└', '─', '┤') };
    for (row, end) in ends.iter().enumerate() {
        let tick = plane.y.ticks.iter().find(|tick| canvas.row(tick.place) == row);
        let label = tick.map_or("", |tick| tick.label.as_str());
        let axis = if tick.is_some() { tick_mark } else { bar };
        let cells = canvas.line(row, layout.color);
        push(&mut out, &format!("{label:>width$} {axis}{cells}{end}", width = left - 1));
    }
    push(&mut out, &format!("{:left$}{corner}{}", "", String::from(dash).repeat(columns)));
    out += &bottom(&plane.x, &canvas, left, columns, width);
    out += &legend(figure, &canvas, layout);
    if !unnamed.is_empty() {
        out += &layout.paragraph(&format!("too narrow to be named above: {}", unnamed.join(", ")));
    }
    out
}

/// The columns of a range of x; an infinite end is the end of the axis.
fn span(plane: &Plane, canvas: &Canvas, of: Range<f64>) -> Range<usize> {
    let column = |value: f64| value.is_finite().then(|| canvas.column(plane.x.place(value)));
    column(of.start).unwrap_or(0)..column(of.end).unwrap_or(canvas.column(1.0) + 1)
}

fn push(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn draw(figure: &Figure, plane: &Plane, canvas: &mut Canvas) {
    // The first curve is drawn last, so it is on top.
    for (index, series) in figure.series.iter().enumerate().rev() {
        for line in plane.lines(series) {
            for pair in line.windows(2) {
                canvas.stroke(pair[0], pair[1], colour(figure.place(index).0));
            }
        }
    }
    let place = |x: f64, y: f64| (plane.x.place(x), plane.y.place(y));
    for (index, series) in figure.series.iter().enumerate().rev() {
        if series.twin.is_some() {
            continue;
        }
        let (index, _) = figure.place(index);
        for point in plane.shown(&series.points) {
            let sign = match point.precision {
                Precision::Converged => letter(index),
                Precision::No => letter(index).to_ascii_uppercase(),
                Precision::ClockLimited => LIMITED,
            };
            canvas.mark(place(point.x, point.y), sign, colour(index));
        }
    }
}

fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

pub(crate) fn colour(index: usize) -> u8 {
    COLOURS[index % COLOURS.len()]
}

/// The labels below the plot, centred under their ticks, and the axis' title. A label that would touch the one before
/// is left out.
fn bottom(x: &Placed, canvas: &Canvas, left: usize, columns: usize, width: usize) -> String {
    let mut labels = String::new();
    for tick in &x.ticks {
        let length = tick.label.chars().count();
        let middle = left + 1 + canvas.column(tick.place);
        let start = middle.saturating_sub(length / 2).min(width.saturating_sub(length));
        let used = labels.chars().count();
        if used == 0 || start > used {
            labels += &" ".repeat(start - used);
            labels += &tick.label;
        }
    }
    let mut out = String::new();
    push(&mut out, &labels);
    push(&mut out, &format!("{:left$} {:^columns$}", "", x.title));
    out
}

fn legend(figure: &Figure, canvas: &Canvas, layout: &Layout) -> String {
    let heading = figure.legend.as_str();
    let mut text = if heading.is_empty() { String::new() } else { format!("{heading}: ") };
    // Only a single curve may have no name.
    let named = figure.named().filter(|(_, series)| !series.name.is_empty());
    let entries = named.map(|(index, series)| {
        // With non-breaking spaces.
        format!("{} {}", letter(index), series.name).replace(' ', "\u{a0}")
    });
    text += &entries.collect::<Vec<_>>().join("   ");
    if ('A'..='Z').any(|capital| canvas.has(capital)) {
        text += "   (capital: not converged)";
    }
    if canvas.has(LIMITED) {
        text += &format!("   ({LIMITED}: at the clock's limit)");
    }
    if text.is_empty() { text } else { layout.paragraph(&text).replace('\u{a0}', " ") }
}

/// Content of a cell. Later kinds cover earlier ones.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Empty,
    Border,
    Level,
    Dots(u8, u8),
    Mark(char, u8),
}

/// Cells addressed by positions from 0 to 1, with 0 at the left and at the bottom.
struct Canvas {
    columns: usize,
    rows: usize,
    ascii: bool,
    cells: Vec<Cell>,
}

/// Bits of a braille character: two columns of four dots, from the top.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

impl Canvas {
    fn new(columns: usize, rows: usize, ascii: bool) -> Canvas {
        Canvas { columns, rows, ascii, cells: vec![Cell::Empty; columns * rows] }
    }

    /// The column at `place`.
    fn column(&self, place: f64) -> usize {
        (place * (self.columns - 1) as f64).round() as usize
    }

    /// The row at `place`, counted from the top.
    fn row(&self, place: f64) -> usize {
        ((1.0 - place) * (self.rows - 1) as f64).round() as usize
    }

    /// A border between regions.
    fn border(&mut self, column: usize) {
        for row in 0..self.rows {
            self.cells[row * self.columns + column] = Cell::Border;
        }
    }

    /// A line across these columns.
    fn level(&mut self, row: usize, columns: Range<usize>) {
        self.cells[row * self.columns..][columns].fill(Cell::Level);
    }

    /// A straight line.
    fn stroke(&mut self, from: (f64, f64), to: (f64, f64), colour: u8) {
        // Dots are rounded as cells are, so a line goes through the marks at its ends.
        let across = (self.columns - 1) as f64;
        let down = (self.rows - 1) as f64;
        let steps = ((to.0 - from.0).abs() * across * 2.0).max((to.1 - from.1).abs() * down * 4.0);
        let steps = steps.ceil().max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let x = (from.0 + (to.0 - from.0) * share) * across;
            let y = (1.0 - from.1 - (to.1 - from.1) * share) * down;
            let (column, row) = (x.round(), y.round());
            let dot_column = usize::from(x >= column);
            let dot_row = (((y - row + 0.5) * 4.0) as usize).min(3);
            let cell = &mut self.cells[row as usize * self.columns + column as usize];
            let dots = match *cell {
                Cell::Dots(dots, _) => dots,
                _ => 0,
            };
            *cell = Cell::Dots(dots | DOTS[dot_column][dot_row], colour);
        }
    }

    /// The mark of a point.
    fn mark(&mut self, (x, y): (f64, f64), mark: char, colour: u8) {
        let place = self.row(y) * self.columns + self.column(x);
        self.cells[place] = Cell::Mark(mark, colour);
    }

    /// Whether any point has this mark.
    fn has(&self, mark: char) -> bool {
        self.cells.iter().any(|cell| matches!(cell, Cell::Mark(shown, _) if *shown == mark))
    }

    /// A row as text, with colour codes only if `color`.
    fn line(&self, row: usize, color: bool) -> String {
        let mut out = String::new();
        for cell in &self.cells[row * self.columns..][..self.columns] {
            let (character, colour) = match *cell {
                Cell::Empty => (' ', None),
                Cell::Border => (if self.ascii { ':' } else { '┊' }, None),
                Cell::Level => (if self.ascii { '-' } else { '╌' }, None),
                Cell::Dots(_, colour) if self.ascii => ('.', Some(colour)),
                Cell::Dots(dots, colour) => {
                    let braille = char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.');
                    (braille, Some(colour))
                }
                Cell::Mark(mark, colour) => (mark, Some(colour)),
            };
            match colour.filter(|_| color) {
                Some(colour) => out += &format!("\u{1b}[{colour}m{character}\u{1b}[0m"),
                None => out.push(character),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
