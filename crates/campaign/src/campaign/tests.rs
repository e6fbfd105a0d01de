use bandgap_comm::Delay;
use bandgap_kernels::{Asking, Buffers, Burst, Comms1, Flaw, Pair, Wrong};

use super::*;
use crate::control::Control;
use crate::data::Probe;
use crate::key::Key;
use crate::plan::Asked;
use crate::tests::scripted::{Event, Scripted, probes, taking};

/// Points that differ in their number of messages: 1, 2, ….
struct Plain(Vec<Point>);

impl Plain {
    fn of(points: u32) -> Self {
        Self((1..=points).map(point).collect())
    }
}

fn key(messages: u32) -> Key {
    Key::new("plain").at("messages", messages)
}

fn point(messages: u32) -> Point {
    let asking = Asking::OneToOne(Pair::FIRST);
    Point::new(key(messages), Order::of(&Burst { asking, messages, delay: Delay::NONE }, 9, 2))
}

fn messages(order: &Order) -> u64 {
    order.parameters["messages"].as_u64().unwrap()
}

impl Experiment for Plain {
    fn points(&mut self, _: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        Ok(self.0.clone())
    }
}

fn plan(budget: f64) -> Plan {
    Plan::new(&Asked { seed: 7, ..Asked::usual(budget) })
}

fn checking(budget: f64) -> Plan {
    let plan = plan(budget);
    Plan { asked: Asked { check: true, ..plan.asked }, ..plan }
}

/// Batches of each point that were kept.
fn counts(runner: &Scripted, points: u32) -> Vec<usize> {
    (1..=points).map(|at| runner.kept.batches(&key(at)).len()).collect()
}

#[test]
fn a_campaign_ends_when_all_points_have_converged() {
    let mut runner = Scripted::steady(100.0);
    campaign(&mut runner, &mut Plain::of(3), &plan(1e9)).unwrap();
    // It is asked after eight rounds for the first time.
    assert_eq!(counts(&runner, 3), [8, 8, 8]);
    let batches = runner.kept.batches(&key(2));
    let rounds: Vec<u32> = batches.iter().map(|batch| batch.round).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(batches.iter().all(|batch| batch.launch == 3));
}

#[test]
fn later_rounds_visit_only_points_that_have_not_converged() {
    let mut batches = 0;
    // The second point jumps between 50 and 150 for ten batches, then stays at 100.
    let mut runner = Scripted::new(move |order| {
        if messages(order) != 2 || !order.probed {
            return Ok(taking(order, 100.0));
        }
        batches += 1;
        let jump = [50.0, 150.0][batches % 2];
        Ok(taking(order, if batches <= 10 { jump } else { 100.0 }))
    });
    runner.cost = 1.0;
    campaign(&mut runner, &mut Plain::of(3), &plan(1e9)).unwrap();
    let [one, two, three] = counts(&runner, 3)[..] else { panic!("three points") };
    assert_eq!([one, three], [8, 8]);
    assert!(two > 10, "{two}");
}

#[test]
fn the_budget_ends_it_but_not_before_two_rounds() {
    let jumping = || {
        let mut batches = 0;
        let mut runner = Scripted::new(move |order| {
            batches += 1;
            Ok(taking(order, [50.0, 150.0][batches % 2]))
        });
        runner.cost = 1.0;
        runner
    };
    // Ten batches of the warm-up, until 9 s are over, a checked one, and then a timed one each second until 20 are.
    let mut runner = jumping();
    campaign(&mut runner, &mut Plain::of(1), &plan(20.0)).unwrap();
    assert_eq!((runner.checked().count(), runner.timed().count()), (1, 10));
    // 8 timed batches in two rounds, although the budget is spent in the first.
    let mut runner = jumping();
    campaign(&mut runner, &mut Plain::of(4), &plan(6.0)).unwrap();
    assert_eq!((runner.timed().count(), runner.kept.share(Scarce::Rounds)), (8, 1.0));
    // But the end of the launch is the end.
    let mut runner = jumping();
    runner.latest = 18.0;
    campaign(&mut runner, &mut Plain::of(100), &plan(6.0)).unwrap();
    // Three batches of the warm-up until 2.7 s are over, two checked ones until 4.5 s are, and 13 s for timed ones: 7
    // points in the first half, and the same in the second.
    assert_eq!(
        [runner.ran().count(), runner.checked().count(), runner.timed().count()],
        [3 + 2 + 14, 2, 14]
    );
    let visited: BTreeSet<String> = runner.timed().map(|of| of.parameters.to_string()).collect();
    assert_eq!((visited.len(), runner.kept.share(Scarce::Rounds)), (7, 14.0 / 200.0));
}

#[test]
fn each_round_has_an_order_of_its_own_that_the_seed_decides() {
    let rounds = |seed: u64| {
        let mut runner = Scripted::steady(100.0);
        let mut plan = plan(1e9);
        plan.asked.seed = seed;
        campaign(&mut runner, &mut Plain::of(12), &plan).unwrap();
        let visited: Vec<u64> = runner.timed().map(messages).collect();
        visited.chunks(12).map(<[u64]>::to_vec).collect::<Vec<_>>()
    };
    let (one, again, other) = (rounds(1), rounds(1), rounds(2));
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert_eq!(one.len(), 8);
    for round in &one {
        let mut sorted = round.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=12).collect::<Vec<u64>>());
        assert_ne!(*round, sorted, "a round is shuffled");
    }
    assert_ne!(one[0], one[1]);
}

#[test]
fn a_cheap_point_is_visited_several_times_in_a_round() {
    let mut runner = Scripted::steady(100.0);
    let points = vec![Point { visits: 3, ..point(1) }, point(2)];
    campaign(&mut runner, &mut Plain(points), &plan(1e9)).unwrap();
    let rounds: Vec<u32> = runner.kept.batches(&key(1)).iter().map(|batch| batch.round).collect();
    assert_eq!(rounds[..6], [0, 0, 0, 1, 1, 1]);
    assert_eq!(counts(&runner, 2), [24, 8]);
}

#[test]
fn a_straddling_batch_is_repeated_and_kept_as_rejected() {
    let mut timed = 0;
    let mut runner = Scripted::new(move |order| {
        timed += usize::from(order.probed);
        let far = if timed <= 2 { 250.0 } else { 100.0 };
        Ok(Executed { probe: probes(100.0, far), ..taking(order, 100.0) })
    });
    campaign(&mut runner, &mut Plain::of(1), &plan(1e9)).unwrap();
    let batches = runner.kept.batches(&key(1));
    let rounds: Vec<(u32, bool)> =
        batches.iter().map(|batch| (batch.round, batch.rejected.is_some())).collect();
    let counted: Vec<(u32, bool)> = (0..8).map(|round| (round, false)).collect();
    assert_eq!(rounds[..2], [(0, true); 2]);
    assert_eq!(rounds[2..], counted);
    assert_eq!(batches[0].rejected, Some(Rejected::PlacementChanged));

    // A machine that always changes is given up: four attempts a round.
    let mut runner =
        Scripted::new(|order| Ok(Executed { probe: probes(100.0, 250.0), ..taking(order, 100.0) }));
    runner.cost = 1.0;
    campaign(&mut runner, &mut Plain::of(1), &plan(7.0)).unwrap();
    let rounds: Vec<u32> = runner.kept.batches(&key(1)).iter().map(|batch| batch.round).collect();
    assert_eq!(rounds, [0, 0, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn a_batch_across_a_change_of_pace_is_repeated_and_the_last_attempt_stands() {
    // The fastest pace is known after 64 probes, of 32 batches; `changes` of those that follow are
    // slowed from within.
    let rejected = |changes: usize| {
        let mut timed = 0;
        let mut runner = Scripted::new(move |order| {
            timed += usize::from(order.probed);
            let after = if (33..33 + changes).contains(&timed) { 600.0 } else { 400.0 };
            let probe = [400.0, after].map(|pace| Probe { cache_line: 100.0, pace });
            Ok(Executed { probe: Some(probe), ..taking(order, 100.0) })
        });
        runner.cost = 1.0;
        let mut plan = plan(50.0);
        plan.asked.precision = 0.0;
        campaign(&mut runner, &mut Plain::of(1), &plan).unwrap();
        let batches = runner.kept.batches(&key(1)).iter();
        batches.map(|batch| (batch.round, batch.rejected.clone())).collect::<Vec<_>>()
    };
    assert!(rejected(0).iter().all(|(_, rejected)| rejected.is_none()));
    let rows = rejected(2);
    let rounds: Vec<u32> = rows[31..36].iter().map(|(round, _)| *round).collect();
    assert_eq!(rounds, [31, 32, 32, 32, 33]);
    for (at, (_, rejected)) in rows.iter().enumerate() {
        assert_eq!(rejected.is_some(), [32, 33].contains(&at), "{at}: {rejected:?}");
    }
    assert_eq!(rows[32].1, Some(Rejected::PaceChanged));
    // Four attempts, of which the last stands.
    let rows = rejected(4);
    let stands: Vec<(u32, bool)> =
        rows[32..37].iter().map(|row| (row.0, row.1.is_none())).collect();
    assert_eq!(stands, [(32, false), (32, false), (32, false), (32, true), (33, true)]);
}

#[test]
fn a_batch_during_which_the_delay_drifted_is_repeated() {
    let delay = Delay { iterations: 1, picoseconds: 1_000_000 };
    let mut runner = Scripted::steady(100.0);
    // Before and after the first batch, then before and after its repetition.
    runner.delays = vec![1.0, 1.3, 1.02, 1.04];
    let points = vec![Point { control: Control::of(delay, 8), ..point(1) }];
    campaign(&mut runner, &mut Plain(points), &plan(1e9)).unwrap();
    let batches = runner.kept.batches(&key(1));
    assert_eq!(batches.len(), 9);
    assert_eq!(batches[0].rejected, Some(Rejected::PaceChanged));
    assert_eq!((batches[1].rejected.as_ref(), batches[1].delay), (None, Some(1030.0)));
}

#[test]
fn a_batch_waits_until_nothing_slows_the_processors() {
    let pace = |pace| Probe { cache_line: 100.0, pace };
    let mut runner = Scripted::new(move |order| {
        Ok(Executed { probe: Some([pace(400.0); 2]), ..taking(order, 100.0) })
    });
    runner.cost = 1.0;
    // 25 looks of 400 beside 2 probes of each batch: the pace is known after the 22nd batch.
    let mut looks = 0;
    runner.look = Box::new(move || {
        looks += 1;
        Some(pace(if (26..=28).contains(&looks) { 700.0 } else { 400.0 }))
    });
    let mut plan = plan(40.0);
    plan.asked.precision = 0.0;
    campaign(&mut runner, &mut Plain::of(1), &plan).unwrap();
    let mut looks = vec![0];
    for event in &runner.events {
        match event {
            Event::Looked => *looks.last_mut().unwrap() += 1,
            Event::Ran(order) if order.probed => looks.push(0),
            _ => {}
        }
    }
    assert_eq!(looks[..25], [1; 25]);
    assert_eq!(looks[25..27], [4, 1], "three slow looks and a fast one, then fast ones");
}

#[test]
fn a_checked_batch_comes_before_the_first_timed_one() {
    let mut runner = Scripted::steady(100.0);
    campaign(&mut runner, &mut Plain::of(3), &plan(1e9)).unwrap();
    let kinds: Vec<bool> = runner.ran().map(|order| order.checked).collect();
    // Behind the warm-up.
    assert_eq!(kinds[6..9], [true; 3]);
    assert!(kinds[9..].iter().all(|checked| !checked));
    assert!(runner.checked().all(|order| order.samples == 2 && !order.probed));
    assert!(runner.timed().all(|order| order.samples == 9));
    // Every message of one batch, and what timed ones compared.
    for (_, verified) in runner.kept.verified() {
        assert_eq!((verified.checked_batches, verified.checked.compared), (1, 1));
        assert_eq!(verified.timed.received, 8);
    }
    assert_eq!(runner.kept.verified().count(), 3);

    let mut runner = Scripted::steady(100.0);
    campaign(&mut runner, &mut Plain::of(3), &checking(1e9)).unwrap();
    let kinds: Vec<bool> = runner.ran().map(|order| order.checked).collect();
    let round = [true, true, true, false, false, false];
    assert_eq!(kinds[6..], round.repeat(8));
}

#[test]
fn what_cannot_be_checked_is_said_and_measured_all_the_same() {
    // Nine places of 16 MiB each way are more than there are for a checked batch.
    let long =
        Comms1 { pair: Pair::FIRST, messages: 9, bytes: 16 << 20, buffers: Buffers::default() };
    let points =
        vec![Point::new(key(1), Order::of(&long, 9, 2)), Point { checked: None, ..point(2) }];
    let mut runner = Scripted::steady(100.0);
    campaign(&mut runner, &mut Plain(points), &plan(1e9)).unwrap();
    assert_eq!(runner.checked().count(), 0);
    assert_eq!(counts(&runner, 2), [8, 8]);
    let verified: Vec<_> = runner.kept.verified().collect();
    let [(at, verified)] = verified[..] else { panic!("one point: {verified:?}") };
    assert_eq!((at, verified.checked_batches, verified.timed.received), (&key(1), 0, 8));
}

#[test]
fn wrong_content_ends_a_campaign_and_what_was_kept_stays() {
    let mut timed = 0;
    let mut runner = Scripted::new(move |order| {
        timed += usize::from(order.probed);
        let flaw = Flaw::Sum { reply: false, expected: 1, got: 2 };
        match timed {
            3 => Err(Stop::Wrong(Wrong { rank: 1, flaw })),
            _ => Ok(taking(order, 100.0)),
        }
    });
    let stop = campaign(&mut runner, &mut Plain::of(2), &plan(1e9)).unwrap_err();
    assert!(matches!(stop, Stop::Wrong(Wrong { rank: 1, .. })), "{stop}");
    assert_eq!(counts(&runner, 2), [1, 1]);
}

#[test]
fn what_the_machine_does_not_allow_is_said_once() {
    let mut runner = Scripted::new(|order| {
        let refused = || Some("not permitted".to_owned());
        let unavailable = (messages(order) == 2).then(refused).flatten();
        let samples =
            if unavailable.is_some() { Default::default() } else { taking(order, 9.0).samples };
        Ok(Executed { unavailable, samples, ..taking(order, 9.0) })
    });
    let points = Plain::of(2).0.into_iter().map(|point| point.checked_if(false)).collect();
    campaign(&mut runner, &mut Plain(points), &plan(1e9)).unwrap();
    assert_eq!(counts(&runner, 2), [8, 1]);
    let batch = &runner.kept.batches(&key(2))[0];
    let why = Some(Rejected::Unavailable("not permitted".to_owned()));
    assert_eq!((batch.samples.len(), &batch.rejected), (0, &why));
}

#[test]
fn a_batch_without_samples_does_not_count() {
    let mut runner = Scripted::new(|_| Ok(Executed::default()));
    runner.cost = 1.0;
    campaign(&mut runner, &mut Plain::of(1), &plan(9.0)).unwrap();
    let batches = runner.kept.batches(&key(1));
    assert!(batches.iter().all(|batch| batch.rejected.is_some()), "{batches:?}");
}

#[test]
fn virtual_time_takes_two_rounds_and_nothing_else() {
    let mut runner = Scripted::steady(100.0);
    runner.virtual_time = true;
    let plan = Plan { pause: 0.5, ..checking(1e9) };
    campaign(&mut runner, &mut Plain::of(3), &plan).unwrap();
    assert_eq!(counts(&runner, 3), [2, 2, 2]);
    assert_eq!(runner.ran().count(), 6);
    assert_eq!(runner.kept.verified().count(), 0);
    let idle = |event: &Event| matches!(event, Event::Looked | Event::Paused(_));
    assert!(!runner.events.iter().any(idle));
}

#[test]
fn rounds_are_apart_by_the_pause() {
    let mut runner = Scripted::steady(100.0);
    campaign(&mut runner, &mut Plain::of(2), &Plan { pause: 0.25, ..plan(1e9) }).unwrap();
    let pauses: Vec<&Event> =
        runner.events.iter().filter(|event| matches!(event, Event::Paused(_))).collect();
    assert_eq!(pauses, [&Event::Paused(Duration::from_millis(250)); 7], "between eight rounds");
}

#[test]
fn progress_is_part_of_the_whole_and_never_goes_back() {
    let mut runner = Scripted::steady(100.0);
    runner.cost = 1.0;
    let plan = Plan { progress: 0.5..0.75, title: "gets of 64 B".to_owned(), ..plan(45.0) };
    campaign(&mut runner, &mut Plain::of(4), &plan).unwrap();
    let said: Vec<(f64, &str)> = runner.said().collect();
    assert_eq!(said[0].0, 0.5);
    assert!(said.iter().all(|(_, doing)| doing.starts_with("gets of 64 B")), "{said:?}");
    assert!(said.is_sorted_by(|a, b| a.0 <= b.0), "{said:?}");
    assert!(said.iter().all(|(done, _)| (0.5..0.75).contains(done)), "{said:?}");
    // 8 batches of the warm-up, 4 checked and 32 timed ones of a second each in 45 seconds: 0.5 + 0.25 · 44 / 45.
    let done = said[said.len() - 1].0;
    assert!((done - (0.5 + 0.25 * 44.0 / 45.0)).abs() < 1e-9, "{done}");
}

#[test]
fn a_point_is_warm_when_two_batches_agree_and_else_that_is_said() {
    // Each order of the second point takes less than the one before, until the sixth; the third never
    // settles.
    let (mut second, mut third) = (0, 0);
    let mut runner = Scripted::new(move |order| {
        let warming = !order.probed && !order.checked;
        let ns = match messages(order) {
            2 if warming => {
                second += 1;
                [900.0, 700.0, 500.0, 300.0, 100.0, 102.0][second.min(6) - 1]
            }
            3 if warming => {
                third += 1;
                [50.0, 150.0][third % 2]
            }
            _ => 100.0,
        };
        Ok(taking(order, ns))
    });
    campaign(&mut runner, &mut Plain::of(3), &plan(1e9)).unwrap();
    let warming = |at: u64| {
        let orders = runner.ran().filter(|order| !order.probed && !order.checked);
        orders.filter(|order| messages(order) == at).count()
    };
    assert_eq!([1, 2, 3].map(warming), [2, 6, 20]);
    // None of these batches counts, and the one that was not seen to settle is there with the reason.
    assert_eq!(counts(&runner, 3), [8, 8, 9]);
    let rejected: Vec<_> =
        runner.kept.batches(&key(3)).iter().filter_map(|batch| batch.rejected.as_ref()).collect();
    assert_eq!(rejected, [&Rejected::NotWarm]);
}
