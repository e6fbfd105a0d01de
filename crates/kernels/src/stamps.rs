//! From time stamps to samples.

use std::collections::BTreeMap;

use bandgap_comm::Rank;
use serde::{Deserialize, Serialize};

/// Column of the time in which a rank issues the messages of a sample.
pub const ISSUE: &str = "issue";
/// Column of the time from a sample's begin until all its messages have come to their end.
pub const WHOLE: &str = "whole";

/// The time stamps that ranks took in one order, in ticks of each rank's own clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamps(BTreeMap<Rank, Vec<u64>>);

impl Stamps {
    /// Those of a rank; none if it took none.
    pub fn of(&self, rank: Rank) -> &[u64] {
        self.0.get(&rank).map_or(&[], Vec::as_slice)
    }
}

impl FromIterator<(Rank, Vec<u64>)> for Stamps {
    fn from_iter<I: IntoIterator<Item = (Rank, Vec<u64>)>>(ranks: I) -> Self {
        Self(ranks.into_iter().collect())
    }
}

/// The samples of one order: columns with names, in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples(BTreeMap<String, Vec<u64>>);

impl Samples {
    /// The samples of a column; none if there is no such column.
    pub fn column(&self, name: &str) -> &[u64] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds a column.
    #[must_use]
    pub fn with(mut self, name: &str, ticks: Vec<u64>) -> Self {
        self.0.insert(name.into(), ticks);
        self
    }

    /// Columns [`ISSUE`] and [`WHOLE`] of stamps that come in threes.
    ///
    /// *Formula*: with stamps b, i, e of a sample (begin, issued, end): issue = i − b,
    /// whole = e − b.
    pub fn of_triples(ticks: &[u64]) -> Self {
        let (issue, whole) = ticks
            .chunks_exact(3)
            .map(|sample| {
                (sample[1].saturating_sub(sample[0]), sample[2].saturating_sub(sample[0]))
            })
            .unzip();
        Self::default().with(ISSUE, issue).with(WHOLE, whole)
    }

    /// Column [`ISSUE`] of stamps at the borders of samples: the differences of neighbours.
    pub fn of_borders(ticks: &[u64]) -> Self {
        let issue = ticks.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        Self::default().with(ISSUE, issue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_give_two_columns_and_borders_one() {
        let triples = Samples::of_triples(&[10, 13, 20, 30, 35, 36, 99]);
        assert_eq!((triples.column(ISSUE), triples.column(WHOLE)), (&[3, 5][..], &[10, 6][..]));
        let borders = Samples::of_borders(&[10, 13, 20]);
        assert_eq!(borders.column(ISSUE), [3, 7]);
        assert_eq!(borders.names().collect::<Vec<_>>(), [ISSUE]);
        assert!(borders.column(WHOLE).is_empty());
        assert!(Samples::of_borders(&[]).column(ISSUE).is_empty());
    }
}
