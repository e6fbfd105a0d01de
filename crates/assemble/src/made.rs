//! Results with their notes, and a builder of rows.

use bandgap_model::Finding;
use bandgap_record::{Column, Labels, Note, Place, Row, Rows, Spread, Unit};
use bandgap_results::{CLOCK_LIMIT, OVER_FLOOR, Outcome};
use bandgap_stats::Convergence;
use bandgap_stats::quantile::{mean, sorted};
use bandgap_units::Ns;

use crate::Result;
use crate::estimate::Estimated;

/// The kind of rows that hold times of operations.
pub const SERIES: &str = "series";

/// The results of a table, with notes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// The results.
    pub results: Vec<Outcome>,
    /// The notes about them.
    pub notes: Vec<Note>,
}

impl Made {
    /// Both together.
    pub fn and(mut self, other: Made) -> Made {
        self.results.extend(other.results);
        self.notes.extend(other.notes);
        self
    }
}

/// Rows under construction, with the notes about their cells.
pub struct Builder {
    /// The rows so far.
    pub rows: Rows,
    /// Notes about rows already pushed, or about all.
    pub notes: Vec<Note>,
}

impl Builder {
    /// Rows of a kind, a name and a transport, over these axes.
    pub fn new(
        kind: &str,
        name: &str,
        transport: &str,
        axes: &[&str],
        columns: Vec<Column>,
    ) -> Builder {
        let rows = Rows {
            kind: kind.to_owned(),
            name: name.to_owned(),
            transport: transport.to_owned(),
            axes: axes.iter().map(|&axis| axis.to_owned()).collect(),
            columns,
            ..Rows::default()
        };
        Builder { rows, notes: Vec::new() }
    }

    /// Adds a label that holds for all rows.
    pub fn label(&mut self, name: &str, place: impl Into<Place>) {
        self.rows.labels.insert(name.to_owned(), place.into());
    }

    /// Adds a row; `cells` are in the order of the columns.
    ///
    /// # Errors
    /// A value is not finite.
    pub fn push(
        &mut self,
        place: Vec<Place>,
        labels: Labels,
        cells: &[Option<Estimated>],
        spread: Option<Spread>,
    ) -> Result {
        let mut row = Row { place, labels, cells: Vec::new(), spread };
        let id = self.rows.row_id(&row);
        for (column, cell) in self.rows.columns.iter().zip(cells) {
            let id = format!("{id}/{}", column.name);
            self.notes.extend(cell.as_ref().and_then(|cell| clock_limit(&id, cell)));
            let bytes = self.rows.place(&row, "bytes").and_then(Place::number);
            let is_time = column.counts && column.unit == Unit::Second;
            if let (Some(bytes), Some(time), true) = (bytes, cell, is_time)
                && let Some([count, least, greatest]) = kinds(time)
            {
                let note = Note::new("launches_of_kinds", id).with("kinds", count);
                let note = note.with("low", Ns(least).as_secs()).with("bytes", bytes as f64);
                self.notes.push(note.with("high", Ns(greatest).as_secs()));
            }
            let mut cell = cell.as_ref().map(|cell| cell.recorded(column.unit)).transpose()?;
            // Times over ratios to floors are the floors of launches.
            if !column.counts && column.name != OVER_FLOOR {
                cell.iter_mut().for_each(|of| of.launches.clear());
            }
            row.cells.push(cell);
        }
        self.rows.rows.push(row);
        Ok(())
    }

    /// Adds the note `code` that `count` of `all` points are affected, if any are.
    pub(crate) fn count(&mut self, code: &str, count: usize, all: usize) {
        if count > 0 {
            let note = Note::new(code, self.rows.id()).with("points", count as f64);
            self.notes.push(note.with("of", all as f64));
        }
    }

    /// The rows as a result, with the notes; no result without rows. Columns without values are dropped, and labels common
    /// to all rows become labels of the whole.
    pub fn made(mut self) -> Made {
        let rows = &mut self.rows;
        let first = rows.rows.first();
        let mut common = first.map_or_else(Labels::new, |row| row.labels.clone());
        common.retain(|name, of| rows.rows.iter().all(|row| row.labels.get(name) == Some(of)));
        let is_used = |at: usize| rows.rows.iter().any(|row| row.cells[at].is_some());
        let used: Vec<bool> = (0..rows.columns.len()).map(is_used).collect();
        let mut keep = used.iter();
        rows.columns.retain(|_| keep.next() == Some(&true));
        for row in &mut rows.rows {
            row.labels.retain(|name, _| !common.contains_key(name));
            let mut keep = used.iter();
            row.cells.retain(|_| keep.next() == Some(&true));
        }
        rows.labels.extend(common);
        let results = if rows.columns.is_empty() { Vec::new() } else { vec![self.rows.into()] };
        Made { results, notes: self.notes }
    }
}

/// A model's finding as a note.
pub(crate) fn note(id: &str, of: &Finding) -> Note {
    let about = format!("{id}/{}", of.about);
    let note = Note::new(of.code, about.trim_end_matches('/'));
    of.values.iter().fold(note, |note, (name, value)| note.with(name, *value))
}

/// The note that the clock limits a quantity, if it does.
pub(crate) fn clock_limit(id: &str, of: &Estimated) -> Option<Note> {
    let half = of.interval.map_or(0.0, |interval| interval.half_width());
    let is_limited = of.convergence == Convergence::ClockLimited;
    is_limited.then(|| Note::new(CLOCK_LIMIT, id).with("half", half * 1e-9))
}

/// Times of launches of one kind differ by less than this factor.
const ALIKE: f64 = 1.15;

/// How many kinds of launches there are, and the mean times of the fastest and of the slowest kind, where a value in doubt
/// comes from launches of several kinds: at least two of them were met twice.
fn kinds(of: &Estimated) -> Option<[f64; 3]> {
    let known = of.launches.iter().flatten().copied();
    let all = sorted(&known.collect::<Vec<_>>());
    let kinds: Vec<&[f64]> = all.chunk_by(|a, b| *b < ALIKE * a).collect();
    let again = kinds.iter().filter(|kind| kind.len() > 1).count() > 1;
    let alike = |kind: &&[f64]| kind[kind.len() - 1] < ALIKE * kind[0];
    let ends = kinds.first().zip(kinds.last()).filter(|_| again && kinds.iter().all(alike));
    let (least, greatest) = ends.filter(|_| !of.convergence.is_enough())?;
    Some([kinds.len() as f64, mean(least), mean(greatest)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_launches_are_told_from_launches_that_scatter() {
        let of = |launches: &[f64], convergence| {
            let all = launches.iter().copied().map(Some).chain([None]).collect();
            kinds(&Estimated::new(1.0, None, convergence, ("", 5)).with_launches(all))
        };
        let three = [455.0, 280.0, 650.0, 282.0, 445.0];
        assert_eq!(of(&three, Convergence::No), Some([3.0, 281.0, 650.0]));
        assert_eq!(of(&three, Convergence::Converged), None);
        // One launch of another kind may be an accident; and values without a gap are of no kind.
        assert_eq!(of(&[280.0, 281.0, 282.0, 283.0, 650.0], Convergence::No), None);
        assert_eq!(of(&[280.0, 310.0, 340.0, 370.0, 400.0, 500.0, 501.0], Convergence::No), None);
        assert_eq!(of(&[], Convergence::No), None);
    }
}
