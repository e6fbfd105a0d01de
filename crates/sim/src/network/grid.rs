//! Routes in rows and columns: along the row, then along the column.

use crate::topology::{Mesh, Torus};

/// Where the channels of a node lead: to the next and the previous column, to the next and the
/// previous row.
const DIRECTIONS: usize = 4;

pub(super) fn channels(nodes: usize) -> usize {
    nodes * DIRECTIONS
}

#[inline]
pub(super) fn in_mesh(mesh: &Mesh, from: usize, to: usize, tell: impl FnMut(usize)) {
    walk([mesh.rows(), mesh.columns()], from, to, |_, at, goal| at < goal, tell);
}

#[inline]
pub(super) fn in_torus(torus: &Torus, from: usize, to: usize, tell: impl FnMut(usize)) {
    let ascends = |length: usize, at: usize, goal: usize| {
        let up = (goal + length - at) % length;
        up <= length - up
    };
    walk([torus.rows(), torus.columns()], from, to, ascends, tell);
}

/// Goes from one node to another; `ascends` says which way along a row or a column of some length.
#[inline]
fn walk(
    [rows, columns]: [usize; 2],
    from: usize,
    to: usize,
    ascends: impl Fn(usize, usize, usize) -> bool,
    mut tell: impl FnMut(usize),
) {
    let (mut row, mut column) = (from / columns, from % columns);
    let (last_row, last_column) = (to / columns, to % columns);
    // The way along a row or a column does not change on it.
    let (along_row, along_column) =
        (ascends(columns, column, last_column), ascends(rows, row, last_row));
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
