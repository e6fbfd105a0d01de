//! What an executor does beside programs.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::harness::{PATIENT, in_process, links};
use bandgap_comm::{CommError, Credited, Delay, Stamp, Timer, Waiting, Watch};
use bandgap_kernels::{Executor, Rig};

/// A clock that goes on by a tick for each iteration of work, and for nothing else.
struct Worked(Cell<u64>);

impl Timer for Worked {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(self.0.get())
    }
    fn work(&self, iterations: u32) {
        self.0.set(self.0.get() + u64::from(iterations));
    }
}

#[test]
fn the_time_of_a_computation_is_that_of_each_sample_of_several() {
    let end = Credited::new(links(1, 64).remove(0), 8);
    let clock = Worked(Cell::new(100));
    let mut executor = Executor::new(end, None, Waiting::Yield, PATIENT, clock).unwrap();
    let delay = Delay { iterations: 3, picoseconds: 1000 };
    assert_eq!(executor.time_delay(delay, 5, 4), [15; 4]);
    assert_eq!(executor.time_delay(Delay::NONE, 5, 2), [0; 2]);
    assert!(executor.time_delay(delay, 5, 0).is_empty());
}

#[test]
fn no_rank_leaves_a_meeting_before_all_have_come() {
    const SIZE: usize = 3;
    let come = &AtomicUsize::new(0);
    let meet = |mut rank: Executor<_, _, _>, number: usize| {
        rank.begin(SIZE);
        for meeting in 1..=4 * SIZE {
            // Each is the last one in turn.
            (0..50 * usize::from(meeting % SIZE == number)).for_each(|_| std::thread::yield_now());
            come.fetch_add(1, Ordering::SeqCst);
            rank.meet().unwrap();
            assert!(come.load(Ordering::SeqCst) >= SIZE * meeting, "rank {number}");
        }
        rank.settle().unwrap();
        rank
    };
    std::thread::scope(|scope| {
        let ranks = in_process(SIZE).into_iter().enumerate();
        let all: Vec<_> =
            ranks.map(|(number, rank)| scope.spawn(move || meet(rank, number))).collect();
        // A rank that ends is gone: each is kept until all have ended.
        let _ended: Vec<_> = all.into_iter().map(|rank| rank.join().unwrap()).collect();
    });
}

/// A watch that says whether its rank rests, and ends every wait at its first look with a word on that.
struct Resting(Arc<AtomicBool>);

impl Watch for Resting {
    fn check(&mut self, waited: Duration, _: &'static str) -> Result<(), CommError> {
        let waiting_for = if self.0.load(Ordering::Relaxed) { "rest" } else { "work" };
        Err(CommError::Deadline { waited, waiting_for })
    }

    fn rests(&mut self, rests: bool) {
        self.0.store(rests, Ordering::Relaxed);
    }
}

/// Who waits outside all timing is idle, and idle ranks wait for as long as another one works; after the wait none is idle.
#[test]
fn a_rank_rests_while_it_waits_for_letters_and_meetings_and_at_no_other_time() {
    let rests = Arc::new(AtomicBool::new(false));
    let mut ranks = links(2, 64);
    let _peer = ranks.pop();
    let end = Credited::new(ranks.remove(0), 8);
    let watch = Resting(Arc::clone(&rests));
    let mut executor =
        Executor::new(end, None, Waiting::Yield, watch, Worked(Cell::new(0))).unwrap();
    let waited_in = |ended: Result<(), CommError>| match ended {
        Err(CommError::Deadline { waiting_for, .. }) => waiting_for,
        other => panic!("{other:?}"),
    };
    assert_eq!(waited_in(executor.letter(1).map(drop)), "rest");
    assert!(!rests.load(Ordering::Relaxed));
    executor.begin(2);
    assert_eq!(waited_in(executor.meet()), "rest");
    assert!(!rests.load(Ordering::Relaxed));
    let served = executor.active().serve_until(|_| false);
    assert_eq!(waited_in(served), "work");
}
