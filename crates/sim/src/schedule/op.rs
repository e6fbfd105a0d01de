//! What a rank does: one operation.

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
