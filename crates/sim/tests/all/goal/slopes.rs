//! Sensitivities: against finite differences of other replays, and closed forms.

use bandgap_sim::{Goal, Loggops, Sensitivity, sensitivity};

use super::{expected, goal, loggops, replay_goal, schedule};

const L: usize = 0;
const O: usize = 1;
const G: usize = 3;

/// The end with a parameter that is greater by so many picoseconds, or attoseconds a byte.
fn end(goal: &Goal, of: &Loggops, parameter: usize, by: i64) -> i64 {
    let mut of = *of;
    of.parameters[parameter] += by;
    replay_goal(goal, &of).unwrap().end()
}

/// Asserts that derivatives are the differences over a picosecond, and that the path is one of the derivatives.
#[track_caller]
fn agrees(name: &str, goal: &Goal, of: &Loggops) -> Sensitivity {
    let found = sensitivity(goal, of).unwrap().1;
    let t = replay_goal(goal, of).unwrap().end();
    for (parameter, derivative) in found.derivatives.into_iter().enumerate() {
        let step = if parameter == G { 1_000_000 } else { 1 };
        let right = end(goal, of, parameter, step) - t;
        assert_eq!(derivative.right, right, "{name}: {parameter}, {of:?}");
        if of.parameters[parameter] > 0 {
            let left = t - end(goal, of, parameter, -step);
            assert_eq!(derivative.left, left, "{name}: {parameter}, {of:?}");
        }
        assert!(derivative.left <= derivative.right && !derivative.jumps, "{name}: {parameter}");
    }
    let path = &found.path;
    assert_eq!(path.steps.last().map_or(0, |step| step.end), t, "{name}");
    assert_eq!(path.steps.first().map_or(0, |step| step.begin), 0, "{name}");
    assert!(path.steps.windows(2).all(|two| two[0].end == two[1].begin), "{name}");
    assert_eq!(path.shares.iter().sum::<i64>() + path.computation, t, "{name}");
    let latencies = path.steps.iter().filter(|step| step.part == "flight").count() as i64;
    assert_eq!(path.shares[L], latencies * of.parameters[L], "{name}");
    let [of_latency, ..] = found.derivatives;
    assert!((of_latency.left..=of_latency.right).contains(&latencies), "{name}");
    found
}

#[test]
fn derivatives_are_finite_differences() {
    let expected = expected();
    let mut seen = 0;
    for (name, case) in expected["cases"].as_object().unwrap() {
        for (set, values) in expected["parameters"].as_object().unwrap() {
            if name.starts_with("27") || case[set].get("left_over").is_some() {
                continue;
            }
            agrees(name, &schedule(name), &loggops(values));
            seen += 1;
        }
    }
    assert_eq!(seen, 3 * 26);
}

#[test]
fn sweep3d_has_the_derivatives_that_loggopsim_gives() {
    let found = agrees("sweep3d", &schedule("sweep3d_2x2.goal.gz"), &Loggops::default());
    let [latency, overhead, ..] = found.derivatives;
    assert_eq!((latency.left, latency.right), (100, 100));
    assert_eq!((overhead.left, overhead.right), (3001, 3001));
    let ranks: std::collections::BTreeSet<u32> =
        found.path.steps.iter().map(|of| of.rank).collect();
    assert_eq!(ranks.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

/// What LogGOPSim takes by itself, with another parameter.
fn with(parameter: usize, value: i64) -> Loggops {
    let mut of = Loggops::default();
    of.parameters[parameter] = value;
    of
}

/// There and back beside a computation: T = max(4o + 2L, 20 000 ns).
fn beside() -> Goal {
    goal(
        "num_ranks 3\nrank 0 {\ns: send 1b to 1\nr: recv 1b from 1\nr requires s\n}\n\
          rank 1 {\nr: recv 1b from 0\ns: send 1b to 0\ns requires r\n}\nrank 2 {\ncalc 20000\n}\n",
    )
}

#[test]
fn the_next_critical_latency_is_where_another_path_becomes_longer() {
    let of = |latency: i64| with(L, latency);
    let found = sensitivity(&beside(), &of(2_500_000)).unwrap().1;
    assert_eq!(found.derivatives[0].right, 0);
    assert_eq!(found.path.computation, 20_000_000);
    assert_eq!(found.critical_latency, Some(7_000_000));
    // T may be 20 200 ns: L 7 100 ns.
    assert_eq!(found.tolerance, Some(7_100_000 - 2_500_000));
    // At the kink both sides differ.
    let kink = sensitivity(&beside(), &of(7_000_000)).unwrap().1.derivatives[0];
    assert_eq!((kink.left, kink.right, kink.jumps), (0, 2, false));
    // Behind it there is none.
    let behind = sensitivity(&beside(), &of(8_000_000)).unwrap().1;
    assert_eq!((behind.derivatives[0].left, behind.critical_latency), (2, None));
    assert_eq!(behind.tolerance, Some((4 * 1_500_000 + 2 * 8_000_000) / 100 / 2));
    assert_eq!(behind.path.steps.len(), 4);
    assert_eq!((behind.path.rank, behind.path.shares[O]), (0, 6_000_000));
}

#[test]
fn who_sends_nothing_depends_on_nothing() {
    let found =
        sensitivity(&goal("num_ranks 1\nrank 0 {\ncalc 5\n}\n"), &Loggops::default()).unwrap().1;
    assert!(found.derivatives.iter().all(|of| (of.left, of.right) == (0, 0)));
    assert_eq!((found.critical_latency, found.tolerance), (None, None));
}

#[test]
fn an_order_that_changes_makes_the_end_jump() {
    // Two messages come to one interface at one time, and to two processors. With o + ε the one of rank 0 is first, so
    // that what waits for it begins g earlier.
    let text = "num_ranks 3\nrank 0 {\nc: calc 1500 cpu 1\na: send 1b to 2 tag 1 cpu 1\na requires c\n}\n\
                rank 1 {\nb: send 1b to 2 tag 5 nic 1\nd: send 1b to 2 tag 2\nd requires b\n}\n\
                rank 2 {\nrecv 1b from 1 tag 5\na: recv 1b from 0 tag 1\nrecv 1b from 1 tag 2\ne: calc 9000 cpu 1\ne requires a\n}\n";
    let (goal, of) = (goal(text), with(2, 5_000_000));
    let [less, more] = [-1, 1].map(|by| end(&goal, &of, O, by) / 1000);
    assert_eq!((less, more), (20_999, 16_000));
    let [latency, overhead, ..] = sensitivity(&goal, &of).unwrap().1.derivatives;
    assert!(overhead.jumps && !latency.jumps);
    assert_eq!((overhead.left, overhead.right), (3, 2));
}
