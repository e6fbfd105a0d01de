//! Turns time stamps into samples.

use std::collections::BTreeMap;

use bandgap_comm::Rank;

/// Column of the time in which a rank issues a sample's messages.
pub const ISSUE: &str = "issue";
/// Column of the time from a sample's begin until all its messages have ended.
pub const WHOLE: &str = "whole";

/// Column of the times of single operations, where each is stamped.
pub const SINGLE: &str = "single";

/// Time stamps that each rank took in one order, in ticks of its own clock.
pub type Stamps = [Vec<u64>];

fn of(stamps: &Stamps, rank: Rank) -> &[u64] {
    stamps.get(rank).map_or(&[], Vec::as_slice)
}

/// Samples of one order: named columns, in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples(BTreeMap<&'static str, Vec<u64>>);

impl Samples {
    /// Samples in a column; empty if there is no such column.
    pub fn column(&self, name: &str) -> &[u64] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Columns [`ISSUE`] and [`WHOLE`] of a rank's stamps, which come in threes: begin b, issued i,
    /// end e.
    ///
    /// *Formula*: issue = i − b, whole = e − b.
    pub fn of_triples(stamps: &Stamps, rank: Rank) -> Self {
        Self::of_marks(stamps, rank, 3, [(ISSUE, 0, 1), (WHOLE, 0, 2)])
    }

    /// As [`Samples::of_triples`] for several ranks, whose samples follow each other.
    pub fn of_each(stamps: &Stamps, ranks: impl Iterator<Item = Rank>) -> Self {
        let each: Vec<Self> = ranks.map(|rank| Self::of_triples(stamps, rank)).collect();
        let column = |name| each.iter().flat_map(|of| of.column(name).to_vec()).collect();
        Self([ISSUE, WHOLE].map(|name| (name, column(name))).into())
    }

    /// Columns as of [`Samples::of_triples`], of several ranks that do the same at once, whose stamps come in threes.
    ///
    /// *Formula*: the harmonic mean of the ranks' times, sample by sample.
    pub fn at_once(stamps: &Stamps, ranks: impl Iterator<Item = Rank>) -> Self {
        let each: Vec<Self> = ranks.map(|rank| Self::of_triples(stamps, rank)).collect();
        let mean = |name: &str, sample: usize| -> Option<u64> {
            let times = each.iter().map(|of| of.column(name).get(sample).copied());
            let rate = times.map(|time| Some(1.0 / time? as f64)).sum::<Option<f64>>()?;
            Some((each.len() as f64 / rate).round() as u64)
        };
        let samples = each.first().map_or(0, |of| of.column(WHOLE).len());
        let column = |name| (0..samples).filter_map(|sample| mean(name, sample)).collect();
        Self([ISSUE, WHOLE].map(|name| (name, column(name))).into())
    }

    /// Columns of differences between two stamps of a sample that has `marks` stamps.
    fn of_marks<const N: usize>(
        stamps: &Stamps,
        rank: Rank,
        marks: usize,
        columns: [(&'static str, usize, usize); N],
    ) -> Self {
        let columns = columns.map(|(name, from, to)| {
            let samples = of(stamps, rank).chunks_exact(marks);
            (name, samples.map(|sample| sample[to].saturating_sub(sample[from])).collect())
        });
        Self(columns.into())
    }

    /// Adds a column `name` with [`WHOLE`] of another rank's samples.
    pub fn beside(mut self, name: &'static str, other: &Self) -> Self {
        self.0.insert(name, other.column(WHOLE).to_vec());
        self
    }

    /// Columns [`ISSUE`], `last` and [`WHOLE`] of a rank's stamps, which come in fours: begin b,
    /// issued i, arrived a, end e.
    ///
    /// *Formula*: issue = i − b, last = e − a, whole = e − b.
    pub fn of_fours(stamps: &Stamps, rank: Rank, last: &'static str) -> Self {
        Self::of_marks(stamps, rank, 4, [(ISSUE, 0, 1), (last, 2, 3), (WHOLE, 0, 3)])
    }

    /// Columns [`WHOLE`] and [`SINGLE`] of stamps that come in pairs, around each operation of
    /// `samples` samples, on one or several ranks.
    ///
    /// *Formula*: single = end − begin, averaged over the ranks that have stamps; whole is the sum
    /// over the operations of a sample, averaged likewise.
    pub fn of_pairs(stamps: &Stamps, samples: u32) -> Self {
        let ranks: Vec<&Vec<u64>> = stamps.iter().filter(|rank| !rank.is_empty()).collect();
        let sum = |of: &[u64]| -> u64 {
            of.chunks_exact(2).map(|pair| pair[1].saturating_sub(pair[0])).sum()
        };
        // The stamps in `count` equal parts.
        let means = |count: usize| -> Vec<u64> {
            let mean = |at: usize| {
                let own = |rank: &&Vec<u64>| {
                    let each = rank.len() / count;
                    sum(&rank[at * each..][..each])
                };
                ranks.iter().map(own).sum::<u64>() / ranks.len() as u64
            };
            (0..if ranks.is_empty() { 0 } else { count }).map(mean).collect()
        };
        let operations = ranks.first().map_or(0, |rank| rank.len() / 2);
        Self([(WHOLE, means(samples as usize)), (SINGLE, means(operations))].into())
    }

    /// Column [`ISSUE`] of a rank's stamps at the borders of samples: differences between
    /// neighbours.
    pub fn of_borders(stamps: &Stamps, rank: Rank) -> Self {
        let issue =
            of(stamps, rank).windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        Self([(ISSUE, issue)].into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_give_two_columns_fours_three_and_borders_one() {
        let triples = Samples::of_triples(&[vec![7], vec![10, 13, 20, 30, 35, 36, 99]], 1);
        assert_eq!((triples.column(ISSUE), triples.column(WHOLE)), (&[3, 5][..], &[10, 6][..]));
        let borders = Samples::of_borders(&[vec![10, 13, 20], vec![]], 0);
        assert_eq!(borders.column(ISSUE), [3, 7]);
        assert_eq!(borders.names().collect::<Vec<_>>(), [ISSUE]);
        assert!(borders.column(WHOLE).is_empty());
        let fours = Samples::of_fours(&[vec![10, 13, 20, 25, 30, 31, 33, 36, 99]], 0, "last");
        let columns = [ISSUE, "last", WHOLE].map(|name| fours.column(name).to_vec());
        assert_eq!(columns, [[3, 1], [5, 3], [15, 6]]);
        // Two samples of two operations, on two of three ranks.
        let pairs =
            [vec![0, 3, 10, 14, 20, 21, 30, 32], vec![], vec![5, 10, 11, 17, 20, 25, 26, 30]];
        let pairs = Samples::of_pairs(&pairs, 2);
        assert_eq!(pairs.column(WHOLE), [(7 + 11) / 2, (3 + 9) / 2]);
        assert_eq!(pairs.column(SINGLE), [(3 + 5) / 2, (4 + 6) / 2, (1 + 5) / 2, (2 + 4) / 2]);
        // Rates of 1/2 and 1/6 have a mean of 1/3.
        let at_once =
            Samples::at_once(&[vec![10, 11, 12], vec![], vec![0, 3, 6]], [0, 2].into_iter());
        assert_eq!([ISSUE, WHOLE].map(|name| at_once.column(name).to_vec()), [vec![2], vec![3]]);
        assert!(Samples::of_pairs(&[vec![]], 2).column(WHOLE).is_empty());
        assert!(Samples::of_borders(&[], 0).column(ISSUE).is_empty());
    }
}
