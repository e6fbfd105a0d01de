//! Replays a kernel once in virtual time, on any number of ranks.

use bandgap_host::available_memory;
use bandgap_kernels::{Fact, Order, Refused, Samples, WHOLE, fact, program};
use bandgap_sim::{
    Machine, Recorder, Replay, Schedule, Sensitivity, SimError, record_once, replay, replay_until,
    replay_with_sensitivity,
};
use bandgap_units::Bytes;

use crate::{Classify, Exit, Result, usage};

/// Bytes of a message that waits for its receive, if no ranks behave alike: two operations, and the
/// message.
const MESSAGE: u64 = 64;
/// Most messages to replay: they take hours.
const MOST_MESSAGES: u64 = 1 << 36;
/// Further bytes of a message in an observed replay: the times of both its sides, and of waits.
const LOOKED_AT: u64 = 128;

/// The result of one replay of a kernel. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Once {
    /// When the last rank ended.
    pub end: u64,
    /// When each rank ended.
    pub finish: Vec<u64>,
    /// Operations of all ranks, and the Active Messages that they handled.
    pub operations: u64,
    /// Messages: requests, replies, and messages of bytes.
    pub messages: u64,
    /// The samples from the kernel's time stamps.
    pub samples: Samples,
    /// The sensitivity of the end, if requested.
    pub sensitivity: Option<Sensitivity>,
}

/// Records an order's program and replays it on the order's number of ranks; `sensitivity` also computes
/// on what the end depends.
///
/// # Errors
/// As [`recorded`], or the replay cannot end.
pub fn once(machine: &Machine, order: &Order, sensitivity: bool) -> Result<Once> {
    let (fact, schedule) = recorded(machine, order, sensitivity)?;
    let (replayed, sensitivity) = if sensitivity {
        let both = replay_with_sensitivity(&schedule, machine).class(Exit::Input)?;
        (both.0, Some(both.1))
    } else {
        (replay(&schedule, machine).class(Exit::Input)?, None)
    };
    Once::of(&fact, order, replayed, sensitivity)
}

/// As [`once`] without a sensitivity, where the rank that times may end by `last`. Where it ends later, a lower bound of
/// its time; that an order must take so long may be known without a replay.
///
/// # Errors
/// As [`once`].
pub fn once_until(machine: &Machine, order: &Order, last: u64) -> Result<Result<Once, u64>> {
    let least = at_least(machine, order)?;
    if least > last {
        return Ok(Err(least));
    }
    let (fact, schedule) = recorded(machine, order, false)?;
    let [rank, _] = (fact.timed)(order, order.ranks).class(Exit::Input)?;
    match replay_until(&schedule, machine, rank, last) {
        Err(SimError::Late(..)) => Ok(Err(last)),
        done => Once::of(&fact, order, done.class(Exit::Input)?, None).map(Ok),
    }
}

/// A lower bound of an order's time, in picoseconds, from the number of messages that the rank that times receives.
///
/// # Errors
/// The order is impossible.
pub fn at_least(machine: &Machine, order: &Order) -> Result<u64> {
    let fact = fact(&order.kernel).class(Exit::Input)?;
    let received = (fact.receives)(order, order.ranks).class(Exit::Input)?;
    Ok(machine.receiving(received))
}

impl Once {
    fn of(
        fact: &Fact,
        order: &Order,
        replayed: Replay,
        sensitivity: Option<Sensitivity>,
    ) -> Result<Self> {
        let samples = (fact.samples)(order, order.ranks, &replayed.marks).class(Exit::Input)?;
        Ok(Self {
            end: replayed.ends.iter().copied().max().unwrap_or(0),
            finish: replayed.ends,
            operations: replayed.events,
            messages: replayed.messages,
            samples,
            sensitivity,
        })
    }

    /// The time that the order measures, in picoseconds.
    pub fn time(&self) -> u64 {
        *self.samples.column(WHOLE).first().unwrap_or(&self.end)
    }
}

/// Records an order's program for one replay; `looked_at` means that the replay keeps all events. All ranks begin at
/// time 0, so an initial barrier of the program is left out.
///
/// # Errors
/// The order is impossible, the machine has too few ranks or no cost of bytes, or all messages need more memory or time
/// than is available.
pub fn recorded(machine: &Machine, order: &Order, looked_at: bool) -> Result<(Fact, Schedule)> {
    let (ranks, most) = (order.ranks, machine.ranks);
    if ranks > most {
        let machine = machine.name.clone();
        return Err(SimError::Ranks(ranks, machine, most)).class(Exit::Input);
    }
    let fact = fact(&order.kernel).class(Exit::Input)?;
    let messages = messages(&fact, order).class(Exit::Input)?;
    let each = if looked_at { MESSAGE + LOOKED_AT } else { MESSAGE };
    let needed = Bytes(messages.saturating_mul(each));
    if let Some(left) = available_memory().filter(|left| left.0 < needed.0) {
        return Err(usage!(
            "replay {messages} messages: they may take {needed}, and {left} are available"
        )
        .hint("use fewer ranks"));
    }
    let received = (fact.receives)(order, ranks).class(Exit::Input)?.saturating_mul(ranks as u64);
    if received > MOST_MESSAGES {
        return Err(usage!("replay {received} messages: the limit is {MOST_MESSAGES}")
            .hint("use fewer ranks, or another --algorithm"));
    }
    let rank = program::<Recorder>(order).class(Exit::Input)?;
    let schedule = record_once(machine, ranks, |recorder| rank(recorder)).class(Exit::Input)?;
    Ok((fact, schedule))
}

/// Messages of a sample if all ranks send them; 0 if only two do.
fn messages(fact: &Fact, order: &Order) -> Result<u64, Refused> {
    let each = (fact.needs)(order, order.ranks)?.sends;
    let of_all = fact.series.iter().all(|series| series.of_all);
    Ok(if of_all { each.saturating_mul(order.ranks as u64) } else { 0 })
}

#[cfg(test)]
mod tests {
    use bandgap_kernels::{AtSize, ISSUE, facts, in_series};

    use super::*;

    const PARAGON: &str = "name = 'm'\nsend_overhead_ns = 1400\nrecv_overhead_ns = 2200\n\
        gap_ns = 7600\nlatency_ns = 6350\ngap_per_byte_ns = 1";

    fn order(name: &str, size: usize, ranks: usize, variant: Option<&'static str>) -> Order {
        let point = AtSize { variant, ..AtSize::of(size, 1, ranks) };
        (in_series(name).unwrap().0.at)(point, 1, ranks).unwrap()
    }

    #[test]
    fn operations_of_all_ranks_take_what_the_closed_forms_say() {
        let machine = Machine::parse(PARAGON, "m").unwrap();
        for bits in [1, 10, 16] {
            let ranks = 1 << bits;
            // log₂ P · (os + L + or).
            let barrier = once(&machine, &order("barrier", 0, ranks, None), false).unwrap();
            assert_eq!(barrier.end, bits * 9_950_000);
            assert_eq!(barrier.finish, vec![barrier.end; ranks]);
            assert_eq!(barrier.messages, bits * ranks as u64);
            // One operation and its mark; three marks of rank 0.
            assert_eq!(barrier.operations, 2 * barrier.messages + 3);
            assert_eq!(barrier.samples.column(WHOLE), [barrier.end]);
            // Up the tree of a broadcast, to the rank farthest from rank 0 and to rank 0.
            let reduce = once(&machine, &order("reduce", 8000, ranks, None), false).unwrap();
            assert_eq!(reduce.samples.column(WHOLE), [2 * bits * (9_950_000 + 8_000_000)]);
            // There and back, each log₂ P messages one after the other where os + n·G > g.
            let there = order("broadcast", 10_000, ranks, Some("binomial"));
            let broadcast = once(&machine, &there, false).unwrap();
            assert_eq!(broadcast.messages, 2 * (ranks as u64 - 1));
            assert_eq!(broadcast.samples.column(ISSUE), [2 * bits * (9_950_000 + 10_000_000)]);
        }
    }

    #[test]
    fn the_end_of_a_broadcast_has_a_latency_for_each_message_of_the_way_there_and_back() {
        let machine = Machine::parse(PARAGON, "m").unwrap();
        let order = order("broadcast", 10_000, 1 << 6, Some("binomial"));
        let plain = once(&machine, &order, false).unwrap();
        let looked_at = once(&machine, &order, true).unwrap();
        let [latency, overhead, gap, byte] = looked_at.sensitivity.clone().unwrap().derivatives;
        let sides = [latency, overhead, gap, byte].map(|of| (of.left, of.right));
        assert_eq!(sides, [12, 24, 0, 120_000].map(|of| (of, of)));
        assert_eq!(Once { sensitivity: None, ..looked_at }, plain);
    }

    #[test]
    fn every_series_is_replayed_on_many_ranks() {
        let machine = Machine::parse(PARAGON, "m").unwrap();
        let ranks = 1 << 10;
        for series in facts().iter().flat_map(|fact| fact.series) {
            let order = order(series.name, 4096, ranks, None);
            let once = once(&machine, &order, false).unwrap();
            assert_eq!(once.finish.len(), ranks, "{}", series.name);
            assert!(once.messages > 0 && once.end > 0, "{}", series.name);
            let whole = once.samples.column(WHOLE);
            assert!(whole.len() == 1 && whole[0] <= once.end, "{}", series.name);
        }
    }

    #[test]
    fn what_ends_later_is_not_replayed_to_its_end_and_no_bound_exceeds_its_time() {
        for machine in [Machine::parse(PARAGON, "m"), Machine::load("ipsc860")] {
            let machine = machine.unwrap();
            for series in facts().iter().flat_map(|fact| fact.series) {
                let variants = series.variants.iter().map(|variant| Some(*variant));
                for variant in variants.chain([None]).filter(|_| series.of_all) {
                    let order = order(series.name, 512, 32, variant);
                    let done = once(&machine, &order, false).unwrap();
                    let within = |last| once_until(&machine, &order, last).unwrap();
                    assert!(at_least(&machine, &order).unwrap() <= done.time(), "{order:?}");
                    assert_eq!(within(done.time()), Ok(done.clone()), "{order:?}");
                    // Where little happens in between, a replay may have ended before it is late.
                    let half = done.time() / 2;
                    match within(half) {
                        Err(bound) => assert!((half..=done.time()).contains(&bound), "{order:?}"),
                        Ok(same) => assert!(same == done && !series.by_algorithm(), "{order:?}"),
                    }
                }
            }
            // On 2¹² ranks a ring takes 8190 gaps at least: not even recorded.
            let ring = order("all_reduce", 1, 1 << 12, Some("ring"));
            let ring = Machine::parse(PARAGON, "m").map(|of| once_until(&of, &ring, 1_000));
            assert_eq!(ring.unwrap().unwrap(), Err(8189 * 7_600_000 + 9_950_000));
        }
    }

    #[test]
    fn a_machine_of_fewer_ranks_is_refused_and_what_no_memory_holds() {
        let machine = Machine::load("ipsc860").unwrap();
        let error = once(&machine, &order("barrier", 0, 129, None), false).unwrap_err();
        assert_eq!(error.exit, Exit::Input);
        let machine = Machine::parse(PARAGON, "m").unwrap();
        // All with all: 2⁴⁰ messages.
        let error = once(&machine, &order("comms3", 0, 1 << 20, None), false).unwrap_err();
        assert_eq!(error.exit, Exit::Usage);
        // 2⁴¹ messages, few of which wait; along trees there are less than 2²³.
        let ring =
            once(&machine, &order("all_reduce", 1, 1 << 20, Some("ring")), false).unwrap_err();
        assert_eq!(ring.exit, Exit::Usage);
        let trees =
            once(&machine, &order("all_reduce", 2, 1 << 14, Some("double_tree")), false).unwrap();
        assert_eq!(trees.messages, 4 * ((1 << 14) - 1));
        // Two of as many ranks send few messages.
        assert!(once(&machine, &order("comms1", 0, 1 << 20, None), false).is_ok());
    }
}
