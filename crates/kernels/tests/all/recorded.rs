//! Every kernel of the list in virtual time.

use crate::examples::examples;
use bandgap_comm::{Am, Comm, CommError, Delay, Transfer};
use bandgap_kernels::{
    AtSize, Burst, FanIn, ISSUE, Kernel, Order, OverAm, OverComm, OverTransfer, Pair, PingPong,
    Places, Round, Samples, Shape, Visit, WHOLE, all, fact, facts, in_series, program,
};
use bandgap_sim::{Machine, Recorder, Schedule, record, replay};

/// A machine whose times are easy to add up: os 1, or 2, g 10, L 20 µs, G 1 ns.
fn machine() -> Machine {
    let text = "name = 'plain'\ndescription = 'for tests'\nsend_overhead_ns = 1000.0\n\
                recv_overhead_ns = 2000.0\ngap_ns = 10000.0\nlatency_ns = 20000.0\ncapacity = 8\n\
                gap_per_byte_ns = 1.0\nranks = 64\ntopology = 'crossbar'\n";
    Machine::parse(text, "test").unwrap()
}

pub fn recorded(order: &Order) -> Schedule {
    let program = program::<Recorder>(order).unwrap();
    record(order.ranks, |rank| program(rank)).unwrap()
}

fn simulate(order: &Order) -> Samples {
    let replayed = replay(&recorded(order), &machine()).unwrap();
    assert_eq!(replayed.unhandled, 0, "{order:?}");
    (fact(&order.kernel).unwrap().samples)(order, order.ranks, &replayed.marks).unwrap()
}

#[test]
fn in_osus_shape_operations_are_timed_one_by_one() {
    let order = |name: &str, shape| {
        let (fact, _) = in_series(name).unwrap();
        let order = (fact.at)(AtSize { shape, ..AtSize::of(1, 4, 2) }, 3, 2).unwrap();
        Order { shape, ..order }
    };
    let sample = |name, shape| simulate(&order(name, shape)).column(WHOLE).to_vec();
    // Round trips follow each other without a pause.
    assert_eq!(sample("comms1", Shape::Osu), sample("comms1", Shape::Batch));
    // The root of a broadcast is done before the others, and the mean of all is taken.
    let mut means =
        sample("broadcast", Shape::Osu).into_iter().zip(sample("broadcast", Shape::Batch));
    assert_eq!(means.clone().count(), 3);
    assert!(means.all(|(osu, batch)| osu < batch));
    for (shape, possible) in [(Shape::Batch, true), (Shape::Osu, false)] {
        let check = in_series("exchange").unwrap().0.check;
        assert_eq!(check(&order("exchange", shape), 2).is_ok(), possible);
    }
}

#[test]
fn windows_of_all_pairs_take_what_the_closed_forms_say() {
    let of = |name: &str, ranks| {
        let point = AtSize { window: Some(8), ..AtSize::of(0, 2, ranks) };
        simulate(&(in_series(name).unwrap().0.at)(point, 3, ranks).unwrap()).column(WHOLE).to_vec()
    };
    // Two windows, each (W − 1)·g, and there and back 2 (os + L + or), or with no reply one way.
    for ranks in [2, 8] {
        assert_eq!(of("stream", ranks), [2 * (70 + 46) * 1_000_000; 3]);
        assert_eq!(of("bidirectional", ranks), [2 * (70 + 23) * 1_000_000; 3]);
    }
}

#[test]
fn every_kernel_runs_in_virtual_time_on_one_to_nine_ranks() {
    for fact in facts() {
        let mut run = 0;
        for size in 1..=9 {
            for order in examples(&fact, size, 3) {
                let samples = simulate(&order);
                let issued = samples.column(ISSUE).len();
                assert!(issued > 0 && issued.is_multiple_of(3), "{order:?}");
                let whole = samples.column(WHOLE);
                assert!(samples.column(ISSUE).iter().zip(whole).all(|(i, w)| i <= w), "{order:?}");
                run += 1;
            }
        }
        assert!(run > 8, "{}", fact.name);
    }
}

#[test]
fn where_messages_lie_changes_nothing_in_virtual_time() {
    for order in facts().iter().flat_map(|fact| examples(fact, 4, 3)) {
        assert_eq!(recorded(&order), recorded(&order.clone().checked()), "{order:?}");
    }
}

/// Records every kernel in two turns, which send other words and bytes.
struct OtherTurns(usize);

impl OtherTurns {
    fn compare<K: Kernel>(&mut self, run: fn(&K, &mut Recorder, Round) -> Result<(), CommError>) {
        for order in examples(&fact(K::NAME).unwrap(), 4, 3) {
            let kernel: K = order.kernel(4).unwrap();
            let [one, other] = [1, u64::MAX].map(|turn| {
                record(4, |rank| {
                    run(&kernel, rank, Round { samples: 3, shape: Shape::Batch, turn })
                })
                .unwrap()
            });
            assert_eq!(one, other, "{kernel:?}");
            self.0 += 1;
        }
    }
}

impl Visit for OtherTurns {
    type Seen = ();

    fn am<K: OverAm>(&mut self) {
        fn run<K: OverAm>(kernel: &K, rank: &mut impl Am, round: Round) -> Result<(), CommError> {
            kernel.run(rank, round)
        }
        self.compare::<K>(run);
    }
    fn transfer<K: OverTransfer>(&mut self) {
        fn run<K: OverTransfer>(
            kernel: &K,
            rank: &mut impl Transfer,
            round: Round,
        ) -> Result<(), CommError> {
            kernel.run(rank, round)
        }
        self.compare::<K>(run);
    }
    fn comm<K: OverComm>(&mut self) {
        fn run<K: OverComm>(
            kernel: &K,
            rank: &mut impl Comm,
            round: Round,
        ) -> Result<(), CommError> {
            kernel.run(rank, &Places::shared(&kernel.needs(rank.size())), round)
        }
        self.compare::<K>(run);
    }
}

#[test]
fn contents_change_nothing_in_virtual_time() {
    let mut turns = OtherTurns(0);
    all(&mut turns);
    assert!(turns.0 > facts().len());
}

#[test]
fn virtual_times_are_those_of_the_model() {
    let pair = Pair::FIRST;
    let delay = Delay::NONE;
    let burst = |messages| {
        let asking = bandgap_kernels::Asking::OneToOne(pair);
        simulate(&Order::of(&Burst { asking, messages, delay }, 2, 2))
    };
    // One request: issue = os = 1 µs; with its reply 2 (os + L + or) = 46 µs.
    let one = burst(1);
    assert_eq!((one.column(ISSUE)[0], one.column(WHOLE)[0]), (1_000_000, 46_000_000));
    // Five requests before any reply can be back: 5 os.
    assert_eq!(burst(5).column(ISSUE)[0], 5_000_000);
    // Ten round trips one after the other.
    let ten = simulate(&Order::of(&PingPong { pair, messages: 10 }, 2, 2));
    assert_eq!(ten.column(ISSUE)[0], 460_000_000);
    // K requesters to one: K·g for each message of one of them.
    for requesters in 1..=4 {
        let kernel = FanIn { requesters, messages: 200, delay };
        let samples = simulate(&Order::of(&kernel, 2, 5));
        let expected = requesters as f64 * 200.0 * 10e6;
        let ratio = samples.column(ISSUE)[1] as f64 / expected;
        assert!((0.99..1.01).contains(&ratio), "K = {requesters}: {ratio}");
    }
}
