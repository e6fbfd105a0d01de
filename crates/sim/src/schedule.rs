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

/// An operation as it is stored, in two words that are compared and counted as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Which kind it is, a further bit, and from [`PEER`] on the rank that it names.
    head: u64,
    value: u64,
}

/// The bit of a head where the peer begins; and the one that says that there is one.
const PEER: u32 = 32;
const HAS_PEER: u64 = 1 << 8;
/// The further bit: whether a request replies, or a message belongs to a barrier.
const FURTHER: u64 = 1 << 9;

const REQUEST: u64 = HAS_PEER;
const GET: u64 = HAS_PEER | 1;
const SEND: u64 = HAS_PEER | 2;
const RECV: u64 = HAS_PEER | 3;
const AWAIT_REPLIES: u64 = 0;
const SERVE: u64 = 1;
const COMPUTE: u64 = 2;
const MARK: u64 = 3;
const REPEAT: u64 = 4;

/// Two numbers as one, and back.
#[inline(always)]
fn joined(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[inline(always)]
fn apart(value: u64) -> (u32, u32) {
    ((value >> 32) as u32, value as u32)
}

impl From<Op> for Step {
    #[inline(always)]
    fn from(op: Op) -> Self {
        let to = |kind: u64, further: bool, peer: u32| {
            let further = if further { FURTHER } else { 0 };
            kind | further | u64::from(peer) << PEER
        };
        let (head, value) = match op {
            Op::Request { peer, replies, bytes } => {
                (to(REQUEST, replies, peer), bytes.map_or(u64::MAX, u64::from))
            }
            Op::Get { peer, bytes } => (to(GET, false, peer), bytes.into()),
            Op::Send { context, peer, tag, bytes } => {
                (to(SEND, context == Context::Barrier, peer), joined(tag, bytes))
            }
            Op::Recv { context, peer, tag, bytes } => {
                (to(RECV, context == Context::Barrier, peer), joined(tag, bytes))
            }
            Op::AwaitReplies => (AWAIT_REPLIES, 0),
            Op::Serve { requests } => (SERVE, requests),
            Op::Compute { picoseconds } => (COMPUTE, picoseconds),
            Op::Mark => (MARK, 0),
            Op::Repeat { length, more } => (REPEAT, joined(length, more)),
        };
        Self { head, value }
    }
}

impl From<Step> for Op {
    #[inline(always)]
    fn from(step: Step) -> Self {
        let (peer, _) = apart(step.head);
        let (first, second) = apart(step.value);
        let further = step.head & FURTHER != 0;
        let context = if further { Context::Barrier } else { Context::Messages };
        match step.head & (FURTHER - 1) {
            SEND => Self::Send { context, peer, tag: first, bytes: second },
            RECV => Self::Recv { context, peer, tag: first, bytes: second },
            COMPUTE => Self::Compute { picoseconds: step.value },
            MARK => Self::Mark,
            REQUEST => {
                let bytes = u32::try_from(step.value).ok();
                Self::Request { peer, replies: further, bytes }
            }
            GET => Self::Get { peer, bytes: second },
            AWAIT_REPLIES => Self::AwaitReplies,
            SERVE => Self::Serve { requests: step.value },
            _ => Self::Repeat { length: first, more: second },
        }
    }
}

impl Step {
    /// The same, toward another rank if it names one.
    #[inline(always)]
    fn toward(self, other: impl FnOnce(u32) -> u32) -> Self {
        if self.head & HAS_PEER == 0 {
            return self;
        }
        let (peer, kind) = apart(self.head);
        Self { head: joined(other(peer), kind), ..self }
    }

    /// Equality without the call that slices are compared with.
    #[inline(always)]
    fn is(self, other: Self) -> bool {
        (self.head ^ other.head) | (self.value ^ other.value) == 0
    }

    /// A number of 8 bits for all of it: equal operations have the same.
    #[inline(always)]
    pub(crate) fn digest(self) -> usize {
        let all = self.head ^ self.head >> 29 ^ self.value ^ self.value.rotate_left(23);
        (all.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }

    /// A number for what came before it and for all of it.
    #[inline(always)]
    fn after(self, before: u64) -> u64 {
        let product = u128::from(before ^ self.head ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(self.value.wrapping_add(before.rotate_left(32)) ^ 0xa076_1d64_78bd_642f);
        product as u64 ^ (product >> 64) as u64
    }
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
    #[inline(always)]
    fn added(from: u32, to: u32, size: u32) -> Self {
        let by = if to >= from { to - from } else { size - (from - to) };
        Self::Added { by, size }
    }

    #[inline(always)]
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

    #[inline(always)]
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
    pub(crate) fn add(&mut self, ops: &mut [Step]) {
        self.amounts.clear();
        for op in ops.iter_mut().filter(|op| op.head == COMPUTE) {
            self.amounts.push(op.value);
            op.value = self.amounts.len() as u64 - 1;
        }
        // Often it is as for the rank before.
        let last = self.schedule.ranks.last().copied();
        let entry = match last.filter(|last| self.is(last.list, last.flipped, ops)) {
            Some(last) => last,
            None => self.find(ops),
        };
        let amounts = self.place_of_amounts(entry.list);
        self.schedule.ranks.push(Entry { amounts, ..entry });
    }

    /// The list of the next rank, which is stored if there is none.
    fn find(&mut self, ops: &[Step]) -> Entry {
        let rank = self.schedule.ranks.len() as u32;
        let back = Along::added(rank, 0, self.size);
        let numbers = ops.iter().fold([0, 1], |[added, flipped], op| {
            [
                op.toward(|peer| back.move_to(peer)).after(added),
                op.toward(|peer| peer ^ rank).after(flipped),
            ]
        });
        let amounts = 0;
        for (flipped, number) in [false, true].into_iter().zip(numbers) {
            if let Some(&list) = self.known.get(&number)
                && self.is(list, flipped, ops)
            {
                return Entry { list, flipped, amounts };
            }
        }
        let (begin, list) = (self.schedule.ops.len(), self.schedule.lists.len() as u32);
        self.schedule.ops.extend_from_slice(ops);
        self.schedule.lists.push(List { rank, begin, end: begin + ops.len() });
        for number in numbers {
            self.known.entry(number).or_insert(list);
        }
        Entry { list, flipped: false, amounts }
    }

    /// Whether the next rank does what is in `list`.
    fn is(&self, list: u32, flipped: bool, ops: &[Step]) -> bool {
        let List { rank: first, begin, end } = self.schedule.lists[list as usize];
        let rank = self.schedule.ranks.len() as u32;
        let along = match flipped {
            true => Along::Flipped { by: first ^ rank },
            false => Along::added(first, rank, self.size),
        };
        let stored = &self.schedule.ops[begin..end];
        stored.len() == ops.len()
            && stored.iter().zip(ops).all(|(old, op)| old.toward(|p| along.move_to(p)).is(*op))
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
    ops: &'a [Step],
    amounts: &'a [u64],
    along: Along,
}

impl Program<'_> {
    /// The operation at this place; none behind the last.
    #[inline(always)]
    fn get(self, at: usize) -> Option<Op> {
        let step = *self.ops.get(at)?;
        Some(match step.head {
            COMPUTE => Op::Compute { picoseconds: self.amounts[step.value as usize] },
            _ => step.toward(|peer| self.along.move_to(peer)).into(),
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

    /// Goes past the operation that [`Cursor::peek`] returned.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Operations of some ranks that have some in common: how a peer depends on the rank, and values.
    fn op(rank: u32, size: u32, (how, by, value): (u8, u32, u32)) -> Op {
        let context = Context::Messages;
        let flipped = rank ^ by;
        let peer = match how % 3 {
            0 => (rank + by) % size,
            1 if flipped < size => flipped,
            _ => by % size,
        };
        match how {
            0..3 => Op::Send { context, peer, tag: value, bytes: 7 },
            3..6 => Op::Recv { context: Context::Barrier, peer, tag: 7, bytes: value },
            6..8 => Op::Request { peer, replies: how == 6, bytes: value.checked_sub(1) },
            8 => Op::Get { peer, bytes: value },
            9 => Op::Compute { picoseconds: value.into() },
            10 => Op::Compute { picoseconds: (value * rank).into() },
            11 => Op::Serve { requests: value.into() },
            12 => Op::AwaitReplies,
            _ => Op::Mark,
        }
    }

    proptest! {
        #[test]
        fn every_rank_has_its_own_operations_whatever_others_share(
            lists in proptest::collection::vec(
                proptest::collection::vec((0_u8..14, 0_u32..9, 0_u32..3), 0..4), 1..4),
            which in proptest::collection::vec(any::<prop::sample::Index>(), 1..10)
        ) {
            let size = which.len() as u32;
            let of = |rank: u32| {
                let list = which[rank as usize].get(&lists);
                list.iter().map(move |kind| op(rank, size, *kind)).collect::<Vec<Op>>()
            };
            let mut builder = Builder::new(size);
            for rank in 0..size {
                builder.add(&mut of(rank).into_iter().map(Step::from).collect::<Vec<_>>());
            }
            let schedule = builder.finish();
            for rank in 0..size {
                prop_assert_eq!(schedule.operations(rank as usize).collect::<Vec<_>>(), of(rank));
            }
        }
    }

    #[test]
    fn ranks_that_compute_differently_share_their_messages() {
        let mut builder = Builder::new(8);
        for rank in 0..8 {
            let list = [(9, 0, rank), (0, 1, 5), (10, 0, 1), (1, 1, 5)];
            let mut steps = list.map(|kind| Step::from(op(rank, 8, kind)));
            builder.add(&mut steps);
        }
        // As far, and different in the same bit: odd ranks and even ones.
        assert_eq!(builder.finish().stored(), 2 * 4);
    }
}
