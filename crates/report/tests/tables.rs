//! The smaller tables, on records made by hand.

use bandgap_record::{
    Contention, ContentionRow, Evidence, Floor, FloorValue, Pair, Pattern, Quantity, Ratio,
    RttPairs,
};
use bandgap_report::{Check, Grade, Layout, checks, contention, floors, ratios, rtt_pairs};
use bandgap_units::{Ns, Rate};

fn time(value: f64, converged: bool) -> Quantity {
    let interval = Some((Ns(value * 0.98), Ns(value * 1.03)));
    Quantity::time(Ns(value), interval, Evidence::new("median", 350, converged)).expect("finite")
}

fn number(value: f64) -> Quantity {
    let interval = Some((value * 0.97, value * 1.02));
    Quantity::number(value, interval, Evidence::new("bootstrap", 350, true)).expect("finite")
}

#[test]
fn contention_stands_beside_the_expectation() {
    // The paper's table 5: Meiko, K = 15 gives 16.8.
    let row = |requesters, gap, ratio| ContentionRow {
        requesters,
        gap: time(gap, true),
        ratio: number(ratio),
    };
    let record = Contention {
        pattern: Pattern::FanIn,
        transport: "sim:meiko".into(),
        rows: vec![row(1, 13_600.0, 1.0), row(7, 97_000.0, 7.13), row(15, 228_480.0, 16.8)],
    };
    insta::assert_snapshot!(contention(&record, &Layout::default()));
}

#[test]
fn round_trips_of_few_ranks_are_shown_one_by_one() {
    let pair = |requester: u32, replier: u32, rtt| Pair {
        requester,
        replier,
        distance: Some(
            if requester.abs_diff(replier) == 1 { "same node" } else { "other node" }.into(),
        ),
        rtt: time(rtt, true),
    };
    let mut record = RttPairs {
        transport: "tcp".into(),
        pairs: vec![
            pair(0, 1, 19_900.0),
            pair(0, 2, 20_100.0),
            pair(1, 0, 19_950.0),
            pair(1, 2, 20_000.0),
            pair(2, 0, 20_050.0),
        ],
        minimum: time(19_900.0, true),
        maximum: time(20_100.0, false),
    };
    insta::assert_snapshot!(rtt_pairs(&record, &Layout::default()));
    // Seventeen ranks are too many for a matrix.
    record.pairs = (1..17).map(|replier| pair(0, replier, 20_000.0)).collect();
    assert!(!rtt_pairs(&record, &Layout::default()).contains("repliers across"));
}

#[test]
fn floors_say_what_they_are() {
    let floor = |name: &str, value, state: Option<&str>| Floor {
        name: name.into(),
        value,
        state: state.map(str::to_owned),
        samples: vec![],
    };
    let rate = Quantity::rate(
        Rate(3.97e9),
        Some((Rate(2.95e9), Rate(4.29e9))),
        Evidence::new("median", 7, false),
    );
    let list = [
        floor("cache_line", FloorValue::Time(time(52.1, true)), Some("N")),
        floor("tcp", FloorValue::Time(time(4020.0, true)), None),
        floor("tcp_stream", FloorValue::Rate(rate.unwrap()), None),
        floor("new_in_a_later_version", FloorValue::Time(time(1.0, true)), None),
    ];
    let list: Vec<&Floor> = list.iter().collect();
    insta::assert_snapshot!(floors(&list, &Layout::default()));
}

#[test]
fn checks_end_with_a_verdict() {
    let check = |name, grade, found, advice| Check { name, grade, found, advice };
    let good = check("clock", Grade::Good, "invariant TSC, 2.596 GHz, one step is 10.0 ns", "");
    let warned = check(
        "frequency governor",
        Grade::Warning,
        "powersave on cores 0-1",
        "choose the performance governor: cpupower frequency-set -g performance",
    );
    let bad = check("cores", Grade::Bad, "one core only", "give the machine a second core");
    let note = check("MPI", Grade::Note, "none found", "");
    let layout = Layout::default();
    insta::assert_snapshot!(checks(&[good, warned, note], &layout));
    assert!(checks(&[good], &layout).ends_with("This machine is fit to measure on.\n"));
    assert!(
        checks(&[warned, bad], &layout)
            .ends_with("Not fit to measure on: 1 of 2 checks are bad.\n")
    );
}

#[test]
fn a_state_that_all_share_is_said_once_and_names_stay_whole() {
    let number = |value: f64, converged| {
        let by = Evidence::new("median over rounds", 7, converged);
        Quantity::number(value, Some((value * 0.9, value * 1.1)), by).unwrap()
    };
    let names = ["active_message_stream", "store_cross_core_1mib"];
    let state = |label: &str| Some(label.to_owned());
    let of_floors = |second: &str, layout: &Layout| {
        let list = [(names[0], "N"), (names[1], second)].map(|(name, label)| Floor {
            name: name.into(),
            value: FloorValue::Time(time(52.1, true)),
            state: state(label),
            samples: vec![],
        });
        floors(&list.iter().collect::<Vec<_>>(), layout)
    };
    let of_ratios = |second: &str, layout: &Layout| {
        let list = [("N", true), (second, false)].map(|(label, converged)| Ratio {
            name: names[0].into(),
            over: names[1].into(),
            ratio: number(1.05, converged),
            state: state(label),
        });
        ratios(&list.iter().collect::<Vec<_>>(), layout)
    };
    for width in [80, 120] {
        let layout = Layout { width, ..Layout::default() };
        for page in [of_floors("N", &layout), of_ratios("N", &layout)] {
            assert!(page.starts_with("State N\n") && !page.contains(" state"), "{page}");
            assert!(names.iter().all(|name| page.contains(name)), "{page}");
            // All were estimated in the same way.
            assert!(page.contains("\nEstimator: "), "{page}");
            assert!(page.lines().all(|line| line.chars().count() <= usize::from(width)), "{page}");
        }
        for page in [of_floors("F", &layout), of_ratios("F", &layout)] {
            assert!(!page.contains("State") && page.contains(" state"), "{page}");
        }
    }
    // The mark stands where the footnote is meant.
    assert_eq!(of_ratios("N", &Layout::default()).matches("1.05 *").count(), 1);
}
