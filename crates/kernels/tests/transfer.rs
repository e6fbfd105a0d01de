//! The programs of bulk transfers, executed by two threads over shared memory, whole and with bytes
//! that get lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bandgap_comm::{
    ActiveMessages, Begun, Bulk, Capabilities, CommError, Delay, Deliver, Endpoint, Message,
    NoWatch, Posted, Rank, Source, Stamp, Timer, Waiting,
};
use bandgap_kernels::{Executor, Job, Kernel, Pattern, RankState, Samples, handlers};
use bandgap_shm::{Exposed, Segment, ShmEndpoint};

#[derive(Clone, Copy)]
struct WallClock(Instant);

impl Timer for WallClock {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(self.0.elapsed().as_nanos() as u64)
    }
    fn work(&self, _: u32) {}
}

/// What is lost: the last byte of every transfer longer than this, after so many that are whole.
#[derive(Clone, Copy)]
struct Loss {
    longer: usize,
    after: usize,
}

const NOTHING: Loss = Loss { longer: usize::MAX, after: 0 };

struct Losing {
    inner: ShmEndpoint,
    loss: Loss,
    begun: usize,
}

impl Losing {
    fn kept(&mut self, len: usize) -> usize {
        self.begun += 1;
        len - usize::from(len > self.loss.longer && self.begun > self.loss.after)
    }
}

impl Endpoint for Losing {
    fn rank(&self) -> Rank {
        self.inner.rank()
    }
    fn size(&self) -> usize {
        self.inner.size()
    }
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError> {
        self.inner.try_request(peer, message)
    }
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        self.inner.progress(deliver)
    }
    fn outstanding(&self) -> usize {
        self.inner.outstanding()
    }
    fn unsent(&self) -> usize {
        self.inner.unsent()
    }
}

impl Bulk for Losing {
    fn exposed(&self) -> usize {
        self.inner.exposed()
    }
    fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<(), CommError> {
        self.inner.read_exposed(at, into)
    }
    fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<(), CommError> {
        self.inner.write_exposed(at, from)
    }
    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError> {
        let Source::Exposed { at, len } = from else { unreachable!("programs send blocks") };
        let from = Source::Exposed { at, len: self.kept(len) };
        self.inner.try_store(peer, into, from, done)
    }
    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun, CommError> {
        let len = self.kept(len);
        self.inner.try_get(peer, at, into, len, message)
    }
}

/// How long a rank waits for one that has given up.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs all jobs on both ranks; what the two returned for each.
fn execute(jobs: &[Job], loss: Loss, patience: Duration) -> [Vec<Result<Samples, CommError>>; 2] {
    let segment = Segment::create(2, 64).expect("shared memory");
    let exposed = Exposed::create(2, 1 << 20).expect("shared memory");
    let clock = WallClock(Instant::now());
    let finished = Arc::new(AtomicUsize::new(0));
    let ranks = [0, 1].map(|rank| {
        let (segment, exposed, jobs) = (segment.clone(), exposed.clone(), jobs.to_vec());
        let finished = Arc::clone(&finished);
        std::thread::spawn(move || {
            let inner = ShmEndpoint::attach(&segment, rank, 2).and_then(|e| e.exposing(exposed));
            let endpoint = Losing { inner: inner.expect("an endpoint"), loss, begun: 0 };
            let watch = NoWatch(patience);
            let (state, waiting) = (RankState::default(), Waiting::Yield);
            let am = ActiveMessages::new(endpoint, handlers(), state, waiting, watch);
            let mut executor = Executor::new(am, clock);
            let mut outcomes = Vec::new();
            for (at, job) in jobs.iter().enumerate() {
                let outcome = executor.execute(job);
                let failed = outcome.is_err();
                outcomes.push(outcome);
                finished.fetch_add(1, Ordering::Relaxed);
                // Jobs do not overlap.
                while !failed && finished.load(Ordering::Relaxed) < 2 * (at + 1) {
                    executor.active().poll().expect("a poll");
                    std::thread::yield_now();
                }
            }
            outcomes
        })
    });
    ranks.map(|rank| rank.join().expect("the rank ended"))
}

fn job(kernel: Kernel, messages: u32, bytes: u32) -> Job {
    Job {
        kernel,
        pattern: Pattern::OneToOne { requester: 0, replier: 1 },
        messages,
        samples: 3,
        bytes,
        delay: Delay::NONE,
        probed: false,
    }
}

#[test]
fn stores_and_gets_of_all_lengths_arrive_and_are_timed_on_one_rank() {
    let jobs: Vec<Job> = [Kernel::Store, Kernel::Get]
        .into_iter()
        .flat_map(|kernel| {
            [0, 1, 7, 8, 63, 64, 65, 4096, 70_001, 500_000].map(|bytes| (kernel, bytes))
        })
        .flat_map(|(kernel, bytes)| {
            let most = if bytes > 100_000 { 1 } else { 5 };
            [1, most].map(|messages| job(kernel, messages, bytes))
        })
        .collect();
    let [timed, other] = execute(&jobs, NOTHING, Duration::from_secs(60));
    for (job, (timed, other)) in jobs.iter().zip(timed.iter().zip(&other)) {
        let timed = timed.as_ref().unwrap_or_else(|error| panic!("{job:?}: {error}"));
        assert_eq!((timed.issue.len(), timed.drained.len()), (3, 3), "{job:?}");
        assert!(timed.issue.iter().zip(&timed.drained).all(|(i, d)| i <= d), "{job:?}");
        assert_eq!(other.as_ref().ok(), Some(&Samples::default()), "{job:?}");
    }
}

#[test]
fn a_byte_that_did_not_arrive_ends_the_job_of_who_received() {
    // A get is checked by its requester, who is not waited for.
    let loss = Loss { longer: 64, after: 0 };
    let [got, _] = execute(&[job(Kernel::Get, 1, 64), job(Kernel::Get, 1, 65)], loss, PATIENCE);
    assert!(got[0].is_ok());
    let error = got[1].as_ref().expect_err("a byte is missing");
    assert!(matches!(error, CommError::Garbage { peer: 1, .. }), "{error}");
    assert!(error.to_string().contains("byte 64 of block 0 of 65 bytes"), "{error}");
}

/// Blocks of 64 KiB that fit: half of 1 MiB is sent from.
const PLACES: u32 = 8;

#[test]
fn a_burst_longer_than_the_region_goes_round_it() {
    let jobs: Vec<Job> = [Kernel::Store, Kernel::Get]
        .into_iter()
        // Less than a round, a round, a block more, several rounds, and of blocks with room for one.
        .flat_map(|kernel| {
            [PLACES - 1, PLACES, PLACES + 1, 5 * PLACES + 3]
                .map(|blocks| job(kernel, blocks, 1 << 16))
                .into_iter()
                .chain([job(kernel, 3, 1 << 19), job(kernel, 100, 0)])
        })
        .collect();
    let outcomes = execute(&jobs, NOTHING, Duration::from_secs(60));
    for (rank, outcomes) in outcomes.iter().enumerate() {
        for (job, outcome) in jobs.iter().zip(outcomes) {
            assert!(outcome.is_ok(), "rank {rank}: {job:?}: {outcome:?}");
        }
        assert_eq!(outcomes.len(), jobs.len());
    }
}

#[test]
fn what_is_lost_in_a_later_round_is_noticed() {
    // Blocks 0 to 18 arrive, of block 19 the last byte does not: in its place, 19 mod 8 = 3, it is
    // the one that block 11 left there.
    let loss = Loss { longer: 0, after: 19 };
    let [got, _] = execute(&[job(Kernel::Get, 20, 1 << 16)], loss, PATIENCE);
    let error = got[0].as_ref().expect_err("a byte is missing");
    assert!(error.to_string().contains("byte 65535 of block 19 of 65536 bytes"), "{error}");
}

#[test]
fn a_block_longer_than_the_region_is_refused() {
    let half = 1 << 19;
    let outcomes = execute(&[job(Kernel::Get, 1, half)], NOTHING, PATIENCE);
    assert!(outcomes.iter().all(|rank| rank[0].is_ok()));
    let [requester, _] = execute(&[job(Kernel::Store, 1, half + 1)], NOTHING, PATIENCE);
    let refused = requester[0].as_ref().expect_err("it does not fit");
    let len = half as usize + 1;
    assert!(matches!(refused, CommError::NotExposed { at: 0, len: found, .. } if *found == len));
}
