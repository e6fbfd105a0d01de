//! Counts the instructions of the hot path under callgrind. One thread plays both ranks of a
//! segment in turn. `count-instructions.sh` runs this with two counts and takes the difference.

use std::hint::black_box;
use std::time::Duration;

use bandgap_comm::{
    ActiveMessages, Answer, Call, CommError, DeadlineWatch, HandlerId, Handlers, Outcome, Waiting,
    Word,
};
use bandgap_shm::{DEFAULT_SLOTS, Segment, ShmEndpoint};

#[derive(Default)]
struct State {
    requests: u64,
    sum: u64,
}

type Rank = ActiveMessages<ShmEndpoint, State, DeadlineWatch>;

const ECHO: HandlerId = HandlerId(0);
const COUNT: HandlerId = HandlerId(1);
const STORE: HandlerId = HandlerId(0);

fn echo(state: &mut State, call: Call<'_>, word: Word, _: Word, _: Word, _: Word) -> Outcome {
    state.requests += 1;
    call.reply(STORE, [word])
}

fn count(state: &mut State, call: Call<'_>, word: Word, _: Word, _: Word, _: Word) -> Outcome {
    state.requests += word;
    call.done()
}

fn store(state: &mut State, _: Answer, word: Word, _: Word, _: Word, _: Word) {
    state.sum += word;
}

fn rank(segment: &Segment, rank: usize) -> Rank {
    let mut handlers = Handlers::new();
    handlers.request(echo);
    handlers.request(count);
    handlers.reply(store);
    let endpoint = ShmEndpoint::attach(segment, rank, 2).expect("a fresh segment");
    let watch = DeadlineWatch(Duration::from_secs(10));
    ActiveMessages::new(endpoint, handlers, State::default(), Waiting::Spin, watch)
}

#[inline(never)]
fn request(am: &mut Rank, word: u64) -> bool {
    am.request(1, ECHO, [word]).is_ok()
}

#[inline(never)]
fn request_without_reply(am: &mut Rank, word: u64) -> bool {
    am.request(1, COUNT, [word]).is_ok()
}

#[cold]
#[inline(never)]
fn fail(poll: u32, error: CommError) -> ! {
    panic!("poll {poll} failed to {error}")
}

// Each poll has its own number, so that the compiler does not merge these functions.

#[inline(never)]
fn poll_request(am: &mut Rank) -> usize {
    am.poll().unwrap_or_else(|error| fail(0, error))
}

#[inline(never)]
fn poll_request_without_reply(am: &mut Rank) -> usize {
    am.poll().unwrap_or_else(|error| fail(1, error))
}

#[inline(never)]
fn poll_reply(am: &mut Rank) -> usize {
    am.poll().unwrap_or_else(|error| fail(2, error))
}

#[inline(never)]
fn poll_nothing(am: &mut Rank) -> usize {
    am.poll().unwrap_or_else(|error| fail(3, error))
}

fn main() {
    let count = std::env::args().filter_map(|arg| arg.parse::<u64>().ok()).next().unwrap_or(1000);
    let segment = Segment::create(2, DEFAULT_SLOTS).expect("shared memory");
    let (mut here, mut there) = (rank(&segment, 0), rank(&segment, 1));
    let mut fine = true;
    for word in 0..count {
        fine &= request(&mut here, black_box(word));
        fine &= poll_request(&mut there) == 1;
        fine &= poll_reply(&mut here) == 1;
        fine &= poll_nothing(&mut here) == 0;
    }
    assert_eq!(here.state().sum, (0..count).sum::<u64>());
    for _ in 0..count {
        fine &= request_without_reply(&mut here, black_box(1));
        fine &= poll_request_without_reply(&mut there) == 1;
    }
    assert!(fine, "every poll handles what was sent before it");
    assert_eq!(there.state().requests, 2 * count);
}
