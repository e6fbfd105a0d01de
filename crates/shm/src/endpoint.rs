//! The transport: a ring in each direction between this rank and every other.
//!
//! The lane to a peer has the number `peer XOR rank`, from 1 on. So two ranks have exactly one
//! lane, there is no lane to this rank itself, and the ranks of a run do not all look at the same
//! peer first. If the number of ranks is not a power of two, some lanes have no peer: they are
//! closed, and watch this rank's ring to itself, in which nothing ever arrives. The first lane is a
//! field of the endpoint and has a fast path of its own, so that two ranks do not pay for the
//! possibility of more.

use bandgap_comm::{
    Begun, Bulk, CommError, Deliver, Endpoint, Message, Posted, Rank, Source, Word, check_peer,
};

use crate::ring::{Back, Delivered, Lane, Receiver, Sender, garbage};
use crate::segment::{MappedCells, Segment};
use crate::signals::Signals;
use crate::{Exposed, Readable, Registered, ShmError};

/// The rings between `rank` and `peer`.
fn lane(segment: &Segment, rank: Rank, peer: Rank) -> Lane<MappedCells> {
    if peer < segment.size() {
        let sender = Sender::new(segment.ring(rank, peer), 0);
        Lane::new(peer, sender, Receiver::new(segment.ring(peer, rank), 0))
    } else {
        let sender = Sender::closed(segment.ring(rank, rank));
        Lane::new(peer, sender, Receiver::new(segment.ring(rank, rank), 0))
    }
}

/// After at most this many replies in a row from the only peer, a waiting request is served. To
/// look for one after every reply would cost a fifth of what a reply costs.
const TURNS: u64 = 8;

/// A rank's end of the shared-memory transport.
///
/// One call of [`Endpoint::progress`] delivers at most one reply and one request of each peer, so
/// it is short whatever peers do. Between two ranks a request waits for at most a few replies; with
/// more ranks, all peers take turns.
///
/// ```
/// use bandgap_comm::{Deliver, Endpoint, HandlerId, Message, NoHandler, Posted, Rank};
/// use bandgap_shm::{DEFAULT_SLOTS, Segment, ShmEndpoint};
///
/// struct Echo(Option<Message>);
///
/// impl Deliver for Echo {
///     fn request(&mut self, _: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
///         Ok(Some(self.0.insert(message)))
///     }
///     fn reply(&mut self, _: Rank, message: Message) -> Result<(), NoHandler> {
///         self.0 = Some(message);
///         Ok(())
///     }
/// }
///
/// let segment = Segment::create(2, DEFAULT_SLOTS)?;
/// let mut here = ShmEndpoint::attach(&segment, 0, 2)?;
/// let mut there = ShmEndpoint::attach(&segment, 1, 2)?;
/// let message = Message::new(HandlerId(3), [42]);
/// assert_eq!(here.try_request(1, message)?, Posted::Yes);
/// assert_eq!(there.progress(&mut Echo(None))?, 1);
/// let mut echo = Echo(None);
/// assert_eq!(here.progress(&mut echo)?, 1);
/// assert_eq!(echo.0, Some(message));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ShmEndpoint {
    rank: Rank,
    first: Lane<MappedCells>,
    rest: Vec<Lane<MappedCells>>,
    /// Outstanding requests of the lanes in `rest`.
    rest_outstanding: usize,
    /// By peer; this rank's own is unused.
    signals: Box<[Signals]>,
    size: usize,
    slots: usize,
    exposed: Option<Exposed>,
    readable: Readable,
    registered: Registered,
}

impl ShmEndpoint {
    /// Attaches `rank` of `size` ranks to the segment. Each rank can attach only once.
    ///
    /// # Errors
    /// The segment has another number of ranks, `rank` is out of range, or has attached before.
    pub fn attach(segment: &Segment, rank: Rank, size: usize) -> Result<Self, ShmError> {
        if size != segment.size() {
            return Err(ShmError::OtherSize { size, segment: segment.size() });
        }
        segment.claim(rank)?;
        let lanes = size.next_power_of_two();
        Ok(Self {
            rank,
            rest_outstanding: 0,
            first: lane(segment, rank, rank ^ 1),
            rest: (2..lanes).map(|number| lane(segment, rank, rank ^ number)).collect(),
            signals: (0..size).map(|peer| Signals::new(segment, rank, peer)).collect(),
            size,
            slots: segment.slots(),
            exposed: None,
            readable: Readable::forbidden("the ranks have not told each other how".into()),
            registered: Registered::forbidden("the ranks have not made any".into()),
        })
    }

    /// The same endpoint, with the memory that all ranks expose.
    ///
    /// # Errors
    /// The memory has another number of ranks.
    pub fn exposing(mut self, memory: Exposed) -> Result<Self, ShmError> {
        if memory.size() != self.size {
            return Err(ShmError::OtherSize { size: self.size, segment: memory.size() });
        }
        self.exposed = Some(memory);
        Ok(self)
    }

    /// The same endpoint, which reads its peers' memory where it may.
    #[must_use]
    pub fn reading(self, readable: Readable) -> Self {
        Self { readable, ..self }
    }

    /// The same endpoint, with registered memory where there is any.
    #[must_use]
    pub fn registering(self, registered: Registered) -> Self {
        Self { registered, ..self }
    }

    /// The exposed memory, for access to `len` bytes from `at` on.
    #[inline(always)]
    fn memory(&self, at: usize, len: usize) -> Result<&Exposed, CommError> {
        match &self.exposed {
            Some(memory) => Ok(memory),
            None => Err(CommError::NotExposed { at, len, exposed: 0 }),
        }
    }

    /// [`Endpoint::progress`] for more than two ranks, or for more than one message. `replied`
    /// replies of the first lane have already been delivered. This does everything that is rare,
    /// and is not inlined, so that its caller needs few registers.
    #[inline(never)]
    fn progress_all<D: Deliver>(
        &mut self,
        replied: usize,
        deliver: &mut D,
    ) -> Result<usize, CommError> {
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

    /// [`Endpoint::progress`] when the first lane holds a carried request, as between two ranks
    /// that answer each other's messages. So it is kept short, although it is not inlined.
    #[inline(never)]
    fn progress_carried<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        if self.first.take_carried(deliver)? { Ok(2) } else { self.progress_all(0, deliver) }
    }

    /// The lane to `peer` took nothing: it is full, or has no peer.
    #[cold]
    #[inline(never)]
    fn refused(&self, peer: Rank) -> Result<Posted, CommError> {
        if peer < self.size { Ok(Posted::Busy) } else { Err(self.no_such_peer(peer)) }
    }

    #[cold]
    #[inline(never)]
    fn no_such_peer(&self, peer: Rank) -> CommError {
        CommError::NoSuchPeer { peer, size: self.size }
    }

    /// Sends a request to a peer other than that of the first lane.
    #[inline(always)]
    fn request_further(&mut self, peer: Rank, message: &Message) -> Result<bool, CommError> {
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
fn carry(lane: &mut Lane<MappedCells>, message: Message) -> bool {
    lane.carry(&message)
}

impl Endpoint for ShmEndpoint {
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.rank
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.size
    }

    fn capacity(&self) -> usize {
        self.slots
    }

    #[inline(always)]
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError> {
        let sent = if peer ^ self.rank != 1 {
            self.request_further(peer, &message)?
        } else if self.first.can_carry() {
            carry(&mut self.first, message)
        } else {
            self.first.push(&message)
        };
        if sent { Ok(Posted::Yes) } else { self.refused(peer) }
    }

    #[inline(always)]
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
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

    #[inline(always)]
    fn outstanding(&self) -> usize {
        self.first.outstanding() + self.rest_outstanding
    }

    fn signals(&self) -> bool {
        true
    }

    #[inline(always)]
    fn signal(&mut self, peer: Rank) {
        self.signals[peer].give();
    }

    #[inline(always)]
    fn signalled(&self, peer: Rank) -> u64 {
        self.signals[peer].untaken()
    }

    #[inline(always)]
    fn take_signal(&mut self, peer: Rank) -> bool {
        self.signals[peer].take()
    }

    fn unsent(&self) -> usize {
        let lanes = core::iter::once(&self.first).chain(&self.rest);
        lanes.map(Lane::unpublished).sum()
    }
}

/// A store is a copy into the peer's memory, a get a copy out of it. Both are complete when the
/// call returns, and so before any request that is sent later.
impl Bulk for ShmEndpoint {
    fn exposed(&self) -> usize {
        self.exposed.as_ref().map_or(0, Exposed::bytes)
    }

    #[inline(always)]
    fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<(), CommError> {
        self.memory(at, into.len())?.read(self.rank, at, into)
    }

    #[inline(always)]
    fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<(), CommError> {
        self.memory(at, from.len())?.write(self.rank, at, from)
    }

    #[inline(always)]
    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError> {
        check_peer(peer, self.rank, self.size)?;
        let memory = self.memory(into, from.len())?;
        match from {
            Source::Bytes(bytes) => memory.write(peer, into, bytes)?,
            Source::Exposed { at, len } => memory.copy((self.rank, at), (peer, into), len)?,
        }
        *done = from.len();
        Ok(Posted::Yes)
    }

    #[inline]
    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        _: Message,
    ) -> Result<Begun, CommError> {
        check_peer(peer, self.rank, self.size)?;
        self.memory(at, len)?.copy((peer, at), (self.rank, into), len)?;
        Ok(Begun::Done)
    }

    fn shares(&self) -> bool {
        true
    }

    #[inline(always)]
    fn read_peer(&self, peer: Rank, at: usize, into: &mut [u8]) -> Result<(), CommError> {
        check_peer(peer, self.rank, self.size)?;
        self.memory(at, into.len())?.read(peer, at, into)
    }

    fn single_copy(&self) -> Result<(), &str> {
        self.readable.allowed()
    }

    #[inline]
    fn address(&self, bytes: &[u8]) -> Word {
        // Exposed: the compiler must have written the bytes when a request tells a peer of them.
        bytes.as_ptr().expose_provenance() as Word
    }

    #[inline]
    fn read_private(&self, peer: Rank, at: Word, into: &mut [u8]) -> Result<(), CommError> {
        check_peer(peer, self.rank, self.size)?;
        self.readable.read(peer, at, into)
    }

    fn registered(&self) -> Result<(), &str> {
        self.registered.allowed()
    }

    fn take_registered(&mut self) -> Option<&'static mut [u8]> {
        self.registered.take()
    }

    #[inline]
    fn registered_at(&self, bytes: &[u8]) -> Option<Word> {
        self.registered.offset(bytes)
    }

    #[inline]
    fn read_registered(&self, peer: Rank, at: Word, into: &mut [u8]) -> Result<(), CommError> {
        self.registered.read(peer, at, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::Cells;
    use crate::slot::Sequence;
    use bandgap_comm::{HandlerId, NoHandler};

    struct Nothing;

    impl Deliver for Nothing {
        fn request(&mut self, from: Rank, _: Message) -> Result<Option<&Message>, NoHandler> {
            panic!("a request from {from}")
        }

        fn reply(&mut self, from: Rank, _: Message) -> Result<(), NoHandler> {
            panic!("a reply from {from}")
        }
    }

    #[test]
    fn a_rank_attaches_once_and_to_its_own_run() {
        let segment = Segment::create(3, 4).unwrap();
        for size in [0, 2, 4] {
            let refused = ShmEndpoint::attach(&segment, 0, size);
            assert!(matches!(refused, Err(ShmError::OtherSize { segment: 3, .. })));
        }
        assert!(matches!(
            ShmEndpoint::attach(&segment, 3, 3),
            Err(ShmError::NoSuchRank { rank: 3, size: 3 })
        ));
        drop(ShmEndpoint::attach(&segment, 1, 3).unwrap());
        let again = ShmEndpoint::attach(&segment, 1, 3);
        assert!(matches!(again, Err(ShmError::Attached { rank: 1 })));
    }

    #[test]
    fn garbage_names_the_rank_that_wrote_it() {
        for peer in [1, 2, 3] {
            let segment = Segment::create(4, 4).unwrap();
            let mut endpoint = ShmEndpoint::attach(&segment, 0, 4).unwrap();
            // 6 words are more than four.
            let first = Sequence::request(0);
            segment.ring(peer, 0).slot(first).forge(first.whole() | 6 << 8);
            match endpoint.progress(&mut Nothing) {
                Err(CommError::Garbage { peer: named, what }) => {
                    assert_eq!(named, peer);
                    assert!(what.contains("6 words"), "{what}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_run_of_one_rank_has_no_peers() {
        let segment = Segment::create(1, 4).unwrap();
        let mut endpoint = ShmEndpoint::attach(&segment, 0, 1).unwrap();
        for peer in [0, 1, 2, usize::MAX] {
            let answer = endpoint.try_request(peer, Message::new(HandlerId(0), []));
            assert!(matches!(answer, Err(CommError::NoSuchPeer { size: 1, .. })), "{peer}");
        }
        assert_eq!(endpoint.progress(&mut Nothing).unwrap(), 0);
    }

    /// Completes requests without replies.
    struct Done;

    impl Deliver for Done {
        fn request(&mut self, _: Rank, _: Message) -> Result<Option<&Message>, NoHandler> {
            Ok(None)
        }
        fn reply(&mut self, _: Rank, _: Message) -> Result<(), NoHandler> {
            Ok(())
        }
    }

    /// Replies with the request itself.
    struct Echo(Message);

    impl Deliver for Echo {
        fn request(&mut self, _: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
            self.0 = message;
            Ok(Some(&self.0))
        }
        fn reply(&mut self, _: Rank, _: Message) -> Result<(), NoHandler> {
            Ok(())
        }
    }

    #[test]
    fn replies_do_not_keep_a_request_waiting_for_long_nor_do_completions() {
        let message = Message::new(HandlerId(0), [1]);
        for (size, most) in [(2, TURNS), (3, 1)] {
            let segment = Segment::create(size, 4).unwrap();
            let mut here = ShmEndpoint::attach(&segment, 0, size).unwrap();
            let mut there = ShmEndpoint::attach(&segment, 1, size).unwrap();
            for replies in [true, false] {
                assert_eq!(there.try_request(0, message).unwrap(), Posted::Yes);
                // Each call delivers a completion, and one of the first also the request.
                let served = (1..=most).find(|_| {
                    assert_eq!(here.try_request(1, message).unwrap(), Posted::Yes);
                    if replies {
                        assert_eq!(there.progress(&mut Echo(message)).unwrap(), 1);
                    } else {
                        assert_eq!(there.progress(&mut Done).unwrap(), 1);
                    }
                    here.progress(&mut Done).unwrap() == 2
                });
                assert!(served.is_some(), "{size} ranks, {replies}");
                assert_eq!(there.progress(&mut Nothing).unwrap(), 1);
            }
        }
    }

    #[test]
    fn handled_requests_are_owed_until_published() {
        let segment = Segment::create(2, 128).unwrap();
        let mut here = ShmEndpoint::attach(&segment, 0, 2).unwrap();
        let mut there = ShmEndpoint::attach(&segment, 1, 2).unwrap();
        let posted = here.try_request(1, Message::new(HandlerId(0), [])).unwrap();
        assert_eq!((posted, here.outstanding()), (Posted::Yes, 1));
        assert_eq!(there.progress(&mut Done).unwrap(), 1);
        assert_eq!(there.unsent(), 1);
        assert_eq!(here.progress(&mut Done).unwrap(), 0);
        // Calls that find nothing soon publish what was handled.
        let idle = (0..1000).find(|_| {
            assert_eq!(there.progress(&mut Done).unwrap(), 0);
            there.unsent() == 0
        });
        assert!(idle.is_some());
        assert_eq!(here.progress(&mut Done).unwrap(), 1);
        assert_eq!(here.outstanding(), 0);
    }
}
