use bandgap_campaign::data::{Batch, Chosen, Kept, Table, Verified};
use bandgap_campaign::plan::Asked;
use bandgap_comm::passing::{Memory, Way};
use bandgap_kernels as kernels;

use bandgap_campaign::Setting;
use bandgap_campaign::series::{Part, SeriesPlan, key};

use super::*;
use crate::series::derived::Look;

fn single(bytes: u32) -> Step {
    Step::new("comms1", bytes, 1, 2)
}

fn asked() -> Asked {
    let (precision, confidence, budget, seed) = (0.05, 0.95, 1.0, 1);
    Asked { precision, confidence, budget, seed, stamp: 0.0, check: false }
}

fn series(cpus: Option<Vec<usize>>, verified: &[(u32, Verified)]) -> Series {
    let plan = SeriesPlan { asked: asked(), steps: vec![single(8), single(64)], samples: 1 };
    let mut table = Table::default();
    for (bytes, time) in [(64, 130.0), (8, 100.0), (64, 132.0), (8, 101.0)] {
        let batch = Batch { samples: vec![time], ..Batch::default() };
        table.push(Kept::Batch { key: key(&single(bytes), Part::Whole), batch });
    }
    for (bytes, verified) in verified.iter().cloned() {
        let key = key(&single(bytes), Part::Whole);
        table.push(Kept::Verified { key, verified });
    }
    let setting = Setting { transport: "shm".into(), ranks: 2, cpus, ..Setting::default() };
    let measured = Measured { setting: &setting, plan: &plan, judged: &plan.asked.judge(&table) };
    // Two sizes are too few for a line.
    let [Outcome::Series(series)] = &measured.outcomes().unwrap()[..] else { panic!("one series") };
    Series::clone(series)
}

#[test]
fn what_was_checked_of_all_points_is_recorded() {
    let of = |received, compared| kernels::Checked { received, compared, summed: 0 };
    let both = [
        (8, Verified::of_checked(of(40, 40))),
        (8, Verified::of_timed(of(100, 4))),
        (64, Verified::of_checked(of(20, 20))),
    ];
    let sum = Checked {
        batches: 2,
        messages: 60,
        compared: 60,
        points: 2,
        points_left_out: 0,
        timed_batches: 1,
        timed_messages: 100,
        timed_compared: 4,
        timed_summed: 0,
    };
    let real = series(Some(vec![0, 1]), &both);
    assert_eq!((real.checked, real.verified), (Some(sum), true));
    // Nothing was compared: so it is said.
    let none = series(Some(vec![0, 1]), &[]);
    assert_eq!((none.checked, none.verified), (Some(Checked::default()), false));
    let simulated = series(None, &both);
    assert_eq!((simulated.checked, simulated.verified), (None, false));
    assert_eq!(real.points.iter().map(|point| point.bytes).collect::<Vec<_>>(), [8, 64]);
}

#[test]
fn points_and_kernels_without_batches_that_count_are_named() {
    let plan = SeriesPlan {
        asked: asked(),
        steps: vec![single(8), single(64), single(512), Step::new("comms2", 8, 1, 2)],
        samples: 1,
    };
    let mut table = Table::default();
    for (step, rejected) in plan.steps.iter().zip([None, Some("slow".to_owned()), None, None]) {
        let rejected = rejected.or((step.series == "comms2").then(|| "slow".to_owned()));
        let batch = Batch { samples: vec![100.0], rejected, ..Batch::default() };
        table.push(Kept::Batch { key: key(step, Part::Whole), batch });
    }
    let setting = Setting { transport: "shm".into(), ranks: 2, ..Setting::default() };
    let judged = plan.asked.judge(&table);
    let outcomes = Measured { setting: &setting, plan: &plan, judged: &judged }.outcomes().unwrap();
    let [Outcome::Series(series), Outcome::Batches(batches)] = &outcomes[..] else {
        panic!("a series, and what has no point: {outcomes:?}")
    };
    let said = "1 of 3 points has no value, for want of batches that count: 64 B.";
    assert!(series.findings.iter().any(|finding| finding.starts_with(said)), "{series:?}");
    assert_eq!(
        (batches.batches.len(), &*batches.reason),
        (1, "no point of comms2 has batches enough that count")
    );
}

#[test]
fn points_by_the_usual_algorithm_are_counted() {
    let step = |bytes| Step::new("broadcast", bytes, 1, 2);
    let plan = SeriesPlan { asked: asked(), steps: vec![step(8), step(64)], samples: 1 };
    let chosen = Step { variant: Some("linear".to_owned()), ..step(8) };
    let mut table = Table::default();
    for step in [&chosen, &plan.steps[1]] {
        for time in [100.0, 101.0] {
            let batch = Batch { samples: vec![time], ..Batch::default() };
            table.push(Kept::Batch { key: key(step, Part::Whole), batch });
        }
    }
    let setting = Setting { transport: "shm".into(), ranks: 2, ..Setting::default() };
    let judged = plan.asked.judge(&table);
    let outcomes = Measured { setting: &setting, plan: &plan, judged: &judged }.outcomes().unwrap();
    let [Outcome::Series(series)] = &outcomes[..] else { panic!("one series: {outcomes:?}") };
    let said = "At 1 of 2 points the usual algorithm was taken";
    assert!(series.findings.iter().any(|finding| finding.starts_with(said)), "{series:?}");
}

/// Two sizes with messages in these memories, as planned; batches of those that were used, for which
/// registered memory was half as slow.
fn lying(planned: &[Memory], used: &[Memory], unregistered: Option<&str>) -> Series {
    let of = |memory| [8, 4096].map(|bytes| Step { memory, ..single(bytes) });
    let plan = SeriesPlan {
        asked: asked(),
        steps: planned.iter().flat_map(|memory| of(*memory)).collect(),
        samples: 1,
    };
    let mut table = Table::default();
    for step in used.iter().flat_map(|memory| of(*memory)) {
        let is_long = step.size > 8;
        let way =
            if step.memory.is_private() { Way::Pieces } else { Way::Registered { least: 25 } };
        let way = Some(way).filter(|_| is_long);
        if is_long {
            let chosen = Chosen { variant: None, way, looked: vec![("first".to_owned(), 5.0)] };
            table.push(Kept::Chosen { key: key(&step, Part::Whole), chosen });
        }
        let time = if step.memory.is_private() { 200.0 } else { 100.0 };
        let batch = Batch { samples: vec![time], ..Batch::default() };
        table.push(Kept::Batch { key: key(&Step { way, ..step }, Part::Whole), batch });
    }
    if let Some(why) = unregistered {
        table.push(Kept::Unregistered { why: why.to_owned() });
    }
    let cpus = Some(vec![0, 1]);
    let setting = Setting { transport: "shm".into(), ranks: 2, cpus, ..Setting::default() };
    let measured = Measured { setting: &setting, plan: &plan, judged: &plan.asked.judge(&table) };
    let [Outcome::Series(series)] = &measured.outcomes().unwrap()[..] else { panic!("one series") };
    Series::clone(series)
}

#[test]
fn messages_in_two_memories_are_two_curves_and_those_in_one_are_named_once() {
    let both = lying(&Memory::ALL, &Memory::ALL, None);
    let mut curves = Vec::new();
    for (which, points) in both.curves() {
        for point in points {
            let time = (point.time.value.0 * 1e9).round();
            curves.push((which.words(), point.bytes, time, point.way.as_deref()));
        }
    }
    let expected =
        [("private memory", 200.0, "pieces"), ("registered memory", 100.0, "registered")];
    let points = expected.map(|(name, time, way)| {
        [(name.to_owned(), 8, time, None), (name.to_owned(), 4096, time, Some(way))]
    });
    assert_eq!(curves, points.concat());
    assert!(both.memory.is_none());
    let no_floor = "There is no floor of this shape over shm, so no ratio to one is given.";
    // Which way messages went in each memory is told of each.
    let chosen = [("private", "pieces"), ("registered", "registered")].map(|(memory, way)| {
        format!("On 2 ranks, in {memory} memory, a first look chose: {way} from 4 KiB on.")
    });
    assert_eq!(both.findings, [no_floor, &chosen[0], &chosen[1]]);
    let looks = |series: &Series| {
        let told = |look: &Look| (look.memory.clone(), look.variant.clone());
        series.looks.iter().map(told).collect::<Vec<_>>()
    };
    let owned = |name: &str| name.to_owned();
    let told = expected.map(|(name, _, way)| (name.split(' ').next().map(owned), owned(way)));
    assert_eq!(looks(&both), told);
    for (memory, name, way) in
        [(Memory::Private, "private", "pieces"), (Memory::Registered, "registered", "registered")]
    {
        let one = lying(&[memory], &[memory], None);
        assert_eq!((one.memory.as_deref(), one.curves().len()), (Some(name), 1));
        assert!(one.points.len() == 2 && one.points.iter().all(|point| point.memory.is_none()));
        assert_eq!((looks(&one), one.fastest.len()), (vec![(None, owned(way))], 1));
    }
}

#[test]
fn what_lay_in_private_memory_for_want_of_another_is_told_with_the_reason() {
    let private = [Memory::Private];
    for planned in [&Memory::ALL[..], &Memory::ALL[1..]] {
        let series = lying(planned, &private, Some("sealed off"));
        assert_eq!((series.memory.as_deref(), series.points.len()), (Some("private"), 2));
        assert!(series.findings[0].contains("private memory"), "{:?}", series.findings);
        assert!(series.findings[0].contains("sealed off"), "{:?}", series.findings);
        assert_eq!(series.looks.len(), 1);
    }
}

#[test]
fn what_fences_left_out_is_counted_for_each_series_by_itself() {
    let steps = vec![single(8), Step::new("comms2", 8, 1, 2)];
    let plan = SeriesPlan { asked: asked(), steps, samples: 1 };
    let mut table = Table::default();
    // The last batch of comms1 is far outside; one of a floor beside them belongs to no series.
    for (step, last) in plan.steps.iter().zip([900.0, 102.0]) {
        for time in [100.0, 101.0, 102.0, 99.0, 100.0, last] {
            let batch = Batch { samples: vec![time], ..Batch::default() };
            table.push(Kept::Batch { key: key(step, Part::Whole), batch });
        }
    }
    let floor = bandgap_campaign::floors::key("cache_line");
    table.push(Kept::Batch { key: floor, batch: Batch { samples: vec![1.0], ..Batch::default() } });
    let setting = Setting { transport: "shm".into(), ranks: 2, ..Setting::default() };
    let judged = plan.asked.judge(&table);
    let outcomes = Measured { setting: &setting, plan: &plan, judged: &judged }.outcomes().unwrap();
    let of_series = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Series(series) => series.state.fenced,
        _ => None,
    });
    let told: Vec<_> = of_series.map(|of| (of.batches, of.batches_outside)).collect();
    assert_eq!(told, [(6, 1), (6, 0)]);
}

#[test]
fn the_clock_limits_a_time_by_its_part_of_a_stamp() {
    // Half-width 2.306 · 1.146/3 = 0.88 of 10: more than 5 % of it, less than 5 % of a stamp of 40, which is in a
    // transfer whole, and in half of one of 16 round trips to a 32nd.
    let values = [10.0, 8.0, 11.0, 9.5, 12.0, 10.0, 9.0, 10.5, 10.0];
    let steps = vec![Step::new("comms1", 8, 16, 2), Step::new("bulk_get", 8, 1, 2)];
    let plan = SeriesPlan { asked: Asked { stamp: 40.0, ..asked() }, steps, samples: 1 };
    let mut table = Table::default();
    for step in &plan.steps {
        for (round, value) in (0..).zip(values) {
            let batch = Batch { samples: vec![value], round, ..Batch::default() };
            table.push(Kept::Batch { key: key(step, Part::Whole), batch });
        }
    }
    let cpus = Some(vec![0, 1]);
    let setting = Setting { transport: "shm".into(), ranks: 2, cpus, ..Setting::default() };
    let judged = plan.asked.judge(&table);
    let measured = Measured { setting: &setting, plan: &plan, judged: &judged };
    let outcomes = measured.outcomes().unwrap();
    let limited = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Series(of) => {
            Some([of.points[0].clock_limited, of.points[0].summary.median.clock_limited])
        }
        _ => None,
    });
    assert_eq!(limited.collect::<Vec<_>>(), [[false; 2], [true; 2]]);
    // So is what follows from them, of each by itself.
    let stamps = ["comms1", "bulk_get"].map(|name| measured.wanted(name).1.stamp);
    assert_eq!(stamps, [40.0 / 32.0, 40.0]);
}
