//! Noise against closed forms, and receives that another message would have fitted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bandgap_sim::{Detours, GoalError, GoalReplay, Loggops, Noise};
use proptest::prelude::*;

use super::{goal, replay_goal, schedule};
use crate::damaged::{cases, damaged};

/// A replay with a trace that every rank begins at these picoseconds.
fn disturbed(text: &str, trace: &str, offset: i64) -> GoalReplay {
    let goal = goal(text);
    let noise =
        Noise { detours: vec![Detours::read(trace).unwrap()], offsets: vec![offset; goal.size()] };
    let done = AtomicU64::new(0);
    let replayed =
        bandgap_sim::replay_goal(&goal, &Loggops::default(), Some(&noise), &done).unwrap();
    assert_eq!(done.load(Relaxed), goal.steps());
    replayed
}

/// What a computation of so many nanoseconds takes with a trace, in ns.
fn computed(nanoseconds: i64, trace: &str, offset: i64) -> i64 {
    let text = format!("num_ranks 1\nrank 0 {{\ncalc {nanoseconds}\n}}\n");
    let replayed = disturbed(&text, trace, offset * 1000);
    assert_eq!(replayed.lost, replayed.end() - 1000 * nanoseconds);
    replayed.end() / 1000
}

#[test]
fn a_computation_is_as_much_longer_as_detours_take_of_it() {
    // At 1000 ns one of 30 ns, and from 5000 ns on all again, with one of 200 ns.
    let trace = "# start\tduration\n1000\t30\n5000\t200\n";
    for (long, offset, longer) in [
        (700, 300, 0),
        (701, 300, 30),
        // Begun in it: what is left of it.
        (500, 1010, 20),
        (0, 1010, 20),
        (500, 1030, 0),
        (500, 1000, 30),
        (4000, 4900, 200 + 30),
        (4700, 300, 30),
        (4701, 300, 30 + 200),
        (5000 * 7, 2000, 7 * 230),
        // The whole of one that begins before the end.
        (1000, 5000 * 9 + 4500, 200),
    ] {
        assert_eq!(computed(long, trace, offset), long + longer, "{long} from {offset} on");
    }
}

#[test]
fn only_the_overheads_of_a_message_are_longer() {
    let ping = "num_ranks 2\nrank 0 {\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\n}\n";
    // o = 1500, L = 2500, G = 6: the bytes take 6000 at the receiver.
    let quiet = replay_goal(&goal(ping), &Loggops::default()).unwrap();
    assert!(quiet.finish().eq([1_500_000, 11_500_000]) && quiet.lost == 0);
    for (trace, finish) in [
        ("1499\t70\n1000000\t0\n", [1570, 11_500]),
        ("1500\t70\n1000000\t0\n", [1500, 11_500]),
        // In flight, in the receiver's o, and in its bytes.
        ("3999\t1\n1000000\t0\n", [1500, 11_500]),
        ("4001\t70\n1000000\t0\n", [1500, 11_570]),
        ("5501\t70\n1000000\t0\n", [1500, 11_500]),
    ] {
        let replayed = disturbed(ping, trace, 0);
        assert!(replayed.finish().eq(finish.map(|ns| 1000 * ns)), "{trace}");
    }
}

proptest! {
    #[test]
    fn without_detours_nothing_is_longer(offset in 0..1_000_000_i64, size in 1..100_000_u64) {
        let text = format!("num_ranks 2\nrank 0 {{\nsend {size}b to 1\n}}\nrank 1 {{\nr: recv {size}b from 0\nc: calc 77\nc requires r\n}}\n");
        let quiet = replay_goal(&goal(&text), &Loggops::default()).unwrap();
        prop_assert_eq!(disturbed(&text, "500\t0\n1000\t0\n", offset), quiet);
    }

    // One of d every p: whole repetitions have one each.
    #[test]
    fn detours_that_are_evenly_spaced(
        period in 1..10_000_i64, share in 0.0..1.0, repetitions in 0..100_i64, offset in 0..100_000_i64,
    ) {
        let duration = (period as f64 * share) as i64;
        let left = (duration - offset % period).max(0);
        let longer = left + if offset % period == 0 { (repetitions - 1).max(0) } else { repetitions } * duration;
        let text = format!("{period}\t{duration}\n");
        prop_assert_eq!(computed(repetitions * period, &text, offset), repetitions * period + longer);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_trace_is_noise_or_refused(
        text in damaged(vec!["# ns\n5 2\n100.5\t7\n1000 3\n".to_owned(), "5e8\t1e7\n".to_owned()]), offset in 0..1_000_000_i64,
    ) {
        if Detours::read(&text).is_ok() {
            disturbed("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n", &text, offset);
        }
    }
}

#[test]
fn what_is_no_trace_names_its_line() {
    for (line, wrong) in [
        (2, "1\t2\nx"),
        (1, "1"),
        (1, "1 2 3"),
        (2, "5\t1\n4\t1"),
        (1, "0\t1"),
        (1, ""),
        (2, "10\t1000\n20\t5"),
        (2, "10\t1\n100\t11"),
        (1, "NaN 1"),
        (1, "-1\t2"),
    ] {
        let error = Detours::read(wrong).unwrap_err();
        assert!(matches!(error, GoalError::Syntax(at, ..) if at == line), "{wrong}: {error}");
    }
}

/// How many receives another message would have fitted, and the line of the first.
fn ambiguous(goal: &bandgap_sim::Goal) -> (u64, Option<u32>) {
    let replayed = replay_goal(goal, &Loggops::default()).unwrap();
    (replayed.ambiguous.count, replayed.ambiguous.first.and_then(|place| place.line))
}

#[test]
fn a_receive_from_any_rank_may_have_had_another_message() {
    let both = |first: &str, second: &str, delay: u32, tag: u32| {
        let text = format!(
            "num_ranks 3\nrank 0 {{\na: recv 8b from {first}\nb: recv 8b from {second}\nb requires a\n}}\n\
             rank 1 {{\nsend 8b to 0\n}}\nrank 2 {{\nc: calc {delay}\ns: send 8b to 0 tag {tag}\ns requires c\n}}\n"
        );
        goal(&text)
    };
    // On its way at the match, there at the match; of the second receive nothing else is left.
    assert_eq!(ambiguous(&both("-1", "-1", 500, 0)), (1, Some(3)));
    assert_eq!(ambiguous(&both("-1", "2", 0, 0)), (1, Some(3)));
    // Sent only later; another tag; a receive that names its rank.
    assert_eq!(ambiguous(&both("-1", "-1", 90_000, 0)), (0, None));
    assert_eq!(ambiguous(&both("-1", "2 tag 9", 0, 9)), (0, None));
    assert_eq!(ambiguous(&both("1", "2", 0, 0)), (0, None));
    assert_eq!(ambiguous(&both("-1 tag -1", "-1 tag -1", 0, 9)).0, 1);
    assert_eq!(ambiguous(&schedule("16_any_source_any_tag.goal")).0, 1);
    // A receive that was posted before takes the other message.
    let taken = "num_ranks 3\nrank 0 {\nrecv 8b from 2\nrecv 8b from -1\n}\nrank 1 {\nsend 8b to 0\n}\n\
                 rank 2 {\nc: calc 1000\ns: send 8b to 0\ns requires c\n}\n";
    assert_eq!(ambiguous(&goal(taken)), (0, None));
}
