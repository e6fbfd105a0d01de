//! Broadcast: the bytes of one rank, sent to all.

use super::algorithm::algorithms;
use super::allgather::{doubling, ring};
use super::around::Around;
use super::blocks::{Blocks, too_few};
use super::tags::BROADCAST;
use crate::ring::{after, before};
use crate::{Comm, CommError, Part, Rank, Result};

algorithms! {
    /// Algorithms for a broadcast.
    Broadcast, "broadcast",
    /// The root sends to each rank in turn.
    Linear "linear"
    /// Down a binomial tree.
    #[default]
    Binomial "binomial"
    /// Scatters blocks down a binomial tree, then all ranks gather them (van de Geijn).
    ScatterAllgather "scatter_allgather"
    /// From rank to rank, in segments.
    Chain "chain"
}

impl Broadcast {
    /// Sends the bytes that `root` has in `part` to every rank.
    ///
    /// # Errors
    /// As [`Comm::wait`]; or there is no rank `root`.
    #[inline]
    pub fn run<C: Comm>(self, comm: &mut C, root: Rank, part: Part) -> Result<()> {
        self.counted(comm, root, Count::Up, part)
    }

    /// As [`Broadcast::run`], with the other ranks numbered from the root in this direction. All
    /// ranks must give the same.
    ///
    /// # Errors
    /// As [`Broadcast::run`].
    #[inline]
    pub fn counted<C: Comm>(
        self,
        comm: &mut C,
        root: Rank,
        count: Count,
        part: Part,
    ) -> Result<()> {
        let size = comm.size();
        if root >= size {
            return Err(CommError::NoSuchPeer { peer: root, size });
        }
        let from = FromRoot { root, size, count };
        match self {
            Self::Linear => linear(comm, from, part),
            Self::Binomial => binomial(comm, from, part),
            Self::ScatterAllgather => scatter_allgather(comm, from, part),
            Self::Chain => chain(comm, from, part),
        }
    }

    /// Number, counted from the root, of the rank that ends last.
    ///
    /// *Formula*, with Q the largest power of two not above P:
    /// - linear and chain: P − 1.
    /// - binomial: Q − 1. All its bits are set: if P = Q, its message takes the most hops;
    ///   otherwise no other takes more, and its message begins last.
    /// - scatter_allgather: 0 if P = Q, since the root waits for the block with the longest way to
    ///   it; otherwise Q − 2, which gets through the ring the block that rank Q − 1 got last.
    ///
    /// *Assumes* that a message takes at least as long as the sender's interval, and that all
    /// messages of a length take equally long. For scatter_allgather with P ≠ Q also that bytes,
    /// not gaps, limit a sender; otherwise another rank may end later.
    pub fn last(self, ranks: usize) -> usize {
        let Some(within) = ranks.checked_ilog2().map(|log| 1_usize << log) else { return 0 };
        match self {
            Self::Linear | Self::Chain => ranks - 1,
            Self::Binomial => within - 1,
            Self::ScatterAllgather if within == ranks => 0,
            Self::ScatterAllgather => within - 2,
        }
    }

    /// Messages that `rank` of `size` receives in a broadcast of `bytes` bytes from `root`.
    pub fn receives(self, rank: Rank, size: usize, root: Rank, bytes: usize) -> u64 {
        match self {
            Self::Linear | Self::Binomial => u64::from(rank != root),
            // Its blocks, unless it is the root, and one message in each step of the allgather.
            Self::ScatterAllgather => {
                let is_power = size.is_power_of_two();
                let steps = if is_power { size.ilog2() as usize } else { size - 1 };
                u64::from(rank != root) + steps as u64
            }
            Self::Chain if rank == root => 0,
            Self::Chain => segments(size, bytes) as u64,
        }
    }

    fn stands_against(self, ranks: usize, bytes: usize) -> Option<String> {
        match self {
            Self::ScatterAllgather => too_few(ranks, bytes, "bytes"),
            Self::Linear | Self::Binomial | Self::Chain => None,
        }
    }
}

/// Direction in which ranks are numbered from a root, which is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// The ranks after the root are 1, 2, …
    #[default]
    Up,
    /// The ranks before the root are 1, 2, …
    Down,
}

/// Numbers of ranks. Algorithms depend only on these, so that counting down gives the mirror image.
#[derive(Clone, Copy, Debug)]
pub(super) struct FromRoot {
    pub(super) root: Rank,
    pub(super) size: usize,
    pub(super) count: Count,
}

impl FromRoot {
    /// Counting up.
    #[inline(always)]
    pub(super) fn up(root: Rank, size: usize) -> Self {
        Self { root, size, count: Count::Up }
    }

    /// The number of a rank.
    #[inline(always)]
    pub(super) fn number(self, rank: Rank) -> usize {
        match self.count {
            Count::Up => before(rank, self.root, self.size),
            Count::Down => before(self.root, rank, self.size),
        }
    }

    /// The rank with a number, which must be less than twice the size.
    #[inline(always)]
    pub(super) fn rank(self, number: usize) -> Rank {
        let number = number.checked_sub(self.size).unwrap_or(number);
        match self.count {
            Count::Up => after(self.root, number, self.size),
            Count::Down => before(self.root, number, self.size),
        }
    }
}

/// The root sends to the other ranks in the order of their numbers.
#[inline]
fn linear<C: Comm>(comm: &mut C, from: FromRoot, part: Part) -> Result<()> {
    if comm.rank() != from.root {
        return comm.recv(from.root, BROADCAST, part);
    }
    (1..from.size).try_for_each(|number| comm.send(from.rank(number), BROADCAST, part))
}

/// A rank whose number ends with i zero bits gets the bytes from the rank 2ⁱ before it, and sends
/// them to those 2ⁱ⁻¹, 2ⁱ⁻², …, 1 after it. The farthest is first, since it has the most ranks to
/// serve.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on broadcast.
#[inline]
pub(super) fn binomial<C: Comm>(comm: &mut C, from: FromRoot, part: Part) -> Result<()> {
    let size = from.size;
    let relative = from.number(comm.rank());
    let mut reach = 1;
    while reach < size && relative & reach == 0 {
        reach *= 2;
    }
    if relative != 0 {
        comm.recv(from.rank(relative - reach), BROADCAST, part)?;
    }
    while reach > 1 {
        reach /= 2;
        if relative + reach < size {
            comm.send(from.rank(relative + reach), BROADCAST, part)?;
        }
    }
    Ok(())
}

/// Blocks, one for each rank, are scattered down a binomial tree: a rank gets the blocks of all
/// ranks below it. An allgather follows: by recursive doubling if the number of ranks is a power of
/// two, otherwise by a ring. So each byte leaves the root about once, not once for each level of a
/// tree.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on broadcast, after Barnett, Gupta, Payne, Shuler, van
/// de Geijn, Watts, "Interprocessor collective communication library (InterCom)", 1994.
#[inline]
fn scatter_allgather<C: Comm>(comm: &mut C, from: FromRoot, part: Part) -> Result<()> {
    let size = from.size;
    let relative = from.number(comm.rank());
    let blocks = Blocks::of(part, 1, size);
    let mut reach = 1;
    while reach < size && relative & reach == 0 {
        reach *= 2;
    }
    if relative != 0 {
        let dealt = blocks.all(relative..size.min(relative + reach));
        comm.recv(from.rank(relative - reach), BROADCAST, dealt)?;
    }
    let mut end = size.min(relative + reach);
    while reach > 1 {
        reach /= 2;
        if relative + reach < end {
            let dealt = blocks.all(relative + reach..end);
            comm.send(from.rank(relative + reach), BROADCAST, dealt)?;
            end = relative + reach;
        }
    }
    if size.is_power_of_two() {
        doubling(comm, BROADCAST, blocks, (relative, size), |index| from.rank(index))
    } else {
        let (next, last) = (from.rank(relative + 1), from.rank(relative + size - 1));
        ring(comm, BROADCAST, &[Around { next, last, own: relative, blocks }])
    }
}

/// n½ in the rule of [`segments`], in bytes: typical of ranks that share memory. It is a constant,
/// since all ranks must get the same number and none knows the machine.
const HALF_LENGTH: usize = 4096;

/// Number of segments in which a chain of `ranks` ranks passes on `bytes` bytes.
///
/// *Formula*: ⌈n / s⌉ with s = √(n·n½ / (P − 2)), at least one. This s minimises (P − 1 + n/s −
/// 1)(t₀ + s/r∞), with n½ = t₀·r∞ = 4096 bytes. With up to two ranks no rank passes anything on,
/// and one segment is best.
/// *Source*: Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel, Dongarra, "Performance Analysis of MPI
/// Collective Operations", Cluster Computing 10, 2007, for the time of a pipeline.
pub fn segments(ranks: usize, bytes: usize) -> usize {
    let Some(passed_on) = ranks.checked_sub(2).filter(|&hops| hops > 0) else { return 1 };
    let square = bytes.saturating_mul(HALF_LENGTH) / passed_on;
    bytes.div_ceil(square.isqrt().max(1)).max(1)
}

/// A rank gets each segment from the rank before it, and passes it on while it waits for the next
/// segment.
#[inline]
fn chain<C: Comm>(comm: &mut C, from: FromRoot, part: Part) -> Result<()> {
    let (number, size) = (from.number(comm.rank()), from.size);
    let count = segments(size, part.len);
    let blocks = Blocks::of(part, 1, count);
    let (first, last) = (number == 0, number + 1 == size);
    let (next, previous) = (from.rank(number + 1), from.rank(number + size - 1));
    match (first, last) {
        (true, true) => Ok(()),
        (true, false) => {
            (0..count).try_for_each(|segment| comm.send(next, BROADCAST, blocks.one(segment)))
        }
        (false, true) => {
            (0..count).try_for_each(|segment| comm.recv(previous, BROADCAST, blocks.one(segment)))
        }
        (false, false) => {
            comm.recv(previous, BROADCAST, blocks.one(0))?;
            for segment in 1..count {
                let receive = comm.irecv(previous, BROADCAST, blocks.one(segment))?;
                comm.send(next, BROADCAST, blocks.one(segment - 1))?;
                comm.wait(receive)?;
            }
            comm.send(next, BROADCAST, blocks.one(count - 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_segments_follows_the_formula() {
        // P = 3, n = 65 536: s = √(65 536 · 4096) = 16 384. P = 6: half of that.
        assert_eq!([segments(3, 65_536), segments(6, 65_536)], [4, 8]);
        // One byte more than 4 · 16 384 makes s no longer, and a fifth segment.
        assert_eq!(segments(3, 65_537), 5);
        for ranks in 1..100 {
            assert_eq!(segments(ranks, 0), 1, "{ranks}");
            assert!((1..=100).contains(&segments(ranks, 100)));
        }
        assert_eq!([segments(1, 1 << 20), segments(2, 1 << 20)], [1, 1]);
        assert!(segments(9, usize::MAX) > 1);
    }
}
