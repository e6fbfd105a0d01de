use bandgap_model::breakdown::Change;
use bandgap_record::{ComponentTable, component_preset};
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
    assemble::whatif(&table(STACK), changes, None, RULE, 0.95).unwrap()
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
    // Errors of the quotient beyond the first order are a 10⁻⁴ of that.
    assert!(((high - low) / 2.0 - expected).abs() < 1e-3 * expected, "{low} {high} {expected}");
}

#[test]
fn sentences_say_what_comes_of_it() {
    // What the model is off by stands first.
    let said = |changes: &[Change]| made(changes).findings[1].clone();
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
        "Half a round trip takes 5 % less, but whether that is a substantial speed-up, more than 5 %, is undecided \
         (interval of what is saved: 4.89 % to 5.11 %)."
    );
    assert_eq!(said(&[scale("send", 1.2)]), "Half a round trip takes 5 % longer.");
    assert_eq!(said(&[scale("send", 1.0)]), "Half a round trip stays as it is.");
    let nothing = "Nothing of I/O is in the models, so changing it changes nothing.";
    assert_eq!(said(&[scale("IO", 0.5)]), nothing);
    let page = made(&[scale("io", 0.5)]).text(&Among::new([]), &Layout::default());
    assert!(!page.contains("e-") && page.contains("0 % to 0 %"), "{page}");
    assert!(!page.contains("reduction of each"), "{page}");
    assert_eq!(
        said(&[]),
        "Of the components, receive made 20 % shorter saves the most of half a round trip: 15 %."
    );
}

#[test]
fn what_saves_most_is_said_of_all_that_save_as_much_and_not_of_what_saves_nothing() {
    let text = STACK.replace("time_ns = 1290", "time_ns = 430");
    let of = |text: &str, formula: &str| {
        let text = text.replace("send + receive", formula);
        let made = assemble::whatif(&table(&text), &[], None, RULE, 0.95).unwrap();
        made.findings.into_iter().find(|said| said.contains(" the most of "))
    };
    let said = |formula: &str| of(&text, formula);
    // send is flags and bytes, 43 and 387.
    assert!(said("send + receive").unwrap().contains(", receive made 20 % shorter saves the most"));
    let alike = "bytes + receive - 0.1*receive";
    let unspread = text.replace("\nspread_ns = 6", "").replace("\nspread_ns = 8", "");
    assert_eq!(
        of(&unspread, alike).unwrap(),
        "Of the components, bytes and receive, each made 20 % shorter alone, save the most of half a round trip: 10 % \
         each."
    );
    // With spreads either may save more.
    assert!(said(alike).unwrap().starts_with("Which component made 20 % shorter saves the most"));
    // Of two that go on side by side neither saves anything alone.
    assert_eq!(said("max(receive, bytes + flags)"), None);
}

/// A model `m` of components that have these times and spreads.
fn summed(components: &[(&str, f64, f64)]) -> ComponentTable {
    let mut text = "name = \"summed\"\n".to_owned();
    for (name, ns, spread) in components {
        text += &format!(
            "[[component]]\nname = \"{name}\"\ncategory = \"cpu\"\nlayer = \"llp\"\nside = \"both\"\n\
             time_ns = {ns}\nspread_ns = {spread}\n"
        );
    }
    let names: Vec<&str> = components.iter().map(|(name, ..)| *name).collect();
    table(&format!("{text}[[model]]\nname = \"m\"\nformula = \"{}\"\n", names.join(" + ")))
}

#[test]
fn what_saves_most_is_undecided_among_those_that_cannot_be_told_apart() {
    let said = |spread: f64| {
        let table =
            summed(&[("alpha", 400.0, spread), ("beta", 395.0, spread), ("rest", 205.0, 1.0)]);
        let made = assemble::whatif(&table, &[], None, RULE, 0.95).unwrap();
        made.findings.into_iter().find(|said| said.contains(" the most of ")).unwrap()
    };
    // 0.2·5 ns less than alpha saves beta, ± 0.2·1.96·√2·80.
    let open = said(80.0);
    assert!(
        open.starts_with("Which component made 20 % shorter saves the most of m is undecided: alpha 8 % (interval ")
            && open.contains(" and beta 7.9 % (interval ")
            && open.ends_with(" cannot be told apart.")
            && !open.contains("rest"),
        "{open}"
    );
    // 1.96·√2·1 is less than 5.
    let sure = "Of the components, alpha made 20 % shorter saves the most of m: 8 %.";
    assert_eq!(said(1.0), sure);
}

#[test]
fn a_speed_up_is_substantial_only_where_its_interval_says_so() {
    let said = |spread: f64| {
        let table = summed(&[("os", 1430.0, 20.0), ("or", 17_900.0, spread)]);
        let made = assemble::whatif(&table, &[scale("or", 0.5)], None, RULE, 0.95).unwrap();
        (made.findings[0].clone(), made.models[0].speedup.clone())
    };
    // The derivative by or is small, as nearly all is or. But or may be anything: 19.33 ± 1.96·36.6 µs in all.
    let (open, saved) = said(36_600.0);
    assert_eq!(
        open,
        "M takes 46.3 % less, but whether that is a substantial speed-up, more than 5 %, is undecided: its time may be \
         -52.4 µs to 91.1 µs."
    );
    assert_eq!(saved.interval(), None);
    let (sure, saved) = said(100.0);
    assert_eq!(sure, "M takes 46.3 % less: a substantial speed-up (more than 5 %).");
    assert!(saved.interval().is_some());
    // Longer, or shorter: two times that are nearly taken from each other.
    let table = summed(&[("a", 100.0, 10.0), ("b", 50.0, 10.0)]);
    let mixed = [scale("a", 1.3), scale("b", 0.5)];
    let made = assemble::whatif(&table, &mixed, None, RULE, 0.95).unwrap();
    assert!(
        made.findings[0]
            .starts_with("M takes 3.33 % longer, but whether that is so is undecided ("),
        "{:?}",
        made.findings
    );
}

#[test]
fn curves_run_from_ten_to_ninety_per_cent() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    let of = |changes: &[Change]| assemble::whatif(&preset, changes, None, RULE, 0.95).unwrap();
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

#[test]
fn a_model_that_is_off_is_said_to_be_first_and_is_doubtful() {
    let of = |observed: &str| {
        let text = STACK.replace("observed_ns = 1800", observed);
        assemble::whatif(&table(&text), &[scale("send", 0.5)], None, RULE, 0.95).unwrap()
    };
    let off = of("observed_ns = 1000");
    assert_eq!(
        off.findings[0],
        "Half a round trip is modelled 72 % longer than the 1.00 µs that were observed: what is predicted of it is no \
         better than that."
    );
    assert_eq!(off.verdict(), Verdict::Doubtful(vec!["what if, of sockets: latency".into()]));
    let page = off.text(&Among::new([]), &Layout { width: 120, ..Layout::default() });
    assert!(page.contains(" observed ") && page.contains("1000.00 ns"), "{page}");
    assert!(of("observed_ns = 4000").findings[0].contains("is modelled 57 % shorter"));
    let undecided = of("observed_ns = 1800");
    assert!(undecided.findings[0].contains("whether that is within 5 % is undecided"));
    assert!(matches!(undecided.verdict(), Verdict::Doubtful(_)));
    let right = of("observed_ns = 1720");
    assert!(right.findings[0].starts_with("Half a round trip takes"), "{:?}", right.findings);
    assert_eq!(right.verdict(), Verdict::Good);
    // Nothing was observed, nothing is said.
    let text = STACK.replace("observed_ns = 1800\nobserved_spread_ns = 4\n", "");
    let bare = assemble::whatif(&table(&text), &[], None, RULE, 0.95).unwrap();
    assert_eq!(bare.verdict(), Verdict::Good);
    let page = bare.text(&Among::new([]), &Layout::default());
    assert!(!page.contains("observed") && !page.contains("without the changes"), "{page}");
}

#[test]
fn of_what_was_measured_its_state_and_what_did_not_come_back_are_said() {
    use crate::breakdown::{Inserted, Measured, Within};
    let time = |ns: f64| crate::logp::tests::time(ns, 1.0, "mean", true);
    let state = crate::measured::State {
        label: "cache line 52.1 ns".into(),
        probe: Some(time(52.1)),
        ..crate::measured::State::only()
    };
    let inserted = |component: &str, comes_back| Inserted {
        border: bandgap_comm::Border::Poll,
        component: component.into(),
        inserted: bandgap_units::Ns(200.0).into(),
        part: time(100.0),
        comes_back: Within::Yes,
        whole: time(100.0),
        whole_comes_back: comes_back,
    };
    let mut breakdown = crate::breakdown::tests::sample();
    breakdown.measured = Some(Measured {
        transport: "unix".into(),
        state,
        rounds: Vec::new(),
        lost_launches: Vec::new(),
        stamp: Some(bandgap_units::Ns(24.0).into()),
        inserted: vec![inserted("flags", Within::No), inserted("receive", Within::Undecided)],
        arrivals: None,
    });
    // As it was compared round by round.
    breakdown.models[0].within = Some(Within::Yes);
    let table = breakdown.table().unwrap();
    let said = |what: &str| {
        let changes = [scale(what, 0.5)];
        assemble::whatif(&table, &changes, Some(&breakdown), RULE, 0.95).unwrap().findings
    };
    let of_flags = said("send");
    assert_eq!(
        of_flags[0],
        "The components were measured over unix, in the machine's state cache line 52.1 ns, 100 % of the batches. \
         Runs in different states cannot be compared."
    );
    assert_eq!(
        of_flags[1],
        "What was inserted in flags did not make half a round trip longer by as much: its time is not what leaving it out \
         would save."
    );
    assert!(said("receive").iter().all(|said| !said.contains("was inserted")));
}

/// A model that divides by what is left of `a`, less its half.
const DIVIDED: &str = r#"
name = "divided"

[[component]]
name = "a"
category = "cpu"
layer = "llp"
side = "both"
time_ns = 10

[[component]]
name = "b"
category = "cpu"
layer = "llp"
side = "both"
time_ns = 8

[[component]]
name = "c"
category = "io"
layer = "hardware"
side = "both"
time_ns = 5

[[model]]
name = "m"
formula = "a * c / (a - b)"
"#;

#[test]
fn what_divides_by_nothing_after_a_change_is_told_and_has_no_place_in_rankings_and_curves() {
    let table = table(DIVIDED);
    let made = |changes: &[Change]| assemble::whatif(&table, changes, None, RULE, 0.95);
    // 20 % less of a makes a - b nothing.
    let told = made(&[scale("a", 0.8)]).unwrap_err().to_string();
    assert!(told.contains("with this change of a the formula of 'm' gives no number"), "{told}");
    assert!(made(&[set("c", 1e160)]).is_err());
    let all = made(&[scale("a", 0.9)]).unwrap();
    // 10·5/2 = 25 and 9·5/1 = 45.
    assert!((all.models[0].after.value.0 - 45e-9).abs() < 1e-18);
    let ranked = all.ranking[0].components.iter().map(|one| one.component.as_str());
    assert_eq!(ranked.collect::<Vec<_>>(), ["b", "c"]);
    // Of nine points that at 20 % is left out.
    assert_eq!(all.curves[0].curves[0].points.len(), 8);
}
