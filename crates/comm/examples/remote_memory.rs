//! A remote memory in a few lines: ranks increment and read words that rank 0 holds.
//!
//! Two request handlers work on the memory, one reply handler receives what was read.

use std::thread;
use std::time::Duration;

use bandgap_comm::inproc::{self, InprocLink};
use bandgap_comm::{
    ActiveMessages, CommError, Credited, DEFAULT_CREDITS, DeadlineWatch, HandlerId, Handlers,
    Waiting,
};

const RANKS: usize = 4;
const ROUNDS: usize = 10;

/// A word of the memory that every rank increments.
const SHARED: u64 = 0;

const INCREMENT: HandlerId = HandlerId(0);
const READ: HandlerId = HandlerId(1);
const FETCHED: HandlerId = HandlerId(0);

/// What the handlers of a rank work on.
#[derive(Default)]
struct State {
    /// The memory, on the rank that holds it.
    words: [u64; RANKS],
    /// Reads served.
    reads: usize,
    /// What this rank read last.
    fetched: u64,
}

fn handlers() -> Handlers<State> {
    let mut handlers = Handlers::<State>::new();
    handlers.request(|memory, call, index, amount, _, _| {
        memory.words[index as usize] += amount;
        call.done()
    });
    handlers.request(|memory, call, index, _, _, _| {
        memory.reads += 1;
        call.reply(FETCHED, [memory.words[index as usize]])
    });
    handlers.reply(|state, _, word, _, _, _| state.fetched = word);
    handlers
}

type Am = ActiveMessages<Credited<InprocLink>, State, DeadlineWatch>;

/// What one rank does.
fn program(am: &mut Am) -> Result<(), CommError> {
    let own = am.rank() as u64;
    if own == 0 {
        am.serve_until(|memory| memory.reads == RANKS - 1)?;
        return am.settle();
    }
    for _ in 0..ROUNDS {
        am.request(0, INCREMENT, [own, own])?;
        am.request(0, INCREMENT, [SHARED, 1])?;
    }
    am.request(0, READ, [own])?;
    am.await_replies()
}

/// Runs the ranks as threads, and returns what each of them knows in the end.
pub fn run() -> Result<Vec<String>, CommError> {
    let start = |link| {
        let endpoint = Credited::new(link, DEFAULT_CREDITS);
        let watch = DeadlineWatch(Duration::from_secs(60));
        let mut am =
            ActiveMessages::new(endpoint, handlers(), State::default(), Waiting::Yield, watch);
        thread::spawn(move || program(&mut am).map(|()| am))
    };
    let threads: Vec<_> = inproc::links(RANKS, 64).into_iter().map(start).collect();
    // A rank stays connected until all have finished: one that leaves is missed by the others.
    let ranks: Vec<_> =
        threads.into_iter().map(|thread| thread.join().expect("no rank panics")).collect();
    ranks.into_iter().map(|am| am.map(|am| describe(&am))).collect()
}

fn describe(am: &Am) -> String {
    match am.rank() {
        0 => format!("rank 0 holds {:?}", am.state().words),
        rank => format!("rank {rank} read {}", am.state().fetched),
    }
}

fn main() -> Result<(), CommError> {
    for line in run()? {
        println!("{line}");
    }
    Ok(())
}
