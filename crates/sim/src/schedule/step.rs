//! What a rank does: one operation, and how it is stored in two words.

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
    pub(super) head: u64,
    pub(super) value: u64,
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
pub(super) const COMPUTE: u64 = 2;
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
    pub(super) fn toward(self, other: impl FnOnce(u32) -> u32) -> Self {
        if self.head & HAS_PEER == 0 {
            return self;
        }
        let (peer, kind) = apart(self.head);
        Self { head: joined(other(peer), kind), ..self }
    }

    /// Equality without the call that slices are compared with.
    #[inline(always)]
    pub(super) fn is(self, other: Self) -> bool {
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
    pub(super) fn after(self, before: u64) -> u64 {
        let product = u128::from(before ^ self.head ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(self.value.wrapping_add(before.rotate_left(32)) ^ 0xa076_1d64_78bd_642f);
        product as u64 ^ (product >> 64) as u64
    }
}
