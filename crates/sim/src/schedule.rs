//! Schedules: the operations of each rank, as data.

mod builder;
mod program;
mod step;

use bandgap_comm::Rank;

pub(crate) use builder::Builder;
pub(crate) use program::{Cursor, Program};
pub(crate) use step::Step;
pub use step::{Context, Op};

use program::Along;

/// A recorded program: the operations of each rank, with repetitions folded.
///
/// Ranks whose lists differ only in their peers share one list if the peers are equally far from
/// each rank (as in a ring or a dissemination), or differ from it in the same bits (as in a tree or
/// a doubling). Their computations may differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// All lists, one after the other. A computation is stored as its index among those of its
    /// rank.
    ops: Vec<Step>,
    lists: Vec<List>,
    /// Lengths of computations, in picoseconds.
    amounts: Vec<u64>,
    ranks: Vec<Entry>,
}

/// A list of operations, and the rank that it was recorded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct List {
    rank: u32,
    begin: usize,
    end: usize,
}

/// The list of a rank.
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

    /// Number of operations stored, for all ranks.
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

    /// Whether any operation moves bytes.
    pub(crate) fn moves_bytes(&self) -> bool {
        self.ops.iter().any(|step| {
            matches!(Op::from(*step), Op::Request { bytes: Some(bytes), .. } | Op::Get { bytes, .. }
                | Op::Send { bytes, .. } | Op::Recv { bytes, .. } if bytes > 0)
        })
    }

    /// Whether it consists only of messages with bytes and computations, without Active Messages.
    pub fn is_passing(&self) -> bool {
        self.ops.iter().all(|step| {
            !matches!(
                Op::from(*step),
                Op::Request { .. } | Op::Get { .. } | Op::AwaitReplies | Op::Serve { .. }
            )
        })
    }

    /// Operations of `rank` in order, with repetitions unfolded.
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
