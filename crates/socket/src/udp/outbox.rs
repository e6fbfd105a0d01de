//! What is sent and not acknowledged yet.

use super::header::{Flags, HEADER, Header, Key, MAX_DATAGRAM, MAX_PAYLOAD};
use super::store::Store;
use super::{MAX_ROOM, MOST, charge};

/// Milliseconds.
pub(super) type Millis = u64;

/// First wait for an acknowledgement: longer than a rank computes between two polls, as a rule. A
/// datagram repeated for nothing costs little, and where one is lost the peer mostly notices much
/// sooner, by the next.
pub(super) const FIRST_WAIT: Millis = 10;
/// Doublings of that wait at most, so that it stays below a second.
const DOUBLINGS: u32 = 6;
/// Unanswered repetitions, over 150 ms, after which what is not acknowledged is not waited for any
/// more before this rank stops polling. Its peer has stopped too, most likely, and what was sent
/// lies at its socket; that the last acknowledgement arrived, no protocol can know.
const LINGER: u32 = 4;

/// Places for datagrams, by their number modulo this power of two.
const PLACES: usize = (MOST as usize + 1).next_power_of_two();

/// A datagram in the store; header and all.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
struct Piece {
    at: usize,
    len: usize,
}

/// The sending half of one direction.
///
/// Datagrams go through three stages by their numbers: `base ≤ given ≤ made`.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Outbox {
    key: Key,
    store: Store,
    pieces: Box<[Piece]>,
    /// The oldest that is not acknowledged.
    base: u32,
    /// The next to be given to the system, for the first time or again.
    given: u32,
    /// The next that never was.
    sent: u32,
    /// The next to be made.
    made: u32,
    /// What those from `base` on cost the peer.
    charged: u32,
    /// What the peer can hold.
    pub(super) room: u32,
    /// The oldest is to be repeated, with a question.
    ask: bool,
    /// Nothing was acknowledged since the last look.
    watched: bool,
    /// When the oldest is repeated; none while nobody has looked at the clock.
    due: Option<Millis>,
    /// Repetitions since something was acknowledged.
    tries: u32,
    /// Datagrams sent again.
    pub(super) repeated: u64,
}

impl Outbox {
    pub(super) fn new(key: Key, first: u32, room: u32) -> Self {
        Self {
            key,
            // What is left over at the end is shorter than a datagram.
            store: Store::new(MAX_ROOM as usize + 2 * MAX_DATAGRAM),
            pieces: vec![Piece::default(); PLACES].into_boxed_slice(),
            base: first,
            given: first,
            sent: first,
            made: first,
            charged: 0,
            room,
            ask: false,
            watched: false,
            due: None,
            tries: 0,
            repeated: 0,
        }
    }

    /// Makes a datagram of the first bytes of two pieces; returns how many, 0 when the peer has no
    /// room.
    #[inline]
    pub(super) fn push(&mut self, first: &[u8], second: &[u8]) -> usize {
        let taken = (first.len() + second.len()).min(MAX_PAYLOAD);
        let len = HEADER + taken;
        let charged = self.charged + charge(len);
        // One is let through in any case: it is the peer's matter to have room for it.
        if taken == 0 || (charged > self.room && self.charged > 0) {
            return 0;
        }
        let Some(at) = self.store.take(len) else { return 0 };
        let of_first = first.len().min(taken);
        let (head, tail) = self.store.region(at, len)[HEADER..].split_at_mut(of_first);
        head.copy_from_slice(&first[..of_first]);
        tail.copy_from_slice(&second[..taken - of_first]);
        *self.piece(self.made) = Piece { at, len };
        self.made = self.made.wrapping_add(1);
        self.charged = charged;
        taken
    }

    /// The place of a number. Two in use never share one: the peer's room is for fewer.
    #[inline(always)]
    fn piece(&mut self, number: u32) -> &mut Piece {
        &mut self.pieces[number as usize % PLACES]
    }

    /// Whether something is to be sent.
    #[inline]
    pub(super) fn pending(&self) -> bool {
        self.given != self.made || self.ask
    }

    /// The next datagram to be sent, with this acknowledgement; it stays the next until
    /// [`Outbox::gave`].
    #[inline]
    pub(super) fn next(&mut self, ack: u32, room: u32) -> Option<&[u8]> {
        if !self.pending() {
            return None;
        }
        let (number, flags) =
            if self.ask { (self.base, Flags::ASK) } else { (self.given, Flags::NONE) };
        let Piece { at, len } = *self.piece(number);
        let datagram = self.store.region(at, len);
        self.key.seal(datagram, &Header { number, ack, room, flags });
        Some(datagram)
    }

    /// The system took the datagram.
    #[inline]
    pub(super) fn gave(&mut self) {
        if !self.ask || self.given == self.base {
            if self.given == self.sent {
                self.sent = self.sent.wrapping_add(1);
            } else {
                self.repeated += 1;
            }
            self.given = self.given.wrapping_add(1);
        } else {
            self.repeated += 1;
        }
        self.ask = false;
    }

    /// Number of the next datagram that was never sent.
    pub(super) fn unused(&self) -> u32 {
        self.sent
    }

    /// How many datagrams are newly acknowledged by `ack`, 0 if it is an old one; none if it
    /// acknowledges what was never sent.
    #[inline]
    pub(super) fn covered(&self, ack: u32) -> Option<u32> {
        let ahead = ack.wrapping_sub(self.base);
        if ahead as i32 <= 0 {
            return Some(0);
        }
        (ahead <= self.sent.wrapping_sub(self.base)).then_some(ahead)
    }

    /// The first so many have arrived.
    #[inline]
    pub(super) fn acknowledge(&mut self, covered: u32) {
        if covered == 0 {
            return;
        }
        for _ in 0..covered {
            self.charged -= charge(self.piece(self.base).len);
            // After going back, what arrived the first time need not be given again.
            if self.given == self.base {
                self.given = self.given.wrapping_add(1);
            }
            self.base = self.base.wrapping_add(1);
        }
        let oldest = (self.base != self.made).then(|| self.piece(self.base).at);
        self.store.keep_from(oldest);
        (self.ask, self.watched, self.due, self.tries) = (false, false, None, 0);
    }

    /// Whether `ack` is the newest acknowledgement there was.
    pub(super) fn is_newest(&self, ack: u32) -> bool {
        ack == self.base
    }

    /// Everything is sent again.
    pub(super) fn rewind(&mut self) {
        self.given = self.base;
    }

    /// Looks whether acknowledgements are late. The clock is read only when none has come since
    /// the last look.
    pub(super) fn tend(&mut self, now: impl FnOnce() -> Millis) {
        if self.idle() {
            return;
        }
        if std::mem::replace(&mut self.watched, true) {
            self.look(now());
        }
    }

    /// Repeats the oldest if its time has come; returns the time left. Only the oldest, since the
    /// peer may just not be polling, and everything may lie at its socket: the answer tells.
    pub(super) fn look(&mut self, now: Millis) -> Option<Millis> {
        if self.idle() {
            return None;
        }
        let wait = |tries: u32| FIRST_WAIT << tries.min(DOUBLINGS);
        let mut due = *self.due.get_or_insert(now + wait(0));
        if now >= due {
            self.ask = true;
            self.tries += 1;
            due = now + wait(self.tries);
            self.due = Some(due);
        }
        Some(due - now)
    }

    /// Whether everything is acknowledged.
    pub(super) fn idle(&self) -> bool {
        self.base == self.made
    }

    /// Datagrams that may not have arrived and are still worth waiting for.
    pub(super) fn unsettled(&self) -> usize {
        if self.tries < LINGER { self.made.wrapping_sub(self.base) as usize } else { 0 }
    }
}
