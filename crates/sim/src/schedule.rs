//! What a program does, rank by rank, as data.

use std::collections::HashMap;

use bandgap_comm::Rank;

/// Where a tag has its meaning. Messages of one tag in two contexts are different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl Op {
    /// The same, toward another rank.
    #[inline]
    fn toward(mut self, other: impl FnOnce(u32) -> u32) -> Self {
        if let Self::Request { peer, .. }
        | Self::Get { peer, .. }
        | Self::Send { peer, .. }
        | Self::Recv { peer, .. } = &mut self
        {
            *peer = other(*peer);
        }
        self
    }

    /// The rank that it names, or 0.
    #[inline]
    fn peer(self) -> u32 {
        let mut named = 0;
        self.toward(|peer| {
            named = peer;
            peer
        });
        named
    }

    /// A number for all of it but the rank that it names.
    #[inline]
    fn kind(self) -> u64 {
        let (kind, value) = match self {
            Self::Request { replies, bytes, .. } => {
                (1 + u64::from(replies), bytes.map_or(u64::MAX, u64::from))
            }
            Self::Get { bytes, .. } => (3, bytes.into()),
            Self::AwaitReplies => (4, 0),
            Self::Serve { requests } => (5, requests),
            Self::Compute { picoseconds } => (6, picoseconds),
            Self::Send { context, tag, bytes, .. } => {
                (7 + context as u64, u64::from(tag) << 32 | u64::from(bytes))
            }
            Self::Recv { context, tag, bytes, .. } => {
                (9 + context as u64, u64::from(tag) << 32 | u64::from(bytes))
            }
            Self::Mark => (11, 0),
            Self::Repeat { length, more } => (12, u64::from(length) << 32 | u64::from(more)),
        };
        mixed(value, kind)
    }

    /// A number for all of it: equal operations have the same.
    #[inline]
    pub(crate) fn digest(self) -> u64 {
        mixed(self.kind(), self.peer().into())
    }
}

/// One number of two, whose bits all depend on all of theirs.
#[inline]
fn mixed(one: u64, other: u64) -> u64 {
    let product = u128::from(one ^ 0x9e37_79b9_7f4a_7c15)
        * u128::from(other.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ 0xa076_1d64_78bd_642f);
    product as u64 ^ (product >> 64) as u64
}

/// What makes a list of operations that one rank has the one of another: its peers go along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    /// (peer + by) mod size.
    Added { by: u32, size: u32 },
    /// peer ⊕ by.
    Flipped { by: u32 },
}

impl Along {
    #[inline]
    fn added(from: u32, to: u32, size: u32) -> Self {
        let by = if to >= from { to - from } else { size - (from - to) };
        Self::Added { by, size }
    }

    #[inline]
    fn move_to(self, peer: u32) -> u32 {
        match self {
            Self::Added { by, size } if peer >= size - by => peer - (size - by),
            Self::Added { by, .. } => peer + by,
            Self::Flipped { by } => peer ^ by,
        }
    }
}

/// A recorded program: the operations of each rank, repetitions folded.
///
/// Ranks whose lists are the same but for their peers share one, where the peers are as far from
/// each rank (a ring, a dissemination), or differ from it in the same bits (a tree, a doubling). What
/// they compute may be different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// All lists one after the other. A computation is its place among those of its rank.
    ops: Vec<Op>,
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

    /// The operations of `rank` as stored, with [`Op::Repeat`]; none for a rank that does not
    /// exist.
    pub fn folded(&self, rank: Rank) -> impl Iterator<Item = Op> + '_ {
        let program = (rank < self.size()).then(|| self.program(rank as u32));
        program.into_iter().flat_map(|program| (0..).map_while(move |at| program.get(at)))
    }

    /// Operations that are stored, of all ranks.
    pub fn stored(&self) -> usize {
        self.ops.len()
    }

    #[inline]
    pub(crate) fn program(&self, rank: u32) -> Program<'_> {
        let Entry { list, flipped, amounts } = self.ranks[rank as usize];
        let List { rank: first, begin, end } = self.lists[list as usize];
        let along = match flipped {
            true => Along::Flipped { by: first ^ rank },
            false => Along::added(first, rank, self.ranks.len() as u32),
        };
        let amounts = &self.amounts[amounts as usize..];
        Program { ops: &self.ops[begin..end], amounts, along }
    }

    /// Whether any operation moves bytes, not only words or none.
    pub(crate) fn moves_bytes(&self) -> bool {
        self.ops.iter().any(|op| {
            matches!(*op, Op::Request { bytes: Some(bytes), .. } | Op::Get { bytes, .. }
                | Op::Send { bytes, .. } | Op::Recv { bytes, .. } if bytes > 0)
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

/// Puts the lists of ranks together, in the order of the ranks.
#[derive(Debug)]
pub(crate) struct Builder {
    schedule: Schedule,
    size: u32,
    /// Lists by a number for what their ranks have in common.
    known: HashMap<u64, u32>,
    amounts: Vec<u64>,
}

impl Builder {
    pub(crate) fn new(size: u32) -> Self {
        let mut schedule = Schedule::default();
        schedule.ranks.reserve_exact(size as usize);
        Self { schedule, size, known: HashMap::new(), amounts: Vec::new() }
    }

    /// The next rank does this.
    pub(crate) fn add(&mut self, ops: &mut [Op]) {
        let rank = self.schedule.ranks.len() as u32;
        self.amounts.clear();
        let (mut added, mut flipped) = (0, 1);
        let back = Along::added(rank, 0, self.size);
        for op in &mut *ops {
            if let Op::Compute { picoseconds } = op {
                self.amounts.push(*picoseconds);
                *picoseconds = self.amounts.len() as u64 - 1;
            }
            let kind = op.kind();
            added = mixed(added, kind ^ u64::from(op.toward(|peer| back.move_to(peer)).peer()));
            flipped = mixed(flipped, kind ^ u64::from(op.toward(|peer| peer ^ rank).peer()));
        }
        let found = [(false, added), (true, flipped)].into_iter().find_map(|(flipped, number)| {
            let list = *self.known.get(&number)?;
            self.is(list, flipped, ops).then_some((list, flipped))
        });
        let (list, flipped) = found.unwrap_or_else(|| {
            let list = self.schedule.lists.len() as u32;
            let begin = self.schedule.ops.len();
            self.schedule.ops.extend_from_slice(ops);
            self.schedule.lists.push(List { rank, begin, end: begin + ops.len() });
            self.known.entry(added).or_insert(list);
            self.known.entry(flipped).or_insert(list);
            (list, false)
        });
        let amounts = self.place_of_amounts(list);
        self.schedule.ranks.push(Entry { list, flipped, amounts });
    }

    /// Whether the next rank does what is in `list`.
    fn is(&self, list: u32, flipped: bool, ops: &[Op]) -> bool {
        let List { rank: first, begin, end } = self.schedule.lists[list as usize];
        let rank = self.schedule.ranks.len() as u32;
        let along = match flipped {
            true => Along::Flipped { by: first ^ rank },
            false => Along::added(first, rank, self.size),
        };
        let stored = &self.schedule.ops[begin..end];
        stored.len() == ops.len()
            && stored.iter().zip(ops).all(|(old, op)| old.toward(|p| along.move_to(p)) == *op)
    }

    /// Where the computations of the next rank are: with those of the list's first rank if they are
    /// the same.
    fn place_of_amounts(&mut self, list: u32) -> u32 {
        let Schedule { lists, ranks, amounts, .. } = &mut self.schedule;
        if let Some(first) = ranks.get(lists[list as usize].rank as usize)
            && amounts[first.amounts as usize..].starts_with(&self.amounts)
        {
            return first.amounts;
        }
        let at = u32::try_from(amounts.len()).expect("fewer than 2³² computations");
        amounts.extend_from_slice(&self.amounts);
        at
    }

    pub(crate) fn finish(self) -> Schedule {
        self.schedule
    }
}

/// The operations of one rank, as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    ops: &'a [Op],
    amounts: &'a [u64],
    along: Along,
}

impl Program<'_> {
    /// The operation at this place; none behind the last.
    #[inline]
    fn get(self, at: usize) -> Option<Op> {
        Some(match *self.ops.get(at)? {
            Op::Compute { picoseconds } => {
                Op::Compute { picoseconds: self.amounts[picoseconds as usize] }
            }
            op => op.toward(|peer| self.along.move_to(peer)),
        })
    }
}

/// A place in folded operations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    at: u32,
    /// Repetitions done of the [`Op::Repeat`] that comes next.
    rounds: u32,
}

impl Cursor {
    /// The operation here, never an [`Op::Repeat`]; `None` at the end.
    #[inline]
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

    /// Goes past the operation that [`Cursor::peek`] returned.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}
