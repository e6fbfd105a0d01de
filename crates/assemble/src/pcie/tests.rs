use bandgap_model::breakdown::Errors;
use bandgap_model::pcie::{Direction, Packet, PacketKind};
use bandgap_record::component_preset;

use super::*;
use crate::breakdown::tests::RULE;

/// Packets at times in nanoseconds: `p` posts, `c` completions, `d` payloads, `a` acknowledgements of the last packet up.
fn read(events: &[(f64, char)]) -> Trace {
    let mut trace = Trace::default();
    let (mut down, mut up) = (0, 0);
    for (ns, event) in events {
        let (direction, kind, bytes) = match event {
            'p' => (Direction::Down, PacketKind::Write, 64),
            'c' => (Direction::Up, PacketKind::Write, 64),
            'd' => (Direction::Up, PacketKind::Write, 8),
            _ => (Direction::Down, PacketKind::Ack, 0),
        };
        let counter = if direction == Direction::Down { &mut down } else { &mut up };
        *counter += u64::from(kind == PacketKind::Write);
        let number = Some(if kind == PacketKind::Ack { up } else { *counter });
        let time = (ns * 1e3).round() as u64;
        trace.take(Packet { time, direction, kind, bytes, address: None, number });
    }
    trace.finish();
    trace
}

/// Rounds of 3000 ns with these ways through the network and back.
fn ping_pong(network: &[f64]) -> Trace {
    let mut events = Vec::new();
    for (at, way) in network.iter().enumerate() {
        let begin = 3000.0 * at as f64;
        let of = [(0.0, 'p'), (*way, 'c'), (way + 270.0, 'a'), (2000.0, 'd'), (2270.0, 'a')];
        events.extend(of.map(|(after, event)| (begin + after, event)));
    }
    read(&events)
}

fn injection() -> Trace {
    let posts = (0..40).map(|at| (282.33 * f64::from(at), 'p'));
    read(&posts.collect::<Vec<_>>())
}

fn software() -> Software {
    let given = |ns| Some(Timed { ns, errors: Errors::new(), samples: 0 });
    Software { post: given(175.0), prog: given(60.0) }
}

fn hardware(trace: &Trace, direct: Option<&Trace>) -> Hardware {
    Hardware::of(("trace.csv", trace), direct.map(|of| ("direct.csv", of)), &software())
}

fn made(trace: &Trace, direct: Option<&Trace>) -> Made {
    let hardware = hardware(trace, direct);
    let direct = direct.map(|direct| ("direct.csv", direct));
    pcie_trace(("trace.csv", trace), direct, &hardware, RULE, 0.95).unwrap()
}

fn ways(least: f64) -> Vec<f64> {
    (0..40).map(|at| least + f64::from(at % 5)).collect()
}

/// Injection and a ping-pong in one trace, and one without a switch.
fn sample() -> Made {
    let mut events: Vec<(f64, char)> =
        (0..40).map(|at| (300.0 * f64::from(at) + f64::from(at % 7), 'p')).collect();
    for (at, way) in ways(760.0).into_iter().enumerate() {
        let begin = 100_000.0 + 3000.0 * at as f64;
        let of = [(0.0, 'p'), (way, 'c'), (way + 270.0, 'a'), (2000.0, 'd'), (2270.0, 'a')];
        events.extend(of.map(|(after, event)| (begin + after, event)));
    }
    made(&read(&events), Some(&ping_pong(&ways(550.0))))
}

fn value(made: &Made, name: &str) -> f64 {
    let id = format!("pcie_trace/trace/part={name}/time");
    made.quantity(&id).unwrap_or_else(|| panic!("no {name}: {:?}", made.notes)).value.0 * 1e9
}

#[test]
fn a_trace_with_both_has_all_components() {
    let made = sample();
    // 270/2; the ways are 762 and 552 on average; a round leaves 1000 ns from pong to ping.
    for (name, ns) in [
        ("pcie", 135.0),
        ("network", 381.0),
        ("wire", 276.0),
        ("switch", 105.0),
        ("rc_to_mem_8", 1000.0 - 2.0 * 135.0 - 175.0 - 60.0),
    ] {
        assert!((value(&made, name) - ns).abs() < 0.2, "{name} {}", value(&made, name));
    }
    let rows = made.rows(PCIE_TRACE, "trace").unwrap();
    let median = rows.rows[0].spread.unwrap().median.0 * 1e9;
    assert!((median - 301.0).abs() < 1.0, "{median:?}");
    let labels =
        ["posts", "completions", "payloads", "lost"].map(|name| rows.labels[name].number());
    assert_eq!(labels, [Some(80), Some(40), Some(40), Some(0)]);
    let streams: Vec<String> = rows
        .rows
        .iter()
        .filter(|row| row.spread.is_some())
        .map(|row| row.place[0].to_string())
        .collect();
    assert_eq!(streams, ["injection", "acknowledgement", "ping", "pong"]);
    assert!(made.rows(PCIE_TRACE, "without_switch").is_some());
}

#[test]
fn what_does_not_follow_has_a_reason() {
    let posts = made(&injection(), None);
    assert!((value(&posts, "inj_overhead") - 282.33).abs() < 1e-3);
    let none = "pcie_no_completions";
    assert_eq!(posts.codes(), [none, none, "pcie_no_direct_trace", none, none]);
    assert!(posts.notes[1].is_about("pcie_trace/trace/part=network/time"));
    let one = made(&read(&[(0.0, 'p')]), None);
    assert!(one.results.is_empty() && one.codes().contains(&"pcie_no_posts"));
}

/// Every reason has its words.
#[test]
fn reasons_are_in_the_table_of_notes() {
    use bandgap_model::pcie::Why;
    for why in [
        Why::NoPosts,
        Why::NoCompletions,
        Why::NoAcknowledgements,
        Why::PingPong,
        Why::NoPingPong,
        Why::NoAddresses,
        Why::NoDirectTrace,
        Why::NoSoftware,
        Why::Negative,
    ] {
        assert!(bandgap_results::template(&format!("pcie_{why}")).is_some(), "{why}");
    }
}

#[test]
fn components_of_a_trace_have_the_models_that_they_are_enough_for() {
    let names = |trace: &Trace, direct: Option<&Trace>, given: &Software| -> Vec<String> {
        let table = pcie_table(&hardware(trace, direct), given, None).unwrap();
        table.stack.models.iter().map(|model| model.name.clone()).collect()
    };
    let trace = ping_pong(&ways(760.0));
    let alone = names(&trace, None, &Software::default());
    assert!(alone.contains(&"hardware_alone".to_owned()), "{alone:?}");
    assert!(!alone.contains(&"llp_latency".to_owned()));
    let direct = ping_pong(&ways(550.0));
    let whole = names(&trace, Some(&direct), &software());
    assert!(whole.contains(&"llp_latency".to_owned()), "{whole:?}");
    let nothing = pcie_table(&hardware(&injection(), None), &Software::default(), None);
    assert!(nothing.is_none());
}

#[test]
fn they_take_the_place_of_those_of_a_table() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    let trace = ping_pong(&ways(760.0));
    let made = pcie_table(&hardware(&trace, None), &software(), Some(preset)).unwrap().stack;
    let latency = made.value(made.model("llp_latency").unwrap(), &made.state());
    // 175 + 60 + 2·135 + 381 + what the turn leaves of 1000.
    assert!((latency.ns - (1000.0 + 381.0)).abs() < 0.2, "{}", latency.ns);
    // PCIe is in it with and without sign, and cancels.
    let of_acks = latency.errors.iter().find(|(source, _)| source.contains("acknowledgement"));
    assert!(of_acks.is_none_or(|(_, error)| error.abs() < 1e-9), "{of_acks:?}");
    let preset = component_preset("thunderx2-connectx4").unwrap();
    let made =
        pcie_table(&hardware(&injection(), None), &Software::default(), Some(preset)).unwrap();
    let observed = made.stack.model("llp_injection").unwrap().observed.unwrap();
    assert!((observed.ns - 282.33).abs() < 1e-3);
}
