use bandgap_campaign::data::{Batch, Kept, Table, Verified};
use bandgap_campaign::plan::Asked;
use bandgap_kernels as kernels;

use bandgap_campaign::Setting;
use bandgap_campaign::series::{Part, SeriesPlan, key};

use super::*;

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
