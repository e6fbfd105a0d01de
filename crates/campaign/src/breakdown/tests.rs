use std::collections::BTreeMap;

use super::*;
use crate::tests::division::{CALLS, LINES, PLACES, of_message};
use crate::tests::scripted::{Scripted, probes, taking};

/// Truths in nanoseconds: the parts of the latency and of injection, and how many intervals of each of the latter there are for
/// a message.
const STAMP: f64 = 24.0;
const LATENCY: [f64; 4] = [50.0, 500.0, 150.0, 1000.0];
const INJECTION: [(f64, f64); 2] = [(1730.0, 2.0), (70.0, 5.0)];

/// The border at which what is inserted makes `visible` longer.
const VISIBLE: u8 = 2;

fn latency() -> &'static Model {
    &CALLS.models[0]
}

fn sum(of: [f64; 4]) -> f64 {
    of.iter().sum()
}

/// What both ranks stamp together in a batch of round trips, where each interval is so long.
fn both(each: f64) -> Executed {
    let count = 100;
    let rank = |ns| AtRank { ns, count, begun: count, passed: 0 };
    // The ranks' own sums differ, as those of what becomes visible do; both together count.
    let (sum, apart) = (each * count as f64, 1e6);
    Executed { at_border: vec![rank(sum + apart), rank(sum - apart)], ..Executed::default() }
}

/// A machine of these truths, whose parts of the latency are so long. Of what is inserted `back` comes back, by border.
fn machine_of(order: &Order, latency: [f64; 4], back: fn(u8) -> f64) -> Executed {
    let at = order.at_border.unwrap();
    let inserted = |border: u8| match at.inserted {
        Some((here, work)) if here == border => back(border) * work.picoseconds as f64 / 1e3,
        _ => 0.0,
    };
    let model = CALLS.models.iter().find(|model| model.kernel == order.kernel).unwrap();
    let place = model.parts.iter().position(|part| part.at == At::Point(at.point));
    let is_latency = model.name == "latency";
    match place {
        None if at.point == model.whole => {
            let longer: f64 = CALLS.borders().map(|(_, part, at)| part.share * inserted(at)).sum();
            let truth = if is_latency { sum(LATENCY) + longer } else { 1800.0 };
            taking(order, f64::from(model.messages * model.ways) * truth)
        }
        None => both(STAMP),
        Some(place) if is_latency => {
            let part = &model.parts[place];
            let longer = inserted(part.border.unwrap());
            both(latency[place] / part.share + part.stamps * STAMP + longer)
        }
        Some(place) => {
            let (truth, intervals) = INJECTION[place];
            let rank = |each: f64| AtRank {
                ns: 100.0 * (each + intervals * STAMP),
                count: 100 * intervals as u64,
                ..AtRank::default()
            };
            // The other rank's own are none of the requester's.
            Executed { at_border: vec![rank(truth), rank(1e7)], ..Executed::default() }
        }
    }
}

fn machine(order: &Order) -> Executed {
    machine_of(order, LATENCY, |_| 1.0)
}

fn plan() -> BreakdownPlan {
    BreakdownPlan { asked: Asked::usual(1e9), bytes: BYTES, inserted: vec![200.0] }
}

fn measured(answer: impl FnMut(&Order) -> Executed + 'static) -> Scripted {
    divided(&CALLS, answer)
}

fn divided(
    division: &'static Division,
    mut answer: impl FnMut(&Order) -> Executed + 'static,
) -> Scripted {
    let mut runner =
        Scripted::new(move |order| Ok(Executed { probe: probes(50.0, 50.0), ..answer(order) }));
    runner.division = division;
    plan().lead(&mut runner).unwrap();
    runner
}

fn rounds_of(runner: &Scripted, at: usize) -> Rounds {
    let division = runner.division;
    rounds(&plan().asked.unstamped().judge(&runner.kept), division, &division.models[at]).unwrap()
}

#[track_caller]
fn near(found: f64, truth: f64) {
    assert!((found - truth).abs() < 1e-6, "{found} {truth}");
}

#[test]
fn the_parts_come_back_without_the_cost_of_stamps_and_sum_up_to_the_whole() {
    let runner = measured(machine);
    let injection = INJECTION.map(|(truth, _)| truth);
    for (model, truths) in [&LATENCY[..], &injection].into_iter().enumerate() {
        let rounds = rounds_of(&runner, model);
        let judged = plan().asked.unstamped().judge(&runner.kept);
        near(stamp(&judged, &CALLS, PAIR).unwrap().value, STAMP);
        assert_eq!(rounds.parts.len(), truths.len());
        for ((_, values), truth) in rounds.parts.iter().zip(truths) {
            values.iter().for_each(|value| near(*value, *truth));
        }
        let whole = truths.iter().sum();
        rounds.observed.iter().for_each(|value| near(*value, whole));
        rounds.modelled().iter().for_each(|value| near(*value, whole));
        near(rounds.error(0.95).unwrap().value, 0.0);
        assert_eq!((rounds.rounds.len(), rounds.outside), (8, 0));
    }
}

#[test]
fn rounds_pair_their_own_batches_and_leave_out_what_is_outside_a_fence() {
    let mut batches = 0_usize;
    let runner = measured(move |order| {
        let turns = order.probed && order.at_border == Some(AtBorder::point(1));
        batches += usize::from(turns);
        // Of a round two of three batches, so that the middle one is out too; of the next one alone.
        if turns && [13, 14, 17].contains(&batches) {
            return both(90.0 * LATENCY[0]);
        }
        machine(order)
    });
    let rounds = rounds_of(&runner, 0);
    assert_eq!((rounds.rounds.len(), rounds.outside), (7, 1));
    near(rounds.error(0.95).unwrap().value, 0.0);
}

#[test]
fn what_is_inserted_comes_back_or_does_not() {
    let half = |border| if border == VISIBLE { 0.5 } else { 1.0 };
    let runner = measured(move |order| machine_of(order, LATENCY, half));
    let judged = plan().asked.unstamped().judge(&runner.kept);
    let came = came_back(&judged, &CALLS, &plan().inserted);
    let expected = [200.0, 100.0, 100.0, 200.0];
    assert_eq!(came.len(), expected.len());
    for ((came, part), longer) in came.iter().zip(latency().parts).zip(expected) {
        assert_eq!(came.component, part.name);
        near(came.part.inserted, part.share * 200.0);
        near(came.part.value, longer);
        near(came.whole.value, longer);
    }
}

#[test]
fn a_division_derives_parts_from_floors_and_a_computation() {
    let mut runner = divided(&LINES, |order| {
        // Half a round trip of the floor is 150 ns, and 4 more with the computation.
        let line = |ns: f64| taking(order, 2.0 * 100.0 * ns);
        if order.kernel == "floor" {
            assert!(order.parameters["floor"] == "line" && order.on.is_none());
            let turn = order.parameters["turn"].as_u64().unwrap();
            assert!([0, 12].contains(&turn), "{turn}");
            return line(150.0 + turn as f64 / 3.0);
        }
        match (&*order.kernel, order.at_border) {
            ("ping_pong", Some(AtBorder { point: 1, inserted: None })) => both(12.0),
            ("ping_pong", Some(AtBorder { point: 0, inserted: None })) => line(160.0),
            other => panic!("{other:?}"),
        }
    });
    let rounds = rounds_of(&runner, 0);
    for ((part, values), (name, truth)) in
        rounds.parts.iter().zip([("line", 150.0), ("added", 4.0)])
    {
        assert_eq!(part.name, name);
        values.iter().for_each(|value| near(*value, truth));
    }
    let hidden = rounds.hidden.as_ref().unwrap();
    assert!(hidden.is_seen);
    hidden.values.iter().for_each(|value| near(*value, 8.0));
    rounds.observed.iter().for_each(|value| near(*value, 160.0));
    // A batch that fails while a computation is chosen ends the run.
    runner.answer = Box::new(|_| Err(Stop::Interrupted));
    let mut dividing = Dividing { plan: &plan(), division: &LINES };
    assert!(matches!(dividing.points(&mut runner), Err(Stop::Interrupted)));
}

/// Parts of 300, 90 and 20 ns, the last ahead of the second in one interval, that overlap by 30 ns, and each of which every
/// message has so often.
fn places(times: u64) -> Scripted {
    divided(&PLACES, move |order| match order.at_border.unwrap().point {
        9 => {
            let mut done = taking(order, 200.0 * 380.0);
            // The ranks need not pass the same.
            done.at_border = [1, 4].map(|passed| AtRank { passed, ..AtRank::default() }).into();
            done
        }
        7 => taking(order, 200.0 * (390.0 + 4.0 * STAMP)),
        // A place that is not passed has a count, too.
        2 => Executed { at_border: vec![AtRank::default(); 2], ..Executed::default() },
        point => {
            let each = [300.0, 0.0, 90.0, 110.0].get(usize::from(point) - 1);
            let stamp = if [3, 10].contains(&point) { 2.0 * STAMP } else { STAMP };
            let mut done = both(each.unwrap_or(&0.0) + stamp);
            if point >= 8 {
                return both(stamp);
            }
            done.at_border.iter_mut().for_each(|rank| rank.begun *= times);
            done
        }
    })
}

#[test]
fn a_part_that_no_message_passes_is_left_out_and_overlap_is_beside_the_model() {
    let runner = places(1);
    let rounds = rounds_of(&runner, 0);
    let names: Vec<&str> = rounds.parts.iter().map(|(part, _)| part.name).collect();
    assert_eq!(names, ["post", "receive", "ahead"]);
    rounds.parts[2].1.iter().for_each(|value| near(*value, 20.0));
    rounds.modelled().iter().for_each(|value| near(*value, 410.0));
    rounds.overlap.unwrap().iter().for_each(|value| near(*value, 10.0));
    let asked = plan().asked.unstamped();
    let seen = passed(&asked.judge(&runner.kept), &PLACES, &PLACES.models[0]);
    assert_eq!(seen, ["short", "callback"]);
    let inexact = |runner: &Scripted| inexact(&asked.judge(&runner.kept), &PLACES.models[0]);
    // Each place is passed once, or twice.
    assert_eq!([inexact(&runner), inexact(&places(2))], [None, Some(("post", 2.0))]);
}

#[test]
fn what_is_stamped_has_no_checked_batch() {
    let runner = measured(machine);
    let checked: Vec<AtBorder> = runner.checked().filter_map(|order| order.at_border).collect();
    assert_eq!(checked, [AtBorder::point(9); 2]);
}

/// Rounds of a part.
fn count(runner: &Scripted, model: usize, part: &str) -> u32 {
    runner.kept.batches(&key(&CALLS.models[model], part)).len() as u32 / VISITS
}

#[test]
fn rounds_go_on_while_it_is_undecided_whether_a_model_is_within_its_limit() {
    // A receive that its stamps see too short, and that is apart by 2 % from round to round.
    let rounds_of = |error: f64| {
        let mut batches = 0_u32;
        let runner = measured(move |order| {
            let mut parts = LATENCY;
            if order.at_border == Some(AtBorder::point(4)) {
                batches += u32::from(order.probed);
                let apart = 1.0 + 0.01 * f64::from(batches / VISITS % 3) - 0.01;
                parts[3] = parts[3] * apart - error * sum(LATENCY);
            }
            machine_of(order, parts, |_| 1.0)
        });
        count(&runner, 0, "turn")
    };
    assert_eq!([rounds_of(0.0), rounds_of(0.09)], [8, 8]);
    assert!(rounds_of(0.05) > 20, "{}", rounds_of(0.05));
}

#[test]
fn rounds_of_the_latency_go_on_while_it_is_undecided_what_came_back() {
    // What comes back of what is inserted before a send is apart by as much as this from round to round.
    let batches_of = |apart: f64| {
        let mut batches = 0_u32;
        let runner = measured(move |order| {
            let mut done = machine(order);
            let at = order.at_border.unwrap();
            if at.point == VISIBLE && at.inserted.is_some_and(|(border, _)| border == VISIBLE) {
                batches += u32::from(order.probed);
                let sign = if (batches / VISITS).is_multiple_of(2) { 1.0 } else { -1.0 };
                done.at_border[0].ns += sign * apart * done.at_border[0].count as f64;
            }
            done
        });
        [count(&runner, 0, "receive"), count(&runner, 1, "own")]
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
    let bandgap_stats::BatchEstimate { value, interval, .. } =
        rounds::over(&kept, &values, 0.95).unwrap();
    assert!((value - 200.5).abs() < 0.1, "{value}");
    // t(2)·100/√3.
    assert!((interval.half_width() - 248.4).abs() < 1.0, "{interval:?}");
}

#[test]
fn the_error_holds_how_launches_differ_and_how_rounds_drift() {
    let of = |rounds: Vec<u64>, observed: Vec<f64>| Rounds {
        parts: vec![(&latency().parts[0], vec![100.0; rounds.len()])],
        rounds,
        observed,
        outside: 0,
        held_up: 1.0,
        overlap: None,
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

/// Of a window, as often as messages.
const WINDOW: bandgap_comm::division::Part =
    bandgap_comm::division::Part { exact: Some(1.0), ..of_message("window", 1) };

#[test]
fn a_window_whose_intervals_do_not_belong_together_has_no_time() {
    let model = Model { parts: &[WINDOW], ..CALLS.models[1] };
    let division = Box::leak(Box::new(Division { models: Box::leak(Box::new([model])), ..CALLS }));
    let (plan, model) = (plan(), &division.models[0]);
    let split = |count| {
        let point = point(model, key(model, WINDOW.name), AtBorder::point(1)).unwrap();
        let rank = AtRank { ns: 500.0, count, begun: 100, passed: 0 };
        let done = Executed { at_border: vec![rank], ..Executed::default() };
        Dividing { plan: &plan, division }.split(&point, &done)
    };
    let time = (key(model, WINDOW.name), vec![5.0]);
    let count = (count_key(model, WINDOW.name), vec![1.0]);
    assert_eq!(split(100), [time, count.clone()]);
    assert_eq!(split(0), [count]);
}
