//! What a program does, rank by rank, as data.

use bandgap_comm::Rank;

/// Where a tag has its meaning. Messages of one tag in two contexts are different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// Sends and receives of the program.
    Messages,
    /// Rounds of barriers, whose tag is the round's number.
    Barrier,
}

/// One operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Handles what has arrived, waits for room, and sends a request.
    Request {
        /// To whom.
        peer: u32,
        /// Whether its handler replies.
        replies: bool,
        /// How many bytes a store carries to the memory of its peer; `None` if it is no store.
        bytes: Option<u32>,
    },
    /// As [`Op::Request`], but no [`Op::Serve`] counts it; its reply brings bytes of its peer's
    /// memory.
    Get {
        /// From whom.
        peer: u32,
        /// How many bytes.
        bytes: u32,
    },
    /// Waits until every request, store and get of this rank has completed.
    AwaitReplies,
    /// Waits until this many further requests have been handled.
    Serve {
        /// How many.
        requests: u64,
    },
    /// Computes, and handles nothing meanwhile.
    Compute {
        /// For how long.
        picoseconds: u64,
    },
    /// Sends a message of bytes, and goes on while it is under way.
    Send {
        /// Kind of message.
        context: Context,
        /// To whom.
        peer: u32,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: u32,
    },
    /// Waits for the first message of this sender and tag that no receive has taken.
    Recv {
        /// Kind of message.
        context: Context,
        /// From whom.
        peer: u32,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: u32,
    },
    /// Takes a time stamp.
    Mark,
    /// The `length` operations before this one happen `more` times more. None of them is a
    /// `Repeat`.
    Repeat {
        /// Operations in the repeated part.
        length: u32,
        /// Repetitions after the first.
        more: u32,
    },
}

/// A recorded program: the operations of each rank, repetitions folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    ranks: Vec<Box<[Op]>>,
}

impl Schedule {
    pub(crate) fn new(ranks: Vec<Box<[Op]>>) -> Self {
        Self { ranks }
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// The operations of `rank` as stored, with [`Op::Repeat`]; none for a rank that does not
    /// exist.
    pub fn folded(&self, rank: Rank) -> &[Op] {
        self.ranks.get(rank).map_or(&[], |ops| ops)
    }

    /// Whether any operation moves bytes, not only words or none.
    pub(crate) fn moves_bytes(&self) -> bool {
        self.ranks.iter().flatten().any(|op| {
            matches!(*op, Op::Request { bytes: Some(bytes), .. } | Op::Get { bytes, .. }
                | Op::Send { bytes, .. } | Op::Recv { bytes, .. } if bytes > 0)
        })
    }

    /// The operations of `rank` one after the other, repetitions unfolded.
    pub fn operations(&self, rank: Rank) -> impl Iterator<Item = Op> {
        let ops = self.folded(rank);
        let mut cursor = Cursor::default();
        std::iter::from_fn(move || {
            let op = cursor.peek(ops)?;
            cursor.advance();
            Some(op)
        })
    }
}

/// A place in folded operations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    at: usize,
    /// Repetitions done of the [`Op::Repeat`] that comes next.
    rounds: u32,
}

impl Cursor {
    /// The operation here, never an [`Op::Repeat`]; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self, ops: &[Op]) -> Option<Op> {
        loop {
            match *ops.get(self.at)? {
                Op::Repeat { length, more } => {
                    if self.rounds < more {
                        self.rounds += 1;
                        self.at -= length as usize;
                    } else {
                        self.rounds = 0;
                        self.at += 1;
                    }
                }
                op => return Some(op),
            }
        }
    }

    /// Goes past the operation that [`Cursor::peek`] returned.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}
