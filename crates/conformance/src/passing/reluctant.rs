//! An endpoint that is busy more often than necessary.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::Result;
use bandgap_comm::{Begun, Bulk, Deliver, Endpoint, Message, Posted, Rank, Source};

/// Answers Busy at random and takes stores in parts of random length. At random it also delivers
/// nothing, or delivers in one call what arrives in several.
///
/// # Panics
/// If its user breaks a rule of [`Bulk::try_store`]: between the calls of one store it sends a
/// request to that peer, or calls with other arguments.
#[derive(Debug)]
pub struct Reluctant<E> {
    endpoint: E,
    random: SplitMix64,
    /// How many of 256 calls are refused.
    refused: u8,
    /// By peer.
    unfinished: Vec<Option<Unfinished>>,
}

/// A store that has been taken only in part.
#[derive(Clone, Copy, Debug)]
struct Unfinished {
    into: usize,
    len: usize,
    /// Bytes taken so far.
    done: usize,
    /// The part that was handed to the endpoint below.
    part: (usize, usize),
}

impl<E: Bulk> Reluctant<E> {
    /// Refuses about `refused` of 256 calls to `endpoint`, chosen by `seed`.
    pub fn new(endpoint: E, seed: u64, refused: u8) -> Self {
        let unfinished = vec![None; endpoint.size()];
        Self { endpoint, random: SplitMix64::seed_from_u64(seed), refused, unfinished }
    }

    fn refuses(&mut self) -> bool {
        (self.random.next_u64() & 0xFF) < u64::from(self.refused)
    }
}

impl<E: Bulk> Endpoint for Reluctant<E> {
    crate::delegate_endpoint! { endpoint }

    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted> {
        let unfinished = self.unfinished.get(peer).is_some_and(Option::is_some);
        assert!(!unfinished, "a request to {peer} between the parts of a store");
        if self.refuses() { Ok(Posted::Busy) } else { self.endpoint.try_request(peer, message) }
    }

    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize> {
        let (mut delivered, mut last) = (0, usize::from(!self.refuses()));
        while last > 0 {
            last = self.endpoint.progress(deliver)?;
            delivered += last;
            if !self.refuses() {
                break;
            }
        }
        Ok(delivered)
    }
}

impl<E: Bulk> Bulk for Reluctant<E> {
    crate::delegate_exposed! { endpoint }

    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted> {
        let fresh = Unfinished { into, len: from.len(), done: 0, part: (0, 0) };
        let mut store = self.unfinished[peer].unwrap_or(fresh);
        let same = (store.into, store.len, store.done) == (into, from.len(), *done);
        assert!(same, "another store to {peer} than {store:?}");
        if self.refuses() {
            self.unfinished[peer] = Some(store);
            return Ok(Posted::Busy);
        }
        if store.part.1 == store.done {
            let left = store.len - store.done;
            let len =
                if self.refuses() { self.random.next_u64() as usize % (left + 1) } else { left };
            store.part = (store.done, store.done + len);
        }
        let (begin, end) = store.part;
        let part = match from {
            Source::Bytes(bytes) => Source::Bytes(&bytes[begin..end]),
            Source::Exposed { at, .. } => Source::Exposed { at: at + begin, len: end - begin },
        };
        let mut taken = store.done - begin;
        let posted = self.endpoint.try_store(peer, into + begin, part, &mut taken)?;
        store.done = begin + taken;
        *done = store.done;
        let whole = posted == Posted::Yes && end == store.len;
        self.unfinished[peer] = (!whole).then_some(store);
        Ok(if whole { Posted::Yes } else { Posted::Busy })
    }

    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun> {
        if self.refuses() {
            Ok(Begun::Busy)
        } else {
            self.endpoint.try_get(peer, at, into, len, message)
        }
    }
}
