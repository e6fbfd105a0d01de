//! Some of the ranks, numbered from 0.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Rank;

/// Ranks `first`, `first + stride`, …, `count` of them: the first P ranks, a row of a mesh
/// (stride 1), or a column (stride = length of a row).
///
/// A peer may send any values: [`Members::within`] checks them, and no method overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// The first member.
    pub first: Rank,
    /// Distance from one member to the next.
    pub stride: usize,
    /// Number of members.
    pub count: usize,
}

impl Members {
    /// The first `count` ranks.
    pub const fn first(count: usize) -> Self {
        Self { first: 0, stride: 1, count }
    }

    /// The rank of member `index`, if there are so many.
    #[inline(always)]
    pub fn rank(self, index: usize) -> Option<Rank> {
        let rank = index.checked_mul(self.stride)?.checked_add(self.first)?;
        (index < self.count).then_some(rank)
    }

    /// Which member `rank` is, if it is one.
    pub fn index(self, rank: Rank) -> Option<usize> {
        let index = rank.checked_sub(self.first)?.checked_div(self.stride).unwrap_or(0);
        (self.rank(index)? == rank).then_some(index)
    }

    /// Members of a group, which count by its numbers, as ranks; `None` if there are none, one is
    /// not in `whole`, or one occurs twice.
    pub fn within(self, whole: Self) -> Option<Self> {
        let last = self.count.checked_sub(1)?;
        whole.rank(self.rank(last)?)?;
        let stride = self.stride.checked_mul(whole.stride)?;
        let first = whole.rank(self.first)?;
        (stride > 0 || self.count == 1).then_some(Self { first, stride, count: self.count })
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, stride, count } = self;
        write!(f, "{count} ranks from {first} on in steps of {stride}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = usize::MAX;

    fn ranks(members: Members) -> Vec<Rank> {
        let ranks = (0..members.count).map(|index| members.rank(index).unwrap());
        ranks
            .inspect(|&rank| assert_eq!(members.rank(members.index(rank).unwrap()).unwrap(), rank))
            .collect()
    }

    #[test]
    fn rows_and_columns_of_a_mesh() {
        // 3 rows of 4: row 2 is 8..12, column 3 is 3, 7, 11.
        let row = Members { first: 8, stride: 1, count: 4 };
        let column = Members { first: 3, stride: 4, count: 3 };
        assert_eq!(ranks(row), [8, 9, 10, 11]);
        assert_eq!(ranks(column), [3, 7, 11]);
        let whole = Members::first(12);
        assert_eq!(row.within(whole).unwrap(), row);
        assert_eq!(column.within(whole).unwrap(), column);
        assert_eq!([6, 8, 12].map(|rank| row.index(rank)), [None, Some(0), None]);
        assert_eq!([3, 4, 11, 15].map(|rank| column.index(rank)), [Some(0), None, Some(2), None]);
        assert_eq!(column.rank(3), None);
    }

    #[test]
    fn a_group_of_a_group_is_named_by_ranks() {
        // Every third of 0..30: 0, 3, …, 27; of these the members 1, 3, 5: 3, 9, 15.
        let thirds = Members { first: 0, stride: 3, count: 10 };
        let inner = Members { first: 1, stride: 2, count: 3 };
        let nested = inner.within(thirds.within(Members::first(30)).unwrap()).unwrap();
        assert_eq!(ranks(nested), [3, 9, 15]);
        // Of these the last two: 9 and 15.
        let last = Members { first: 1, stride: 1, count: 2 };
        assert_eq!(ranks(last.within(nested).unwrap()), [9, 15]);
    }

    #[test]
    fn whatever_a_peer_sends_is_refused_or_names_different_ranks() {
        let wrong = [(0, 1, 0), (0, 1, 10), (9, 1, 1), (5, 2, 3), (0, 0, 2)];
        let huge = [(MAX, 1, 1), (0, MAX, 2), (1, MAX, 2), (0, 1, MAX), (MAX, MAX, MAX)];
        for (first, stride, count) in wrong.into_iter().chain(huge) {
            let members = Members { first, stride, count };
            assert_eq!(members.within(Members::first(9)), None, "{members}");
        }
        for values in [(0, 1, 9), (8, 1, 1), (4, 2, 3), (3, 0, 1), (3, 7, 1)] {
            let (first, stride, count) = values;
            ranks(Members { first, stride, count }.within(Members::first(9)).unwrap());
        }
        let huge = Members { first: MAX, stride: MAX, count: MAX };
        assert_eq!([huge.rank(1), huge.rank(MAX)], [None; 2]);
        assert_eq!([0, 5, MAX].map(|rank| huge.index(rank)), [None, None, Some(0)]);
        let still = Members { first: 4, stride: 0, count: 1 };
        assert_eq!([3, 4, 5].map(|rank| still.index(rank)), [None, Some(0), None]);
    }
}
