//! What two ranks receive that send messages to and fro.

use super::Pair;
use super::pair::Side;
use crate::{Buffers, Content, Expects, Seat};

/// What the rank at `seat` must receive where a message goes from the requester of `pair` to the
/// replier and one comes back, `messages` times in a sample.
///
/// Under [`Buffers::Same`] what comes back is what was sent: its source and its number are those of
/// the message there, and the replier has nothing of its own to send.
pub(super) fn round_trips(seat: &Seat, messages: u32, pair: Pair, buffers: Buffers) -> Expects {
    let (requester, replier) = (pair.requester, pair.replier);
    let there = |message| Content::Sent { source: requester, to: replier, message };
    let back = |message| match buffers {
        Buffers::Same => there(message),
        _ => Content::Sent { source: replier, to: requester, message },
    };
    match pair.side(seat.rank) {
        Side::Requester { .. } => to_and_fro(seat, messages, Some(&there), &back),
        Side::Replier { .. } => {
            let sends: Option<&dyn Fn(u64) -> Content> =
                if buffers == Buffers::Same { None } else { Some(&back) };
            to_and_fro(seat, messages, sends, &there)
        }
        Side::Idle => Expects::default(),
    }
}

/// What the rank at `seat` must receive where both ranks of `pair` send at once, `messages` times in
/// a sample.
pub(super) fn exchanges(seat: &Seat, messages: u32, pair: Pair) -> Expects {
    let Some(peer) = pair.peer(seat.rank) else { return Expects::default() };
    let rank = seat.rank;
    let sent = |message| Content::Sent { source: rank, to: peer, message };
    let received = |message| Content::Sent { source: peer, to: rank, message };
    to_and_fro(seat, messages, Some(&sent), &received)
}

/// Messages that are sent from the outgoing places, if any, and received into the incoming ones.
/// Where they share a ring, all of it holds what is sent, so that writing it drives what was
/// received before out of the caches.
fn to_and_fro(
    seat: &Seat,
    messages: u32,
    sends: Option<&dyn Fn(u64) -> Content>,
    receives: &dyn Fn(u64) -> Content,
) -> Expects {
    let Seat { places, samples, .. } = *seat;
    let all = u64::from(samples) * u64::from(messages);
    let mut expects = Expects::default();
    if let Some(sent) = sends {
        (0..places.count()).for_each(|at| expects.fill(places.outgoing(at), sent(at)));
    }
    for at in 0..all.min(places.count()) {
        expects.arrive(places.incoming(at), receives(at));
    }
    expects.messages = messages.into();
    expects
}
