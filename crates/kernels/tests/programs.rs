//! Every program, executed on threads over the in-process transport, and recorded and replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bandgap_comm::{
    ActiveMessages, CommError, Credited, Delay, NoWatch, Stamp, Timer, Waiting, inproc,
};
use bandgap_kernels::{Executor, Job, Kernel, Pattern, RankState, Samples, handlers, reduce, run};
use bandgap_sim::{Machine, record, replay};

/// A clock for tests.
#[derive(Clone, Copy)]
struct WallClock(Instant);

impl Timer for WallClock {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(self.0.elapsed().as_nanos() as u64)
    }
    fn work(&self, iterations: u32) {
        for i in 0..iterations {
            std::hint::black_box(i);
        }
    }
}

fn jobs(size: usize) -> Vec<Job> {
    let mut patterns = vec![Pattern::FanOut, Pattern::FanIn { requesters: size - 1 }];
    patterns.extend((1..size).map(|replier| Pattern::OneToOne { requester: replier - 1, replier }));
    if size.is_multiple_of(2) {
        patterns.push(Pattern::Pairs);
    }
    let mut jobs = Vec::new();
    for pattern in patterns {
        for (kernel, messages) in [(Kernel::Burst, 1), (Kernel::Burst, 37), (Kernel::PingPong, 5)] {
            if kernel != Kernel::Burst && matches!(pattern, Pattern::FanOut | Pattern::FanIn { .. })
            {
                continue;
            }
            let delay = Delay { iterations: 3, picoseconds: 3_000 };
            jobs.push(Job {
                kernel,
                pattern,
                messages,
                samples: 4,
                bytes: 0,
                delay,
                probed: false,
            });
        }
    }
    let pattern = Pattern::OneToOne { requester: 0, replier: 1 };
    let delay = Delay::NONE;
    let kernel = Kernel::Stream;
    jobs.push(Job { kernel, pattern, messages: 100, samples: 3, bytes: 0, delay, probed: false });
    jobs
}

/// All jobs on every rank, one after the other; the samples of each rank and job.
fn execute(size: usize, jobs: &[Job]) -> Vec<Vec<Samples>> {
    let clock = WallClock(Instant::now());
    let finished = Arc::new(AtomicUsize::new(0));
    let ranks: Vec<_> = inproc::links(size, 256)
        .into_iter()
        .map(|link| {
            let jobs = jobs.to_vec();
            let finished = Arc::clone(&finished);
            std::thread::spawn(move || {
                let am = ActiveMessages::new(
                    Credited::new(link, 16),
                    handlers(),
                    RankState::default(),
                    Waiting::Yield,
                    NoWatch(Duration::from_secs(60)),
                );
                let mut executor = Executor::new(am, clock);
                let one = |(at, job): (usize, &Job)| {
                    let samples = executor.execute(job)?;
                    // Jobs do not overlap; and peers may still wait for credits that this rank
                    // returns when it polls.
                    finished.fetch_add(1, Ordering::Relaxed);
                    while finished.load(Ordering::Relaxed) < size * (at + 1) {
                        executor.active().poll()?;
                        std::thread::yield_now();
                    }
                    Ok(samples)
                };
                let samples: Result<Vec<Samples>, CommError> =
                    jobs.iter().enumerate().map(one).collect();
                samples.expect("the program ran")
            })
        })
        .collect();
    ranks.into_iter().map(|rank| rank.join().expect("the rank ended")).collect()
}

#[test]
fn every_program_runs_and_verifies_its_messages_on_two_to_four_ranks() {
    for size in 2..=4 {
        let jobs = jobs(size);
        let ranks = execute(size, &jobs);
        for (at, job) in jobs.iter().enumerate() {
            let (timed, _) = job.timed(size);
            let samples = &ranks[timed][at];
            assert_eq!(samples.issue.len(), job.samples as usize, "{job:?}");
            let contended = matches!(job.pattern, Pattern::FanIn { .. });
            let drained = if contended { 0 } else { job.samples as usize };
            assert_eq!(samples.drained.len(), drained, "{job:?}");
            for (issue, drained) in samples.issue.iter().zip(&samples.drained) {
                assert!(issue <= drained, "{job:?}");
            }
            if !matches!(job.pattern, Pattern::Pairs) {
                for (rank, samples) in ranks.iter().enumerate().filter(|(r, _)| *r != timed) {
                    assert!(samples[at].issue.is_empty(), "rank {rank} timed {job:?}");
                }
            }
        }
    }
}

/// A machine whose times are easy to add up: os 1, or 2, g 10, L 20 µs.
fn machine() -> Machine {
    let text = "name = 'plain'\ndescription = 'for tests'\nsend_overhead_ns = 1000.0\n\
                recv_overhead_ns = 2000.0\ngap_ns = 10000.0\nlatency_ns = 20000.0\ncapacity = 8\n\
                ranks = 64\ntopology = 'crossbar'\n";
    Machine::parse(text, "test").expect("a machine")
}

fn simulate(size: usize, job: &Job) -> Samples {
    let schedule = record(size, |am| run(am, job)).expect("recorded");
    let replayed = replay(&schedule, &machine()).expect("replayed");
    let (timed, _) = job.timed(size);
    let marks: Vec<Stamp> = replayed.marks[timed].iter().map(|ps| Stamp::from_ticks(*ps)).collect();
    reduce(job, &marks)
}

#[test]
fn every_program_runs_in_virtual_time() {
    for size in 2..=5 {
        for job in jobs(size) {
            assert_eq!(simulate(size, &job).issue.len(), job.samples as usize, "{job:?}");
        }
    }
}

#[test]
fn virtual_times_are_those_of_the_model() {
    let job = |kernel, pattern, messages| Job {
        kernel,
        pattern,
        messages,
        samples: 2,
        bytes: 0,
        delay: Delay::NONE,
        probed: false,
    };
    let pair = Pattern::OneToOne { requester: 0, replier: 1 };
    // One request: issue = os = 1 µs; with its reply 2 (os + L + or) = 46 µs.
    let one = simulate(2, &job(Kernel::Burst, pair, 1));
    assert_eq!((one.issue[0], one.drained[0]), (1_000_000, 46_000_000));
    // Five requests before any reply can be back: 5 os.
    assert_eq!(simulate(2, &job(Kernel::Burst, pair, 5)).issue[0], 5_000_000);
    // Ten round trips one after the other.
    assert_eq!(simulate(2, &job(Kernel::PingPong, pair, 10)).issue[0], 460_000_000);
    // K requesters to one: K·g for each message of one of them.
    for requesters in 1..=4 {
        let samples = simulate(5, &job(Kernel::Burst, Pattern::FanIn { requesters }, 200));
        let expected = requesters as f64 * 200.0 * 10e6;
        let ratio = samples.issue[1] as f64 / expected;
        assert!((0.99..1.01).contains(&ratio), "K = {requesters}: {ratio}");
    }
}
