//! The transport: a ring in each direction between this rank and every other.

use bandgap_comm::{
    Begun, Bulk, CommError, Deliver, Endpoint, Message, Posted, Rank, Source, Word, check_peer,
};

use crate::ring::{Lane, Lanes, Receiver, Sender};
use crate::segment::{MappedCells, Segment};
use crate::signals::Signals;
use crate::{Exposed, Readable, Result, ShmError};

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

/// A rank's end of the shared-memory transport.
///
/// One call of [`Endpoint::progress`] delivers at most one reply and one request from each peer, so
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
pub struct ShmEndpoint {
    lanes: Lanes<MappedCells>,
    /// By peer; this rank's own is unused.
    signals: Box<[Signals]>,
    slots: usize,
    exposed: Option<Exposed>,
    readable: Readable,
}

impl ShmEndpoint {
    /// Attaches `rank` of `size` ranks to the segment. Each rank can attach only once.
    ///
    /// # Errors
    /// The segment has another number of ranks; `rank` is out of range, or has attached before.
    pub fn attach(segment: &Segment, rank: Rank, size: usize) -> Result<Self> {
        if size != segment.size() {
            return Err(ShmError::OtherSize { size, segment: segment.size() });
        }
        segment.claim(rank)?;
        Ok(Self {
            lanes: Lanes::new(rank, size, |peer| lane(segment, rank, peer)),
            signals: (0..size).map(|peer| Signals::new(segment, rank, peer)).collect(),
            slots: segment.slots(),
            exposed: None,
            readable: Readable::of(Err("single copy was not negotiated".into())),
        })
    }

    /// Adds the memory that all ranks expose.
    ///
    /// # Errors
    /// The memory has another number of ranks.
    pub fn exposing(mut self, memory: Exposed) -> Result<Self> {
        if memory.size() != self.lanes.size() {
            return Err(ShmError::OtherSize { size: self.lanes.size(), segment: memory.size() });
        }
        self.exposed = Some(memory);
        Ok(self)
    }

    /// Adds access to its peers' private memory, if that is allowed.
    pub fn reading(self, readable: Readable) -> Self {
        Self { readable, ..self }
    }

    /// The exposed memory, for an access to `len` bytes from offset `at` on.
    #[inline(always)]
    fn memory(&self, at: usize, len: usize) -> Result<&Exposed, CommError> {
        match &self.exposed {
            Some(memory) => Ok(memory),
            None => Err(CommError::NotExposed { at, len, exposed: 0 }),
        }
    }
}

impl Endpoint for ShmEndpoint {
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.lanes.rank()
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.lanes.size()
    }

    fn capacity(&self) -> usize {
        self.slots
    }

    #[inline(always)]
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError> {
        self.lanes.try_request(peer, message)
    }

    #[inline(always)]
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        self.lanes.progress(deliver)
    }

    #[inline(always)]
    fn outstanding(&self) -> usize {
        self.lanes.outstanding()
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
        self.lanes.unpublished()
    }
}

/// A store copies to the peer's memory, and a get copies from it. Both are complete when the call
/// returns, and so before any request sent later.
impl Bulk for ShmEndpoint {
    fn exposed(&self) -> usize {
        self.exposed.as_ref().map_or(0, Exposed::bytes)
    }

    #[inline(always)]
    fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<(), CommError> {
        self.memory(at, into.len())?.read(self.lanes.rank(), at, into)
    }

    #[inline(always)]
    fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<(), CommError> {
        self.memory(at, from.len())?.write(self.lanes.rank(), at, from)
    }

    #[inline(always)]
    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError> {
        check_peer(peer, self.lanes.rank(), self.lanes.size())?;
        let memory = self.memory(into, from.len())?;
        match from {
            Source::Bytes(bytes) => memory.write(peer, into, bytes)?,
            Source::Exposed { at, len } => {
                memory.copy((self.lanes.rank(), at), (peer, into), len)?
            }
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
        check_peer(peer, self.lanes.rank(), self.lanes.size())?;
        self.memory(at, len)?.copy((peer, at), (self.lanes.rank(), into), len)?;
        Ok(Begun::Done)
    }

    fn shares(&self) -> bool {
        true
    }

    #[inline(always)]
    fn read_peer(&self, peer: Rank, at: usize, into: &mut [u8]) -> Result<(), CommError> {
        check_peer(peer, self.lanes.rank(), self.lanes.size())?;
        self.memory(at, into.len())?.read(peer, at, into)
    }

    fn single_copy(&self) -> Result<(), &str> {
        self.readable.allowed()
    }

    #[inline]
    fn address(&self, bytes: &[u8]) -> Word {
        // Exposed: the compiler must have written the bytes by the time at which a request tells a
        // peer about them.
        bytes.as_ptr().expose_provenance() as Word
    }

    #[inline]
    fn read_private(&self, peer: Rank, at: Word, into: &mut [u8]) -> Result<(), CommError> {
        check_peer(peer, self.lanes.rank(), self.lanes.size())?;
        self.readable.read(peer, at, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{Cells, TURNS};
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
        assert!(matches!(again, Err(ShmError::Attached(1))));
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

    /// Answers every request with this, or with nothing.
    struct Answer(Option<Message>);

    impl Deliver for Answer {
        fn request(&mut self, _: Rank, _: Message) -> Result<Option<&Message>, NoHandler> {
            Ok(self.0.as_ref())
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
                    let mut answer = Answer(replies.then_some(message));
                    assert_eq!(there.progress(&mut answer).unwrap(), 1);
                    here.progress(&mut Answer(None)).unwrap() == 2
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
        assert_eq!(there.progress(&mut Answer(None)).unwrap(), 1);
        assert_eq!(there.unsent(), 1);
        assert_eq!(here.progress(&mut Answer(None)).unwrap(), 0);
        // Calls that find nothing soon publish what was handled.
        let idle = (0..1000).find(|_| {
            assert_eq!(there.progress(&mut Answer(None)).unwrap(), 0);
            there.unsent() == 0
        });
        assert!(idle.is_some());
        assert_eq!(here.progress(&mut Answer(None)).unwrap(), 1);
        assert_eq!(here.outstanding(), 0);
    }
}
