use bandgap_campaign::data::{Batch, Kept};
use bandgap_campaign::judge::Judged;
use bandgap_campaign::{Described, Key, Measurements, Setting};
use bandgap_record::{Labels, Quantity};
use bandgap_results::Outcome;

use super::*;
use crate::logp::tests::assert_said;

fn curve(
    sizes: impl IntoIterator<Item = u64>,
    launches: u32,
    time: impl Fn(f64) -> f64,
) -> CurveTimes {
    let at = |bytes: u64, launch: u32| {
        // Neighbouring sizes are off by a percent to either side.
        let off = if bytes.count_ones().is_multiple_of(2) { 1.01 } else { 0.99 };
        let ns = off * (1.0 + 0.002 * f64::from(launch)) * time(bytes as f64);
        SizedTimes { bytes, times_ns: vec![ns] }
    };
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let of = |launch| sizes.iter().map(|bytes| at(*bytes, launch)).collect();
    let launches = (0..launches).map(of).collect();
    CurveTimes { name: "comms1".to_owned(), which: Labels::new(), messages: 1, launches }
}

fn fit(curve: &CurveTimes, breaks: Breaks) -> Made {
    let options = HockneyOptions { breaks, ..HockneyOptions::default() };
    let made = super::fit(curve, "shm", &options, Rule { precision: 0.1, stamp: 0.0 }).unwrap();
    assert_said(&made.notes);
    made
}

fn relative(made: &Made) -> &Hockney {
    let Outcome::Hockney(fit) = &made.results[0] else { panic!("no fit") };
    assert!(fit.is_relative());
    fit
}

fn codes(made: &Made) -> Vec<(&str, &str)> {
    made.notes.iter().map(|note| (note.code.as_str(), note.about.as_str())).collect()
}

/// The iPSC/860 of CoMet: both segments, in nanoseconds.
fn ipsc860(bytes: f64) -> f64 {
    if bytes <= 100.0 { 79e3 + 630.0 * bytes } else { 156e3 + 410.0 * bytes }
}

fn sizes() -> impl Iterator<Item = u64> {
    (1..=12).map(|k| 8 * k).chain((4..=16).map(|k| 32 * k)).chain((10..16).map(|k| 1 << k))
}

#[test]
fn both_segments_of_a_machine_come_back_with_their_breakpoint() {
    let made = fit(&curve(sizes(), 3, ipsc860), Breaks::Automatic { most: 3 });
    let of = relative(&made);
    let [short, long] = &of.segments[..] else { panic!("{of:?}") };
    let close = |found: &Option<Quantity>, value: f64| {
        let found = found.as_ref().unwrap();
        assert!((found.value.0 / value - 1.0).abs() < 0.05, "{found:?}, not {value}");
        let (low, high) = found.interval().unwrap();
        assert!(low <= value && value <= high);
    };
    close(&short.t0, 79e-6);
    close(&short.r_inf, 1e9 / 630.0);
    close(&long.t0, 156e-6);
    close(&long.n_half, 156e3 / 410.0);
    close(&long.pi0, 1.0 / 156e-6);
    assert!((96.0..=128.0).contains(&of.breakpoints[0].bytes.0), "{:?}", of.breakpoints);
    assert!(short.r_inf.as_ref().unwrap().converged && long.worst_bytes.is_some());
    // The line is that of the parameters.
    let time = of.time(1 << 12).unwrap();
    assert!((time / ipsc860(4096.0) * 1e9 - 1.0).abs() < 0.02);
    assert_eq!(made.results.len(), 2);
    let [one, other] = [0, 1].map(|at| made.results[at].as_shown().quantities());
    assert!(one.iter().all(|(id, _, counts)| *counts && other.iter().all(|(of, ..)| of != id)));
    for result in &made.results {
        let json = serde_json::to_string(result).unwrap();
        assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), *result);
    }
}

#[test]
fn breakpoints_that_are_given_stay_where_they_are() {
    let curve = curve(sizes(), 1, ipsc860);
    let made = fit(&curve, Breaks::At(vec![100]));
    let of = relative(&made);
    assert_eq!(
        (of.segments.len(), of.breakpoints[0].bytes, of.breakpoints[0].low),
        (2, Number(100.0), None)
    );
    let options = HockneyOptions { breaks: Breaks::At(vec![1 << 40]), ..HockneyOptions::default() };
    assert!(matches!(
        super::fit(&curve, "shm", &options, Rule::default()),
        Err(AssembleError::Model(ModelError::BreakOutside(..)))
    ));
}

#[test]
fn rates_count_all_messages_of_an_operation() {
    let one = curve(sizes(), 1, |bytes| 5e3 + bytes / 4.0);
    let four = CurveTimes {
        messages: 4,
        which: Labels::from([("ranks".into(), 4_u64.into())]),
        ..one.clone()
    };
    let [one, four] = [one, four].map(|curve| fit(&curve, Breaks::At(Vec::new())));
    let [a, b] = [&one, &four].map(|made| relative(made).segments[0].clone());
    let value = |of: &Option<Quantity>| of.as_ref().unwrap().value.0;
    assert!((value(&b.r_inf) / value(&a.r_inf) - 4.0).abs() < 1e-9);
    assert!((value(&b.pi0) / value(&a.pi0) - 4.0).abs() < 1e-9);
    assert_eq!((&a.n_half, &a.t0), (&b.n_half, &b.t0));
    assert_eq!(relative(&four).id(), "hockney/comms1/shm/ranks=4");
}

#[test]
fn parameters_of_a_line_that_the_times_do_not_follow_have_not_converged() {
    let single = |time: fn(f64) -> f64| {
        fit(&curve((10..22).map(|k| 1 << k), 1, time), Breaks::At(Vec::new()))
    };
    let bent = single(|bytes| 5e3 + bytes.powf(1.3));
    assert!(codes(&bent).contains(&("line_missed", "hockney/comms1/shm/from=0")));
    assert!(!relative(&bent).segments[0].r_inf.as_ref().unwrap().converged);
    let below = single(|bytes| bytes / 4.0 - 240.0);
    assert!(codes(&below).contains(&("startup_below_zero", "hockney/comms1/shm/from=0")));
    assert!(relative(&below).segments[0].t0.is_none());
    let level = single(|_| 5e3);
    assert_eq!(codes(&level), [("rate_unresolved", "hockney/comms1/shm/from=0")]);
}

#[test]
fn a_segment_of_too_few_sizes_is_noted() {
    let short = fit(&curve(sizes(), 1, ipsc860), Breaks::At(vec![16]));
    assert!(codes(&short).contains(&("segment_too_short", "hockney/comms1/shm/from=0")));
}

#[test]
fn a_measurement_without_a_line_keeps_its_times() {
    let made = |sizes: &[u64], time: &dyn Fn(f64) -> f64| {
        let mut table = Measurements::default();
        for &bytes in sizes {
            let key = Key::new("comms1").at("bytes", bytes);
            let point =
                Described { bytes, moved: bytes, ..Described::default().at("bytes", bytes) };
            table.push(Kept::Point { key: key.clone(), point });
            let batch = Batch { samples: vec![time(bytes as f64)], ..Batch::default() };
            table.push(Kept::Batch { key, batch });
        }
        let judged = Judged::of(&table, 0.95, 0.05, 1);
        let setting = Setting { transport: "shm".to_owned(), ..Setting::default() };
        let measured = Measured { setting: &setting, judged: &judged };
        let made = hockney(&measured, &Breaks::Automatic { most: 5 }).unwrap();
        assert_said(&made.notes);
        made
    };
    assert_eq!(made(&[8, 16], &|_| 10.0), Made::default());
    let zero = made(&[8, 16, 32, 64], &|bytes| bytes - 8.0);
    assert_eq!(
        (zero.results.len(), codes(&zero)),
        (0, vec![("series_unfitted", "series/comms1/shm")])
    );
    assert_eq!(made(&sizes().collect::<Vec<_>>(), &ipsc860).results.len(), 2);
}
