//! Counts the instructions of the hot path under callgrind. One thread plays both ranks of a
//! segment in turn. `count-instructions.sh` runs this with two counts and takes the difference.

use std::hint::black_box;
use std::time::Duration;

use bandgap_comm::passing::{Mail, Passing, Tuning, add_handlers};
use bandgap_comm::{
    ActiveMessages, Answer, Bulk, Call, CommError, DeadlineWatch, HandlerId, Handlers, Outcome,
    Part, Waiting, Word,
};
use bandgap_shm::{DEFAULT_SLOTS, Exposed, Segment, ShmEndpoint};

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
    let mut handlers = Handlers::default();
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

type Passes = Passing<ShmEndpoint, DeadlineWatch>;

fn passes(segment: &Segment, exposed: &Exposed, rank: usize) -> Passes {
    let mut handlers = Handlers::default();
    let first = add_handlers(&mut handlers);
    let endpoint = ShmEndpoint::attach(segment, rank, 2).expect("a fresh segment");
    let endpoint = endpoint.exposing(exposed.clone()).expect("the same ranks");
    let watch = DeadlineWatch(Duration::from_secs(10));
    let tuning = Tuning::DEFAULT;
    let exposed = endpoint.exposed();
    let mail = Mail::new(rank, 2, exposed, Some((0, &tuning)), first).expect("room for slots");
    let mut passing =
        Passing::over(ActiveMessages::new(endpoint, handlers, mail, Waiting::Spin, watch));
    passing.resize(1024);
    passing
}

#[inline(never)]
fn send(passing: &mut Passes, peer: usize, from: Part) -> bool {
    passing.send(peer, 1, from).is_ok()
}

#[inline(never)]
fn send_64(passing: &mut Passes, peer: usize, from: Part) -> bool {
    passing.send(peer, 2, from).is_ok()
}

#[inline(never)]
fn recv_64(passing: &mut Passes, peer: usize, into: Part) -> bool {
    passing.recv(peer, 2, into).is_ok()
}

#[inline(never)]
fn recv(passing: &mut Passes, peer: usize, into: Part) -> bool {
    passing.recv(peer, 1, into).is_ok()
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
    let segment = Segment::create(2, DEFAULT_SLOTS).expect("shared memory");
    let exposed = Exposed::create(2, Tuning::DEFAULT.memory(2)).expect("memory");
    let (mut one, mut two) = (passes(&segment, &exposed, 0), passes(&segment, &exposed, 1));
    let part = Part::new(0, 8);
    for _ in 0..count {
        fine &= send(&mut one, 1, black_box(part));
        fine &= recv(&mut two, 0, black_box(part));
        fine &= send(&mut two, 0, black_box(part));
        fine &= recv(&mut one, 1, black_box(part));
    }
    let part = Part::new(0, 64);
    for _ in 0..count {
        fine &= send_64(&mut one, 1, black_box(part));
        fine &= recv_64(&mut two, 0, black_box(part));
        fine &= send_64(&mut two, 0, black_box(part));
        fine &= recv_64(&mut one, 1, black_box(part));
    }
    assert!(fine, "every poll handles what was sent before it");
    assert_eq!(there.state().requests, 2 * count);
}
