//! Observations of the issue phase and of single round trips.

use std::collections::BTreeMap;

use bandgap_stats::batch::{BATCH, batch_value};
use bandgap_stats::outlier::inside_fence;
use bandgap_stats::quantile::mean;
use derive_more::Display;
use serde::{Deserialize, Serialize};

/// What was timed.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[display(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The issue phase: M requests, each followed by computing for Δ. Replies that come later are taken
    /// outside the timed section.
    Issue,
    /// A single request with its reply.
    Rtt,
}

/// One point (M, Δ) of the experiment, or the round-trip time.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// What was timed.
    pub kind: Kind,
    /// M, requests in the issue phase; 1 for a round trip.
    pub messages: u64,
    /// Δ in nanoseconds as calibrated, the same number for all M of one Δ; 0 for a round trip.
    pub delay: f64,
    /// Batch values in nanoseconds: elapsed time of one issue phase (all M requests), or of one
    /// round trip.
    pub batches: Vec<f64>,
    /// The round in which each batch was measured: batches of one round, of this and other points, are
    /// neighbours in time. Empty where that is not known.
    pub rounds: Vec<u64>,
}

/// One repetition, as in a table `kind,messages,delay_ns,elapsed_ns`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What was timed.
    pub kind: Kind,
    /// M.
    pub messages: u64,
    /// Δ in nanoseconds.
    pub delay_ns: f64,
    /// Elapsed time in nanoseconds. For [`Kind::Rtt`] with several messages, the time of all these round
    /// trips, one after the other.
    pub elapsed_ns: f64,
}

/// A point has this many batches if it has enough rows.
const BATCHES: usize = 20;

/// Groups the rows of a table into observations, in order of kind, Δ and M.
///
/// The rows of a point are cut, in their order, into 20 batches of up to 50 rows, or more batches of
/// 50; a remainder joins the last. With fewer than 40 rows each row is a batch of its own. Batches of
/// at least ten rows have a fence each; smaller ones share the fence of the point.
///
/// *Assumes*, where rows are their own batches, that repetitions are independent.
#[must_use]
pub fn observations_from_rows(rows: &[Row]) -> Vec<Observation> {
    let mut points: BTreeMap<Place, Vec<f64>> = BTreeMap::new();
    for row in rows {
        let (place, elapsed) = match row.kind {
            Kind::Issue => (place(row.kind, row.delay_ns, row.messages), row.elapsed_ns),
            Kind::Rtt => (place(row.kind, 0.0, 1), row.elapsed_ns / row.messages.max(1) as f64),
        };
        points.entry(place).or_default().push(elapsed);
    }
    points
        .into_iter()
        .map(|((kind, delay, messages), samples)| Observation {
            kind,
            messages,
            delay: f64::from_bits(delay),
            batches: batches(&samples),
            rounds: Vec::new(),
        })
        .collect()
}

/// Kind, Δ and M as a key, in this order. A Δ is its bits, which rise with it since it is not
/// negative; negative zero is zero.
pub(crate) type Place = (Kind, u64, u64);

pub(crate) fn place(kind: Kind, delay: f64, messages: u64) -> Place {
    (kind, (delay + 0.0).to_bits(), messages)
}

fn batches(samples: &[f64]) -> Vec<f64> {
    let size = (samples.len() / BATCHES).clamp(1, BATCH);
    if size == 1 {
        return samples.to_vec();
    }
    if size >= 10 {
        return cut(samples, size).map(batch_value).collect();
    }
    cut(&inside_fence(samples), size).map(mean).collect()
}

/// Slices of `size`, the last one longer by the remainder.
fn cut(samples: &[f64], size: usize) -> impl Iterator<Item = &[f64]> {
    let count = (samples.len() / size).max(1);
    (0..count).map(move |i| {
        let end = if i + 1 == count { samples.len() } else { (i + 1) * size };
        &samples[i * size..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: Kind, messages: u64, delay_ns: f64, elapsed_ns: f64) -> Row {
        Row { kind, messages, delay_ns, elapsed_ns }
    }

    #[test]
    fn rows_are_grouped_and_kept_apart() {
        let rows = [
            row(Kind::Rtt, 1, 0.0, 20.0),
            row(Kind::Issue, 2, 5.0, 7.0),
            row(Kind::Issue, 2, 0.0, 3.0),
            row(Kind::Issue, 1, 0.0, 1.0),
            row(Kind::Issue, 2, -0.0, 4.0),
            // Four round trips in 100 ns.
            row(Kind::Rtt, 4, 0.0, 100.0),
        ];
        let observations = observations_from_rows(&rows);
        let seen: Vec<_> = observations
            .iter()
            .map(|o| (o.kind, o.messages, o.delay, o.batches.as_slice()))
            .collect();
        assert_eq!(
            seen,
            [
                (Kind::Issue, 1, 0.0, &[1.0][..]),
                (Kind::Issue, 2, 0.0, &[3.0, 4.0][..]),
                (Kind::Issue, 2, 5.0, &[7.0][..]),
                (Kind::Rtt, 1, 0.0, &[20.0, 25.0][..]),
            ]
        );
    }

    #[test]
    fn batch_sizes() {
        let count = |rows: usize| batches(&vec![1.0; rows]).len();
        assert_eq!(count(10), 10);
        assert_eq!(count(39), 39);
        // 100 rows: 20 batches of 5; 2000 rows: 40 batches of 50.
        assert_eq!(count(100), 20);
        assert_eq!(count(2000), 40);
    }

    #[test]
    fn no_row_is_lost_and_outliers_stay_out() {
        // 0..=102 in batches of 5, the last of 8: 95..=102, mean 98.5.
        let mut samples: Vec<f64> = (0..=102).map(f64::from).collect();
        assert_eq!(batches(&samples)[19], 98.5);
        samples[7] = 1e6;
        // Without the outlier the second batch is 5 6 8 9 10.
        assert_eq!(batches(&samples)[1], 7.6);
    }
}
