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

/// Loses the last byte of every transfer longer than this.
struct Losing {
    inner: ShmEndpoint,
    longer: usize,
}

impl Losing {
    fn kept(&self, len: usize) -> usize {
        len - usize::from(len > self.longer)
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
        self.inner.try_get(peer, at, into, self.kept(len), message)
    }
}

/// How long a rank waits for one that has given up.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs all jobs on both ranks; what the two returned for each.
fn execute(
    jobs: &[Job],
    longer: usize,
    patience: Duration,
) -> [Vec<Result<Samples, CommError>>; 2] {
    let segment = Segment::create(2, 64).expect("shared memory");
    let exposed = Exposed::create(2, 1 << 20).expect("shared memory");
    let clock = WallClock(Instant::now());
    let finished = Arc::new(AtomicUsize::new(0));
    let ranks = [0, 1].map(|rank| {
        let (segment, exposed, jobs) = (segment.clone(), exposed.clone(), jobs.to_vec());
        let finished = Arc::clone(&finished);
        std::thread::spawn(move || {
            let inner = ShmEndpoint::attach(&segment, rank, 2).and_then(|e| e.exposing(exposed));
            let endpoint = Losing { inner: inner.expect("an endpoint"), longer };
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
    let [timed, other] = execute(&jobs, usize::MAX, Duration::from_secs(60));
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
    let [got, _] = execute(&[job(Kernel::Get, 1, 64), job(Kernel::Get, 1, 65)], 64, PATIENCE);
    assert!(got[0].is_ok());
    let error = got[1].as_ref().expect_err("a byte is missing");
    assert!(matches!(error, CommError::Garbage { peer: 1, .. }), "{error}");
    assert!(error.to_string().contains("byte 64 of block 0 of 65 bytes"), "{error}");
}

#[test]
fn a_block_outside_of_the_region_is_refused() {
    // Half of 1 MiB to send from: 8 blocks of 64 KiB and no 9.
    let outcomes = execute(&[job(Kernel::Get, 8, 1 << 16)], usize::MAX, PATIENCE);
    assert!(outcomes.iter().all(|rank| rank[0].is_ok()));
    let [requester, _] = execute(&[job(Kernel::Store, 9, 1 << 16)], usize::MAX, PATIENCE);
    let at = 8 << 16;
    let refused = requester[0].as_ref().expect_err("it does not fit");
    assert!(
        matches!(refused, CommError::NotExposed { at: found, .. } if *found == at),
        "{refused}"
    );
}
