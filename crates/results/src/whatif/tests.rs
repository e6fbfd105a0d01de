use bandgap_model::breakdown::Change;
use bandgap_record::component_preset;
use bandgap_stats::Rule;

use super::*;
use crate::breakdown::tests::{STACK, table};

const RULE: Rule = Rule { precision: 0.05, stamp: 0.0 };

fn scale(what: &str, factor: f64) -> Change {
    Change::Scale { what: what.into(), factor }
}

fn set(what: &str, ns: f64) -> Change {
    Change::Set { what: what.into(), ns }
}

fn made(changes: &[Change]) -> WhatIf {
    assemble::whatif(&table(STACK), changes, RULE, 0.95).unwrap()
}

pub(crate) fn sample() -> WhatIf {
    made(&[set("send", 215.0), scale("receive", 0.9)])
}

#[test]
fn the_page_has_before_after_ranking_and_curves() {
    let all = sample();
    let page = all.text(&Among::new([]), &Layout { width: 100, ..Layout::default() });
    insta::assert_snapshot!(page);
}

#[test]
fn what_is_saved_is_a_share_of_the_time_before() {
    let one = sample();
    let latency = &one.models[0];
    // 215 + 1161 of 1720.
    assert!((latency.after.value.0 - 1376e-9).abs() < 1e-15);
    assert!((latency.speedup.value.0 - 0.2).abs() < 1e-12);
    assert_eq!(one.models.len(), 1);
    let changes: Vec<(&str, f64)> = one
        .changes
        .iter()
        .map(|change| (change.component.as_str(), change.reduction.unwrap().0))
        .collect();
    assert_eq!(changes[0], ("send", 0.5));
    assert!((changes[1].1 - 0.1).abs() < 1e-12);
    // (s + r − 215 − 0.9r)/(s + r): ∂/∂s = 1376/1720², ∂/∂r = (0.1·1720 − 344)/1720².
    let expected = 1.95996 * (1376.0 * 6.0_f64).hypot(172.0 * 8.0) / (1720.0 * 1720.0);
    let (low, high) = latency.speedup.interval().unwrap();
    assert!(((high - low) / 2.0 - expected).abs() < 1e-7, "{low} {high} {expected}");
}

#[test]
fn sentences_say_what_comes_of_it() {
    let said = |changes: &[Change]| made(changes).findings[0].clone();
    assert_eq!(
        said(&[scale("receive", 0.5)]),
        "Half a round trip takes 37.5 % less: a substantial speed-up (more than 5 %)."
    );
    assert_eq!(
        said(&[scale("send", 0.9)]),
        "Half a round trip takes 2.5 % less: no substantial speed-up (at most 5 %)."
    );
    assert_eq!(
        said(&[scale("send", 0.8)]),
        "Half a round trip takes 5 % less: a speed-up that may or may not be \
         substantial (more than 5 %)."
    );
    assert_eq!(said(&[scale("send", 1.2)]), "Half a round trip takes 5 % longer.");
    assert_eq!(said(&[scale("io", 0.5)]), "Half a round trip stays as it is.");
    assert_eq!(
        said(&[]),
        "Of single components made 20 % shorter, receive saves most of half a round trip: 15 %."
    );
}

#[test]
fn what_saves_most_is_said_of_all_that_save_as_much_and_not_of_what_saves_nothing() {
    let said = |formula: &str| {
        let text =
            STACK.replace("send + receive", formula).replace("time_ns = 1290", "time_ns = 430");
        let made = assemble::whatif(&table(&text), &[], RULE, 0.95).unwrap();
        made.findings.into_iter().find(|said| said.starts_with("Of single"))
    };
    // send is flags and bytes, 43 and 387.
    assert!(said("send + receive").unwrap().contains(" shorter, receive saves most"));
    assert_eq!(
        said("bytes + receive - 0.1*receive").unwrap(),
        "Of single components made 20 % shorter, bytes and receive save most of half a round trip: 10 % each."
    );
    // Of two that go on side by side neither saves anything alone.
    assert_eq!(said("max(receive, bytes + flags)"), None);
}

#[test]
fn curves_run_from_ten_to_ninety_per_cent() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    let of = |changes: &[Change]| assemble::whatif(&preset, changes, RULE, 0.95).unwrap();
    let all = of(&[]);
    let titles: Vec<&str> = all.curves.iter().map(|curves| curves.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Injection overhead", "Latency, processors", "Latency, I/O", "Latency, network"]
    );
    let io = all.curves[2].curves.iter().find(|curve| curve.of == "io").unwrap();
    assert_eq!((io.points[0].reduction.0, io.points[8].reduction.0), (0.1, 0.9));
    // 515.94·0.5 of 1387.02: the paper's integrated network interface.
    assert!((io.points[4].speedup.0 - 0.186).abs() < 1e-4);
    // 75.6 of 1387.02: the paper's 5.45 % of a faster switch is 70 % less, not the 72 % of its text.
    let switch = &all.curves[3].curves[1];
    assert!((switch.points[6].speedup.0 - 0.0545).abs() < 5e-5);
    // Of changes, their own curves, where the model holds what is changed.
    let changed = of(&[scale("wire", 0.5), scale("pio", 0.5)]);
    let drawn: Vec<(&str, usize)> =
        changed.curves.iter().map(|curves| (curves.model.as_str(), curves.curves.len())).collect();
    assert_eq!(drawn, [("injection", 1), ("latency", 2)]);
    let ranked = |model: usize| all.ranking[model].components[0].component.as_str();
    assert_eq!((ranked(2), ranked(3)), ("pio", "pcie"));
}
