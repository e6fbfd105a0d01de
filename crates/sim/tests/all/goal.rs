//! GOAL schedules: LogGOPSim's results, and an independent model on random schedules.

mod finite;
mod model;
mod noise;
mod reading;
mod slopes;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use bandgap_sim::{Goal, GoalError, GoalReplay, Loggops, read_goal};
use serde_json::Value;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goal")
}

fn schedule(name: &str) -> Goal {
    read_goal(File::open(folder().join(name)).unwrap())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn goal(text: &str) -> Goal {
    read_goal(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Replays a schedule without noise.
pub fn replay_goal(goal: &Goal, loggops: &Loggops) -> Result<GoalReplay, GoalError> {
    bandgap_sim::replay_goal(goal, loggops, None, &AtomicU64::new(0))
}

fn expected() -> Value {
    serde_json::from_reader(File::open(folder().join("expected.json")).unwrap()).unwrap()
}

fn loggops(values: &Value) -> Loggops {
    let pairs = values.as_object().unwrap().iter().map(|(key, value)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join(",").parse().unwrap()
}

#[test]
fn loggopsims_results() {
    let expected = expected();
    let (mut compared, mut endless) = (0, 0);
    for (name, case) in expected["cases"].as_object().unwrap() {
        let goal = schedule(name);
        for (set, values) in expected["parameters"].as_object().unwrap() {
            let result = &case[set];
            let replayed = replay_goal(&goal, &loggops(values));
            // LogGOPSim says nothing of a cycle.
            if name.starts_with("27") || result.get("left_over").is_some() {
                let error = replayed.expect_err(name);
                assert!(error.is_endless(), "{name}, {set}: {error}");
                endless += 1;
                continue;
            }
            let replayed = replayed.unwrap_or_else(|error| panic!("{name}, {set}: {error}"));
            match result.get("finish") {
                Some(finish) => {
                    let ns: Vec<i64> = replayed.finish().map(|ps| ps / 1000).collect();
                    assert_eq!(serde_json::json!(ns), *finish, "{name}, {set}");
                    assert!(replayed.finish().all(|ps| ps % 1000 == 0), "{name}, {set}");
                }
                None => assert_eq!(
                    replayed.end(),
                    1000 * result["max"].as_i64().unwrap(),
                    "{name}, {set}"
                ),
            }
            compared += 1;
        }
    }
    assert_eq!((compared, endless), (3 * 26, 3 * 6));
}

#[test]
fn what_cannot_end_is_told_with_its_places() {
    let all = |name: &str| replay_goal(&schedule(name), &Loggops::default()).unwrap_err();
    let GoalError::Unmatched(left) = all("24_unmatched_send.goal") else { panic!() };
    let [left] = &left[..] else { panic!("{left:?}") };
    assert_eq!((left.place.rank, left.place.number, left.place.line), (0, 2, Some(4)));
    assert_eq!((left.sends, left.peer, left.tag), (true, Some(1), Some(1)));

    for (name, sends) in
        [("25_deadlock_rendezvous.goal", true), ("26_deadlock_receives.goal", false)]
    {
        let GoalError::Deadlock(left) = all(name) else { panic!("{name}") };
        assert_eq!(left.iter().filter(|of| of.sends == sends).count(), 2, "{name}: {left:?}");
        assert_eq!(left.len(), 2);
    }

    let GoalError::Cycle(places) = all("27_cyclic_dependency.goal") else { panic!() };
    let lines: Vec<_> = places.iter().map(|of| (of.rank, of.number, of.line)).collect();
    assert_eq!(lines, [(0, 2, Some(4)), (0, 3, Some(5))]);

    let itself = goal("num_ranks 1\nrank 0 {\na: calc 1\na irequires a\n}\n");
    let error = replay_goal(&itself, &Loggops::default()).unwrap_err();
    assert!(matches!(error, GoalError::Cycle(places) if places.len() == 1));
    let alone =
        goal("num_ranks 2\nrank 0 {\nr: recv 1b from -1 tag -1\nc: calc 1\nc requires r\n}\n");
    let error = replay_goal(&alone, &Loggops::default()).unwrap_err();
    let GoalError::Unmatched(left) = error else { panic!() };
    assert_eq!((left[0].peer, left[0].tag, left[0].sends), (None, None, false));
}

/// Schedgen's binomial broadcast: after it has the message, each rank sends to those 2^k further on, the nearest first.
fn binomial(ranks: usize) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        text += &format!("rank {rank} {{\n");
        let mut step = 1;
        if rank > 0 {
            let parent = rank - (1 << rank.ilog2());
            text += &format!("r: recv 8b from {parent}\n");
            step = 2 << rank.ilog2();
        }
        while rank + step < ranks {
            text += &format!("s{step}: send 8b to {}\n", rank + step);
            if rank > 0 {
                text += &format!("s{step} requires r\n");
            }
            step *= 2;
        }
        text += "}\n";
    }
    text
}

#[test]
fn what_is_ready_at_once_keeps_the_order_of_the_file() {
    // Every round takes 2o + L + 7G; from 2^17 ranks on LogGOPSim sorts the sends of rank 0 otherwise.
    for rounds in [1, 4, 16, 18] {
        let replayed = replay_goal(&goal(&binomial(1 << rounds)), &Loggops::default()).unwrap();
        assert_eq!(replayed.end(), 1000 * rounds * (2 * 1500 + 2500 + 7 * 6), "{rounds}");
        assert_eq!(replayed.messages, (1 << rounds) - 1);
    }
}

#[test]
fn a_byte_may_cost_less_than_a_nanosecond() {
    let both = "num_ranks 2\nrank 0 {\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\n}\n";
    let loggops: Loggops = "L=1000,o=100,g=5,G=0.04,S=65535".parse().unwrap();
    assert!(replay_goal(&goal(both), &loggops).unwrap().finish().eq([100_000, 1_240_000]));
}

#[test]
fn times_that_do_not_fit_are_an_error() {
    let text = "num_ranks 1\nrank 0 {\na: calc 9223372036854775807\nb: calc 5\nb requires a\n}\n";
    let error = replay_goal(&goal(text), &Loggops::default()).unwrap_err();
    assert!(matches!(error, GoalError::TooLong(0)), "{error}");
    let text =
        "num_ranks 2\nrank 0 {\nsend 9223372036854775807b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n";
    let error = replay_goal(&goal(text), &Loggops::default()).unwrap_err();
    assert!(matches!(error, GoalError::TooLong(_)), "{error}");
}
