//! Routes in rows and columns: along the row, then along the column.

use crate::topology::{Grid, Topology};

/// Where the channels of a node lead: to the next and the previous column, to the next and the
/// previous row.
const DIRECTIONS: usize = 4;

pub(super) fn channels(grid: &Grid) -> usize {
    grid.size() * DIRECTIONS
}

pub(super) fn route(grid: &Grid, from: usize, to: usize, mut tell: impl FnMut(usize)) {
    let [rows, columns] = grid.sides();
    let (mut row, mut column) = (from / columns, from % columns);
    let (last_row, last_column) = (to / columns, to % columns);
    // The way along a row or a column does not change on it.
    let along_row = grid.ascends(columns, column, last_column);
    let along_column = grid.ascends(rows, row, last_row);
    let step = |length: usize, at: usize, ascends: bool| match ascends {
        true => (if at + 1 == length { 0 } else { at + 1 }, 0),
        false => (if at == 0 { length - 1 } else { at - 1 }, 1),
    };
    while column != last_column {
        let (next, direction) = step(columns, column, along_row);
        tell((row * columns + column) * DIRECTIONS + direction);
        column = next;
    }
    while row != last_row {
        let (next, direction) = step(rows, row, along_column);
        tell((row * columns + column) * DIRECTIONS + 2 + direction);
        row = next;
    }
}
