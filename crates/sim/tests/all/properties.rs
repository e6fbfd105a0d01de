//! What holds for any machine and any program that ends.

use crate::programs::{self, ECHO, NOTE, issue, machine, slope, wait};
use bandgap_comm::{Comm, CommError, Part, Processor, Transfer, Verb};
use bandgap_sim::{Machine, Op, Recorder, Schedule, record, replay};
use proptest::prelude::*;

use crate::reference;

/// What a rank does next, in a random program.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Ask { peer: usize, replies: bool },
    Store { peer: usize, replies: bool, bytes: usize },
    Get { peer: usize, bytes: usize },
    Compute(u64),
    Await,
    Mark,
}

/// Each rank takes its steps, awaits its replies, and serves what is left of the requests that
/// the others make of it: ends on any machine.
pub fn program(am: &mut impl Transfer, steps: &[Vec<Step>]) -> Result<(), CommError> {
    let (rank, size) = (am.rank(), am.size());
    for &step in &steps[rank] {
        match step {
            Step::Ask { peer, replies } => {
                am.request(target(rank, peer, size), verb(replies), 0)?;
            }
            Step::Store { peer, replies, bytes } => {
                am.store(target(rank, peer, size), verb(replies), 0, bytes)?;
            }
            Step::Get { peer, bytes } => am.get(target(rank, peer, size), 0, bytes)?,
            Step::Compute(picoseconds) => am.compute(wait(picoseconds)),
            Step::Await => am.await_replies()?,
            Step::Mark => am.mark(),
        }
    }
    am.await_replies()?;
    am.mark();
    let asked = |from: usize, step: &Step| match step {
        Step::Ask { peer, .. } | Step::Store { peer, .. } => target(from, *peer, size) == rank,
        _ => false,
    };
    let requests = (0..size).filter(|&from| from != rank);
    am.serve(requests.map(|r| steps[r].iter().filter(|s| asked(r, s)).count() as u64).sum())?;
    am.mark();
    // Gets are served by who waits: until every other rank says that it has its own.
    for peer in (0..size).filter(|&peer| peer != rank) {
        am.request(peer, NOTE, 0)?;
    }
    am.serve(size as u64 - 1)?;
    am.mark();
    Ok(())
}

fn verb(replies: bool) -> Verb {
    if replies { ECHO } else { NOTE }
}

/// A rank other than `rank`.
fn target(rank: usize, peer: usize, size: usize) -> usize {
    (rank + 1 + peer % (size - 1)) % size
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_usize..8, any::<bool>()).prop_map(|(peer, replies)| Step::Ask { peer, replies }),
        2 => (0_u64..60).prop_map(Step::Compute),
        1 => Just(Step::Await),
        2 => Just(Step::Mark),
    ]
}

/// As [`step`], with transfers on both sides of the limit of [`small_protocols`].
pub fn step_of_bytes() -> impl Strategy<Value = Step> {
    let bytes = || 0_usize..40;
    prop_oneof![
        3 => step(),
        2 => (0_usize..8, any::<bool>(), bytes())
            .prop_map(|(peer, replies, bytes)| Step::Store { peer, replies, bytes }),
        1 => (0_usize..8, bytes()).prop_map(|(peer, bytes)| Step::Get { peer, bytes }),
    ]
}

pub fn recorded(
    ranks: std::ops::Range<usize>,
    step: impl Strategy<Value = Step>,
) -> impl Strategy<Value = Schedule> {
    proptest::collection::vec(proptest::collection::vec(step, 0..30), ranks)
        .prop_map(|steps| record(steps.len(), |am| program(am, &steps)).unwrap())
}

/// What each rank of a ring sends in one round, and how long it computes before. It sends to the
/// next, and takes from the one before all that was sent, tag by tag: ends on any machine.
pub type Round = Vec<(u64, Vec<(u32, usize)>)>;

pub fn ring(am: &mut Recorder, rounds: &[Round]) -> Result<(), CommError> {
    let (rank, size) = (am.rank(), am.size());
    let before = (rank + size - 1) % size;
    for round in rounds {
        am.compute(wait(round[rank].0));
        for &(tag, bytes) in &round[rank].1 {
            am.send((rank + 1) % size, tag, Part::new(0, bytes))?;
        }
        am.mark();
        for wanted in 0..TAGS {
            for &(tag, bytes) in round[before].1.iter().filter(|(tag, _)| *tag == wanted) {
                am.recv(before, tag, Part::new(0, bytes))?;
            }
        }
        am.mark();
    }
    Ok(())
}

const TAGS: u32 = 3;

pub fn rounds(ranks: usize) -> impl Strategy<Value = Vec<Round>> {
    let messages = proptest::collection::vec((0..TAGS, 0_usize..40), 0..5);
    let round = proptest::collection::vec((0_u64..60, messages), ranks);
    proptest::collection::vec(round, 0..5)
}

/// Requests and bytes of two ranks between two sequences of messages.
pub fn mixed() -> impl Strategy<Value = Schedule> {
    let steps = proptest::collection::vec(proptest::collection::vec(step_of_bytes(), 0..12), 2);
    (rounds(2), steps, rounds(2)).prop_map(|(first, steps, last)| {
        let all = |am: &mut Recorder| {
            ring(am, &first)?;
            program(am, &steps)?;
            ring(am, &last)
        };
        record(2, all).unwrap()
    })
}

/// Messages between any ranks. Each takes part in all that are its own in their order, but for those
/// that it receives later.
#[derive(Clone, Debug)]
pub struct Messages {
    pub ranks: usize,
    pub all: Vec<Message>,
}

#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub from: usize,
    pub to: usize,
    pub tag: u32,
    pub bytes: usize,
    /// How long its sender computes before.
    before: u64,
    /// After how many further messages it is received, of all.
    later: usize,
}

/// What a rank does with one of the messages.
pub enum Act {
    Send(usize),
    Receive(usize),
}

impl Messages {
    /// What `rank` does. Each receive waits for what was sent before in the order of all, so all end.
    pub fn acts(&self, rank: usize) -> Vec<Act> {
        let (mut acts, mut late) = (Vec::new(), Vec::new());
        for (at, message) in self.all.iter().enumerate() {
            // Those of one sender and tag are received in their order.
            let due = |&mut other: &mut usize| {
                let Message { from, tag, later, .. } = self.all[other];
                other + later <= at || (message.to, message.from, message.tag) == (rank, from, tag)
            };
            acts.extend(late.extract_if(.., due).map(Act::Receive));
            if rank == message.from {
                acts.push(Act::Send(at));
            }
            if rank == message.to {
                late.push(at);
            }
        }
        acts.into_iter().chain(late.into_iter().map(Act::Receive)).collect()
    }

    /// The same with computations that take so many times as long.
    pub fn slower(mut self, times: u64) -> Self {
        self.all.iter_mut().for_each(|message| message.before *= times);
        self
    }

    pub fn recorded(&self) -> Schedule {
        let program = |comm: &mut Recorder| {
            for act in self.acts(comm.rank()) {
                let (Act::Send(at) | Act::Receive(at)) = act;
                let Message { from, to, tag, bytes, before, .. } = self.all[at];
                if matches!(act, Act::Send(_)) {
                    comm.compute(wait(before));
                    comm.send(to, tag, Part::new(0, bytes))?;
                } else {
                    comm.recv(from, tag, Part::new(0, bytes))?;
                    comm.mark();
                }
            }
            Ok(())
        };
        record(self.ranks, program).unwrap()
    }
}

pub fn messages(ranks: std::ops::Range<usize>) -> impl Strategy<Value = Messages> {
    let message = (0_usize..64, 0_usize..64, 0..TAGS, 0_usize..40, 0_u64..60, 0_usize..9);
    (ranks, proptest::collection::vec(message, 0..80)).prop_map(|(ranks, all)| {
        let fit = |(from, to, tag, bytes, before, later): (usize, usize, _, _, _, _)| {
            let from = from % ranks;
            Message { from, to: target(from, to, ranks), tag, bytes, before, later }
        };
        Messages { ranks, all: all.into_iter().map(fit).collect() }
    })
}

/// As [`small_machine`], with two protocols that differ in everything, from words too; the first is
/// for up to 16 bytes.
pub fn small_protocols(least: u64) -> impl Strategy<Value = Machine> {
    small_connected(least, Just(String::new()))
}

/// As [`small_protocols`], in a network that `network` describes.
pub fn small_connected(
    least: u64,
    network: impl Strategy<Value = String>,
) -> impl Strategy<Value = Machine> {
    let protocol = move || (least..12, least..12, least..30, 0_u64..4);
    let capacity = proptest::option::of(1_u32..6);
    (1_u64..15, protocol(), protocol(), protocol(), capacity, network).prop_map(
        |(gap, words, short, long, capacity, network)| {
            let costs = |(os, or, latency, byte): (u64, u64, u64, u64)| {
                let [os, or, latency, byte] = [os, or, latency, byte].map(|t| t as f64 / 1e3);
                format!(
                    "send_overhead_ns = {os}\nrecv_overhead_ns = {or}\nlatency_ns = {latency}\n\
                     gap_per_byte_ns = {byte}\n"
                )
            };
            let words = costs(words).replace("gap_per_byte_ns", "# gap_per_byte_ns");
            let capacity = capacity.map_or(String::new(), |c| format!("capacity = {c}\n"));
            let text = format!(
                "name = 'small'\n{words}gap_ns = {}\n{capacity}{network}[[protocol]]\nup_to_bytes = 16\n{}\
                 [[protocol]]\n{}",
                gap as f64 / 1e3,
                costs(short),
                costs(long)
            );
            Machine::parse(&text, "small").unwrap()
        },
    )
}

pub fn count(schedule: &Schedule, wanted: impl Fn(&Op) -> bool) -> u64 {
    (0..schedule.size()).map(|rank| schedule.operations(rank).filter(&wanted).count() as u64).sum()
}

proptest! {
    #[test]
    fn every_message_is_handled_and_no_time_runs_backwards(
        schedule in recorded(2..7, step_of_bytes()), machine in small_protocols(0)
    ) {
        let outcome = replay(&schedule, &machine).unwrap();
        let requests = count(&schedule, |op| matches!(op, Op::Request { .. } | Op::Get { .. }));
        let replies =
            count(&schedule, |op| matches!(op, Op::Request { replies: true, .. } | Op::Get { .. }));
        prop_assert_eq!(outcome.messages, requests + replies);
        prop_assert_eq!(outcome.unhandled, 0);
        for (rank, (marks, end)) in outcome.marks.iter().zip(&outcome.ends).enumerate() {
            let taken = schedule.operations(rank).filter(|op| *op == Op::Mark).count();
            prop_assert_eq!(marks.len(), taken);
            prop_assert!(marks.is_sorted());
            prop_assert_eq!(marks.last(), Some(end));
        }
        prop_assert_eq!(replay(&schedule, &machine).unwrap(), outcome);
    }

    #[test]
    fn messages_beside_requests_agree_with_a_count_of_every_picosecond(
        // A message may arrive before its receiver is in its phase.
        schedule in mixed(), machine in small_protocols(1)
    ) {
        let outcome = replay(&schedule, &machine).unwrap();
        prop_assert_eq!(outcome.unhandled, 0);
        prop_assert_eq!(outcome.marks, reference::marks(&schedule, &machine));
    }

    /// Each rank hears from one other only: where two senders share an interface, a longer message
    /// of one may let the other's go first, and what waits for that ends earlier.
    #[test]
    fn further_bytes_never_end_anything_earlier(
        (rounds, (at, by, more)) in (1_usize..6).prop_flat_map(|ranks| (
            rounds(ranks + 1),
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1_usize..2000)
        )),
        os in 0_u64..50, or in 0_u64..50, gap in 1_u64..90, latency in 0_u64..90, byte in 0_u64..9
    ) {
        let machine = programs::byte_machine([os, or, gap, latency, byte]);
        let mut longer = rounds.clone();
        let mut messages: Vec<&mut usize> = longer
            .iter_mut()
            .flatten()
            .flat_map(|(_, messages)| messages.iter_mut().map(|(_, bytes)| bytes))
            .collect();
        prop_assume!(!messages.is_empty());
        // One is longer; and a further one, which may be the same.
        for index in [at, by] {
            let index = index.index(messages.len());
            *messages[index] += more;
        }
        let outcome = |rounds: &[Round]| {
            let size = rounds[0].len();
            replay(&record(size, |am| ring(am, rounds)).unwrap(), &machine).unwrap()
        };
        let (short, long) = (outcome(&rounds), outcome(&longer));
        for (short, long) in short.marks.iter().flatten().zip(long.marks.iter().flatten()) {
            prop_assert!(short <= long, "{} {}", short, long);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn slopes_give_back_the_overhead_and_the_gap(
        os in 0_u64..50, or in 0_u64..50, gap in 5_u64..120, latency in 0_u64..200
    ) {
        let machine = machine(os, or, gap, latency, None);
        // The second request begins before the first reply can be there: it costs os.
        prop_assert_eq!(issue(&machine, 2, 0) - issue(&machine, 1, 0), os * 1000);
        // The slowest stage: an interface, or the processor, which sends and receives.
        let stage = (gap.max(os + or) * 1000) as f64;
        // Two lengths far beyond the capacity differ by whole messages, and by the replies that
        // are not handled yet at their ends.
        let cost = slope(&machine, 4096, 8192, 0);
        prop_assert!((cost / stage - 1.0).abs() < 0.005, "{} of {}", cost, stage);
        // The computation adds to the overheads once it is longer than what was idle. Requests
        // and replies may keep coming in bursts, of at most what is sent within a round trip.
        let delay = (gap + 7) * 1000;
        let cost = slope(&machine, 4096, 8192, delay);
        let expected = ((os + or) * 1000 + delay) as f64;
        let burst = 1 + 2 * (os + latency + or) * 1000 / (os * 1000 + delay);
        let tolerance = (burst * or * 1000) as f64 / 4096.0;
        prop_assert!((cost - expected).abs() <= tolerance, "{} of {}", cost, expected);
    }
}
