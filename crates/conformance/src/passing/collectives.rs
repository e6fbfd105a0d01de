//! Operations of all ranks: each algorithm, over each protocol.

use super::Harness;
use super::ranks::{Ranks, one_of_each, pattern, run};
use bandgap_comm::collectives::{
    Algorithm, Barrier, Blocks, Broadcast, Sum, all_gather, all_to_all, reduce_scatter,
};
use bandgap_comm::passing::MessageId;
use bandgap_comm::{Comm, CommError, Group, Members, Part, Pending, Processor, Rank, View, Work};

/// A rank as programs see it. It keeps no time.
struct Program<'r, H: Harness>(&'r mut Ranks<H>);

impl<H: Harness> Processor for Program<'_, H> {
    fn rank(&self) -> Rank {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn mark(&mut self) {}

    fn compute(&mut self, _: Work) {}
}

impl<H: Harness> Comm for Program<'_, H> {
    type Pending = MessageId;
    type Group<'a>
        = Group<'a, Self>
    where
        Self: 'a;

    fn group(&mut self, members: Members) -> Result<Group<'_, Self>, CommError> {
        Group::new(self, members)
    }

    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<MessageId>, CommError> {
        self.0.isend(peer, tag, from)
    }

    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<MessageId>, CommError> {
        self.0.irecv(peer, tag, into)
    }

    fn wait(&mut self, pending: Pending<MessageId>) -> Result<(), CommError> {
        self.0.wait(pending)
    }

    fn progress(&mut self) -> Result<(), CommError> {
        self.0.progress()
    }

    fn copy(&mut self, from: Part, into: Part) -> Result<(), CommError> {
        from.copy(self.0.memory_mut(), into)
    }

    fn copy_elements(&mut self, from: View, into: View) -> Result<(), CommError> {
        from.copy(self.0.memory_mut(), into)
    }

    fn add(&mut self, into: Part, term: Part) -> Result<(), CommError> {
        into.add(self.0.memory_mut(), term)
    }

    fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<(), CommError> {
        self.0.send(peer, tag, from)
    }

    fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<(), CommError> {
        self.0.recv(peer, tag, into)
    }

    fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<(), CommError> {
        self.0.exchange(peer, tag, from, into)
    }
}

/// Every algorithm of broadcast, sum and barrier, and what deals out blocks, with messages of each protocol. Two broadcasts
/// and two sums follow one another before any is looked at, so that early messages of the second
/// wait at their receivers.
pub fn collectives<H: Harness>() {
    for size in [2, 3, 4] {
        run::<H>(size, |rank| {
            for len in one_of_each(&H::TUNING) {
                Broadcast::ALL.iter().try_for_each(|&by| broadcasts(rank, by, len))?;
                Sum::ALL.iter().try_for_each(|&by| sums(rank, by, len / 8))?;
                blocks(rank, size * (len / 8))?;
                Barrier::ALL.iter().try_for_each(|by| by.run(&mut Program(rank)))?;
            }
            Ok(())
        });
    }
}

fn broadcasts<H: Harness>(rank: &mut Ranks<H>, by: Broadcast, len: usize) -> Result<(), CommError> {
    let roots = [0, rank.size() - 1];
    rank.reserve(2, 2 * len);
    let seed = |root: Rank| (7 * root + len) as u64;
    let parts = roots.map(|root| match root == rank.rank() {
        true => rank.put(&pattern(seed(root), len)),
        false => rank.room(len),
    });
    for (root, part) in roots.into_iter().zip(parts) {
        by.run(&mut Program(rank), root, part)?;
    }
    for (root, part) in roots.into_iter().zip(parts) {
        rank.assert_bytes(part, &pattern(seed(root), len), by.name());
    }
    Ok(())
}

fn sums<H: Harness>(rank: &mut Ranks<H>, by: Sum, elements: usize) -> Result<(), CommError> {
    let size = rank.size();
    let bytes = |value: &dyn Fn(usize) -> usize| -> Vec<u8> {
        (0..elements).flat_map(|at| (value(at) as f64).to_ne_bytes()).collect()
    };
    let terms = bytes(&|at| (rank.rank() + 1) * (at + 1));
    let sum = bytes(&|at| (at + 1) * size * (size + 1) / 2);
    rank.reserve(4, 4 * terms.len());
    let from = rank.put(&terms);
    let [first, second, scratch] = [(); 3].map(|()| rank.room(terms.len()));
    for into in [first, second] {
        by.run(&mut Program(rank), from, into, scratch)?;
    }
    rank.assert_bytes(from, &terms, by.name());
    rank.assert_bytes(first, &sum, by.name());
    rank.assert_bytes(second, &sum, by.name());
    Ok(())
}

/// All to all twice, then the sum of what came, in blocks and together.
fn blocks<H: Harness>(rank: &mut Ranks<H>, elements: usize) -> Result<(), CommError> {
    let (size, number) = (rank.size(), rank.rank());
    let vector = |of: Rank| move |at: usize| (of + 1) * (at + 1);
    let bytes = |value: &dyn Fn(usize) -> usize| -> Vec<u8> {
        (0..elements).flat_map(|at| (value(at) as f64).to_ne_bytes()).collect()
    };
    let terms = bytes(&vector(number));
    rank.reserve(4, 4 * terms.len());
    let from = rank.put(&terms);
    let [once, twice, sum] = [(); 3].map(|()| rank.room(terms.len()));
    all_to_all(&mut Program(rank), from, once)?;
    all_to_all(&mut Program(rank), from, twice)?;
    for into in [once, twice] {
        // Block d is of the rank d before.
        let of = |at: usize| (number + size - at * size / elements) % size;
        rank.assert_bytes(into, &bytes(&|at| vector(of(at))(at)), "all_to_all");
    }
    reduce_scatter(&mut Program(rank), from, once)?;
    all_gather(&mut Program(rank), Blocks::of(once, 8, size).one(number), sum)?;
    let added = bytes(&|at| (at + 1) * size * (size + 1) / 2);
    rank.assert_bytes(sum, &added, "reduce_scatter and all_gather");
    Ok(())
}
