//! Ranks as threads, and what their handlers record.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{EXPOSED, Harness, Result};
use bandgap_comm::{
    ActiveMessages, Answer, AnyEndpoint, Call, CommError, DeadlineWatch, Deliver, Endpoint,
    HandlerId, Handlers, MAX_WORDS, Message, NoHandler, Outcome, Rank, Waiting, Word,
};

/// After this time a wait counts as a hang: far longer than any property takes on a loaded machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Replies with the request's words, to reply handler 0.
pub(super) const ECHO: HandlerId = HandlerId(0);
/// Completes without a reply.
pub(super) const SINK: HandlerId = HandlerId(1);
/// Replies with the request's words, to reply handler 1.
pub(super) const ECHO_ASIDE: HandlerId = HandlerId(2);
/// In no table.
pub(super) const UNKNOWN: HandlerId = HandlerId(200);

/// Records the echo's replies.
const KEEP: HandlerId = HandlerId(0);
/// Records the other echo's replies.
const KEEP_ASIDE: HandlerId = HandlerId(1);

/// Sender and words of a message.
pub(super) type Entry = (Rank, Vec<Word>);

/// What one rank's handlers received, in order.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) requests: Vec<Entry>,
    pub(super) replies: Vec<Entry>,
    pub(super) replies_aside: Vec<Entry>,
}

impl Log {
    /// Requests from `from`.
    pub(super) fn requests_of(&self, from: Rank) -> Vec<&[Word]> {
        of(&self.requests, from)
    }

    /// Replies from `from`, sorted, since they may come in any order.
    pub(super) fn replies_of(&self, from: Rank) -> Vec<&[Word]> {
        let mut replies = of(&self.replies, from);
        replies.sort_unstable();
        replies
    }
}

fn of(entries: &[Entry], from: Rank) -> Vec<&[Word]> {
    entries.iter().filter(|entry| entry.0 == from).map(|entry| entry.1.as_slice()).collect()
}

/// A rank under test.
pub(super) type Am = ActiveMessages<AnyEndpoint, Log, DeadlineWatch>;

fn echo(log: &mut Log, call: Call<'_>, words: [Word; MAX_WORDS], to: HandlerId) -> Outcome {
    let len = call.words();
    log.requests.push((call.from(), words[..len].to_vec()));
    let [a, b, c, d] = words;
    match len {
        0 => call.reply(to, []),
        1 => call.reply(to, [a]),
        2 => call.reply(to, [a, b]),
        3 => call.reply(to, [a, b, c]),
        4 => call.reply(to, [a, b, c, d]),
        _ => panic!("a message has {len} words"),
    }
}

fn entry(answer: Answer, words: [Word; MAX_WORDS]) -> Entry {
    (answer.from(), words[..answer.words()].to_vec())
}

fn handlers() -> Handlers<Log> {
    let mut handlers = Handlers::default();
    let table = [
        handlers.request(|log, call, a, b, c, d| echo(log, call, [a, b, c, d], KEEP)),
        handlers.request(|log: &mut Log, call, a, b, c, d| {
            log.requests.push((call.from(), [a, b, c, d][..call.words()].to_vec()));
            call.done()
        }),
        handlers.request(|log, call, a, b, c, d| echo(log, call, [a, b, c, d], KEEP_ASIDE)),
    ];
    assert_eq!(table, [ECHO, SINK, ECHO_ASIDE]);
    let table = [
        handlers.reply(|log, answer, a, b, c, d| log.replies.push(entry(answer, [a, b, c, d]))),
        handlers.reply(|log, answer, a, b, c, d| {
            log.replies_aside.push(entry(answer, [a, b, c, d]));
        }),
    ];
    assert_eq!(table, [KEEP, KEEP_ASIDE]);
    handlers
}

/// A rank over this endpoint.
pub(super) fn rank(endpoint: AnyEndpoint) -> Am {
    let watch = DeadlineWatch(PATIENCE);
    ActiveMessages::new(endpoint, handlers(), Log::default(), Waiting::Yield, watch)
}

/// The first `len` of four words that depend on `seed`.
pub(super) fn words(seed: Word, len: usize) -> Vec<Word> {
    let mix = |i: u64| seed ^ i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32);
    (0..len as u64).map(mix).collect()
}

/// Sends a request with these words.
pub(super) fn request<S>(
    am: &mut ActiveMessages<AnyEndpoint, S, DeadlineWatch>,
    peer: Rank,
    handler: HandlerId,
    words: &[Word],
) -> Result {
    match *words {
        [] => am.request(peer, handler, []),
        [a] => am.request(peer, handler, [a]),
        [a, b] => am.request(peer, handler, [a, b]),
        [a, b, c] => am.request(peer, handler, [a, b, c]),
        [a, b, c, d] => am.request(peer, handler, [a, b, c, d]),
        _ => panic!("{} words are more than {MAX_WORDS}", words.len()),
    }
}

/// Runs `program` on each rank of a new run. Each rank is a thread that makes progress until all
/// have finished. Returns what the handlers received, by rank.
pub(super) fn run(
    made: &Harness,
    size: usize,
    program: impl Fn(&mut Am) -> Result + Sync,
) -> Vec<Log> {
    run_over((made.endpoints)(size, EXPOSED), program)
}

/// As [`run`], on these endpoints.
pub(super) fn run_over(
    endpoints: Vec<AnyEndpoint>,
    program: impl Fn(&mut Am) -> Result + Sync,
) -> Vec<Log> {
    let (size, finished) = (endpoints.len(), AtomicUsize::new(0));
    let ranks = threads(endpoints.into_iter().map(rank).collect(), |am: &mut Am| {
        program(am)?;
        am.await_replies()?;
        finished.fetch_add(1, Ordering::SeqCst);
        am.serve_until(|_| finished.load(Ordering::SeqCst) == size)?;
        am.settle()?;
        assert_eq!(am.endpoint().outstanding(), 0);
        Ok(())
    });
    ranks.into_iter().map(|mut rank| std::mem::take(rank.state_mut())).collect()
}

/// Runs `program` on each of these ranks, each in its own thread. Returns the ranks after all have
/// stopped, so none sees another leave.
pub(super) fn threads<R: Send>(ranks: Vec<R>, program: impl Fn(&mut R) -> Result + Sync) -> Vec<R> {
    let (size, program) = (ranks.len(), &program);
    thread::scope(|scope| {
        let start = |(rank, mut own): (Rank, R)| {
            scope.spawn(move || match program(&mut own) {
                Ok(()) => own,
                Err(error) => panic!("rank {rank} of {size} failed to {error}"),
            })
        };
        let threads: Vec<_> = ranks.into_iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("a rank panicked")).collect()
    })
}

/// The two ranks of a run of two.
pub(super) fn two<R>(ranks: Vec<R>) -> [R; 2] {
    let count = ranks.len();
    <[R; 2]>::try_from(ranks).unwrap_or_else(|_| panic!("{count} ends of two ranks"))
}

/// The two ends of a run of two ranks.
pub(super) fn pair(made: &Harness) -> [AnyEndpoint; 2] {
    two((made.endpoints)(2, EXPOSED))
}

/// Records what an endpoint delivers, without Active Messages. Replies to each request with the
/// request itself, unless it is for [`SINK`].
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) requests: Vec<Message>,
    pub(super) replies: Vec<Message>,
}

impl Deliver for Seen {
    fn request(&mut self, _from: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.requests.push(message);
        Ok(self.requests.last().filter(|request| request.handler() != SINK))
    }

    fn reply(&mut self, _from: Rank, message: Message) -> Result<(), NoHandler> {
        self.replies.push(message);
        Ok(())
    }
}

/// Repeats `step` until it returns true.
///
/// # Panics
/// If it takes longer than [`PATIENCE`].
pub(super) fn repeat_until(what: &str, mut step: impl FnMut() -> bool) {
    let start = Instant::now();
    while !step() {
        assert!(start.elapsed() < PATIENCE, "waited for {what}");
        thread::yield_now();
    }
}

/// Repeats `step` until it fails, and returns why.
///
/// # Panics
/// As [`repeat_until`].
pub(super) fn until_error<T>(what: &str, mut step: impl FnMut() -> Result<T>) -> CommError {
    let mut error = None;
    repeat_until(what, || {
        error = step().err();
        error.is_some()
    });
    error.expect("it failed")
}

/// Asserts that a call was refused since no such peer is there.
pub(super) fn assert_nobody<T: Debug>(answer: Result<T>, nobody: Rank, of: usize) {
    match answer {
        Err(CommError::NoSuchPeer { peer, size }) => assert_eq!((peer, size), (nobody, of)),
        other => panic!("{nobody} of {of}: {other:?}"),
    }
}

/// Makes progress, which must not fail.
pub(super) fn progress(endpoint: &mut AnyEndpoint, seen: &mut Seen) -> usize {
    match endpoint.progress(seen) {
        Ok(count) => count,
        Err(error) => panic!("rank {} failed to {error}", endpoint.rank()),
    }
}
