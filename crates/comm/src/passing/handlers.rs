//! The requests of message passing, and their handlers.
//!
//! ```text
//! WORDS     tag | bytes << 32, then the bytes       a message of up to 24 bytes
//! SLOT      tag | bytes << 32, slot, slots          a message in a slot; slots given back
//! FIRST     tag | send << 32, bytes, slot, slots    the first piece of a message in several slots; slots given back
//! NEXT      bytes << 32, slot, slots                the next piece of the message begun last; slots given back
//! ANNOUNCE  tag, bytes, send, address               a message that is still at its sender, and its address
//! ANSWER    send, receive, wanted                   the receiver wants the message; or has it, or refuses it
//! PIECE     receive | bytes << 32, slot, slots      a piece of a message that was answered; slots given back
//! RETURN    slots                                   slots given back
//! BARRIER   round | ranks << 32                     the sender has reached this round of a barrier
//! ```

use super::entries::Envelope;
use super::mail::{HoldsMail, Mail};
use crate::{Call, HandlerId, Handlers, Outcome, Rank, Word};

/// Offset of a handler from the first one of message passing.
#[derive(Clone, Copy, Debug)]
pub(super) enum HandlerOffset {
    Words,
    Slot,
    First,
    Next,
    Announce,
    Answer,
    Piece,
    Return,
    Barrier,
}

impl HandlerOffset {
    /// The handler of this kind, if message passing begins with `first`.
    #[inline(always)]
    pub(super) fn after(self, first: HandlerId) -> HandlerId {
        HandlerId(first.0 + self as u8)
    }
}

/// Adds the handlers of message passing to a table, which must be the same on every rank of a run.
/// Returns the first of them, which [`Mail::new`](super::Mail::new) takes; the others follow it.
///
/// # Panics
/// The table has no room for 9 more request handlers.
pub fn add_handlers<S: HoldsMail>(table: &mut Handlers<S>) -> HandlerId {
    // In the order of the kinds.
    let first = table.request(words);
    table.request(|state, call, header, slot, slots, _| {
        counted(state, call, 3, |mail, from| {
            mail.returned(from, slots);
            mail.arrived_in_slot(Envelope::new(from, header as u32), header >> 32, slot);
        })
    });
    table.request(|state, call, header, bytes, slot, slots| {
        counted(state, call, 4, |mail, from| {
            mail.returned(from, slots);
            mail.first_piece(Envelope::new(from, header as u32), header >> 32, bytes, slot);
        })
    });
    table.request(|state, call, header, slot, slots, _| {
        counted(state, call, 3, |mail, from| {
            mail.returned(from, slots);
            mail.next_piece(from, header >> 32, slot);
        })
    });
    table.request(|state, call, tag, bytes, send, at| {
        counted(state, call, 4, |mail, from| {
            mail.announced(Envelope::new(from, tag as u32), bytes, send, at);
        })
    });
    table.request(|state, call, send, receive, wanted, _| {
        counted(state, call, 3, |mail, from| mail.answered(from, send, receive, wanted != 0))
    });
    table.request(|state, call, header, slot, slots, _| {
        counted(state, call, 3, |mail, from| {
            mail.returned(from, slots);
            mail.piece(from, header & Word::from(u32::MAX), header >> 32, slot);
        })
    });
    table.request(|state, call, slots, _, _, _| {
        counted(state, call, 1, |mail, from| mail.returned(from, slots))
    });
    table.request(|state, call, word, _, _, _| {
        counted(state, call, 1, |mail, from| mail.at_barrier(from, word))
    });
    table.room(|state, from, done| state.mail_mut().room(from, done));
    first
}

/// Takes a message in words that the current call does not take itself.
fn words<S: HoldsMail>(
    state: &mut S,
    call: Call<'_>,
    header: Word,
    a: Word,
    b: Word,
    c: Word,
) -> Outcome {
    let envelope = Envelope::new(call.from(), header as u32);
    state.mail_mut().arrived_in_words(envelope, header >> 32, [a, b, c]);
    call.done()
}

/// Handles a request that must have `words` words.
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
        mail.garbage(from, format!("a request with {sent} words instead of {words}"));
    }
    call.done()
}
