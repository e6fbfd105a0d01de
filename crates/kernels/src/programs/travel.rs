//! What two ranks receive that send messages to and fro.

use bandgap_comm::Rank;

use super::Pair;
use super::pair::Side;
use crate::{Buffers, Content, Expects, Seat};

/// What the rank at `seat` must receive where a message goes from the requester of `pair` to the
/// replier and one comes back, `messages` times in a sample.
///
/// Under [`Buffers::Same`] what comes back is what was sent: its source and its number are those of
/// the message there, and the replier has nothing of its own to send.
pub(super) fn round_trips(seat: &Seat, messages: u32, pair: Pair, buffers: Buffers) -> Expects {
    let (there, back) = ([pair.requester, pair.replier], [pair.replier, pair.requester]);
    let is_same = buffers == Buffers::Same;
    match pair.side(seat.rank) {
        Side::Requester { .. } => {
            to_and_fro(seat, messages, Some(there), if is_same { there } else { back })
        }
        Side::Replier { .. } => to_and_fro(seat, messages, (!is_same).then_some(back), there),
        Side::Idle => Expects::default(),
    }
}

/// What the rank at `seat` must receive where both ranks of `pair` send at once, `messages` times in
/// a sample.
pub(super) fn exchanges(seat: &Seat, messages: u32, pair: Pair) -> Expects {
    let Some(peer) = pair.peer(seat.rank) else { return Expects::default() };
    to_and_fro(seat, messages, Some([seat.rank, peer]), [peer, seat.rank])
}

/// Messages that are sent from the outgoing places, if any, and received into the incoming ones.
/// Where they share a ring, all of it holds what is sent, so that writing it drives what was
/// received before out of the caches.
fn to_and_fro(
    seat: &Seat,
    messages: u32,
    sends: Option<[Rank; 2]>,
    receives: [Rank; 2],
) -> Expects {
    let Seat { places, samples, .. } = *seat;
    let all = u64::from(samples) * u64::from(messages);
    let content = |[source, to]: [Rank; 2], message| Content::Sent { source, to, message };
    let mut expects = Expects::default();
    if let Some(sent) = sends {
        (0..places.count()).for_each(|at| expects.fill(places.outgoing(at), content(sent, at)));
    }
    for at in 0..all.min(places.count()) {
        expects.arrive(places.incoming(at), content(receives, at));
    }
    expects.messages = messages.into();
    expects
}
