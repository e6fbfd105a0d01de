use bandgap_record::component_preset;
use bandgap_results::{Outcome, Within};

use super::*;
use crate::breakdown::tests::{RULE, STACK, example, given, table};

fn reduce(what: &str, share: f64) -> Change {
    Change { what: what.into(), becomes: Becomes::Shorter(share) }
}

fn set(what: &str, value: f64) -> Change {
    Change { what: what.into(), becomes: Becomes::Value(value) }
}

fn found(table: &ComponentTable, changes: &[Change], of: Option<&Breakdown>) -> WhatIf {
    let made = super::whatif(table, changes, of, RULE, 0.95).unwrap();
    let [Outcome::WhatIf(of)] = &made.results[..] else { panic!("{made:?}") };
    (**of).clone()
}

fn preset() -> ComponentTable {
    component_preset("thunderx2-connectx4").unwrap()
}

#[test]
fn what_is_saved_is_a_share_of_the_time_before() {
    let changes = [set("send", 215.0), reduce("receive", 0.1), set("n", 8.0)];
    let one = found(&table(STACK), &changes, None);
    let [latency] = &one.models[..] else { panic!("one main model") };
    // 215 + 1161 of 1720.
    assert!((latency.after.value.0 - 1376e-9).abs() < 1e-15);
    assert!((latency.speedup.value.0 - 0.2).abs() < 1e-12);
    // (s + r − 215 − 0.9r)/(s + r): ∂/∂s = 1376/1720², ∂/∂r = (0.1·1720 − 344)/1720².
    let expected = 1.95996 * (1376.0 * 6.0_f64).hypot(172.0 * 8.0) / (1720.0 * 1720.0);
    let (low, high) = latency.speedup.interval().unwrap();
    assert!(((high - low) / 2.0 - expected).abs() < 1e-4 * expected, "{low} {high} {expected}");
    let changes: Vec<_> = one
        .changes
        .iter()
        .map(|of| (&*of.component, of.reduction.map(|of| of.0), of.number.map(|of| of.0)))
        .collect();
    let expected =
        [("send", Some(0.5), None), ("receive", Some(0.1), None), ("n", None, Some(8.0))];
    assert_eq!(changes, expected);
    assert_eq!(one.changes[0].set.unwrap().ns().0, 215.0);
    assert_eq!(latency.within, Some(Within::Undecided));
}

/// "Breaking Band", section 7.
#[test]
fn the_papers_cases_come_out() {
    let saved = |changes: &[Change]| {
        let found = found(&preset(), changes, None);
        ["injection", "latency"].map(|name| {
            found.models.iter().find(|model| model.name == name).unwrap().speedup.value.0
        })
    };
    let [injection, latency] = saved(&[set("pio", 15.0)]);
    assert!(injection > 0.25 && latency > 0.05, "{injection} {latency}");
    let [injection, latency] = saved(&[reduce("io", 0.5)]);
    assert!(injection == 0.0 && latency > 0.15, "{latency}");
    let [injection, _] = saved(&[reduce("hlp", 0.2)]);
    assert!((injection - 0.06447).abs() < 1e-5, "{injection}");
    let [injection, _] = saved(&[reduce("llp", 0.2)]);
    assert!((injection - 0.1333).abs() < 3e-3, "{injection}");
    let [_, latency] = saved(&[set("switch", 30.0)]);
    assert!((latency - 0.0545).abs() < 0.002, "{latency}");
    // Together: 0.84·94.25 and 78 of 1387.02.
    let [_, latency] = saved(&[reduce("pio", 0.84), set("switch", 30.0)]);
    assert!((latency - (0.84 * 94.25 + 78.0) / 1387.02).abs() < 1e-9, "{latency}");
    // A completion for each operation.
    let [injection, _] = saved(&[set("c", 1.0)]);
    assert!((injection + 61.63 * 63.0 / 64.0 / 264.97).abs() < 1e-9, "{injection}");
}

#[test]
fn the_ranking_is_by_what_each_component_saves() {
    let all = found(&preset(), &[], None);
    for (ranking, (model, first, ns, whole)) in all.ranking.iter().zip([
        ("llp_injection", "pio", 94.25, 295.73),
        ("llp_latency", "pcie", 274.98, 1135.80),
        ("injection", "pio", 94.25, 264.97),
        ("latency", "pcie", 274.98, 1387.02),
    ]) {
        let best = &ranking.components[0];
        assert_eq!((&*ranking.model, &*best.component), (model, first));
        let share = ranking.reduction.0 * ns / whole;
        assert!((best.speedup.value.0 - share).abs() < 1e-9, "{model}");
        let all = ranking.components.iter().map(|one| one.speedup.value.0);
        assert!(all.is_sorted_by(|a, b| a >= b));
    }
    // Figure 17: HLP in injection, at 20 % 6.44 % and linear.
    let curve = all.curves.iter().find(|one| one.model == "injection" && one.of == "hlp").unwrap();
    assert_eq!(curve.points.len(), 9);
    for (reduction, saved) in &curve.points {
        assert!((saved.0 / reduction.0 - 0.0644 / 0.2).abs() < 1e-3);
    }
    // What is not in it has no curve.
    assert!(all.curves.iter().all(|one| one.model != "injection" || one.of != "io"));
    // What its other panels draw: the parts of each category that are in the latency, named once.
    let of = |category| -> Vec<&str> {
        let its = all.curves.iter().filter(|of| of.model == "latency" && of.category == category);
        its.map(|of| &*of.of).collect()
    };
    let cpu =
        ["cpu", "hlp", "llp", "llp_post", "hlp_post", "hlp_rx_prog", "rx_callback_ucp", "pio"];
    assert_eq!(of(Some(Category::Cpu)), cpu);
    assert_eq!(of(Some(Category::Io)), ["io", "pcie", "rc_to_mem_8"]);
    assert_eq!(of(Some(Category::Network)), ["network", "wire", "switch"]);
    assert_eq!(of(None), ["hardware"]);
    let of_pio = found(&preset(), &[reduce("pio", 0.5)], None);
    assert!(of_pio.curves.iter().all(|one| one.of == "pio"));
}

#[test]
fn a_measured_model_keeps_its_paired_error() {
    let table = table(STACK);
    let mut of = given(&table);
    of.models[0].within = Some(Within::Holds);
    let within = |of: &Breakdown| found(&table, &[], Some(of)).models[0].within;
    assert_eq!(within(&of), Some(Within::Undecided));
    of.measured = example().measured;
    assert_eq!(within(&of), Some(Within::Holds));
}

#[test]
fn a_share_of_what_may_be_nothing_has_no_interval() {
    let wide = STACK.replace(",6,", ",900,");
    let found = found(&table(&wide), &[reduce("send", 0.5)], None);
    assert!(found.models[0].speedup.interval().is_none());
}

#[test]
fn wrong_changes_and_tables_without_time_are_errors() {
    let wrong = whatif(&table(STACK), &[reduce("moon", 0.1)], None, RULE, 0.95);
    assert!(matches!(wrong, Err(AssembleError::Ambiguous { .. })));
    let nothing = table("name,category,layer,side,time_ns\na,cpu,llp,target,0\n");
    let wrong = whatif(&nothing, &[], None, RULE, 0.95);
    assert!(matches!(wrong, Err(AssembleError::Components(_))));
}
