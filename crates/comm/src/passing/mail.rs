//! What a rank knows of messages on their way: the state that the handlers work on.

use std::collections::VecDeque;

use slab::Slab;

use super::Tuning;
use super::entries::{Arrival, Receive, Send, Work};
use super::lane::Lane;
use super::matching::{Envelope, Filter};
use super::tuning::Layout;
use crate::{CommError, HandlerId, Rank, Word};

/// Messages on their way that a rank has room for before it allocates more.
const EXPECTED: usize = 64;

/// The state of message passing in a rank. Handlers match what arrives with receives, in the order
/// of arrival; what they cannot do themselves, since it takes the endpoint, they leave as work.
#[derive(Debug)]
pub struct Mail {
    pub(super) waited: Waited,
    /// Whether there is work, something that waits to be sent, or a fault.
    pub(super) attention: bool,
    /// Identifier of the first handler of each kind.
    pub(super) first: FirstHandlers,
    /// Ranks toward which something waits to be sent.
    pub(super) active: Vec<Rank>,
    /// Receives that no message has matched, in the order in which they were posted.
    pub(super) posted: VecDeque<usize>,
    /// Messages that no receive has taken, in order of arrival.
    pub(super) arrivals: VecDeque<Arrival>,
    pub(super) work: VecDeque<Work>,
    pub(super) receives: Slab<Receive>,
    pub(super) sends: Slab<Send>,
    /// By peer; this rank's own is unused.
    pub(super) lanes: Vec<Lane>,
    pub(super) layout: Layout,
    pub(super) rank: Rank,
    /// Barrier requests that arrived and were not waited for, by round.
    pub(super) barrier: Vec<u64>,
    /// What a peer sent and may not send.
    pub(super) fault: Option<(Rank, String)>,
}

/// The identifiers of the first of message passing's handlers, of which the others follow.
#[derive(Clone, Copy, Debug)]
pub struct FirstHandlers {
    pub(super) request: HandlerId,
}

/// A state of handlers that contains a [`Mail`]: message passing shares its table and its endpoint
/// with other handlers.
pub trait HoldsMail {
    /// The state of message passing.
    fn mail(&self) -> &Mail;
    /// The state of message passing.
    fn mail_mut(&mut self) -> &mut Mail;
}

impl HoldsMail for Mail {
    #[inline(always)]
    fn mail(&self) -> &Mail {
        self
    }

    #[inline(always)]
    fn mail_mut(&mut self) -> &mut Mail {
        self
    }
}

/// The receive that the rank waits in, where no other is posted: a short message goes from
/// registers to here, and from here to its buffer.
#[derive(Debug)]
pub(super) struct Waited {
    /// Closed when a message was taken.
    pub(super) filter: Filter,
    pub(super) envelope: Envelope,
    pub(super) bytes: usize,
    pub(super) words: [Word; 3],
    /// Room in the buffer of the receive.
    pub(super) room: usize,
    /// The slot that the message is in, where the filter was closed aside for it.
    pub(super) slot: Option<u64>,
    /// The receive that a message too long for words was made into, where the filter was closed
    /// aside.
    pub(super) receive: Option<usize>,
}

impl Mail {
    /// The state of `rank` of `size`, whose slots lie in exposed memory from offset `at` on;
    /// `first` is what [`add_handlers`](super::add_handlers) returned.
    ///
    /// # Errors
    /// [`CommError::NotExposed`]: the slots ([`Tuning::memory`]) do not fit in the `exposed` bytes
    /// of each rank.
    pub fn new(
        rank: Rank,
        size: usize,
        exposed: usize,
        at: usize,
        tuning: &Tuning,
        first: FirstHandlers,
    ) -> Result<Self, CommError> {
        let rounds = size.max(1).next_power_of_two().trailing_zeros() as usize;
        Ok(Self {
            waited: Waited {
                filter: Filter::nobody(),
                envelope: Envelope::new(0, 0),
                bytes: 0,
                words: [0; 3],
                room: 0,
                slot: None,
                receive: None,
            },
            attention: false,
            first,
            active: Vec::with_capacity(size),
            posted: VecDeque::with_capacity(EXPECTED),
            arrivals: VecDeque::with_capacity(EXPECTED),
            work: VecDeque::with_capacity(EXPECTED),
            receives: Slab::with_capacity(EXPECTED),
            sends: Slab::with_capacity(EXPECTED),
            lanes: (0..size).map(|_| Lane::default()).collect(),
            layout: Layout::new(at, tuning, size, exposed)?,
            rank,
            barrier: vec![0; rounds],
            fault: None,
        })
    }
}
