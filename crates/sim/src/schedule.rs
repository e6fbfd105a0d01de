//! What a program does, rank by rank, as data.

mod builder;
mod program;
mod step;

use bandgap_comm::Rank;

pub(crate) use builder::Builder;
pub(crate) use program::{Cursor, Program};
pub(crate) use step::Step;
pub use step::{Context, Op};

use program::Along;

/// A recorded program: the operations of each rank, repetitions folded.
///
/// Ranks whose lists are the same but for their peers share one, where the peers are as far from
/// each rank (a ring, a dissemination), or differ from it in the same bits (a tree, a doubling). What
/// they compute may be different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// All lists one after the other. A computation is its place among those of its rank.
    ops: Vec<Step>,
    lists: Vec<List>,
    /// Computations of lists, in picoseconds.
    amounts: Vec<u64>,
    ranks: Vec<Entry>,
}

/// A list of operations, as a rank has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct List {
    rank: u32,
    begin: usize,
    end: usize,
}

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    list: u32,
    flipped: bool,
    /// Where its computations begin.
    amounts: u32,
}

impl Schedule {
    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// Operations that are stored, of all ranks.
    pub fn stored(&self) -> usize {
        self.ops.len()
    }

    #[inline(always)]
    pub(crate) fn program(&self, rank: u32) -> Program<'_> {
        let Entry { list, flipped, amounts } = self.ranks[rank as usize];
        let List { rank: first, begin, end } = self.lists[list as usize];
        let along = Along::between(first, rank, self.ranks.len() as u32, flipped);
        let amounts = &self.amounts[amounts as usize..];
        Program { ops: &self.ops[begin..end], amounts, along }
    }

    /// Whether any operation moves bytes, not only words or none.
    pub(crate) fn moves_bytes(&self) -> bool {
        self.ops.iter().any(|step| {
            matches!(Op::from(*step), Op::Request { bytes: Some(bytes), .. } | Op::Get { bytes, .. }
                | Op::Send { bytes, .. } | Op::Recv { bytes, .. } if bytes > 0)
        })
    }

    /// Whether it consists of messages of bytes and computations, without Active Messages.
    pub fn is_passing(&self) -> bool {
        self.ops.iter().all(|step| {
            !matches!(
                Op::from(*step),
                Op::Request { .. } | Op::Get { .. } | Op::AwaitReplies | Op::Serve { .. }
            )
        })
    }

    /// The operations of `rank` one after the other, repetitions unfolded.
    pub fn operations(&self, rank: Rank) -> impl Iterator<Item = Op> {
        let program = (rank < self.size()).then(|| self.program(rank as u32));
        let mut cursor = Cursor::default();
        std::iter::from_fn(move || {
            let op = cursor.peek(program?)?;
            cursor.advance();
            Some(op)
        })
    }
}
