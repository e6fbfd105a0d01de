//! Transports that spoil one message.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::direct::{Hook, Letter};
use bandgap_comm::{
    Begun, Bulk, CommError, Deliver, Endpoint, HandlerId, Message, NoHandler, Posted, Rank, Source,
};

use super::native::MEETING;

/// What happens to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// It goes to another rank.
    Misdeliver,
    /// The one before comes once more.
    Repeat,
    /// It changes places with the next one that differs.
    Swap,
    /// It is lost.
    Lose,
    /// One bit is another.
    Flip,
}

impl Fault {
    pub const ALL: [Self; 5] = [Self::Misdeliver, Self::Repeat, Self::Swap, Self::Lose, Self::Flip];

    /// Whether messages without content can have it so that there is a difference.
    pub fn without_content(self) -> bool {
        matches!(self, Self::Misdeliver | Self::Repeat | Self::Lose)
    }
}

/// Spoils the message number `nth` of those that a rank sends and that can have the fault.
#[derive(Clone, Debug)]
pub struct Plan {
    pub fault: Fault,
    pub nth: usize,
    /// Set once it has happened.
    pub happened: Arc<AtomicBool>,
}

impl Plan {
    pub fn new(fault: Fault, nth: usize) -> Self {
        Self { fault, nth, happened: Arc::default() }
    }

    pub fn has_happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }

    fn happens(&self) {
        self.happened.store(true, Ordering::Relaxed);
    }
}

/// Another rank than the sender and the receiver.
pub fn third(from: Rank, to: Rank, size: usize) -> Option<Rank> {
    (0..size).find(|rank| ![from, to].contains(rank))
}

/// A hook that spoils a letter of [`bandgap_comm::direct`].
pub fn hook(plan: Plan, size: usize) -> Hook {
    let mut seen = 0;
    let mut last: Option<Letter> = None;
    let mut held: Option<Letter> = None;
    Box::new(move |mut letter| {
        let can = !letter.bytes.is_empty() || plan.fault.without_content();
        if !can || letter.tag == MEETING {
            return vec![letter];
        }
        if let Some(mut first) = held.take() {
            // What is alike can change places, and nothing is wrong.
            plan.happened.store(first.bytes != letter.bytes, Ordering::Relaxed);
            std::mem::swap(&mut first.bytes, &mut letter.bytes);
            return vec![first, letter];
        }
        seen += 1;
        let before = last.replace(letter.clone());
        if seen != plan.nth + 1 {
            return vec![letter];
        }
        match (plan.fault, before) {
            (Fault::Swap, _) => {
                plan.happens();
                held = Some(letter);
                return Vec::new();
            }
            (Fault::Repeat, None) => return vec![letter],
            (Fault::Repeat, Some(before)) => {
                plan.happens();
                return vec![before, letter];
            }
            (Fault::Misdeliver, _) => {
                let Some(other) = third(letter.from, letter.to, size) else { return vec![letter] };
                letter.to = other;
            }
            (Fault::Lose, _) => letter.to = usize::MAX,
            (Fault::Flip, _) => {
                let middle = letter.bytes.len() / 2;
                letter.bytes[middle] ^= 0x04;
            }
        }
        plan.happens();
        vec![letter]
    })
}

/// An endpoint that spoils one of the requests of some handlers, one reply, or one transfer.
pub struct Lying<E> {
    inner: E,
    plan: Option<Plan>,
    what: What,
    seen: usize,
    last: Option<(Rank, Message)>,
    held: Option<(Rank, Message)>,
    /// The transfer that was refused and will be tried again.
    under_way: Option<Bent>,
}

/// Which messages are spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Requests of programs over Active Messages.
    Words,
    /// Replies to this rank's requests of programs over Active Messages.
    Replies,
    /// Stores and gets.
    Transfers,
    /// Messages that message passing sends in words, and barriers.
    Passing,
}

/// The reply handler of programs.
const ECHOED: HandlerId = HandlerId(0);
/// The first handler of message passing, which takes messages in words.
const IN_WORDS: u8 = 4;
/// Its handler of barriers.
const BARRIER: u8 = IN_WORDS + 6;

impl<E> Lying<E> {
    pub fn new(inner: E, what: What, plan: Option<Plan>) -> Self {
        Self { inner, plan, what, seen: 0, last: None, held: None, under_way: None }
    }
}

/// The same message with one bit of a word changed.
fn flipped(message: Message, word: usize) -> Message {
    let mut words = *message.all_words();
    words[word] ^= 1 << 2;
    Message::from_parts(message.tag(), words)
}

/// The bytes that a message of message passing carries in the words after its first.
fn bytes_in_words(message: &Message) -> usize {
    (message.all_words()[0] >> 32) as usize
}

impl<E: Endpoint> Lying<E> {
    /// Whether a request can be spoilt by this fault.
    fn can(&self, fault: Fault, message: &Message) -> bool {
        let HandlerId(handler) = message.handler();
        match self.what {
            What::Words => handler < 2,
            What::Replies | What::Transfers => false,
            What::Passing if handler == BARRIER => fault.without_content(),
            What::Passing => {
                handler == IN_WORDS && (bytes_in_words(message) > 0 || fault.without_content())
            }
        }
    }
}

impl<E: Endpoint> Endpoint for Lying<E> {
    bandgap_conformance::delegate_endpoint! { inner }

    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError> {
        let Some(plan) = self.plan.clone() else { return self.inner.try_request(peer, message) };
        if !self.can(plan.fault, &message) {
            return self.inner.try_request(peer, message);
        }
        if let Some((to, held)) = self.held {
            // Of two that are the same, as of a broadcast, nobody notices which is which.
            if held == message {
                let posted = self.inner.try_request(to, held)?;
                if posted == Posted::Yes {
                    self.held = Some((peer, message));
                }
                return Ok(posted);
            }
            // What was for the one goes to the other. Both, or neither.
            if self.inner.try_request(to, message)? == Posted::Busy {
                return Ok(Posted::Busy);
            }
            plan.happened.store(held != message, Ordering::Relaxed);
            self.held = Some((peer, held));
            self.plan = None;
            return Ok(Posted::Yes);
        }
        let now = self.seen == plan.nth;
        let third = third(self.rank(), peer, self.size());
        let posted = match (now.then_some(plan.fault), third, self.last) {
            (Some(Fault::Misdeliver), Some(other), _) => self.inner.try_request(other, message)?,
            (Some(Fault::Repeat), _, Some((to, before))) => {
                if self.inner.try_request(to, before)? == Posted::Busy {
                    return Ok(Posted::Busy);
                }
                plan.happens();
                self.plan = None;
                return self.inner.try_request(peer, message);
            }
            (Some(Fault::Swap), ..) => {
                plan.happens();
                self.held = Some((peer, message));
                return Ok(Posted::Yes);
            }
            (Some(Fault::Lose), ..) => Posted::Yes,
            (Some(Fault::Flip), ..) => {
                // The last word that means something; missing bytes have words too.
                let last = match self.what {
                    What::Passing => bytes_in_words(&message).div_ceil(8),
                    _ => message.len() - 1,
                };
                self.inner.try_request(peer, flipped(message, last))?
            }
            (nothing, ..) => {
                let posted = self.inner.try_request(peer, message)?;
                if posted == Posted::Yes {
                    self.seen += 1;
                    self.last = Some((peer, message));
                    if nothing.is_some() {
                        self.plan = None;
                    }
                }
                return Ok(posted);
            }
        };
        if posted == Posted::Yes {
            plan.happens();
            self.plan = None;
        }
        Ok(posted)
    }
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        if self.what != What::Replies
            && self.plan.is_none()
            && let Some((to, held)) = self.held
            && self.inner.try_request(to, held)? == Posted::Yes
        {
            self.held = None;
        }
        if self.what != What::Replies {
            return self.inner.progress(deliver);
        }
        let (rank, size) = (self.rank(), self.size());
        let Self { inner, plan, seen, last, held, .. } = self;
        inner.progress(&mut Bending { inner: deliver, plan, seen, last, held, rank, size })
    }
}

/// Delivers replies, one of which is spoilt.
struct Bending<'a, D> {
    inner: &'a mut D,
    plan: &'a mut Option<Plan>,
    seen: &'a mut usize,
    last: &'a mut Option<(Rank, Message)>,
    held: &'a mut Option<(Rank, Message)>,
    rank: Rank,
    size: usize,
}

impl<D: Deliver> Deliver for Bending<'_, D> {
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.inner.request(from, message)
    }

    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler> {
        let Some(plan) = self.plan.clone().filter(|_| message.handler() == ECHOED) else {
            return self.inner.reply(from, message);
        };
        if let Some((first, held)) = self.held.take() {
            *self.plan = None;
            plan.happens();
            self.inner.reply(first, message)?;
            return self.inner.reply(from, held);
        }
        let before = self.last.replace((from, message));
        *self.seen += 1;
        if *self.seen != plan.nth + 1 {
            return self.inner.reply(from, message);
        }
        if plan.fault == Fault::Swap {
            *self.held = Some((from, message));
            return Ok(());
        }
        *self.plan = None;
        plan.happens();
        match (plan.fault, before, third(self.rank, from, self.size)) {
            (Fault::Repeat, Some((peer, before)), _) => {
                self.inner.reply(peer, before)?;
                self.inner.reply(from, message)
            }
            (Fault::Misdeliver, _, Some(other)) => self.inner.reply(other, message),
            (Fault::Flip, ..) => self.inner.reply(from, flipped(message, message.len() - 1)),
            _ => Ok(()),
        }
    }
}

/// What a transfer moves where instead.
#[derive(Clone, Copy, Debug)]
struct Bent {
    peer: Rank,
    /// Where the bytes come from.
    at: usize,
    len: usize,
    /// The bit that changes on the way.
    flip: bool,
}

impl<E: Bulk> Lying<E> {
    /// What becomes of the next transfer, of bytes from `at` on.
    fn bend(&mut self, peer: Rank, at: usize, len: usize) -> Bent {
        let straight = Bent { peer, at, len, flip: false };
        let Some(plan) = self.plan.clone().filter(|_| self.what == What::Transfers && len > 0)
        else {
            return straight;
        };
        let (this, room) = (self.seen, len.next_multiple_of(64));
        self.seen += 1;
        let half = self.exposed() / 2;
        let before = if at >= half + room { at - room } else { at };
        let after = if at + room + len <= self.exposed() { at + room } else { before };
        let bent = match plan.fault {
            Fault::Swap if this == plan.nth + 1 => Bent { at: before, ..straight },
            _ if this != plan.nth => return straight,
            Fault::Misdeliver => {
                Bent { peer: third(self.rank(), peer, self.size()).unwrap_or(peer), ..straight }
            }
            Fault::Repeat => Bent { at: before, ..straight },
            Fault::Swap => Bent { at: after, ..straight },
            Fault::Lose => Bent { len: 0, ..straight },
            Fault::Flip => Bent { flip: true, ..straight },
        };
        if (bent.peer, bent.at, bent.len, bent.flip) != (peer, at, len, false) {
            plan.happens();
        }
        bent
    }
}

impl<E: Bulk> Bulk for Lying<E> {
    bandgap_conformance::delegate_exposed! { inner }

    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError> {
        let Source::Exposed { at, len } = from else {
            return self.inner.try_store(peer, into, from, done);
        };
        // A store that goes on is what it was when it began.
        let bent = match self.under_way.take() {
            Some(bent) => bent,
            None => self.bend(peer, at, len),
        };
        let Bent { peer, at, len, flip } = bent;
        if flip && *done == 0 {
            let mut byte = [0];
            self.inner.read_exposed(at + len / 2, &mut byte)?;
            self.inner.write_exposed(at + len / 2, &[byte[0] ^ 0x04])?;
        }
        let posted = self.inner.try_store(peer, into, Source::Exposed { at, len }, done)?;
        match posted {
            Posted::Yes => *done = from.len(),
            Posted::Busy => self.under_way = Some(Bent { flip: flip && *done == 0, ..bent }),
        }
        Ok(posted)
    }
    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun, CommError> {
        let bent = match self.under_way.take() {
            Some(bent) => bent,
            None => self.bend(peer, at, len),
        };
        let Bent { peer, at, len, flip } = bent;
        // Where a bit would change, the last byte stays what it was.
        let begun = self.inner.try_get(peer, at, into, len - usize::from(flip), message)?;
        if begun == Begun::Busy {
            self.under_way = Some(bent);
        }
        Ok(begun)
    }
}
