use std::collections::BTreeSet;

use super::*;
use crate::tests::scripted::Scripted;

fn sized(size: usize, mut runner: Scripted) -> Scripted {
    runner.size = size;
    runner
}

#[test]
fn each_pair_is_asked_once_by_its_lower_rank() {
    let plan = PairsPlan { samples: 50, bytes: None, ..PairsPlan::short(&Asked::usual(1.0)) };
    let all = plan.all(&sized(4, Scripted::steady(1.0))).into_values();
    let pairs = all.map(|(keys, order)| {
        let kernel: Burst = order.kernel(4).unwrap();
        let Asking::OneToOne(Pair { requester, replier }) = kernel.asking else {
            panic!("one asks one: {kernel:?}")
        };
        assert_eq!((kernel.messages, order.samples), (1, 50));
        assert_eq!(keys, [key(requester, replier)]);
        (requester, replier)
    });
    assert_eq!(pairs.collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
}

#[test]
fn in_rounds_all_ranks_work_and_each_pair_has_its_own_samples() {
    let plan = PairsPlan { at_once: true, ..PairsPlan::short(&Asked::usual(1.0)) };
    let mut runner = sized(5, Scripted::steady(1.0));
    let mut level = Level { plan: &plan, all: plan.all(&runner), before: Vec::new() };
    let points = level.points(&mut runner).unwrap();
    // One rests in each of five rounds, of short and of long messages.
    assert_eq!(points.len(), 2 * 5);
    let samples = [(WHOLE, vec![1.0, 2.0, 3.0, 4.0])];
    let done = Executed { samples: samples.into(), ..Executed::default() };
    let mut met = BTreeSet::new();
    for point in &points {
        let split = level.split(point, &done);
        let times: Vec<&[f64]> = split.iter().map(|(_, times)| &times[..]).collect();
        assert_eq!((times, &split[0].0), (vec![&[1.0, 2.0][..], &[3.0, 4.0]], &point.key));
        met.extend(split.into_iter().map(|(key, _)| key));
    }
    assert_eq!(met.len(), 2 * 10);
}

/// Of eight ranks 5 takes ten times as long, and four pairs at once hold up that of 0 and 1.
fn with_a_fault(order: &Order) -> Executed {
    let pairs: Vec<Pair> = order.kernel::<RoundRobin>(8).unwrap().pairs(8).collect();
    let of = |Pair { requester, replier }: &Pair| match [*requester, *replier] {
        [0, 1] if pairs.len() == 4 => 50.0,
        pair if pair.contains(&5) => 100.0,
        _ => 10.0,
    };
    let each = pairs.iter().flat_map(|pair| vec![of(pair); order.samples as usize]).collect();
    Executed { samples: [(WHOLE, each)].into(), ..Executed::default() }
}

#[test]
fn what_is_outside_the_tolerance_is_repeated_with_half_of_the_others_until_it_is_alone() {
    let tolerance = Some(Tolerance { latency: 2.1, bandwidth: 0.93 });
    let short = PairsPlan::short(&Asked::usual(1e6));
    let plan = PairsPlan { at_once: true, bytes: None, tolerance, ..short };
    let mut runner = sized(8, Scripted::new(|order| Ok(with_a_fault(order))));
    plan.lead(&mut runner).unwrap();
    let all = Seen::all(&Asked::usual(1.0).judge(&runner.kept), &[]);
    let seen = |at_once: u64| -> Vec<&Seen> {
        all.iter().filter(|seen| seen.at_once == at_once).collect()
    };
    assert_eq!([8, 4, 3].map(|at_once| seen(at_once).len()), [0, 28, 0]);
    // Those of rank 5. With two at once the other pair was cleared.
    let alone = seen(1);
    assert!(alone.len() == 7 && alone.iter().all(|of| of.pair.contains(&5)), "{alone:?}");
    assert!(seen(2).iter().any(|of| of.pair == [0, 1]));
    // All that are alone are slow, and each is so until that is confirmed.
    let lone = runner.kept.iter().filter(|(key, _)| key.number(AT_ONCE) == Some(1));
    let batches: Vec<usize> = lone.map(|(_, batches)| batches.len()).collect();
    assert!(batches.iter().all(|count| *count >= CONFIRMED), "{batches:?}");
    // Nothing is repeated where nothing is outside.
    let mut runner = sized(8, Scripted::steady(10.0));
    plan.lead(&mut runner).unwrap();
    assert!(runner.timed().all(|order| order.kernel::<RoundRobin>(8).unwrap().part[1] == 1));
}
