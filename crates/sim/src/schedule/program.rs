//! The operations of one rank, and a position in them.

use super::step::{COMPUTE, Op, Step};

/// The change of peers that turns one rank's list of operations into another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// (peer + by) mod size.
    Added { by: u32, size: u32 },
    /// peer ⊕ by.
    Flipped { by: u32 },
}

impl Along {
    /// The change from the list of rank `first` to that of `rank`.
    #[inline(always)]
    pub(super) fn between(first: u32, rank: u32, size: u32, flipped: bool) -> Self {
        if flipped { Self::Flipped { by: first ^ rank } } else { Self::added(first, rank, size) }
    }

    #[inline(always)]
    pub(super) fn added(from: u32, to: u32, size: u32) -> Self {
        let by = if to >= from { to - from } else { size - (from - to) };
        Self::Added { by, size }
    }

    #[inline(always)]
    pub(super) fn move_to(self, peer: u32) -> u32 {
        match self {
            Self::Added { by, size } if peer >= size - by => peer - (size - by),
            Self::Added { by, .. } => peer + by,
            Self::Flipped { by } => peer ^ by,
        }
    }
}

/// The operations of one rank, as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    pub(super) ops: &'a [Step],
    pub(super) amounts: &'a [u64],
    pub(super) along: Along,
}

impl Program<'_> {
    /// The operation at this index; `None` behind the last.
    #[inline(always)]
    pub(super) fn get(self, at: usize) -> Option<Op> {
        let step = *self.ops.get(at)?;
        Some(match step.head {
            COMPUTE => Op::Compute { picoseconds: self.amounts[step.value as usize] },
            _ => step.toward(|peer| self.along.move_to(peer)).into(),
        })
    }
}

/// A position in folded operations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    at: u32,
    /// Repetitions already done of the next [`Op::Repeat`].
    rounds: u32,
}

impl Cursor {
    /// The operation here, never an [`Op::Repeat`]; `None` at the end.
    #[inline(always)]
    pub(crate) fn peek(&mut self, program: Program<'_>) -> Option<Op> {
        loop {
            match program.get(self.at as usize)? {
                Op::Repeat { length, more } => {
                    if self.rounds < more {
                        self.rounds += 1;
                        self.at -= length;
                    } else {
                        self.rounds = 0;
                        self.at += 1;
                    }
                }
                op => return Some(op),
            }
        }
    }

    /// Moves past the operation that [`Cursor::peek`] returned.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}
