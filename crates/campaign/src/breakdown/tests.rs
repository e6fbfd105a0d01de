use std::collections::BTreeMap;

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_kernels::Kernel;

use super::*;
use crate::tests::scripted::{Scripted, probes, taking};

/// Truths in nanoseconds: what is timed of the latency, of injection, and of one processor alone.
const STAMP: f64 = 24.0;
const TURN: f64 = 50.0;
const VISIBLE: f64 = 500.0;
const GAP: f64 = 300.0;
const RECEIVE: f64 = 1000.0;
const LATENCY: f64 = TURN + VISIBLE + GAP / 2.0 + RECEIVE;
const SENDS: f64 = 900.0;
const RECEIVES: f64 = 800.0;
const FAILING: f64 = 30.0;
const OWN: f64 = 70.0;
const INJECTION: f64 = SENDS + RECEIVES + FAILING + OWN;

/// What both ranks stamp together in a batch of round trips, where each interval is so long.
fn both(each: f64, count: u64) -> Executed {
    let rank = |ns| AtRank { ns, count };
    // The ranks' own sums differ, as those of what becomes visible do; both together count.
    let (sum, apart) = (each * count as f64, 1e6);
    Executed { at_border: vec![rank(sum + apart), rank(sum - apart)], ..Executed::default() }
}

/// What the requester stamps of a message, in so many intervals.
fn requester(each: f64, intervals: u64) -> Executed {
    let messages = u64::from(REQUESTS);
    let (ns, count) = (each * messages as f64, intervals * messages);
    let rank = |ns| AtRank { ns, count };
    Executed { at_border: vec![rank(ns), rank(1e9)], ..Executed::default() }
}

/// The bare exchange, longer by so much.
fn bare(order: &Order, longer: f64) -> Executed {
    taking(order, 2.0 * 100.0 * (150.0 + longer))
}

/// A machine of these truths. Of what is inserted `back` comes back, by border.
fn machine(order: &Order, back: fn(Border) -> f64) -> Executed {
    let Some(at) = order.at_border else {
        // As long as the software of one way; two thirds of it are hidden.
        let turn = order.parameters["turn"].as_u64().unwrap();
        assert!(turn == 0 || turn == 5, "{order:?}");
        return bare(order, turn as f64);
    };
    let inserted = |border: Border| match at.inserted {
        Some((here, work)) if here == border => back(border) * work.picoseconds as f64 / 1e3,
        _ => 0.0,
    };
    if order.kernel == Burst::NAME {
        let messages = f64::from(REQUESTS);
        return match at.stamping {
            Stamping::Nothing => taking(order, INJECTION * messages),
            Stamping::Send => requester(SENDS + STAMP, 1),
            Stamping::Receive => requester(RECEIVES + 2.0 * STAMP, 2),
            Stamping::Failing => requester(FAILING + STAMP, 1),
            Stamping::Own => requester(OWN + 4.0 * STAMP, 4),
            other => panic!("{other:?}"),
        };
    }
    let count = u64::from(ROUND_TRIPS);
    let whole: f64 = BORDERS.map(|(border, part)| share(part) * inserted(border)).iter().sum();
    match at.stamping {
        Stamping::Nothing => taking(order, 2.0 * f64::from(ROUND_TRIPS) * (LATENCY + whole)),
        Stamping::Turn => both(TURN + STAMP + inserted(Border::Turn), count),
        Stamping::Visible => both(VISIBLE + inserted(Border::Send), count),
        Stamping::Gap => both(GAP + STAMP + inserted(Border::Poll), count),
        Stamping::Receive => both(RECEIVE + STAMP + inserted(Border::Receive), count),
        Stamping::Pair => both(STAMP, count),
        Stamping::Together => both(40.0 + 2.0 * STAMP, count),
        // Each block of a computation takes 3 ns.
        Stamping::Lines => {
            let blocks = at.inserted.map_or(0, |(_, computation)| computation.iterations);
            both(10.0 + 2.0 * 3.0 * f64::from(blocks) + 2.0 * STAMP, count)
        }
        other => panic!("{other:?}"),
    }
}

fn plan(divided: Division) -> BreakdownPlan {
    BreakdownPlan { asked: Asked::usual(1e9), divided, inserted: vec![200.0] }
}

fn measured(plan: &BreakdownPlan, back: fn(Border) -> f64) -> Scripted {
    let mut runner = Scripted::new(move |order| {
        Ok(Executed { probe: probes(50.0, 50.0), ..machine(order, back) })
    });
    plan.lead(&mut runner).unwrap();
    runner
}

fn near(found: f64, truth: f64) {
    assert!((found - truth).abs() < 1e-6, "{found} {truth}");
}

#[test]
fn the_parts_come_back_without_the_cost_of_stamps_and_sum_up_to_the_whole() {
    let plan = plan(Division::Calls);
    let runner = measured(&plan, |_| 1.0);
    let judged = plan.asked.unstamped().judge(&runner.kept);
    for (model, truths, whole) in [
        (Model::Latency, [TURN, VISIBLE, GAP / 2.0, RECEIVE], LATENCY),
        (Model::Injection, [SENDS, RECEIVES, FAILING, OWN], INJECTION),
    ] {
        let rounds = rounds(&judged, model, &plan.divided).unwrap();
        near(rounds.stamp, STAMP);
        for ((_, values), truth) in rounds.parts.iter().zip(truths) {
            values.iter().for_each(|value| near(*value, truth));
        }
        rounds.observed.iter().for_each(|value| near(*value, whole));
        rounds.modelled().iter().for_each(|value| near(*value, whole));
        let error = rounds.error(0.95).unwrap();
        near(error.value, 0.0);
        assert_eq!((rounds.rounds.len(), rounds.outside), (8, 0));
    }
}

#[test]
fn rounds_pair_their_own_batches_and_leave_out_what_is_outside_a_fence() {
    let plan = plan(Division::Calls);
    // All of a round is slower by the same factor, and in one round a part alone.
    let mut batches = 0_usize;
    let mut runner = Scripted::new(move |order| {
        let timed = order.probed && order.kernel == PingPong::NAME;
        let turns = order.at_border.is_some_and(|at| at.stamping == Stamping::Turn);
        let executed = machine(order, |_| 1.0);
        if timed && turns && order.at_border.unwrap().inserted.is_none() {
            batches += 1;
            // Of a round two of three batches, so that the middle one is out too; of the next one alone.
            if [13, 14, 17].contains(&batches) {
                return Ok(both(90.0 * TURN, u64::from(ROUND_TRIPS)));
            }
        }
        Ok(executed)
    });
    plan.lead(&mut runner).unwrap();
    let judged = plan.asked.unstamped().judge(&runner.kept);
    let rounds = rounds(&judged, Model::Latency, &plan.divided).unwrap();
    assert_eq!((rounds.rounds.len(), rounds.outside), (7, 1));
    near(rounds.error(0.95).unwrap().value, 0.0);
}

#[test]
fn what_is_inserted_comes_back_or_does_not() {
    let plan = plan(Division::Calls);
    let half_in_sends = |border| if border == Border::Send { 0.5 } else { 1.0 };
    let runner = measured(&plan, half_in_sends);
    let came = came_back(&plan.asked.unstamped().judge(&runner.kept), &plan.inserted);
    let found: Vec<(&str, f64, f64, f64)> = came
        .iter()
        .map(|came| (came.component, came.part.inserted, came.part.value, came.whole.value))
        .collect();
    for ((name, inserted, part, whole), expected) in found.iter().zip([
        ("turn", 200.0, 200.0),
        ("visible", 200.0, 100.0),
        ("poll", 100.0, 100.0),
        ("receive", 200.0, 200.0),
    ]) {
        assert_eq!(*name, expected.0);
        near(*inserted, expected.1);
        near(*part, expected.2);
        near(*whole, expected.2);
    }
    assert_eq!(found.len(), 4);
}

#[test]
fn lines_are_divided_into_the_transfer_and_what_half_of_the_software_adds() {
    let floor = Floor::new("ring_lines", "", HalfRoundTrip, 100);
    let plan = plan(Division::Lines(floor));
    assert_eq!(plan.reaches(), Reaches::Stamps);
    let runner = measured(&plan, |_| 1.0);
    let judged = plan.asked.unstamped().judge(&runner.kept);
    let rounds = rounds(&judged, Model::Latency, &plan.divided).unwrap();
    let [(slot, slots), (software, halves)] = &rounds.parts[..] else { panic!("two parts") };
    assert_eq!([*slot, *software], ["slot", "software"]);
    slots.iter().for_each(|value| near(*value, 150.0));
    // (40 − 10)/2, of which two thirds are hidden.
    halves.iter().for_each(|value| near(*value, 5.0));
    let hidden = rounds.hidden.as_ref().unwrap();
    assert_eq!(hidden.seen, Seen::Yes);
    hidden.values.iter().for_each(|value| near(*value, 10.0));
}

#[test]
fn what_is_stamped_has_no_checked_batch() {
    let plan = plan(Division::Calls);
    let runner = measured(&plan, |_| 1.0);
    let checked: Vec<AtBorder> = runner.checked().filter_map(|order| order.at_border).collect();
    assert_eq!(checked, [AtBorder::default(); 2]);
}

#[test]
fn rounds_go_on_while_it_is_undecided_whether_a_model_is_within_its_limit() {
    // A receive that its stamps see 7 % too short: 5.1 % or so of the whole, give or take.
    let rounds_of = |error: f64| {
        let missed = error * LATENCY;
        let mut batches = 0_u32;
        let mut runner = Scripted::new(move |order| {
            let plain = order.at_border.is_some_and(|at| at.inserted.is_none());
            if plain
                && order.at_border.unwrap().stamping == Stamping::Receive
                && order.kernel == PingPong::NAME
            {
                batches += u32::from(order.probed);
                // Rounds apart by 2 %.
                let apart = 1.0 + 0.01 * f64::from(batches / VISITS % 3) - 0.01;
                return Ok(both(RECEIVE * apart - missed + STAMP, u64::from(ROUND_TRIPS)));
            }
            Ok(machine(order, |_| 1.0))
        });
        let plan = plan(Division::Calls);
        plan.lead(&mut runner).unwrap();
        runner.kept.batches(&key(Model::Latency, Stamping::Turn)).len() as u32 / VISITS
    };
    assert_eq!([rounds_of(0.0), rounds_of(0.09)], [8, 8]);
    assert!(rounds_of(0.05) > 20, "{}", rounds_of(0.05));
}

#[test]
fn rounds_of_the_latency_go_on_while_it_is_undecided_what_came_back() {
    // What comes back of what is inserted before a send is apart by as much as this from round to round.
    let batches_of = |apart: f64| {
        let mut batches = 0_u32;
        let mut runner = Scripted::new(move |order| {
            let mut done = machine(order, |_| 1.0);
            let inserted = order.at_border.and_then(|at| at.inserted);
            if inserted.is_some_and(|(border, _)| border == Border::Send)
                && order.at_border.unwrap().stamping == Stamping::Visible
            {
                batches += u32::from(order.probed);
                let sign = if (batches / VISITS).is_multiple_of(2) { 1.0 } else { -1.0 };
                done.at_border[0].ns += sign * apart * done.at_border[0].count as f64;
            }
            Ok(done)
        });
        let plan = plan(Division::Calls);
        plan.lead(&mut runner).unwrap();
        [Model::Latency, Model::Injection]
            .map(|model| runner.kept.batches(&key(model, Stamping::Receive)).len() as u32 / VISITS)
    };
    assert_eq!(batches_of(0.0), [8, 8]);
    let [latency, injection] = batches_of(100.0);
    assert!(latency > *ROUNDS.end() && injection == 8, "{latency} {injection}");
}

#[test]
fn launches_have_fences_of_their_own_and_their_variance_is_in_the_interval() {
    let rounds: Vec<u64> =
        (0..3).flat_map(|launch| (0..8).map(move |at| launch << 32 | at)).collect();
    // Three launches far apart, each of them exact but for one stall in the last.
    let values: Vec<f64> = (0..24)
        .map(|at| match at {
            23 => 5000.0,
            at => [100.0, 200.0, 300.0][at / 8] + (at % 2) as f64,
        })
        .collect();
    let all: BTreeMap<u64, f64> = rounds.iter().copied().zip(values).collect();
    let kept = rounds::inside(&[&all], &rounds);
    assert_eq!(kept, rounds[..23]);
    let values: Vec<f64> = kept.iter().map(|round| all[round]).collect();
    let (value, interval) = rounds::over(&kept, &values, 0.95).unwrap();
    assert!((value - 200.5).abs() < 0.1, "{value}");
    // t(2)·100/√3.
    assert!((interval.half_width() - 248.4).abs() < 1.0, "{interval:?}");
}

#[test]
fn the_error_holds_how_launches_differ_and_how_rounds_drift() {
    let of = |rounds: Vec<u64>, observed: Vec<f64>| Rounds {
        parts: vec![("turn", vec![100.0; rounds.len()])],
        rounds,
        observed,
        outside: 0,
        stamp: 0.0,
        held_up: 1.0,
        hidden: None,
    };
    let launches: Vec<u64> =
        (0..3).flat_map(|launch| (0..8).map(move |at| launch << 32 | at)).collect();
    let observed: Vec<f64> = (0..24).map(|at| [98.0, 100.0, 102.0][at / 8]).collect();
    let error = of(launches, observed.clone()).error(0.95).unwrap();
    // t(2)·2/√3 of 100; by rounds alone, as if all were of one launch, it is a fifth of that.
    assert!((error.interval.half_width() - 0.0497).abs() < 0.001, "{error:?}");
    let turns = |order: [f64; 3]| -> f64 {
        let observed = (0..24).map(|at| order[at % 3]).collect();
        of((0..24).collect(), observed).error(0.95).unwrap().interval.half_width()
    };
    let mixed = turns([98.0, 102.0, 100.0]);
    let drifting = of((0..24).collect(), observed).error(0.95).unwrap().interval.half_width();
    assert!(
        mixed < 0.008 && (drifting / mixed - 2.0_f64.sqrt()).abs() < 0.05,
        "{drifting} {mixed}"
    );
}

/// What of the software adds to a message over lines, where the computation makes the bare loop longer by `longer`, give or
/// take 3 ns from round to round, and takes `block` ns a block on one processor.
fn over_lines(longer: f64, block: f64) -> (f64, Interval, Seen) {
    let plan = plan(Division::Lines(Floor::new("ring_lines", "", HalfRoundTrip, 100)));
    let mut batches = 0_u32;
    let mut runner = Scripted::new(move |order| {
        let done = match order.at_border {
            None if order.parameters["turn"] != 0 => {
                let round = batches / VISITS;
                batches += u32::from(order.probed);
                bare(order, longer + [-3.0, 0.0, 3.0][round as usize % 3])
            }
            Some(at) if at.stamping == Stamping::Lines => {
                let blocks = at.inserted.map_or(0, |(_, computation)| computation.iterations);
                both(10.0 + 2.0 * block * f64::from(blocks) + 2.0 * STAMP, 1)
            }
            _ => machine(order, |_| 1.0),
        };
        Ok(Executed { probe: probes(50.0, 50.0), ..done })
    });
    plan.lead(&mut runner).unwrap();
    let judged = plan.asked.unstamped().judge(&runner.kept);
    let rounds = rounds(&judged, Model::Latency, &plan.divided).unwrap();
    let (value, interval) = rounds.mean(&rounds.parts[1].1, 0.95).unwrap();
    (value, interval, rounds.hidden.unwrap().seen)
}

#[test]
fn a_share_at_its_bound_is_as_uncertain_as_one_beside_it() {
    // The software of one way takes 15 ns, and so does the computation.
    let ((below, from, seen), (above, to, unseen)) = (over_lines(14.7, 3.0), over_lines(15.3, 3.0));
    assert_eq!([seen, unseen], [Seen::Yes, Seen::LongerThanItself]);
    assert!((below - 14.7).abs() < 0.5 && (above - 15.0).abs() < 0.5, "{below} {above}");
    let widths = [from, to].map(|interval| interval.half_width());
    assert!(widths[0] > 1.0 && (widths[1] / widths[0] - 1.0).abs() < 0.1, "{widths:?}");
}

#[test]
fn a_computation_that_takes_no_time_shows_nothing_of_what_is_hidden() {
    let (software, _, seen) = over_lines(5.0, 0.0);
    assert_eq!(seen, Seen::NoComputation);
    near(software, 15.0);
}
