//! A grid of characters, each of eight dots.

use std::ops::Range;

/// What a cell shows. Later kinds lie on top of earlier ones.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Empty,
    Border,
    Level,
    Dots(u8, u8),
    Mark(char, u8),
}

/// Cells addressed by places from 0 to 1, with 0 at the left and at the bottom.
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    ascii: bool,
    cells: Vec<Cell>,
}

/// Bits of a braille character: two columns of four dots, numbered from the top.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

impl Canvas {
    pub fn new(columns: usize, rows: usize, ascii: bool) -> Canvas {
        Canvas { columns, rows, ascii, cells: vec![Cell::Empty; columns * rows] }
    }

    /// The column at `place`.
    pub fn column(&self, place: f64) -> usize {
        (place * (self.columns - 1) as f64).round() as usize
    }

    /// The row at `place`, counted from the top.
    pub fn row(&self, place: f64) -> usize {
        ((1.0 - place) * (self.rows - 1) as f64).round() as usize
    }

    /// A border between regions.
    pub fn border(&mut self, column: usize) {
        for row in 0..self.rows {
            self.cells[row * self.columns + column] = Cell::Border;
        }
    }

    /// A line across these columns.
    pub fn level(&mut self, row: usize, columns: Range<usize>) {
        self.cells[row * self.columns..][columns].fill(Cell::Level);
    }

    /// A straight line.
    pub fn stroke(&mut self, from: (f64, f64), to: (f64, f64), colour: u8) {
        // Dots are placed as cells are, so that a line runs through the marks at its ends.
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

    /// A character for a point.
    pub fn mark(&mut self, (x, y): (f64, f64), mark: char, colour: u8) {
        let place = self.row(y) * self.columns + self.column(x);
        self.cells[place] = Cell::Mark(mark, colour);
    }

    /// Whether this character stands for a point somewhere.
    pub fn has(&self, mark: char) -> bool {
        self.cells.iter().any(|cell| matches!(cell, Cell::Mark(shown, _) if *shown == mark))
    }

    /// A row as text, with colour codes only if `color`.
    pub fn line(&self, row: usize, color: bool) -> String {
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
