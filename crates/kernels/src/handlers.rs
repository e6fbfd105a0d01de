//! Handlers of programs over Active Messages.

use bandgap_comm::passing::{Mail, Tuning, add_handlers};
use bandgap_comm::{
    Answer, Call, HandlerId, Handlers, MAX_WORDS, Outcome, Rank, Result, Verb, Word,
};

use crate::mailbox::{MAIL, Mailbox};
use crate::{Log, RankState, Tally};

/// Replies with the complement of its word, so that the requester can tell that the handler ran.
pub const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };
/// Takes its word, and does not reply.
pub const SINK: Verb = Verb { handler: HandlerId(1), replies: false };
/// Takes the number of a meeting that the sender has reached.
pub(crate) const MEET: HandlerId = HandlerId(3);

/// The reply handler of [`ECHO`].
pub(crate) const ECHOED: HandlerId = HandlerId(0);

#[inline(always)]
fn serve(state: &mut RankState, from: Rank, word: Word) {
    state.tally.served += 1;
    state.tally.served_sum = state.tally.served_sum.wrapping_add(word);
    if state.tally.logging {
        state.log.note(false, from, word);
    }
}

fn echo(state: &mut RankState, call: Call<'_>, word: Word, _: Word, _: Word, _: Word) -> Outcome {
    serve(state, call.from(), word);
    call.reply(ECHOED, [!word])
}

fn sink(state: &mut RankState, call: Call<'_>, word: Word, _: Word, _: Word, _: Word) -> Outcome {
    serve(state, call.from(), word);
    call.done()
}

fn echoed(state: &mut RankState, answer: Answer, word: Word, _: Word, _: Word, _: Word) {
    state.tally.replies += 1;
    state.tally.reply_sum = state.tally.reply_sum.wrapping_add(word);
    if state.tally.logging {
        state.log.note(true, answer.from(), word);
    }
}

fn mail(state: &mut RankState, call: Call<'_>, a: Word, b: Word, c: Word, d: Word) -> Outcome {
    let sent = call.words().min(MAX_WORDS);
    state.mailbox.receive(call.from(), &[a, b, c, d][..sent]);
    call.done()
}

/// Meeting numbers only grow, so a repeated one changes nothing.
fn meet(state: &mut RankState, call: Call<'_>, number: Word, _: Word, _: Word, _: Word) -> Outcome {
    if let Some(met) = state.met.get_mut(call.from()) {
        *met = number.max(*met);
    }
    call.done()
}

/// The handlers, which are the same on every rank, and the state of `rank` of `size` ranks, each of
/// which exposes `exposed` bytes. `slots` says where in them message passing has its slots. Without
/// slots, messages of up to [`bandgap_comm::passing::INLINE`] bytes can be passed, and longer ones
/// fail.
///
/// # Errors
/// [`bandgap_comm::CommError::NotExposed`]: the slots do not fit.
pub(crate) fn handlers(
    rank: Rank,
    size: usize,
    exposed: usize,
    slots: Option<(usize, &Tuning)>,
) -> Result<(Handlers<RankState>, RankState)> {
    let mut table = Handlers::default();
    let ids = [
        (table.request(echo), ECHO.handler),
        (table.request(sink), SINK.handler),
        (table.request(mail), MAIL),
        (table.request(meet), MEET),
        (table.reply(echoed), ECHOED),
    ];
    debug_assert!(ids.iter().all(|(given, expected)| given == expected));
    let first = add_handlers(&mut table);
    let mail = Mail::new(rank, size, exposed, slots, first)?;
    let (tally, log) = (Tally::default(), Log::default());
    let (mailbox, met) = (Mailbox::new(size), vec![0; size]);
    Ok((table, RankState { tally, log, mailbox, met, mail }))
}
