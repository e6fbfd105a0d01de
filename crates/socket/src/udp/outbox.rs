//! What has been sent but not acknowledged.

use std::time::Duration;

use super::header::{Flags, HEADER, MAX_DATAGRAM, MAX_PAYLOAD};
use super::store::Store;
use super::{MAX_ROOM, MOST, Mishaps, charge};

/// First wait for an acknowledgement. It is usually longer than a rank computes between two polls.
/// A needless repetition costs little, and if a datagram is lost, the peer usually notices much
/// sooner, when the next one arrives.
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// Most doublings of that wait, so that it stays below a fifth of a second.
const DOUBLINGS: u32 = 4;
/// After this many unanswered repetitions, over 150 ms, this rank may do something else without having
/// all its datagrams acknowledged. Most likely its peer does so too, and what was sent lies at
/// the peer's socket. No protocol can know that the last acknowledgement has arrived. If the rank polls
/// now and then, the repetitions go on.
const LINGER: u32 = 4;

/// Number of places for datagrams, a power of two. A datagram's place is its number modulo this.
const PLACES: usize = (MOST as usize + 1).next_power_of_two();

/// A datagram in the store, with its header.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
struct Piece {
    at: usize,
    len: usize,
}

/// The sending half of one direction.
///
/// Datagrams go through three stages by their numbers: `base ≤ given ≤ made`.
#[derive(Debug, Default)]
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Outbox {
    store: Store,
    pieces: Box<[Piece]>,
    /// The oldest datagram that is not acknowledged.
    base: u32,
    /// The next one to give to the system, for the first time or again.
    given: u32,
    /// The next one that was never given to the system.
    pub(super) sent: u32,
    /// The next one to make.
    made: u32,
    /// Charge of all datagrams from `base` on.
    charged: u32,
    /// How much the peer can hold.
    pub(super) room: u32,
    /// Bytes of the longest payload.
    pub(super) longest: usize,
    /// The oldest datagram must be repeated, with a question.
    ask: bool,
    /// Nothing has been acknowledged since the last look.
    watched: bool,
    /// When to repeat the oldest datagram; `None` until the clock has been read.
    due: Option<Duration>,
    /// Repetitions since something was acknowledged.
    tries: u32,
}

impl Outbox {
    pub(super) fn new(first: u32, room: u32) -> Self {
        Self {
            // The unused part at the store's end is shorter than a datagram.
            store: Store::new(MAX_ROOM as usize + 2 * MAX_DATAGRAM),
            pieces: vec![Piece::default(); PLACES].into_boxed_slice(),
            base: first,
            given: first,
            sent: first,
            made: first,
            room,
            longest: MAX_PAYLOAD,
            ..Self::default()
        }
    }

    /// Makes a datagram from the first bytes of these parts. Returns how many bytes: 0 if the peer
    /// has no room.
    #[inline]
    pub(super) fn push(&mut self, parts: [&[u8]; 3]) -> usize {
        let taken = parts.map(<[u8]>::len).iter().sum::<usize>().min(self.longest);
        let len = HEADER + taken;
        let charged = self.charged + charge(len);
        // A single one is always let through: the peer must have room for it.
        if taken == 0 || (charged > self.room && self.charged > 0) {
            return 0;
        }
        let Some(at) = self.store.take(len) else { return 0 };
        let mut room = &mut self.store.region(at, len)[HEADER..];
        for part in parts {
            let (here, rest) = room.split_at_mut(part.len().min(room.len()));
            here.copy_from_slice(&part[..here.len()]);
            room = rest;
        }
        *self.piece(self.made) = Piece { at, len };
        self.made = self.made.wrapping_add(1);
        self.charged = charged;
        taken
    }

    /// The place of a number. No two datagrams under way share a place: the peer has room for
    /// fewer.
    #[inline(always)]
    fn piece(&mut self, number: u32) -> &mut Piece {
        &mut self.pieces[number as usize % PLACES]
    }

    /// Whether there is something to send.
    #[inline]
    pub(super) fn pending(&self) -> bool {
        self.given != self.made || self.ask
    }

    /// The next datagram to send: its number, its flags, and its bytes, without a header so far. It
    /// stays the next one until [`Outbox::gave`]. Call this only if one is [pending][Self::pending].
    #[inline]
    pub(super) fn next(&mut self) -> (u32, Flags, &mut [u8]) {
        let (number, flags) =
            if self.ask { (self.base, Flags::ASK) } else { (self.given, Flags::NONE) };
        let Piece { at, len } = *self.piece(number);
        (number, flags, self.store.region(at, len))
    }

    /// Notes that the system took the datagram.
    #[inline]
    pub(super) fn gave(&mut self, mishaps: &mut Mishaps) {
        if !self.ask || self.given == self.base {
            if self.given == self.sent {
                self.sent = self.sent.wrapping_add(1);
            } else {
                mishaps.repeated += 1;
            }
            self.given = self.given.wrapping_add(1);
        } else {
            mishaps.repeated += 1;
        }
        self.ask = false;
    }

    /// How many datagrams `ack` newly acknowledges: 0 if it is old, `None` if it acknowledges what
    /// was never sent.
    #[inline]
    pub(super) fn covered(&self, ack: u32) -> Option<u32> {
        let ahead = ack.wrapping_sub(self.base);
        if ahead as i32 <= 0 {
            return Some(0);
        }
        (ahead <= self.sent.wrapping_sub(self.base)).then_some(ahead)
    }

    /// Notes that this many of the oldest datagrams have arrived.
    #[inline]
    pub(super) fn acknowledge(&mut self, covered: u32) {
        if covered == 0 {
            return;
        }
        for _ in 0..covered {
            self.charged -= charge(self.piece(self.base).len);
            // After going back, a datagram that arrived the first time need not be sent again.
            if self.given == self.base {
                self.given = self.given.wrapping_add(1);
            }
            self.base = self.base.wrapping_add(1);
        }
        let oldest = (self.base != self.made).then(|| self.piece(self.base).at);
        self.store.keep_from(oldest);
        (self.ask, self.watched, self.due, self.tries) = (false, false, None, 0);
    }

    /// Goes back to send everything from `ack` on again, if that is the newest acknowledgement.
    pub(super) fn rewind(&mut self, ack: u32) {
        if ack == self.base {
            self.given = ack;
        }
    }

    /// Checks whether acknowledgements are late. Reads the clock only if none has come since the
    /// last look.
    pub(super) fn tend(&mut self, now: impl FnOnce() -> Duration) {
        if !self.idle() && std::mem::replace(&mut self.watched, true) {
            self.look(now());
        }
    }

    /// Repeats the oldest datagram if it is due. Returns the time left. Only the oldest is
    /// repeated: perhaps the peer is just not polling and everything lies at its socket. The answer
    /// will tell.
    pub(super) fn look(&mut self, now: Duration) -> Option<Duration> {
        if self.idle() {
            return None;
        }
        let wait = |tries: u32| FIRST_WAIT * (1 << tries.min(DOUBLINGS));
        let due = self.due.get_or_insert(now + wait(0));
        if now >= *due {
            self.ask = true;
            self.tries += 1;
            *due = now + wait(self.tries);
        }
        Some(*due - now)
    }

    /// Whether everything is acknowledged.
    pub(super) fn idle(&self) -> bool {
        self.base == self.made
    }

    /// Number of datagrams that may not have arrived and are still worth waiting for.
    pub(super) fn unsettled(&self) -> usize {
        if self.tries < LINGER { self.made.wrapping_sub(self.base) as usize } else { 0 }
    }
}
