//! Operations of a rank, and how they are stored in two words.

/// Scope of a tag. Messages with the same tag in different contexts do not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// Sends and receives of the program.
    Messages,
    /// Rounds of barriers; the tag is the round's number.
    Barrier,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Handles what has arrived, waits for room, and sends a request.
    Request {
        /// The receiver.
        peer: u32,
        /// Whether its handler replies.
        replies: bool,
        /// Bytes that a store carries to its peer's memory; `None` if it is not a store.
        bytes: Option<u32>,
    },
    /// As [`Op::Request`], but no [`Op::Serve`] counts it, and its reply carries bytes of its
    /// peer's memory.
    Get {
        /// The peer.
        peer: u32,
        /// Number of bytes.
        bytes: u32,
    },
    /// Waits until every request, store and get of this rank has completed.
    AwaitReplies,
    /// Waits until this many more requests have been handled.
    Serve {
        /// Number of requests.
        requests: u64,
    },
    /// Computes. Nothing is handled meanwhile.
    Compute {
        /// Duration.
        picoseconds: u64,
    },
    /// Sends a message with bytes, and continues while it is on its way.
    Send {
        /// Kind of message.
        context: Context,
        /// The receiver.
        peer: u32,
        /// Tag.
        tag: u32,
        /// Length.
        bytes: u32,
    },
    /// Waits for the first message with this sender and tag that no receive has taken.
    Recv {
        /// Kind of message.
        context: Context,
        /// The sender.
        peer: u32,
        /// Tag.
        tag: u32,
        /// Length.
        bytes: u32,
    },
    /// Takes a time stamp.
    Mark,
    /// Repeats the `length` operations before this one `more` times. None of them is a `Repeat`.
    Repeat {
        /// Number of operations repeated.
        length: u32,
        /// Repetitions after the first.
        more: u32,
    },
}

/// An operation as stored, in two words that are compared and hashed as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its kind, a further bit, and, from bit [`PEER`] on, the rank that it names.
    pub(super) head: u64,
    pub(super) value: u64,
}

/// Bit of a head at which the peer begins, and the bit that says that there is one.
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

/// Joins two numbers into one. [`apart`] separates them.
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
    /// The same operation with another peer, if it has one.
    #[inline(always)]
    pub(super) fn toward(self, other: impl FnOnce(u32) -> u32) -> Self {
        if self.head & HAS_PEER == 0 {
            return self;
        }
        let (peer, kind) = apart(self.head);
        Self { head: joined(other(peer), kind), ..self }
    }

    /// Equality without the function call that comparing slices would need.
    #[inline(always)]
    pub(super) fn is(self, other: Self) -> bool {
        (self.head ^ other.head) | (self.value ^ other.value) == 0
    }

    /// A 10-bit digest; equal operations have equal digests.
    #[inline(always)]
    pub(crate) fn digest(self) -> usize {
        let all = self.head ^ self.head >> 29 ^ self.value ^ self.value.rotate_left(23);
        (all.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize
    }

    /// Continues a hash of the operations before this one.
    #[inline(always)]
    pub(super) fn after(self, before: u64) -> u64 {
        let product = u128::from(before ^ self.head ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(self.value.wrapping_add(before.rotate_left(32)) ^ 0xa076_1d64_78bd_642f);
        product as u64 ^ (product >> 64) as u64
    }
}
