use std::collections::BTreeSet;

use bandgap_comm::{Floor, Yields};
use bandgap_kernels::{Comms3, ISSUE, Kernel, Order, WHOLE};

use super::*;
use crate::tests::scripted::{Scripted, probes, taking};

fn plan(steps: Vec<Step>) -> SeriesPlan {
    SeriesPlan { asked: Asked::usual(1e9), steps, samples: 50 }
}

fn step(series: &str, bytes: u32, messages: u32) -> Step {
    Step { pair: [1, 0], ..Step::new(series, bytes, messages, 2) }
}

#[test]
fn a_sweep_visits_each_number_of_ranks_in_the_same_rounds() {
    let sizes = [step("comms3", 0, 2), step("comms3", 64, 2)];
    let plan =
        plan([2, 3, 4].map(|ranks| sizes.clone().map(|step| Step { ranks, ..step })).concat());
    let mut runner = Scripted::new(|order| Ok(taking(order, 100.0 * order.ranks as f64)));
    runner.size = 4;
    plan.lead(&mut runner).unwrap();
    let timed: Vec<&Order> = runner.timed().collect();
    let first: BTreeSet<(usize, u64)> = timed[..6]
        .iter()
        .map(|order| (order.ranks, order.parameters["bytes"].as_u64().unwrap()))
        .collect();
    let all = BTreeSet::from([(2, 0), (2, 64), (3, 0), (3, 64), (4, 0), (4, 64)]);
    assert_eq!(first, all);
    assert_eq!(timed.len(), 8 * 6);
    for ranks in [2, 3, 4] {
        let step = Step { ranks, ..sizes[1].clone() };
        let of_key = key(&step, WHOLE);
        assert_eq!(of_key.number("ranks"), Some(ranks as u64));
        // Two operations in a sample.
        let judged = plan.asked.judge(&runner.kept);
        let values: Vec<f64> = judged.in_rounds(&of_key).map(|(_, value)| value).collect();
        assert_eq!(values, [50.0 * ranks as f64; 8]);
    }
    assert_eq!(timed[0].kernel, Comms3::NAME);
}

#[test]
fn pairs_at_several_distances_all_converge() {
    let steps = [[0, 1], [0, 2]].map(|pair| Step { pair, ..Step::new("comms1", 8, 1, 3) });
    let mut runner = Scripted::new(|order| {
        let near = order.parameters["pair"]["replier"] == 1;
        let line = if near { 30.0 } else { 140.0 };
        Ok(Executed { probe: probes(line, line), ..taking(order, 10.0 * line) })
    });
    (runner.size, runner.cost) = (3, 0.1);
    let plan = SeriesPlan { asked: Asked::usual(100.0), ..plan(steps.to_vec()) };
    plan.lead(&mut runner).unwrap();
    let judged = plan.asked.judge(&runner.kept);
    for (step, truth) in steps.iter().zip([150.0, 700.0]) {
        let key = key(step, WHOLE);
        let point = judged.point(&key).unwrap();
        assert_eq!((point.value, point.batches), (truth, 8), "{key:?}");
    }
}

#[test]
fn a_time_is_that_of_one_operation_one_way() {
    let steps = vec![
        step("comms1", 8, 4),
        step("comms2", 8, 4),
        step("synch1", 0, 4),
        step("bulk_get", 8, 4),
    ];
    let plan = plan(steps.clone());
    let mut runner = Scripted::steady(800.0);
    plan.lead(&mut runner).unwrap();
    let judged = plan.asked.judge(&runner.kept);
    let whole = |at: usize| judged.point(&key(&steps[at], WHOLE)).map(|point| point.value);
    // 4 round trips, 4 exchanges, 4 barriers; transfers are looked at as a burst.
    assert_eq!([0, 1, 2, 3].map(whole), [100.0, 100.0, 200.0, 800.0].map(Some));
    let issue = |at: usize| runner.kept.batches(&key(&steps[at], ISSUE)).len();
    assert_eq!([0, 1, 2, 3].map(issue), [0, 0, 0, 8]);
    // And both are of the same batches: eight of each step.
    assert_eq!(runner.kept.executed().count(), 4 * 8);
    // Rank 1 begins, as the plan says.
    let comms1 = runner.timed().find(|order| order.kernel == "comms1").unwrap();
    assert_eq!(comms1.parameters["pair"]["requester"], 1);
}

#[test]
fn long_messages_have_fewer_samples_and_virtual_time_two() {
    let steps = [64 << 10, 1 << 20, 32 << 20].map(|bytes| step("comms1", bytes, 1));
    let samples = |virtual_time| {
        let mut runner = Scripted::steady(100.0);
        runner.virtual_time = virtual_time;
        plan(steps.to_vec()).lead(&mut runner).unwrap();
        let of = |bytes: u32| {
            let is = |order: &&Order| order.parameters["bytes"] == bytes;
            runner.timed().find(is).unwrap().samples
        };
        [of(64 << 10), of(1 << 20), of(32 << 20)]
    };
    // 2 MiB a batch, but 8 at least, and 3 of those longer than 16 MiB.
    assert_eq!(samples(false), [32, 8, 3]);
    assert_eq!(samples(true), [2, 2, 2]);
}

#[test]
fn room_is_for_slots_and_for_the_messages_of_timed_and_checked_batches() {
    let tuning = Tuning::DEFAULT;
    let slots = tuning.memory(2).next_multiple_of(4096);
    let room = |series, bytes, messages| plan(vec![step(series, bytes, messages)]).room(2, &tuning);
    let of = |exposed, places| Room { exposed, memory: exposed + places };
    assert_eq!(room("comms1", 1 << 30, 1), of(slots, 2 << 30));
    // Sixteen places each way while they are checked.
    assert_eq!(room("comms1", 4096, 16), of(slots, 32 * 4096));
    // Too many for that are not checked: one place each way.
    assert_eq!(room("comms1", 32 << 20, 16), of(slots, 64 << 20));
    assert_eq!(room("synch1", 0, 16), of(slots, 0));
    // From memory to memory, 8 MiB each way at least.
    assert_eq!(room("bulk_get", 8, 1), Room::exposed(16 << 20));
    assert_eq!(room("bulk_store", 1 << 30, 1), Room::exposed(2 << 30));
}

#[test]
fn a_floor_is_measured_for_steps_like_it_between_the_ranks_that_floors_are_between() {
    let beside = |yields| {
        let floor = Floor::new("floor", "", yields, 1);
        let results = ["bulk_get", "barrier"].map(str::to_owned).into();
        Beside { floor, results }
    };
    let has = |yields, step: Step| plan(vec![step]).has_like(&beside(yields));
    let get = |bytes| Step::new("bulk_get", bytes, 1, 3);
    let long = Yields::Bytes(1 << 20);
    assert!(has(long, get(1 << 20)));
    assert!(!has(long, get(64)) && !has(long, Step::new("bulk_store", 1 << 20, 1, 3)));
    assert!(!has(long, Step { pair: [0, 2], ..get(1 << 20) }));
    let barrier = |ranks| Step::new("barrier", 0, 1, ranks);
    assert!(has(Yields::Operation, barrier(2)) && !has(Yields::Operation, barrier(3)));
}

/// Hosts joined at so many bytes a second, with sizes of which the longest may take longer than there is time for.
#[test]
fn a_slow_link_leaves_out_sizes_and_does_not_take_more_time() {
    for rate in [1e5, 1e6, 12.5e6, 1e9] {
        for budget in [0.5, 1.0, 3.0, 10.0] {
            let mut runner = Scripted::new(move |order| {
                let bytes = order.parameters["bytes"].as_f64().unwrap_or(0.0);
                Ok(taking(order, 5e4 + 2e9 * bytes / rate))
            });
            (runner.far, runner.timed, runner.cost) = (true, true, 3e-4);
            runner.latest = 1.25 * budget;
            let sizes = std::iter::once(0).chain((0..=22).map(|exponent| 1 << exponent));
            let steps: Vec<Step> = sizes.map(|size| Step::new("comms1", size, 1, 2)).collect();
            let plan =
                SeriesPlan { asked: Asked::usual(budget), steps: steps.clone(), samples: 50 };
            plan.lead(&mut runner).unwrap();
            let batches = |step: &&Step| runner.kept.batches(&key(step, WHOLE)).len();
            let known = steps.iter().filter(|step| batches(step) >= 2).count();
            let spent = runner.elapsed().as_secs_f64() / budget;
            assert!(spent < 1.5 && known >= 2, "{rate} {budget}: {known} sizes in {spent} budgets");
        }
    }
}
