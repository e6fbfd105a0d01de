//! The requests of message passing, and the handlers that take them.
//!
//! ```text
//! WORDS     tag | bytes << 32, then the bytes       a message of up to 24 bytes
//! SLOT      tag | bytes << 32, slot, slots          a message in a slot; slots given back
//! FIRST     tag | send << 32, bytes, slot, slots    the first piece of one that takes several slots; slots given back
//! NEXT      bytes << 32, slot, slots                the next piece of the message that was begun last; slots given back
//! ANNOUNCE  tag, bytes, send, address               a message that is still at its sender, and where
//! ANSWER    send, receive, wanted                   its receiver waits for it; or has it, or refuses it
//! PIECE     receive | bytes << 32, slot, slots      a piece of a message that was answered; slots given back
//! RETURN    slots                                   slots given back
//! BARRIER   round | ranks << 32                     its sender has come to this round
//! ```

use super::entries::Envelope;
use super::mail::{HoldsMail, Mail};
use crate::{Call, HandlerId, Handlers, Outcome, Rank, Word};

/// Place of a handler after the first of message passing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
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

impl Kind {
    /// The handler of this kind.
    #[inline(always)]
    pub(super) fn after(self, first: HandlerId) -> HandlerId {
        HandlerId(first.0 + self as u8)
    }
}

/// Adds the handlers of message passing to a table, which is the same on every rank of a run.
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
    first
}

/// A message in words, other than the one that its receiver expects in the call at hand.
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

/// Handles a request that must have so many words.
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
