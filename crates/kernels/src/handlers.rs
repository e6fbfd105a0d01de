//! The handlers that every rank of a measurement has.

use bandgap_comm::{Answer, Call, HandlerId, Handlers, Outcome, Verb, Word};

/// Replies with the complement of its word: the requester can tell that the handler ran.
pub(crate) const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };
/// Takes its word and does not reply.
pub(crate) const SINK: Verb = Verb { handler: HandlerId(1), replies: false };
/// Hands four words of an encoded [`crate::Job`] to a follower.
pub const COMMAND: HandlerId = HandlerId(2);
/// Hands measured ticks to the leader, up to four at a time.
pub const RESULT: HandlerId = HandlerId(3);

/// Says that a follower has carried out its command.
pub const DONE: HandlerId = HandlerId(4);

/// The reply handler of [`ECHO`].
pub(crate) const ECHOED: HandlerId = HandlerId(0);

/// What the handlers count: enough to know afterwards, outside the timed section, that every
/// message arrived with its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests handled.
    pub served: u64,
    /// Sum of the words of those requests, modulo 2⁶⁴.
    pub served_sum: u64,
    /// Replies handled.
    pub replies: u64,
    /// Sum of the words of those replies, modulo 2⁶⁴.
    pub reply_sum: u64,
}

/// The state that the handlers of one rank work on.
#[derive(Debug, Default)]
pub struct RankState {
    /// Counts of the measuring handlers.
    pub tally: Tally,
    /// Commands that have arrived and have not been carried out.
    pub commands: std::collections::VecDeque<[Word; 4]>,
    /// Results that have arrived.
    pub results: Vec<Word>,
    /// Commands that followers have carried out.
    pub done: u64,
}

impl AsRef<RankState> for RankState {
    #[inline(always)]
    fn as_ref(&self) -> &RankState {
        self
    }
}

impl AsMut<RankState> for RankState {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut RankState {
        self
    }
}

/// The word that the `index`-th message of a program carries: no two neighbours alike, no run of
/// zeros that an untouched buffer could pass for.
#[inline(always)]
pub(crate) fn pattern(index: u64) -> Word {
    index.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5555_AAAA_5555_AAAA
}

fn echo<S: AsMut<RankState>>(
    state: &mut S,
    call: Call<'_>,
    word: Word,
    _: Word,
    _: Word,
    _: Word,
) -> Outcome {
    let state = state.as_mut();
    state.tally.served += 1;
    state.tally.served_sum = state.tally.served_sum.wrapping_add(word);
    call.reply(ECHOED, [!word])
}

fn sink<S: AsMut<RankState>>(
    state: &mut S,
    call: Call<'_>,
    word: Word,
    _: Word,
    _: Word,
    _: Word,
) -> Outcome {
    let state = state.as_mut();
    state.tally.served += 1;
    state.tally.served_sum = state.tally.served_sum.wrapping_add(word);
    call.done()
}

fn command<S: AsMut<RankState>>(
    state: &mut S,
    call: Call<'_>,
    a: Word,
    b: Word,
    c: Word,
    d: Word,
) -> Outcome {
    let state = state.as_mut();
    if call.words() == 4 {
        state.commands.push_back([a, b, c, d]);
    }
    call.done()
}

fn result<S: AsMut<RankState>>(
    state: &mut S,
    call: Call<'_>,
    a: Word,
    b: Word,
    c: Word,
    d: Word,
) -> Outcome {
    let state = state.as_mut();
    state.results.extend([a, b, c, d].iter().take(call.words()));
    call.done()
}

fn done<S: AsMut<RankState>>(
    state: &mut S,
    call: Call<'_>,
    _: Word,
    _: Word,
    _: Word,
    _: Word,
) -> Outcome {
    let state = state.as_mut();
    state.done += 1;
    call.done()
}

fn echoed<S: AsMut<RankState>>(state: &mut S, _: Answer, word: Word, _: Word, _: Word, _: Word) {
    let state = state.as_mut();
    state.tally.replies += 1;
    state.tally.reply_sum = state.tally.reply_sum.wrapping_add(word);
}

/// The table of handlers, the same on every rank.
pub fn handlers<S: AsMut<RankState>>() -> Handlers<S> {
    let mut table = Handlers::new();
    let ids = [
        (table.request(echo), ECHO.handler),
        (table.request(sink), SINK.handler),
        (table.request(command), COMMAND),
        (table.request(result), RESULT),
        (table.request(done), DONE),
        (table.reply(echoed), ECHOED),
    ];
    debug_assert!(ids.iter().all(|(given, expected)| given == expected));
    table
}
