//! What a rank knows of messages on their way: the state that the handlers work on.

use std::collections::VecDeque;

use slab::Slab;

use super::Tuning;
use super::entries::{Arrival, CopyOut, Envelope, Receive, Send};
use super::lane::Lane;
use super::tuning::Layout;
use crate::{HandlerId, Part, Rank, Result};

/// Messages on their way for which a rank has room from the beginning.
const EXPECTED: usize = 64;

/// The state of message passing in a rank. Handlers match what arrives with receives, in the order
/// of arrival. What needs the endpoint they cannot do; they leave it to the calls.
#[derive(Debug)]
pub struct Mail {
    pub(super) waited: Waited,
    /// Whether there is a slot to be emptied, something to be read, a fault, or something that waits
    /// to be sent.
    pub(super) attention: bool,
    /// The first handler of message passing; the others follow it.
    pub(super) first: HandlerId,
    /// Ranks toward which something waits to be sent.
    pub(super) active: Vec<Rank>,
    /// Receives that no message has matched, in the order in which they were posted.
    pub(super) posted: VecDeque<usize>,
    /// Messages that no receive has taken, in order of arrival.
    pub(super) arrivals: VecDeque<Arrival>,
    /// Slots to be emptied, in order of arrival.
    pub(super) copies: VecDeque<CopyOut>,
    pub(super) receives: Slab<Receive>,
    pub(super) sends: Slab<Send>,
    /// By peer; this rank's own is unused.
    pub(super) lanes: Vec<Lane>,
    pub(super) layout: Layout,
    /// Messages of at least so many bytes are announced, with where they are, and read there.
    pub(super) least: usize,
    /// Receives whose bytes are to be read out of their senders' memory.
    pub(super) reads: VecDeque<usize>,
    pub(super) rank: Rank,
    /// Requests of barriers that arrived and were not waited for, by peer.
    pub(super) barriers: Vec<u64>,
    /// A peer that sent what no peer may send, and what that was.
    pub(super) fault: Option<(Rank, String)>,
}

/// A state of handlers that contains a [`Mail`], so that message passing shares a table and an
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
    /// What it takes, until that has come.
    pub(super) message: Option<Envelope>,
    /// Where it wants the message.
    pub(super) into: Part,
    /// The receive that has it.
    pub(super) receive: Option<usize>,
}

impl Mail {
    /// The state of `rank` of `size`. `slots` says from which offset on its slots lie in the
    /// `exposed` bytes of a rank. Without slots it passes messages of up to
    /// [`INLINE`](super::INLINE) bytes; longer ones fail where they are sent. `first` is what
    /// [`add_handlers`](super::add_handlers) returned.
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
            least: usize::MAX,
            reads: VecDeque::with_capacity(EXPECTED),
            rank,
            barriers: vec![0; size],
            fault: None,
        })
    }
}
