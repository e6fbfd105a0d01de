//! The requests of message passing, and the handlers that take them.
//!
//! ```text
//! WORDS     tag | bytes << 32, then the bytes       a message of up to 24 bytes
//! SLOT      tag | bytes << 32, slot, slots          a message in a slot; so many slots given back
//! ANNOUNCE  tag, bytes, send, address               a message that is still at its sender
//! ANSWER    send, receive, wanted                   its receiver waits for it, or does not need it
//! PIECE     receive | bytes << 32, slot, slots      a piece of such a message; slots given back
//! RETURN    slots                                   so many slots given back
//! BARRIER   round | ranks << 32                     its sender has come to this round
//! ```

use super::mail::{FirstHandlers, HoldsMail, Mail};
use super::matching::Envelope;
use crate::{Call, HandlerId, Handlers, Outcome, Rank, Word};

/// Place of a handler after the first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Words,
    Slot,
    Announce,
    Answer,
    Piece,
    Return,
    Barrier,
}

impl FirstHandlers {
    /// The handler of a kind.
    #[inline(always)]
    pub(super) fn of(self, kind: Kind) -> HandlerId {
        HandlerId(self.request.0 + kind as u8)
    }
}

/// Adds the handlers of message passing to a table, which is the same on every rank of a run.
/// [`Mail::new`](super::Mail::new) takes what this returns.
///
/// # Panics
/// The table has no room for 7 more request handlers.
pub fn add_handlers<S: HoldsMail>(table: &mut Handlers<S>) -> FirstHandlers {
    let request = table.request(words);
    for handler in [slot, announce, answer, piece, give_back, barrier] {
        table.request(handler);
    }
    FirstHandlers { request }
}

fn words<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    header: Word,
    a: Word,
    b: Word,
    c: Word,
) -> Outcome {
    let mail = state.mail_mut();
    let (envelope, bytes) = (Envelope::new(call.from(), header as u32), header >> 32);
    let waited = &mut mail.waited;
    // While it is waited for here, no other receive is posted.
    if waited.message.is(envelope) && bytes <= super::INLINE as u64 {
        waited.message.take();
        waited.bytes = bytes as usize;
        waited.words = [a, b, c];
    } else {
        mail.arrived_in_words(envelope, bytes, [a, b, c]);
    }
    call.done()
}

/// Handles a request that must have so many words. Seldom: the short path does not count them.
#[inline(always)]
fn counted<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    words: usize,
    take: impl FnOnce(&mut Mail, Rank),
) -> Outcome {
    let mail = state.mail_mut();
    let (from, sent) = (call.from(), call.words());
    if sent == words {
        take(mail, from);
    } else {
        mail.garbage(from, format!("a request of {sent} words, which must have {words}"));
    }
    call.done()
}

fn slot<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    header: Word,
    slot: Word,
    slots: Word,
    _: Word,
) -> Outcome {
    counted(state, call, 3, |mail, from| {
        mail.returned(from, slots);
        mail.arrived_in_slot(Envelope::new(from, header as u32), header >> 32, slot);
    })
}

fn announce<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    tag: Word,
    bytes: Word,
    send: Word,
    address: Word,
) -> Outcome {
    counted(state, call, 4, |mail, from| {
        mail.announced(Envelope::new(from, tag as u32), bytes, send, address);
    })
}

fn answer<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    send: Word,
    receive: Word,
    wanted: Word,
    _: Word,
) -> Outcome {
    counted(state, call, 3, |mail, from| mail.answered(from, send, receive, wanted != 0))
}

fn piece<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    header: Word,
    slot: Word,
    slots: Word,
    _: Word,
) -> Outcome {
    let receive = header & Word::from(u32::MAX);
    counted(state, call, 3, |mail, from| {
        mail.returned(from, slots);
        mail.piece(from, receive, header >> 32, slot);
    })
}

fn give_back<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    slots: Word,
    _: Word,
    _: Word,
    _: Word,
) -> Outcome {
    counted(state, call, 1, |mail, from| mail.returned(from, slots))
}

fn barrier<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    word: Word,
    _: Word,
    _: Word,
    _: Word,
) -> Outcome {
    counted(state, call, 1, |mail, from| mail.at_barrier(from, word))
}
