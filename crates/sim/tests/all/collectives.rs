//! Operations of all ranks: closed forms worked out by hand, and the formulas of the model, against
//! replays of the algorithms.

use bandgap_comm::collectives::{
    Algorithm, Barrier, Broadcast, Count, Sum, all_gather, all_to_all, reduce_scatter, segments,
};
use bandgap_comm::{BARRIER, Part, Processor};
use bandgap_model::collectives::{PointToPoint, barrier, broadcast, sum};
use bandgap_sim::{Machine, Op, Schedule, record, replay};
use bandgap_units::{Bytes, Ns};
use proptest::prelude::*;

use crate::programs::byte_machine;

fn part(bytes: usize) -> Part {
    Part::new(0, bytes)
}

fn broadcasts(by: Broadcast, size: usize, root: usize, bytes: usize) -> Schedule {
    record(size, |comm| by.run(comm, root, part(bytes))).unwrap()
}

fn sums(by: Sum, size: usize, bytes: usize) -> Schedule {
    let apart = |index| Part::new(index * bytes, bytes);
    record(size, |comm| by.run(comm, apart(0), apart(1), apart(2))).unwrap()
}

fn barriers(by: Barrier, size: usize) -> Schedule {
    record(size, |comm| by.run(comm)).unwrap()
}

/// When the last rank ends, in ns.
fn time(schedule: &Schedule, machine: &Machine) -> f64 {
    let ends = replay(schedule, machine).unwrap().ends;
    ends.into_iter().max().unwrap() as f64 / 1000.0
}

/// A LogGP machine, with the overheads of sending and receiving told apart.
///
/// *Formula*: a message takes os + L + or + n·G; a sender sends one per max(os, g, n·G), and a rank
/// passes on one per max(os + or, g, n·G).
/// *Assumes* g ≤ os + L: an interface is free when its message has arrived.
/// *Source*: Alexandrov et al. 1995; as in the simulator, a message of n bytes takes n·G where they
/// have (n − 1)·G.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogGp {
    send_overhead: Ns,
    recv_overhead: Ns,
    latency: Ns,
    gap: Ns,
    gap_per_byte: Ns,
}

impl LogGp {
    fn transfer(&self, bytes: Bytes) -> Ns {
        self.gap_per_byte * bytes.0 as f64
    }

    fn occupied(&self, bytes: Bytes) -> Ns {
        self.gap.max(self.transfer(bytes))
    }
}

impl PointToPoint for LogGp {
    fn message(&self, bytes: Bytes) -> Ns {
        self.send_overhead + self.latency + self.transfer(bytes) + self.recv_overhead
    }

    fn send_interval(&self, bytes: Bytes) -> Ns {
        self.send_overhead.max(self.occupied(bytes))
    }

    fn relay_interval(&self, bytes: Bytes) -> Ns {
        (self.send_overhead + self.recv_overhead).max(self.occupied(bytes))
    }
}

/// The same machine for the model. Additions take no time, as in the simulator.
fn loggp([os, or, gap, latency, byte]: [u64; 5]) -> LogGp {
    let [send_overhead, recv_overhead, gap, latency, gap_per_byte] =
        [os, or, gap, latency, byte].map(|ns| Ns(ns as f64));
    LogGp { send_overhead, recv_overhead, latency, gap, gap_per_byte }
}

const BY_HAND: LogGp = LogGp {
    send_overhead: Ns(20.0),
    recv_overhead: Ns(30.0),
    latency: Ns(100.0),
    gap: Ns(60.0),
    gap_per_byte: Ns(3.0),
};

#[test]
fn loggp_lets_messages_of_one_sender_overlap() {
    // m(8) = 20 + 100 + 24 + 30 = 174; i(8) = g = 60. On five ranks the root sends to 4, 2 and 1,
    // and 2 sends to 3: i + 2m is the longest way.
    let of = |by, ranks, bytes| broadcast(by, &BY_HAND, ranks, Bytes(bytes)).0;
    let [linear, binomial] = [Broadcast::Linear, Broadcast::Binomial].map(|by| of(by, 5, 8));
    assert_eq!([linear, binomial], [3.0 * 60.0 + 174.0, 60.0 + 2.0 * 174.0]);
    // 1000 bytes: 3000 ns of the interface. Four ranks.
    let all = [Broadcast::Linear, Broadcast::Binomial, Broadcast::ScatterAllgather];
    let [linear, binomial, scatter] = all.map(|by| of(by, 4, 1000));
    assert_eq!([linear, binomial, scatter], [9150.0, 6300.0, 4.0 * 150.0 + 1.5 * 3000.0]);
    // A chain of three ranks passes on a segment per max(os + or, g, s·G): 4 of 16 384 bytes.
    let chain = of(Broadcast::Chain, 3, 65_536);
    assert_eq!(chain, 2.0 * (150.0 + 49_152.0) + 3.0 * 49_152.0);
    // Two ranks: an exchange.
    assert_eq!(sum(Sum::RecursiveDoubling, &BY_HAND, 2, Bytes(8)).0, 174.0);
    assert_eq!(barrier(Barrier::Dissemination, &BY_HAND, 9).0, 4.0 * 150.0);
    assert_eq!(barrier(Barrier::Tree, &BY_HAND, 8).0, 6.0 * 150.0);
}

/// Whether two times are the same, but for rounding.
fn same(measured: f64, formula: f64) -> bool {
    (measured - formula).abs() <= 1e-9 * formula.abs()
}

/// LogGP machines whose interfaces are free when their message has arrived: g ≤ os + L.
fn machines() -> impl Strategy<Value = [u64; 5]> {
    (0..2000u64, 0..2000u64, 0.0..1.0f64, 1..3000u64, 0..20u64).prop_map(
        |(os, or, share, latency, byte)| {
            let gap = ((os + latency) as f64 * share) as u64;
            [os, or, gap.max(1), latency, byte]
        },
    )
}

/// Broadcasts there and back, from rank 0 and from the rank that ends last. Rank 0 marks begin and end.
fn there_and_back(by: Broadcast, size: usize, bytes: usize, often: u64) -> Schedule {
    record(size, |comm| {
        if comm.rank() == 0 {
            comm.mark();
        }
        for _ in 0..often {
            by.counted(comm, 0, Count::Up, part(bytes))?;
            by.counted(comm, by.last(size), Count::Down, part(bytes))?;
        }
        if comm.rank() == 0 {
            comm.mark();
        }
        Ok(())
    })
    .unwrap()
}

/// The time of one of so many of them, as rank 0 sees it.
fn time_of_one(schedule: &Schedule, often: u64, machine: &Machine) -> f64 {
    let marks = &replay(schedule, machine).unwrap().marks[0];
    (marks[1] - marks[0]) as f64 / 1000.0 / (2 * often) as f64
}

proptest! {
    #[test]
    fn a_broadcast_there_and_back_takes_twice_the_time_to_the_last_rank(
        costs in machines(), size in 1..34_usize, bytes in 0..40_000_usize, often in 1..4_u64,
    ) {
        let (machine, model) = (byte_machine(costs), loggp(costs));
        // Blocks and segments are equally long.
        let bytes = bytes / size * size;
        for &by in Broadcast::ALL {
            let found = time_of_one(&there_and_back(by, size, bytes, often), often, &machine);
            let formula = broadcast(by, &model, size, Bytes(bytes as u64)).0;
            let context = format!("{} {bytes} on {size}: {found}, {formula}", by.name());
            let exact = match by {
                Broadcast::Linear | Broadcast::Binomial => true,
                Broadcast::Chain => bytes % segments(size, bytes) == 0,
                Broadcast::ScatterAllgather => size.is_power_of_two(),
            };
            if exact {
                prop_assert!(same(found, formula), "{}", context);
            } else if by.fits(size, bytes).is_ok() {
                prop_assert!(found <= formula * (1.0 + 1e-9), "{}", context);
                prop_assert!(found > 0.6 * formula, "{}", context);
            }
        }
    }

    #[test]
    fn formulas_of_broadcasts_are_replayed_times_and_bounds_where_blocks_differ(
        costs in machines(), size in 1..34_usize, root in 0..33_usize, bytes in 0..40_000_usize,
        divides: bool,
    ) {
        let (machine, model) = (byte_machine(costs), loggp(costs));
        let bytes = if divides { bytes / size * size } else { bytes };
        for &by in Broadcast::ALL {
            let measured = time(&broadcasts(by, size, root % size, bytes), &machine);
            let formula = broadcast(by, &model, size, Bytes(bytes as u64)).0;
            let equal_blocks = match by {
                Broadcast::Linear | Broadcast::Binomial => true,
                Broadcast::ScatterAllgather => bytes % size == 0,
                Broadcast::Chain => bytes % segments(size, bytes) == 0,
            };
            let context = format!("{} {bytes} on {size}: {measured}, {formula}", by.name());
            if equal_blocks {
                prop_assert!(same(measured, formula), "{}", context);
            } else if by.fits(size, bytes).is_ok() {
                prop_assert!(measured <= formula * (1.0 + 1e-9), "{}", context);
                prop_assert!(measured > 0.75 * formula, "{}", context);
            }
        }
    }

    #[test]
    fn formulas_of_sums_are_replayed_times_or_what_they_say(
        costs in machines(), size in 1..34_usize, doubles in 0..5000_usize, divides: bool,
    ) {
        let (machine, model) = (byte_machine(costs), loggp(costs));
        let doubles = if divides { doubles / size * size } else { doubles };
        let bytes = 8 * doubles;
        for &by in Sum::ALL {
            let measured = time(&sums(by, size, bytes), &machine);
            let formula = sum(by, &model, size, Bytes(bytes as u64)).0;
            let context = format!("{} {doubles} on {size}: {measured}, {formula}", by.name());
            let power = size.is_power_of_two();
            let exact = match by {
                Sum::Tree | Sum::RecursiveDoubling => power,
                Sum::Rabenseifner => power && doubles % size == 0,
                Sum::Ring => doubles % size == 0,
                Sum::TwoRings => size == 1,
                Sum::DoubleTree => size == 1 || size == 2 && doubles % 2 == 0,
            };
            if exact {
                prop_assert!(same(measured, formula), "{}", context);
            } else if by.fits(size, bytes).is_ok() {
                let estimate = matches!(by, Sum::Rabenseifner | Sum::TwoRings | Sum::DoubleTree);
                let most = if estimate { 1.25 } else { 1.0 + 1e-9 };
                prop_assert!(measured <= formula * most, "{}", context);
                prop_assert!(measured > 0.45 * formula, "{}", context);
            }
        }
    }

    #[test]
    fn formulas_of_barriers_are_replayed_times_or_bounds(
        costs in machines(), size in 1..70_usize,
    ) {
        let (machine, model) = (byte_machine(costs), loggp(costs));
        let both = |by| (time(&barriers(by, size), &machine), barrier(by, &model, size).0);
        let (measured, formula) = both(Barrier::Dissemination);
        prop_assert!(same(measured, formula), "{} {}", measured, formula);
        let (measured, formula) = both(Barrier::Tree);
        match size.is_power_of_two() {
            true => prop_assert!(same(measured, formula), "{} {}", measured, formula),
            false => prop_assert!((0.45..1.0 + 1e-9).contains(&(measured / formula))),
        }
    }
}

#[test]
fn formulas_are_replayed_times_on_tens_of_thousands_of_ranks() {
    let costs = [1400, 2200, 7600, 6350, 3];
    let (machine, model) = (byte_machine(costs), loggp(costs));
    for size in [10, 13, 16].map(|bits| 1_usize << bits) {
        let bytes = Bytes(4096);
        let alike = |schedule: &Schedule, formula: Ns| {
            let found = time(schedule, &machine);
            assert!(same(found, formula.0), "{size} ranks: {found}, {formula}");
        };
        let dissemination = barriers(Barrier::Dissemination, size);
        // Whatever the number of ranks: an operation for each send and receive, of one of them.
        assert_eq!(dissemination.stored(), 2 * size.ilog2() as usize);
        alike(&dissemination, barrier(Barrier::Dissemination, &model, size));
        alike(&barriers(Barrier::Tree, size), barrier(Barrier::Tree, &model, size));
        let binomial = broadcasts(Broadcast::Binomial, size, 0, 4096);
        assert!(binomial.stored() < 1000, "{}", binomial.stored());
        alike(&binomial, broadcast(Broadcast::Binomial, &model, size, bytes));
        for by in [Sum::Tree, Sum::RecursiveDoubling] {
            alike(&sums(by, size, 4096), sum(by, &model, size, bytes));
        }
    }
}

#[test]
fn rings_and_all_to_all_take_a_message_for_each_step() {
    // os, or, g, L and G.
    let costs = [1400, 2200, 1000, 6350, 3];
    let (machine, model) = (byte_machine(costs), loggp(costs));
    for size in [2, 3, 8, 100] {
        let bytes = 800 * size;
        let apart = |index| Part::new(index * bytes, bytes);
        let step = model.message(Bytes(800)).0;
        let around = (size - 1) as f64 * step;
        let scattered = record(size, |comm| reduce_scatter(comm, apart(0), apart(1)));
        let gathered = record(size, |comm| all_gather(comm, Part::new(0, 800), apart(1)));
        let dealt = record(size, |comm| all_to_all(comm, apart(0), apart(1)));
        for schedule in [scattered, gathered, dealt] {
            assert_eq!(time(&schedule.unwrap(), &machine), around, "{size}");
        }
        assert_eq!(time(&sums(Sum::Ring, size, bytes), &machine), 2.0 * around, "{size}");
        // Two rings: a second message of half a block in each step, as soon as the rank can.
        let half = model.message(Bytes(400)).0;
        let found = time(&sums(Sum::TwoRings, size, bytes), &machine);
        let second = costs[1].max(costs[0]) as f64;
        assert_eq!(found, 2.0 * (size - 1) as f64 * (half + second), "{size}");
    }
}

#[test]
fn a_double_tree_is_as_deep_as_a_logarithm_and_streams_long_vectors() {
    let costs = [1400, 2200, 1, 6350, 1];
    let (machine, model) = (byte_machine(costs), loggp(costs));
    for levels in [1, 2, 3, 10, 16] {
        // Up and down k messages of half a vector; from the second level on a rank receives another one
        // before it passes the sum on, and sends another one before the one that ends last.
        let schedule = sums(Sum::DoubleTree, 1 << levels, 16);
        let expected = 2.0 * levels as f64 * model.message(Bytes(8)).0
            + (levels - 1) as f64 * (costs[0] + costs[1]) as f64;
        let found = time(&schedule, &machine) - expected;
        // And the time of 8 bytes where two messages come at once, on some levels.
        assert!((0.0..=8.0 * levels as f64).contains(&found), "2^{levels} ranks: {found}");
        // Ranks at the same places do alike.
        assert!(schedule.stored() < 8000, "{}", schedule.stored());
    }
    // As many bytes as by a ring: 2n in all, of which each direction of an interface has n in each half.
    let long = 64 << 20;
    for size in [4, 7, 16, 33] {
        let found = time(&sums(Sum::DoubleTree, size, long), &machine);
        let least = 2.0 * long as f64 * costs[4] as f64;
        assert!((1.0..1.2).contains(&(found / least)), "{size}: {}", found / least);
    }
}

/// Messages that `rank` receives, but for those of barriers.
fn received(schedule: &Schedule, rank: usize) -> u64 {
    let counted = |op: &Op| matches!(op, Op::Recv { tag, .. } if *tag < BARRIER);
    schedule.operations(rank).filter(counted).count() as u64
}

#[test]
fn ranks_receive_as_many_messages_as_their_algorithm_says() {
    for size in 1..=33 {
        for root in [0, size / 2, size - 1] {
            for (&by, bytes) in Broadcast::ALL.iter().flat_map(|by| [(by, 0), (by, 20_000)]) {
                let schedule = broadcasts(by, size, root, bytes);
                for rank in 0..size {
                    let expected = by.receives(rank, size, root, bytes);
                    assert_eq!(received(&schedule, rank), expected, "{} {size}", by.name());
                }
            }
        }
        for &by in Sum::ALL {
            let schedule = sums(by, size, 800);
            for rank in 0..size {
                assert_eq!(
                    received(&schedule, rank),
                    by.receives(rank, size, 800),
                    "{}",
                    by.name()
                );
            }
        }
        let tree = barriers(Barrier::Tree, size);
        assert!((0..size).all(|rank| received(&tree, rank) == 0));
    }
}
