use bandgap_record::{ComponentTable, Number, Seconds, component_preset, read_component_table};
use bandgap_stats::Rule;

use super::*;

const RULE: Rule = Rule { precision: 0.05, stamp: 0.0 };

/// A stack with every field that a table can have.
pub(crate) const STACK: &str = r#"
name = "sockets"
description = "a message over a socket"

[[component]]
name = "send"
label = "send until visible"
category = "cpu"
layer = "llp"
side = "initiator"
time_ns = 430
spread_ns = 6
provenance = "measured"

[[component]]
name = "flags"
category = "cpu"
layer = "hlp"
side = "initiator"
formula = "send / 10"
part_of = "send"

[[component]]
name = "bytes"
category = "cpu"
layer = "llp"
side = "initiator"
formula = "send - flags"
part_of = "send"

[[component]]
name = "receive"
category = "cpu"
layer = "llp"
side = "target"
time_ns = 1290
spread_ns = 8
provenance = "assumed"

[[model]]
name = "latency"
label = "half a round trip"
formula = "send + receive"
main = true
observed_ns = 1800
observed_spread_ns = 4

[[model]]
name = "ratio"
formula = "receive / send"
"#;

pub(crate) fn table(text: &str) -> ComponentTable {
    read_component_table(text.as_bytes()).unwrap()
}

fn made(text: &str) -> Breakdown {
    assemble::breakdown(&table(text), RULE, 0.95).unwrap()
}

pub(crate) fn sample() -> Breakdown {
    made(STACK)
}

fn page(breakdown: &Breakdown) -> String {
    text::page(breakdown, &Layout { width: 100, ..Layout::default() })
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
    // A part has the interval of what it is derived from: a tenth of 6.
    let (low, high) = breakdown.components[1].time.interval().unwrap();
    assert!((high - low - 2.0 * 1.95996 * 0.6e-9).abs() < 1e-13);
    // 1290/430; a plain number is not divided.
    assert!((breakdown.models[1].modelled.value.0 - 3.0).abs() < 1e-12);
    assert!(breakdown.models[1].divided.is_empty());
}

#[test]
fn a_model_is_within_not_within_or_undecided() {
    for (observed, within, is_good) in [
        ("1720", Within::Yes, true),
        ("1800", Within::Undecided, false),
        ("1640", Within::Undecided, false),
        ("1900", Within::No, false),
        ("1500", Within::No, false),
    ] {
        let breakdown =
            made(&STACK.replace("observed_ns = 1800", &format!("observed_ns = {observed}")));
        assert_eq!(breakdown.models[0].within, Some(within), "{observed}");
        assert_eq!(breakdown.verdict() == Verdict::Good, is_good, "{observed}");
    }
    // Without any spread the value decides.
    let bare: String = STACK
        .lines()
        .filter(|line| !line.contains("spread"))
        .map(|line| format!("{line}\n"))
        .collect();
    let breakdown = made(&bare);
    assert_eq!(breakdown.models[0].within, Some(Within::Yes));
    assert!(breakdown.models[0].error.as_ref().unwrap().interval().is_none());
    assert!(breakdown.findings.iter().any(|said| said.starts_with("No component has a spread")));
    let one = STACK.replacen("spread_ns = 6\n", "", 1);
    assert!(made(&one).findings.iter().any(|said| said.starts_with("1 of 2 components have no")));
    assert!(!sample().findings.iter().any(|said| said.contains("no spread")));
}

#[test]
fn the_page_has_percentages_bars_and_sentences() {
    insta::assert_snapshot!(page(&sample()));
}

/// Of the figures that the paper prints of its breakdown, as far as its text says them.
#[test]
fn the_papers_figures_are_drawn() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    let breakdown = assemble::breakdown(&preset, RULE, 0.95).unwrap();
    let titles: Vec<&str> = breakdown.figures.iter().map(|figure| figure.title.as_str()).collect();
    for number in [4, 8, 10, 11, 12, 13, 14, 15, 16] {
        let name = format!("(figure {number})");
        assert!(titles.iter().any(|title| title.contains(&name)), "{name}");
    }
    for bar in breakdown.figures.iter().flat_map(|figure| &figure.bars) {
        let sum: f64 = bar.parts.iter().map(|part| part.share.0).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{}: {sum}", bar.name);
    }
    for model in breakdown.models.iter().filter(|model| model.main) {
        assert_eq!(model.within, Some(Within::Yes), "{}", model.name);
    }
    let svg = breakdown.files(&Among::new([])).unwrap().pop().unwrap();
    let svg = String::from_utf8(svg.contents).unwrap();
    assert!(svg.contains("PIO copy (64 bytes) 53.7 %"), "{svg}");
}

#[test]
fn what_is_recorded_can_be_read_back() {
    let read: Breakdown = serde_json::from_str(&serde_json::to_string(&sample()).unwrap()).unwrap();
    let again = assemble::breakdown(&read.table().unwrap(), RULE, 0.95).unwrap();
    for (before, after) in sample().models.iter().zip(&again.models) {
        assert!((before.modelled.value.0 / after.modelled.value.0 - 1.0).abs() < 1e-12);
        assert_eq!(
            (before.within, &before.divided[..].len()),
            (after.within, &after.divided.len())
        );
        let ends = |model: &ModelTime| model.modelled.interval().unwrap();
        assert!((ends(before).0 / ends(after).0 - 1.0).abs() < 1e-9);
    }
    // With all that it said, at its own level.
    let mut read = read;
    read.findings.push("Said at the time.".to_owned());
    let again = |confidence| {
        assemble::again(read.clone(), &read.table().unwrap(), RULE, confidence).unwrap()
    };
    assert_eq!(again(0.95), read);
    let wider = again(0.999);
    assert!(wider != read && !wider.findings.contains(&"Said at the time.".to_owned()));
    // What follows from the numbers is theirs, whatever the file says.
    for spoil in [
        |model: &mut ModelTime| model.within = Some(Within::Yes),
        |model: &mut ModelTime| model.divided[0].parts[0].share = Number(1e308),
        |model: &mut ModelTime| model.divided[0].parts[0].time = Seconds(Number(1.0)),
        |model: &mut ModelTime| model.error.as_mut().unwrap().value = Number(0.0),
    ] {
        let mut spoilt = sample();
        spoil(&mut spoilt.models[0]);
        assert_ne!(spoilt.models, sample().models);
        let again = assemble::again(spoilt, &read.table().unwrap(), RULE, 0.95).unwrap();
        assert_eq!(page(&again), page(&sample()));
    }
    let mut broken = sample();
    broken.models[0].formula = "send + moon".into();
    assert!(broken.table().unwrap_err().to_string().contains("'moon'"));
}

#[test]
fn the_table_of_components_is_one_that_can_be_read() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    let breakdown = assemble::breakdown(&preset, RULE, 0.95).unwrap();
    let files = breakdown.files(&Among::new([])).unwrap();
    let written = files.iter().find(|file| file.name == "components.toml").unwrap();
    let again = read_component_table(written.contents.as_slice()).unwrap();
    let again = assemble::breakdown(&again, RULE, 0.95).unwrap();
    assert_eq!(again.models.len(), breakdown.models.len());
    for (before, after) in breakdown.models.iter().zip(&again.models) {
        assert!((before.modelled.value.0 / after.modelled.value.0 - 1.0).abs() < 1e-9);
    }
}

#[test]
fn of_many_components_the_longest_are_shown() {
    let mut text = "name,category,layer,side,time_ns\n".to_owned();
    for at in 0..100 {
        text += &format!("c{at},cpu,llp,target,{at}\n");
    }
    let breakdown = made(&text);
    let page = page(&breakdown);
    assert!(page.contains("60 more components with smaller shares"), "{page}");
    assert!(page.contains("c99 ") && page.contains("c60 ") && !page.contains("c59 "), "{page}");
    let bar = &breakdown.figures[0].bars[0];
    assert_eq!((bar.parts.len(), bar.parts[11].name.as_str()), (12, "89 others"));
}

#[test]
fn models_of_their_own_are_read_back_each_as_it_was() {
    // Of several models the sum of all components is none.
    let text = STACK.replace(
        "formula = \"receive / send\"",
        "formula = \"max(receive, 2 * send@target)\"\nlabel = \"the \\\"other\\\"\"\nmain = true",
    );
    let breakdown = made(&text);
    let files = breakdown.files(&Among::new([])).unwrap();
    let written = files.iter().find(|file| file.name == "components.toml").unwrap();
    assert!(!files.iter().any(|file| file.name == "components.csv"));
    let again = made(std::str::from_utf8(&written.contents).unwrap());
    assert_eq!(again.models, breakdown.models);
    assert_eq!(again.components, breakdown.components);
    assert_eq!((&again.name, &again.description), (&breakdown.name, &breakdown.description));
}
