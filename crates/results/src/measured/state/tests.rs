use bandgap_campaign::data::{Kept, Probe, Table};

use super::*;

/// A batch at this distance, with these paces before and after.
fn batch(cache_line: f64, paces: [f64; 2], rejected: Option<&str>) -> Batch {
    let probe = Some(paces.map(|pace| Probe { cache_line, pace }));
    let rejected = rejected.map(str::to_owned);
    Batch { samples: vec![100.0], probe, rejected, ..Batch::default() }
}

fn table(parts: &[(usize, Batch)]) -> Table {
    let mut table = Table::default();
    for (count, batch) in parts {
        for _ in 0..*count {
            table.push(Kept::Batch { key: Key::new("a"), batch: batch.clone() });
        }
    }
    table
}

fn judged(table: &Table) -> Judged<'_> {
    Judged::of(table, 0.95, 0.05, 1)
}

fn state_of(table: &Table) -> State {
    State::seen(&judged(table), table.iter())
}

fn fast() -> Batch {
    batch(140.0, [400.0, 400.0], None)
}

fn slow() -> Batch {
    batch(140.0, [600.0, 500.0], None)
}

#[test]
fn floors_beside_are_said_to_be_among_the_batches() {
    let mut all = table(&[(10, fast())]);
    assert_eq!(state_of(&all).floor_batches, None);
    for _ in 0..3 {
        all.push(Kept::Batch { key: Key::new("floor"), batch: fast() });
    }
    let line = state_of(&all).line();
    // Where some are set aside: a table shows fewer than are counted.
    assert!(!line.contains("floors"), "{line}");
    all.push(Kept::Batch { key: Key::new("a"), batch: batch(140.0, [400.0; 2], Some("why")) });
    let line = state_of(&all).line();
    assert!(
        line.ends_with("; set aside: 1 rejected (why) of 14, 3 of them of floors beside"),
        "{line}"
    );
}

#[test]
fn a_pace_that_is_slowed_is_told() {
    // 90 of 100 batches took 1.5 times as long as at their fastest.
    let line = state_of(&table(&[(10, fast()), (90, slow())])).line();
    assert!(line.contains("; its pace is 1.50 (1.50 to 1.50) × the fastest seen"), "{line}");
}

#[test]
fn that_most_batches_were_in_other_states_is_said_in_a_sentence() {
    let far = |line: f64| batch(line, [400.0, 400.0], None);
    let said = |near: usize, rejected: usize| {
        let rejected = (rejected, batch(140.0, [400.0, 400.0], Some("why")));
        let all = table(&[(near, fast()), (30, far(28.0)), (30, far(1000.0)), rejected]);
        state_of(&all).mostly_elsewhere()
    };
    assert_eq!(
        said(40, 0).as_deref(),
        Some("Most batches (60 %) were in other states; the one shown has 40 %.")
    );
    // Of 200 batches 100 were rejected.
    assert_eq!(
        said(40, 100).as_deref(),
        Some("More batches (30 %) were in other states than in the one shown (20 %).")
    );
    assert_eq!(said(60, 0), None);
}

#[test]
fn of_several_reasons_the_commonest_is_told() {
    let rejected = |why| batch(140.0, [400.0, 400.0], Some(why));
    let all = table(&[(5, fast()), (2, rejected("the pace changed: 2 ×")), (1, rejected("other"))]);
    let line = state_of(&all).line();
    assert!(line.ends_with("set aside: 3 rejected (mostly: the pace changed) of 8"), "{line}");
}

#[test]
fn shares_are_of_all_timed_batches_and_the_others_are_counted_by_what_became_of_them() {
    let all = table(&[
        (43, fast()),
        (10, batch(28.0, [700.0, 700.0], None)),
        // Across a change of pace, and at a distance that two batches do not make a state of.
        (20, batch(140.0, [400.0, 600.0], None)),
        (2, batch(1000.0, [400.0, 400.0], None)),
        (24, batch(140.0, [400.0, 400.0], Some("the placement changed: 1.5 ×"))),
        (1, batch(140.0, [400.0, 400.0], Some("the placement changed: 1.6 ×"))),
    ]);
    let state = state_of(&all);
    assert_eq!((state.share, state.batches), (Number(0.43), Some(43)));
    let set_aside = state.set_aside.clone().unwrap();
    assert_eq!((set_aside.timed, set_aside.other_states, set_aside.no_state), (100, 10, 22));
    assert_eq!(
        set_aside.rejected.into_iter().collect::<Vec<_>>(),
        [("the placement changed".to_owned(), 25)]
    );
    assert_eq!(
        state.line(),
        "State cache line 140 ns, 43 % of the batches; set aside: 10 in other states, 22 in no state, 25 rejected \
         (the placement changed) of 100"
    );
    assert_eq!(state.share(), "cache line 140 ns, 43 % of the batches");
    let other = &State::all(&judged(&all))[0];
    assert_eq!((other.share, other.set_aside.as_ref().unwrap().other_states), (Number(0.1), 43));
    // Where nothing was set aside nothing is said of it.
    let state = state_of(&table(&[(43, fast())]));
    assert_eq!((state.share, state.set_aside.is_none()), (Number(1.0), true));
    assert!(!state.line().contains("set aside"), "{}", state.line());
}

#[test]
fn without_probes_there_is_one_state_and_rejected_batches_are_not_in_it() {
    let plain = |rejected: Option<&str>| Batch {
        probe: None,
        rejected: rejected.map(str::to_owned),
        ..fast()
    };
    for (rejected, line) in [
        (0, "State only, 100 % of the batches"),
        (1, "State only, 75 % of the batches; set aside: 1 rejected (why) of 4"),
    ] {
        let all = table(&[(3, plain(None)), (rejected, plain(Some("why: 7")))]);
        assert_eq!(state_of(&all).line(), line);
    }
    assert_eq!(state_of(&Table::default()).share, Number(1.0));
}

#[test]
fn a_probe_has_an_interval_and_its_range_beside_it() {
    // 1 to 9: the median's 95 % interval of nine values are the second and the eighth.
    let parts: Vec<_> =
        (1..=9).map(|i| (1, batch(140.0 + f64::from(i), [400.0, 400.0], None))).collect();
    let of = |parts: &[(usize, Batch)]| state_of(&table(parts));
    let state = of(&parts);
    let ns = |seconds: f64| (seconds * 1e9).round();
    let probe = state.probe.unwrap();
    let (low, high) = probe.interval().unwrap();
    assert_eq!([low, probe.value.0, high].map(ns), [142.0, 145.0, 148.0]);
    assert_eq!(state.probe_range.unwrap().map(|end| end.ns().0.round()), [141.0, 149.0]);
    assert!(probe.converged && probe.estimator.starts_with("median of probes"), "{probe:?}");
    // Five are too few for an interval.
    let state = of(&parts[..5]);
    assert_eq!(
        (state.probe.as_ref().unwrap().interval(), state.probe.as_ref().unwrap().converged),
        (None, false)
    );
}

#[test]
fn a_run_slowed_throughout_is_as_fast_as_its_own_fastest_and_no_more_is_said() {
    let all = table(&[(20, batch(140.0, [600.0, 610.0], None))]);
    let state = state_of(&all);
    // 610 over the 5 % quantile of 600 and 610.
    let pace = state.pace_over_fastest.as_ref().unwrap().value.0;
    assert!((pace - 610.0 / 600.0).abs() < 1e-9, "{pace}");
    assert!(!state.line().contains("pace"), "{}", state.line());
    assert_eq!(slowed(&judged(&all), false), None);
}

#[test]
fn slower_batches_are_told_with_what_was_seen_and_whether_they_are_in_the_numbers() {
    let told = |fast_ones: usize, slow_ones: usize| {
        let all = table(&[(fast_ones, fast()), (slow_ones, slow())]);
        slowed(&judged(&all), false)
    };
    // 600 over 400.
    let seen = |slow: usize, all: usize| {
        format!(
            "During {slow} of the {all} batches a fixed amount of arithmetic took 1.50 times as long"
        )
    };
    let aside = told(70, 30).unwrap();
    assert!(aside.starts_with(&seen(30, 100)) && aside.ends_with("set aside."), "{aside}");
    for cause in ["Possible causes:", "turbo", "wide vector", "governor", "virtual machine"] {
        assert!(aside.contains(cause), "{aside}");
    }
    // A fifth of all batches is not worth it; all of them fast neither.
    assert_eq!([told(80, 20), told(100, 0)], [None, None]);
    let under = told(10, 90).unwrap();
    assert!(
        under.starts_with(&seen(90, 100)) && under.contains("the machine slowed so"),
        "{under}"
    );
    // Seven batches of a point are too few to tell.
    let undecided = told(5, 2).unwrap();
    assert!(
        undecided.starts_with(
            "During 2 of the 7 batches that the numbers rest on (28.6 %) a fixed amount"
        ) && undecided.contains("is undecided"),
        "{undecided}"
    );
    // Who ended a run needs no advice on its time.
    assert!(undecided.ends_with("is undecided. More time (--time-budget) decides it."));
    let few = table(&[(5, fast()), (2, slow())]);
    assert!(slowed(&judged(&few), true).unwrap().ends_with("is undecided."));
    // Rejected batches, and those of another state, are none that the numbers rest on.
    let mut all = table(&[
        (9, slow()),
        (9, batch(140.0, [400.0, 400.0], Some("why"))),
        (4, batch(28.0, [700.0, 700.0], None)),
    ]);
    // Fourteen batches of two points.
    all.push(Kept::Batch { key: Key::new("b"), batch: fast() });
    assert_eq!(judged(&all).set_aside().timed, 23);
    let undecided = slowed(&judged(&all), false).unwrap();
    assert!(
        undecided.starts_with("During 9 of the 10 batches that the numbers rest on (90 %)"),
        "{undecided}"
    );
    assert_eq!(told(7, 0), None);
    let slower = |fast_ones, slow_ones| {
        let all = table(&[(fast_ones, fast()), (slow_ones, slow())]);
        state_of(&all).slower_batches
    };
    assert_eq!([slower(5, 2), slower(7, 0), slower(70, 30)], [Some(2), Some(0), None]);
}
