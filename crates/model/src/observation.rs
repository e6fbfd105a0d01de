//! Observations of the issue phase and of single round trips.

use std::collections::BTreeMap;

use bandgap_stats::batch::batch_value;
use derive_more::Display;

/// What was timed.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord)]
#[display(rename_all = "lowercase")]
pub enum Phase {
    /// The issue phase: M requests, each followed by computation for Δ. Replies that arrive later
    /// are handled outside the timed section.
    Issue,
    /// A single request with its reply.
    Rtt,
}

/// One point (M, Δ) of the experiment, or the round-trip time.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// What was timed.
    pub kind: Phase,
    /// M, the number of requests in the issue phase; 1 for a round trip.
    pub messages: u64,
    /// Δ in nanoseconds as calibrated: the same number for all M of one Δ; 0 for a round trip.
    pub delay: f64,
    /// Batch values in nanoseconds: elapsed time of one issue phase (all M requests), or of one
    /// round trip.
    pub batches: Vec<f64>,
    /// Round in which each batch was measured. Batches of one round, in this and other
    /// observations, are neighbours in time. Empty if unknown.
    pub rounds: Vec<u64>,
}

/// One repetition: a row of a table `kind,messages,delay_ns,elapsed_ns,batch,round,launch`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What was timed.
    pub kind: Phase,
    /// M.
    pub messages: u64,
    /// Δ in nanoseconds.
    pub delay_ns: f64,
    /// Elapsed time in nanoseconds. For [`Kind::Rtt`] with several messages, the time of all these
    /// round trips in sequence.
    pub elapsed_ns: f64,
    /// Batch in which this row was measured, numbered within its point (and its round, if rounds
    /// are known). A row without one is a batch of its own.
    pub batch: Option<u64>,
    /// Round of the measurement, if known. Rows of one round, of this and other points, are
    /// neighbours in time.
    pub round: Option<u64>,
    /// Launch that measured the row, if known.
    pub launch: Option<u64>,
}

/// Groups the rows of a table into observations, in order of kind, Δ and M.
///
/// Rows of a point with the same batch (and the same round and launch) form one batch; its value is
/// the mean of the rows inside their fence. Rows may be in any order. A row without a batch is a
/// batch of its own. Observations have rounds if all of their rows do.
///
/// *Assumes* independent repetitions, if rows are batches of their own.
pub fn observations_from_rows(rows: &[Row]) -> Vec<Observation> {
    let mut points: BTreeMap<PointKey, Batches> = BTreeMap::new();
    for row in rows {
        let (place, elapsed) = match row.kind {
            Phase::Issue => (place(row.kind, row.delay_ns, row.messages), row.elapsed_ns),
            Phase::Rtt => (place(row.kind, 0.0, 1), row.elapsed_ns / row.messages.max(1) as f64),
        };
        points.entry(place).or_default().add(row, elapsed);
    }
    points
        .into_iter()
        .map(|((kind, delay, messages), of)| Observation {
            kind,
            messages,
            delay: f64::from_bits(delay),
            batches: of.samples.iter().map(|samples| batch_value(samples)).collect(),
            rounds: of.rounds.into_iter().collect::<Option<_>>().unwrap_or_default(),
        })
        .collect()
}

/// The batches of a point, in order of their first rows.
#[derive(Default)]
struct Batches {
    samples: Vec<Vec<f64>>,
    /// Round of each batch.
    rounds: Vec<Option<u64>>,
    /// Index of the batch with this launch, round and number.
    places: BTreeMap<(Option<u64>, Option<u64>, u64), usize>,
}

impl Batches {
    fn add(&mut self, row: &Row, elapsed: f64) {
        let next = self.samples.len();
        let place = |batch| *self.places.entry((row.launch, row.round, batch)).or_insert(next);
        let at = row.batch.map_or(next, place);
        if at == next {
            self.samples.push(Vec::new());
            self.rounds.push(row.round);
        }
        self.samples[at].push(elapsed);
    }
}

/// Kind, Δ and M as a key, in this order. Δ is stored as its bits, which have the same order since
/// Δ is not negative; negative zero becomes zero.
pub(crate) type PointKey = (Phase, u64, u64);

pub(crate) fn place(kind: Phase, delay: f64, messages: u64) -> PointKey {
    (kind, (delay + 0.0).to_bits(), messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: Phase, messages: u64, delay_ns: f64, elapsed_ns: f64) -> Row {
        Row { kind, messages, delay_ns, elapsed_ns, batch: None, round: None, launch: None }
    }

    #[test]
    fn rows_are_grouped_and_kept_apart() {
        let rows = [
            row(Phase::Rtt, 1, 0.0, 20.0),
            row(Phase::Issue, 2, 5.0, 7.0),
            row(Phase::Issue, 2, 0.0, 3.0),
            row(Phase::Issue, 1, 0.0, 1.0),
            row(Phase::Issue, 2, -0.0, 4.0),
            // Four round trips in 100 ns.
            row(Phase::Rtt, 4, 0.0, 100.0),
        ];
        let observations = observations_from_rows(&rows);
        let seen: Vec<_> = observations
            .iter()
            .map(|o| (o.kind, o.messages, o.delay, o.batches.as_slice()))
            .collect();
        assert_eq!(
            seen,
            [
                (Phase::Issue, 1, 0.0, &[1.0][..]),
                (Phase::Issue, 2, 0.0, &[3.0, 4.0][..]),
                (Phase::Issue, 2, 5.0, &[7.0][..]),
                (Phase::Rtt, 1, 0.0, &[20.0, 25.0][..]),
            ]
        );
    }

    #[test]
    fn batches_have_rounds_where_the_table_names_them() {
        let of = |batch, round, elapsed_ns| Row {
            batch,
            round,
            ..row(Phase::Issue, 4, 0.0, elapsed_ns)
        };
        let point = |rows: &[Row]| {
            let [point] = &observations_from_rows(rows)[..] else { panic!("one point") };
            (point.batches.clone(), point.rounds.clone())
        };
        // Batches may be numbered through, or anew in each round.
        let through = [of(Some(0), Some(5), 1.0), of(Some(1), Some(5), 2.0)];
        assert_eq!(point(&through), (vec![1.0, 2.0], vec![5, 5]));
        let anew =
            [of(Some(0), Some(5), 1.0), of(Some(0), Some(3), 2.0), of(Some(0), Some(5), 4.0)];
        assert_eq!(point(&anew), (vec![2.5, 2.0], vec![5, 3]));
        // A row may be the only one of its batch, and rounds are of no use where some are missing.
        let single = [of(None, Some(0), 1.0), of(None, Some(0), 2.0), of(None, Some(1), 3.0)];
        assert_eq!(point(&single), (vec![1.0, 2.0, 3.0], vec![0, 0, 1]));
        let some = [of(None, Some(0), 1.0), of(None, None, 2.0)];
        assert_eq!(point(&some), (vec![1.0, 2.0], vec![]));
    }

    #[test]
    fn rows_are_grouped_as_they_were_measured() {
        let of = |batch: Option<u64>, times: &[f64]| {
            let row = |time: &f64| Row { batch, ..row(Phase::Issue, 4, 0.0, *time) };
            times.iter().map(row).collect::<Vec<_>>()
        };
        let values = |rows: &[Vec<Row>]| {
            let [point] = &observations_from_rows(&rows.concat())[..] else { panic!("one point") };
            point.batches.clone()
        };
        // Of any length, whether they stand together or not.
        let [first, second, more] =
            [of(Some(7), &[10.0, 12.0]), of(Some(2), &[20.0]), of(Some(7), &[14.0])];
        assert_eq!(values(&[first, second, more]), [12.0, 20.0]);
        // Without batches many rows are as many batches, and none is cut.
        let rows: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(values(&[of(None, &rows)]), rows);
        // Inside a batch one that was disturbed stays out.
        let disturbed: Vec<f64> = (0..10).map(|i| if i == 3 { 1e6 } else { 5.0 }).collect();
        assert_eq!(values(&[of(Some(1), &disturbed), of(Some(2), &[7.0])]), [5.0, 7.0]);
        // Batches of other points are others.
        let other = Row { batch: Some(7), ..row(Phase::Issue, 8, 0.0, 90.0) };
        let both = observations_from_rows(&[&of(Some(7), &[10.0])[..], &[other]].concat());
        let both: Vec<_> = both.iter().map(|point| point.batches.as_slice()).collect();
        assert_eq!(both, [&[10.0][..], &[90.0]]);
    }
}
