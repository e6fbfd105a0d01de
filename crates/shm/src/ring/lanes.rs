//! The rings between a rank and all others.
//!
//! The lane to a peer has the number `peer XOR rank`, from 1 on. So two ranks have exactly one
//! lane, there is no lane to this rank itself, and the ranks of a run do not all look at the same
//! peer first. If the number of ranks is not a power of two, some lanes have no peer: they are
//! closed, and nothing ever arrives there. The first lane is a field and has a fast path of its own, so
//! that two ranks do not pay for the possibility of more.

use bandgap_comm::{CommError, Deliver, Message, Posted, Rank, Result};

use super::{Back, Cells, Delivered, Lane, garbage};

/// Largest number of replies in a row from the only peer before a waiting request is served. A
/// check for one after every reply would cost a fifth of a reply.
pub(crate) const TURNS: u64 = 8;

/// The lanes of a rank.
pub struct Lanes<C: Cells> {
    rank: Rank,
    first: Lane<C>,
    rest: Vec<Lane<C>>,
    /// Outstanding requests of the lanes in `rest`.
    rest_outstanding: usize,
    size: usize,
}

impl<C: Cells> Lanes<C> {
    /// The lanes of `rank`, one of `size` ranks; `lane` makes each for a peer. A peer of `size` or
    /// more does not exist, and its lane is closed.
    pub fn new(rank: Rank, size: usize, lane: impl Fn(Rank) -> Lane<C>) -> Self {
        let lanes = size.next_power_of_two();
        Self {
            rank,
            rest_outstanding: 0,
            first: lane(rank ^ 1),
            rest: (2..lanes).map(|number| lane(rank ^ number)).collect(),
            size,
        }
    }

    /// The rank whose lanes these are.
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// Number of ranks.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Requests sent that have not completed.
    #[inline(always)]
    pub fn outstanding(&self) -> usize {
        self.first.outstanding() + self.rest_outstanding
    }

    /// Handled requests whose completion peers may not know yet.
    pub fn unpublished(&self) -> usize {
        core::iter::once(&self.first).chain(&self.rest).map(Lane::unpublished).sum()
    }

    /// Sends a request to `peer` if there is room.
    ///
    /// # Errors
    /// There is no such peer.
    #[inline(always)]
    pub fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted> {
        let sent = if peer ^ self.rank != 1 {
            self.request_further(peer, &message)?
        } else if self.first.can_carry() {
            carry(&mut self.first, message)
        } else {
            self.first.push(&message)
        };
        if sent { Ok(Posted::Yes) } else { self.refused(peer) }
    }

    /// Delivers at most one reply and one request from each peer. Returns the number of messages
    /// and completions.
    ///
    /// # Errors
    /// A peer wrote something invalid.
    #[inline(always)]
    pub fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize> {
        let replied = 'seldom: {
            if !self.rest.is_empty() {
                break 'seldom 0;
            }
            if !self.first.is_idle() {
                match self.first.take_reply(deliver)? {
                    Back::Reply if self.first.is_turn(TURNS) => break 'seldom 1,
                    Back::Reply => return Ok(1),
                    Back::Request => return self.progress_carried(deliver),
                    Back::Nothing if self.first.is_counted() => break 'seldom 0,
                    Back::Nothing => {}
                }
            }
            let (peer, incoming) = self.first.incoming();
            let arrived = incoming.arrived().map_err(|corrupt| garbage(peer, corrupt))?;
            let Some(request) = arrived else {
                incoming.idle();
                return Ok(0);
            };
            match deliver.request(peer, request) {
                Ok(Some(reply)) => incoming.reply(reply),
                Ok(None) => incoming.done(),
                Err(unknown) => return Err(garbage(peer, unknown.into())),
            }
            return Ok(1);
        };
        self.progress_all(replied, deliver)
    }

    /// [`Lanes::progress`] for more than two ranks, or for more than one message. `replied`
    /// replies of the first lane have already been delivered. This does everything that is rare,
    /// and is not inlined, so that its caller needs few registers.
    #[inline(never)]
    fn progress_all<D: Deliver>(&mut self, replied: usize, deliver: &mut D) -> Result<usize> {
        let mut delivered = replied;
        if replied == 0 {
            let Delivered { completed, served } = self.first.progress(deliver)?;
            delivered += completed + served;
        } else {
            delivered += self.first.serve(deliver)?;
        }
        for lane in &mut self.rest {
            let Delivered { completed, served } = lane.progress(deliver)?;
            self.rest_outstanding -= completed;
            delivered += completed + served;
        }
        Ok(delivered)
    }

    /// [`Lanes::progress`] when the first lane holds a carried request, as between two ranks
    /// that answer each other's messages. So it is kept short, although it is not inlined.
    #[inline(never)]
    fn progress_carried<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize> {
        if self.first.take_carried(deliver)? { Ok(2) } else { self.progress_all(0, deliver) }
    }

    /// The lane to `peer` took nothing, since it is full or has no peer.
    #[cold]
    #[inline(never)]
    fn refused(&self, peer: Rank) -> Result<Posted> {
        if peer < self.size { Ok(Posted::Busy) } else { Err(self.no_such_peer(peer)) }
    }

    #[cold]
    #[inline(never)]
    fn no_such_peer(&self, peer: Rank) -> CommError {
        CommError::NoSuchPeer { peer, size: self.size }
    }

    /// Sends a request to a peer other than that of the first lane.
    #[inline(always)]
    fn request_further(&mut self, peer: Rank, message: &Message) -> Result<bool> {
        let number = peer ^ self.rank;
        let Some(lane) = self.rest.get_mut(number.wrapping_sub(2)) else {
            return Err(self.no_such_peer(peer));
        };
        let sent = lane.send(message);
        self.rest_outstanding += usize::from(sent);
        Ok(sent)
    }
}

/// Not inlined, so that a message that is not carried stays in registers.
#[inline(never)]
fn carry<C: Cells>(lane: &mut Lane<C>, message: Message) -> bool {
    lane.carry(&message)
}
