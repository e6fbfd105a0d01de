//! Operations of all ranks: closed forms against replays of the algorithms.

use bandgap_comm::collectives::{
    Algorithm, Barrier, Broadcast, Count, Sum, all_gather, all_to_all, reduce_scatter, segments,
};
use bandgap_comm::{BARRIER, Part, Processor};
use bandgap_sim::{Machine, Op, Schedule, record, replay};
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

/// A LogGP machine; times in ns.
///
/// *Assumes* g ≤ os + L: an interface is free when its message has arrived. Additions take no time.
/// *Source*: Alexandrov et al. 1995; as in the simulator, a message of n bytes takes n·G where they
/// have (n − 1)·G.
#[derive(Clone, Copy, Debug)]
struct LogGp {
    send: f64,
    recv: f64,
    gap: f64,
    latency: f64,
    byte: f64,
}

impl LogGp {
    fn new(costs: [u64; 5]) -> Self {
        let [send, recv, gap, latency, byte] = costs.map(|ns| ns as f64);
        Self { send, recv, gap, latency, byte }
    }

    /// m(n), from when a rank begins to send until its receiver has the message.
    fn message(&self, bytes: usize) -> f64 {
        self.send + self.latency + self.byte * bytes as f64 + self.recv
    }

    /// i(n), between two messages of a sender.
    fn interval(&self, bytes: usize) -> f64 {
        self.send.max(self.gap).max(self.byte * bytes as f64)
    }

    /// r(n), between two messages that a rank receives and passes on.
    fn relay(&self, bytes: usize) -> f64 {
        (self.send + self.recv).max(self.gap).max(self.byte * bytes as f64)
    }

    /// Σ m(n/2ʲ) for j = 1 … log₂ P.
    fn halved(&self, size: usize, bytes: usize) -> f64 {
        (1..=size.ilog2()).map(|step| self.message(bytes >> step)).sum()
    }

    /// The time of a broadcast where it is an equality. Blocks and segments are equally long.
    fn broadcast(&self, by: Broadcast, size: usize, bytes: usize) -> Option<f64> {
        let (levels, power) = (f64::from(size.ilog2()), size.is_power_of_two());
        let parts = segments(size, bytes);
        let others = (size - 1) as f64;
        match by {
            _ if size == 1 => Some(0.0),
            Broadcast::Linear => Some((others - 1.0) * self.interval(bytes) + self.message(bytes)),
            Broadcast::Binomial => power.then(|| levels * self.message(bytes)),
            Broadcast::ScatterAllgather => {
                (power && bytes.is_multiple_of(size)).then(|| 2.0 * self.halved(size, bytes))
            }
            Broadcast::Chain => bytes.is_multiple_of(parts).then(|| {
                let segment = bytes / parts;
                others * self.message(segment) + (parts - 1) as f64 * self.relay(segment)
            }),
        }
    }

    /// The same of a sum of bytes of doubles.
    fn sum(&self, by: Sum, size: usize, bytes: usize) -> Option<f64> {
        let (levels, power) = (f64::from(size.ilog2()), size.is_power_of_two());
        let divides = bytes.is_multiple_of(8 * size);
        match by {
            _ if size == 1 => Some(0.0),
            Sum::Tree => power.then(|| 2.0 * levels * self.message(bytes)),
            Sum::RecursiveDoubling => power.then(|| levels * self.message(bytes)),
            Sum::Rabenseifner => (power && divides).then(|| 2.0 * self.halved(size, bytes)),
            Sum::Ring => divides.then(|| 2.0 * (size - 1) as f64 * self.message(bytes / size)),
            // Below.
            Sum::TwoRings | Sum::DoubleTree => None,
        }
    }

    /// The same of a barrier.
    fn barrier(&self, by: Barrier, size: usize) -> Option<f64> {
        let way = f64::from(size.next_power_of_two().ilog2()) * self.message(0);
        match by {
            Barrier::Dissemination => Some(way),
            Barrier::Tree => size.is_power_of_two().then_some(2.0 * way),
        }
    }
}

/// Whether a time is what it is to be, but for rounding; where nothing says what, it is.
fn same(measured: f64, expected: Option<f64>) -> bool {
    expected.is_none_or(|of| (measured - of).abs() <= 1e-9 * of.abs())
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

/// The time of one of `often` broadcasts there and back, from rank 0 and from the rank that ends last, as rank 0 sees
/// it.
fn there_and_back(by: Broadcast, size: usize, bytes: usize, often: u64, machine: &Machine) -> f64 {
    let schedule = record(size, |comm| {
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
    });
    let marks = &replay(&schedule.unwrap(), machine).unwrap().marks[0];
    (marks[1] - marks[0]) as f64 / 1000.0 / (2 * often) as f64
}

proptest! {
    #[test]
    fn broadcasts_sums_and_barriers_take_the_messages_of_their_algorithm(
        costs in machines(), size in 1..34_usize, root in 0..33_usize, units in 0..5000_usize,
        often in 1..4_u64,
    ) {
        let (machine, model) = (byte_machine(costs), LogGp::new(costs));
        let bytes = 8 * (units / size * size);
        for &by in Broadcast::ALL {
            let context = format!("{} {bytes} on {size}", by.name());
            let expected = model.broadcast(by, size, bytes);
            let once = time(&broadcasts(by, size, root % size, bytes), &machine);
            prop_assert!(same(once, expected), "{}: {}", context, once);
            // There and back twice the time to the last rank.
            let back = there_and_back(by, size, bytes, often, &machine);
            prop_assert!(same(back, expected), "{}: {} there and back", context, back);
        }
        for &by in Sum::ALL {
            let found = time(&sums(by, size, bytes), &machine);
            let expected = model.sum(by, size, bytes);
            prop_assert!(same(found, expected), "{} {} on {}: {}", by.name(), bytes, size, found);
        }
        for &by in Barrier::ALL {
            let found = time(&barriers(by, size), &machine);
            prop_assert!(same(found, model.barrier(by, size)), "{} {}", by.name(), found);
        }
    }
}

#[test]
fn algorithms_take_as_many_messages_on_tens_of_thousands_of_ranks() {
    let costs = [1400, 2200, 7600, 6350, 3];
    let (machine, model) = (byte_machine(costs), LogGp::new(costs));
    for size in [10, 13, 16].map(|bits| 1_usize << bits) {
        let alike = |schedule: &Schedule, expected: Option<f64>| {
            let found = time(schedule, &machine);
            assert!(expected.is_some() && same(found, expected), "{size} ranks: {found}");
        };
        let dissemination = barriers(Barrier::Dissemination, size);
        // Whatever the number of ranks: an operation for each send and receive, of one of them.
        assert_eq!(dissemination.stored(), 2 * size.ilog2() as usize);
        alike(&dissemination, model.barrier(Barrier::Dissemination, size));
        alike(&barriers(Barrier::Tree, size), model.barrier(Barrier::Tree, size));
        let binomial = broadcasts(Broadcast::Binomial, size, 0, 4096);
        assert!(binomial.stored() < 1000, "{}", binomial.stored());
        alike(&binomial, model.broadcast(Broadcast::Binomial, size, 4096));
        for by in [Sum::Tree, Sum::RecursiveDoubling] {
            alike(&sums(by, size, 4096), model.sum(by, size, 4096));
        }
    }
}

#[test]
fn rings_and_all_to_all_take_a_message_for_each_step() {
    // os, or, g, L and G.
    let costs = [1400, 2200, 1000, 6350, 3];
    let (machine, model) = (byte_machine(costs), LogGp::new(costs));
    for size in [2, 3, 8, 100] {
        let bytes = 800 * size;
        let apart = |index| Part::new(index * bytes, bytes);
        let step = model.message(800);
        let around = (size - 1) as f64 * step;
        let scattered = record(size, |comm| reduce_scatter(comm, apart(0), apart(1)));
        let gathered = record(size, |comm| all_gather(comm, Part::new(0, 800), apart(1)));
        let dealt = record(size, |comm| all_to_all(comm, apart(0), apart(1)));
        for schedule in [scattered, gathered, dealt] {
            assert_eq!(time(&schedule.unwrap(), &machine), around, "{size}");
        }
        assert_eq!(time(&sums(Sum::Ring, size, bytes), &machine), 2.0 * around, "{size}");
        // Two rings: a second message of half a block in each step, as soon as the rank can.
        let half = model.message(400);
        let found = time(&sums(Sum::TwoRings, size, bytes), &machine);
        let second = costs[1].max(costs[0]) as f64;
        assert_eq!(found, 2.0 * (size - 1) as f64 * (half + second), "{size}");
    }
}

#[test]
fn a_double_tree_is_as_deep_as_a_logarithm_and_streams_long_vectors() {
    let costs = [1400, 2200, 1, 6350, 1];
    let (machine, model) = (byte_machine(costs), LogGp::new(costs));
    for levels in [1, 2, 3, 10, 16] {
        // Up and down k messages of half a vector; from the second level on a rank receives another one
        // before it passes the sum on, and sends another one before the one that ends last.
        let schedule = sums(Sum::DoubleTree, 1 << levels, 16);
        let expected = 2.0 * levels as f64 * model.message(8)
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
