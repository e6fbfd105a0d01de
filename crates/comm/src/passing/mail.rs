//! The state of message passing, which handlers work on.

use std::collections::VecDeque;

use slab::Slab;

use super::Tuning;
use super::entries::{Arrival, CopyOut, Envelope, Receive, Send};
use super::lane::Lane;
use super::tuning::Layout;
use crate::{ExposedMemory, HandlerId, Part, Rank, Result};

/// Number of messages on their way for which memory is allocated at the start.
const EXPECTED: usize = 64;

/// State of message passing in a rank. Handlers match arrivals with receives in order of arrival.
/// They cannot use the endpoint, and leave that work to the calls.
#[derive(Debug)]
pub struct Mail {
    pub(super) waited: Waited,
    /// Whether there is work: a slot to empty, a message to read, something to send, or a fault.
    pub(super) attention: bool,
    /// The first handler of message passing; the others follow it.
    pub(super) first: HandlerId,
    /// Peers for which something waits to be sent.
    pub(super) active: Vec<Rank>,
    /// Receives that no message has matched, in the order of posting.
    pub(super) posted: VecDeque<usize>,
    /// Messages that no receive has taken, in order of arrival.
    pub(super) arrivals: VecDeque<Arrival>,
    /// Slots to empty, in order of arrival.
    pub(super) copies: VecDeque<CopyOut>,
    pub(super) receives: Slab<Receive>,
    pub(super) sends: Slab<Send>,
    /// Lanes by peer; this rank's own is unused.
    pub(super) lanes: Vec<Lane>,
    pub(super) layout: Layout,
    /// Where messages come from and go to. Begins at a page: a copy is faster if its bytes are
    /// aligned like the slots.
    pub(super) memory: ExposedMemory,
    /// Takes carried bytes that are refused.
    pub(super) scrap: Vec<u8>,
    /// Messages of at least this many bytes are announced with their address, and read there.
    pub(super) least: usize,
    /// Receives whose bytes must be read from their senders' memory.
    pub(super) reads: VecDeque<usize>,
    pub(super) rank: Rank,
    /// Barrier requests that arrived before this rank waited for them, by peer.
    pub(super) barriers: Vec<u64>,
    /// A peer that violated the protocol, and how.
    pub(super) fault: Option<(Rank, String)>,
}

/// A handlers' state that contains a [`Mail`], so that message passing can share a table and an
/// endpoint with other handlers.
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

/// The receive that the rank waits in while no other is posted.
#[derive(Debug, Default)]
pub(super) struct Waited {
    /// The message that it takes; `None` once it has arrived.
    pub(super) message: Option<Envelope>,
    /// Where the message goes.
    pub(super) into: Part,
    /// Key of the receive, if a handler made one for it.
    pub(super) receive: Option<usize>,
}

impl Mail {
    /// State of `rank` in a run of `size` ranks. `slots` gives the offset of the slots in a rank's
    /// `exposed` bytes. Without slots, messages of up to [`INLINE`](super::INLINE) bytes can be
    /// passed; sending a longer one fails. `first` is the result of
    /// [`add_handlers`](super::add_handlers).
    ///
    /// # Errors
    /// [`CommError::NotExposed`](crate::CommError::NotExposed): the slots ([`Tuning::memory`]) do not fit.
    pub fn new(
        rank: Rank,
        size: usize,
        exposed: usize,
        slots: Option<(usize, &Tuning)>,
        first: HandlerId,
    ) -> Result<Self> {
        let layout = match slots {
            Some((at, tuning)) => Layout::new(at, tuning, size, exposed)?,
            None => Layout::none(),
        };
        Ok(Self {
            waited: Waited::default(),
            attention: false,
            first,
            active: Vec::with_capacity(size),
            posted: VecDeque::with_capacity(EXPECTED),
            arrivals: VecDeque::with_capacity(EXPECTED),
            copies: VecDeque::with_capacity(EXPECTED),
            receives: Slab::with_capacity(EXPECTED),
            sends: Slab::with_capacity(EXPECTED),
            lanes: (0..size).map(|peer| Lane::new(layout.between(rank, peer))).collect(),
            layout,
            memory: ExposedMemory::default(),
            scrap: Vec::new(),
            least: usize::MAX,
            reads: VecDeque::with_capacity(EXPECTED),
            rank,
            barriers: vec![0; size],
            fault: None,
        })
    }
}
