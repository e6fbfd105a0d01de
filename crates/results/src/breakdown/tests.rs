use bandgap_record::{ComponentTable, component_preset, read_component_table};
use bandgap_stats::Rule;

use super::*;
use crate::kind::{Among, Shown, Verdict};

pub(crate) const RULE: Rule = Rule { precision: 0.05, stamp: 0.0 };

/// A stack with every field that a table can have.
pub(crate) const STACK: &str = "name,category,layer,side,time_ns,spread_ns,provenance,latency,rate
n,parameter,,,4,,,,
send,cpu,llp,initiator,430,6,measured,1,1/n
send,cpu,hlp,target,,,,,-0.125
receive,cpu,llp,target,1290,8,,1,
observed,observed,,,,,,1800,
observed_spread,observed_spread,,,,,,4,
";

pub(crate) fn table(text: &str) -> ComponentTable {
    read_component_table(text.as_bytes()).unwrap()
}

fn made(text: &str) -> Breakdown {
    assemble::breakdown(&table(text), RULE, 0.95).unwrap()
}

pub(crate) fn sample() -> Breakdown {
    let lacking = vec![LackingModel { model: "m".into(), components: vec!["c".into()] }];
    Breakdown { lacking, ..made(STACK) }
}

#[test]
fn intervals_are_propagated_to_the_error() {
    let breakdown = sample();
    let latency = &breakdown.models[0];
    let (low, high) = latency.modelled.interval().unwrap();
    // 430 + 1290, ±1.96·√(6² + 8²).
    assert!((latency.modelled.value.0 - 1720e-9).abs() < 1e-15);
    assert!((high - low - 2.0 * 1.95996 * 10e-9).abs() < 1e-12, "{low} {high}");
    // 1720/1800 − 1 = −4.44 %; its deviation is √((10/1800)² + (1720·4/1800²)²) = 0.595 %.
    let error = latency.error.as_ref().unwrap();
    let (low, high) = error.interval().unwrap();
    assert!((error.value.0 + 0.04444).abs() < 1e-5);
    assert!((high - low - 2.0 * 1.95996 * 0.005946).abs() < 1e-5, "{low} {high}");
    assert_eq!(latency.within, Some(Within::Undecided));
    assert!(matches!(breakdown.verdict(), Verdict::Doubtful(_)));
    // 430/4 − 430/8: its own layer has all of it, and the other one less than nothing.
    let layers = breakdown.models[1].by("layer");
    assert_eq!(layers.iter().map(|part| part.share.0).collect::<Vec<_>>(), [-1.0, 2.0]);
}

#[test]
fn a_model_holds_is_off_or_undecided() {
    for (observed, within) in [
        ("1720", Within::Holds),
        ("1800", Within::Undecided),
        ("1640", Within::Undecided),
        ("1900", Within::Off),
        ("1500", Within::Off),
    ] {
        let breakdown = made(&STACK.replace("1800", observed));
        assert_eq!(breakdown.models[0].within, Some(within), "{observed}");
        let is_good = within == Within::Holds;
        assert_eq!(breakdown.verdict() == Verdict::Good, is_good, "{observed}");
    }
    // Without any spread the value decides.
    let bare = STACK.replace(",6,", ",,").replace(",8,", ",,").replace(",4,\n", ",,\n");
    let breakdown = made(&bare);
    assert_eq!(breakdown.models[0].within, Some(Within::Holds));
    assert!(breakdown.models[0].error.as_ref().unwrap().interval().is_none());
}

#[test]
fn what_is_recorded_can_be_read_back() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    for table in [preset, table(STACK)] {
        let made = assemble::breakdown(&table, RULE, 0.95).unwrap();
        let read: Breakdown = serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
        let again = assemble::breakdown(&read.table().unwrap(), RULE, 0.95).unwrap();
        for (before, after) in made.models.iter().zip(&again.models) {
            assert!((before.modelled.value.0 / after.modelled.value.0 - 1.0).abs() < 1e-12);
            assert_eq!((before.within, &before.rows), (after.within, &after.rows));
        }
        // And from its file.
        let files = made.files(&Among::new([])).unwrap();
        let written = files.iter().find(|file| file.name == "components.csv").unwrap();
        let again = read_component_table(written.contents.as_slice()).unwrap().stack;
        assert_eq!(again.models, read.table().unwrap().stack.models);
    }
    let mut broken = sample();
    broken.models[0].rows[0][0].component = "moon".into();
    assert!(broken.table().is_err());
}

/// Figure 15: by category, and what each of them is; each category has a colour.
#[test]
fn bars_have_a_colour_for_each_category() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    let made = assemble::breakdown(&preset, RULE, 0.95).unwrap();
    let files = made.files(&Among::new([])).unwrap();
    let svg = files.into_iter().find(|file| file.name == "breakdown.svg").unwrap();
    let svg = String::from_utf8(svg.contents).unwrap();
    for colour in ["#0072b2", "#e69f00", "#009e73", "#4cbb9d"] {
        assert!(svg.contains(colour), "{colour}");
    }
    // Of the network's part the wire is the first, 71.8 % of it.
    assert!(svg.contains("wire 71.8 %") && svg.contains("switch 28.2 %"));
}
