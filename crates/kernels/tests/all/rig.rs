//! What an executor does beside programs.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{PATIENT, in_process, links};
use bandgap_comm::{Credited, Delay, Stamp, Timer, Waiting};
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
