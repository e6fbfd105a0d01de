use bandgap_model::pcie::{Direction, Given, Kind, Numbers, Packet, Trace};
use bandgap_record::component_preset;
use bandgap_report::Layout;

use super::assemble::pcie_trace;
use super::components::table;
use super::*;
use crate::measured::examples::RULE;
use bandgap_model::pcie::{Hardware, Known, Read, Software, Timed};

/// Packets at times in nanoseconds: `p` posts, `c` completions, `d` payloads, `a` acknowledgements of the
/// last packet up.
fn read(events: &[(f64, char)]) -> Read {
    read_as(events, Numbers::Sequence, true, |number| Some(number % 4096))
}

/// The same with other numbers, perhaps without addresses. A row whose number is `None` is not in the trace.
fn read_as(
    events: &[(f64, char)],
    numbers: Numbers,
    addresses: bool,
    numbered: impl Fn(u64) -> Option<u64>,
) -> Read {
    let mut trace = Trace::new(Given::default(), numbers);
    let (mut down, mut up) = (0, 0);
    for (line, (ns, event)) in (2..).zip(events) {
        let (direction, kind, bytes) = match event {
            'p' => (Direction::Down, Kind::Write, 64),
            'c' => (Direction::Up, Kind::Write, 64),
            'd' => (Direction::Up, Kind::Write, 8),
            _ => (Direction::Down, Kind::Ack, 0),
        };
        let counter = if direction == Direction::Down { &mut down } else { &mut up };
        *counter += u64::from(kind == Kind::Write);
        let number = numbered(if kind == Kind::Ack { up } else { *counter });
        if number.is_none() {
            continue;
        }
        let time = (ns * 1e3).round() as u64;
        let address = (addresses && kind == Kind::Write).then_some(0x10_0000 * u64::from(bytes));
        trace.take(line, Packet { time, direction, kind, bytes, address, number });
    }
    trace.finish().unwrap()
}

/// Rounds of 3000 ns with these ways through the network and back.
fn ping_pong(network: &[f64]) -> Read {
    read(&ping_pong_events(network))
}

fn ping_pong_events(network: &[f64]) -> Vec<(f64, char)> {
    let mut events = Vec::new();
    for (at, way) in network.iter().enumerate() {
        let begin = 3000.0 * at as f64;
        let events_of = [(0.0, 'p'), (*way, 'c'), (way + 270.0, 'a'), (2000.0, 'd'), (2270.0, 'a')];
        events.extend(events_of.map(|(after, event)| (begin + after, event)));
    }
    events
}

fn injection(gaps: &[f64]) -> Read {
    let mut time = 0.0;
    let posts = gaps.iter().map(|gap| {
        time += gap;
        (time, 'p')
    });
    read(&posts.collect::<Vec<_>>())
}

const SOFTWARE: Software = Software {
    post: Some(Timed { ns: 175.0, half: None, values: 1, samples: 1 }),
    prog: Some(Timed { ns: 60.0, half: None, values: 1, samples: 1 }),
};

fn made(read: &Read, direct: Option<&Read>, software: Software) -> PcieTrace {
    let hardware = Hardware::of(read, direct, software, 0.95);
    let direct = direct.map(|direct| ("direct.csv", direct));
    pcie_trace(("trace.csv", read), direct, &hardware, RULE, 0.95).unwrap()
}

/// Injection and a ping-pong in one trace, and one without a switch.
pub(crate) fn sample() -> PcieTrace {
    let mut events = Vec::new();
    for at in 0..40 {
        events.push((300.0 * f64::from(at) + f64::from(at % 7), 'p'));
    }
    for at in 0..40 {
        let begin = 100_000.0 + 3000.0 * f64::from(at);
        let way = 760.0 + f64::from(at % 5);
        for (after, event) in
            [(0.0, 'p'), (way, 'c'), (way + 270.0, 'a'), (2000.0, 'd'), (2270.0, 'a')]
        {
            events.push((begin + after, event));
        }
    }
    let ways: Vec<f64> = (0..40).map(|at| 550.0 + f64::from(at % 3)).collect();
    made(&read(&events), Some(&ping_pong(&ways)), SOFTWARE)
}

fn value(trace: &PcieTrace, name: &str) -> f64 {
    let found = trace.derived.iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {:?}", trace.missing)).time.as_time().unwrap().0
}

#[test]
fn a_trace_with_both_has_all_components() {
    let trace = sample();
    // 270/2; the ways are 762 on average; Wire (550 + 551 + 552)/3/2, a little less as the last has 550.
    assert!((value(&trace, "pcie") - 135.0).abs() < 1e-6);
    assert!((value(&trace, "network") - 381.0).abs() < 0.1);
    assert!((value(&trace, "wire") - 275.5).abs() < 0.1);
    assert!((value(&trace, "switch") - 105.5).abs() < 0.2);
    // 1000 − 270 − 175 − 60
    assert!((value(&trace, "rc_to_mem_8") - 495.0).abs() < 1e-6);
    assert!(trace.missing.is_empty(), "{:?}", trace.missing);
    // The step from one section to the other is among the 40 times.
    assert!((2000.0..3000.0).contains(&value(&trace, "inj_overhead")));
    let said = trace.findings.iter().any(|said| {
        said.starts_with("The mean of post to post is ") && said.contains("above the median")
    });
    assert!(said, "{:?}", trace.findings);
    // That step is too far away to be shown, and is spoken of.
    let bins: u64 = trace.histogram.iter().map(|bin| bin.count).sum();
    assert_eq!(bins, 39);
    let figures = trace.figures(&Among::new([]));
    assert!(
        figures[0].notes[0].starts_with("1 time lies further away, 2.5 % of all; the longest"),
        "{figures:?}"
    );
}

#[test]
fn the_page_has_times_components_and_what_is_missing() {
    let page = |trace: &PcieTrace| {
        trace.text(&Among::new([]), &Layout { width: 110, ..Layout::default() })
    };
    insta::assert_snapshot!(page(&sample()));
    let ways: Vec<f64> = (0..200).map(|_| 765.62).collect();
    insta::assert_snapshot!(
        "ping_pong_alone",
        page(&made(&ping_pong(&ways), None, Software::default()))
    );
    let gaps = [280.0, 284.0, 282.0, 290.0, 276.0];
    insta::assert_snapshot!("posts_alone", page(&made(&injection(&gaps), None, SOFTWARE)));
}

#[test]
fn what_does_not_follow_is_said_once() {
    let ways: Vec<f64> = (0..200).map(|_| 765.62).collect();
    let trace = made(&ping_pong(&ways), None, Software::default());
    let said = |part: &str| trace.findings.iter().filter(|said| said.contains(part)).count();
    assert_eq!(said("Network is not divided into Wire and Switch"), 1);
    assert_eq!(said("Switch"), 1);
    assert_eq!(said("RC-to-MEM is not derived: it takes LLP_post and LLP_prog"), 1);
    assert_eq!(said("Inj_overhead is not derived: payloads come back"), 1);
    assert_eq!(said("Fewer samples"), 0);
    // With a trace without a switch that has no ping-pong, both name it.
    let trace = made(&ping_pong(&ways), Some(&injection(&[1.0, 2.0, 3.0])), SOFTWARE);
    let named = |trace: &PcieTrace| -> Vec<String> {
        trace.missing.iter().map(|one| format!("{}: {}", one.name, one.why)).collect()
    };
    let why = "in the trace without a switch: the trace has no completion (MWr of 64 bytes up)";
    assert_eq!(named(&trace)[1..], [format!("wire: {why}"), format!("switch: {why}")]);
}

#[test]
fn each_trace_has_its_own_caveats() {
    let said = |trace: &Read, direct: &Read, begin: &str| -> Vec<String> {
        let trace = made(trace, Some(direct), SOFTWARE);
        let said = trace.findings.into_iter();
        said.filter(|said| said.split_once(' ').is_some_and(|(_, rest)| rest.contains(begin)))
            .collect()
    };
    let (events, direct) = (ping_pong_events(&[765.0; 200]), ping_pong_events(&[549.0; 200]));
    let whole = |events: &[(f64, char)]| read(events);
    let tagged = |events: &[(f64, char)]| read_as(events, Numbers::Tag, true, Some);
    let holed = |events: &[(f64, char)]| {
        read_as(events, Numbers::Sequence, true, |number| (number != 50).then_some(number))
    };
    let unnoticed = |file: &str| {
        format!(
            "{file} has tags and no sequence numbers: missing rows are not noticed, and lengthen times."
        )
    };
    let missing = "missing rows are not noticed";
    assert!(said(&whole(&events), &whole(&direct), missing).is_empty());
    assert_eq!(said(&tagged(&events), &whole(&direct), missing), [unnoticed("trace.csv")]);
    assert_eq!(said(&whole(&events), &tagged(&direct), missing), [unnoticed("direct.csv")]);
    assert_eq!(
        said(&tagged(&events), &tagged(&direct), missing),
        [unnoticed("trace.csv"), unnoticed("direct.csv")]
    );
    let across = "across missing packets";
    let left = |file: &str| {
        format!("Times across missing packets in {file} are left out: 2 pairs of posts.")
    };
    assert!(said(&whole(&events), &whole(&direct), across).is_empty());
    assert_eq!(said(&holed(&events), &whole(&direct), across), [left("trace.csv")]);
    assert_eq!(said(&whole(&events), &holed(&direct), across), [left("direct.csv")]);
}

#[test]
fn without_addresses_sizes_alone_tell_writes_apart() {
    let events = ping_pong_events(&[765.0; 200]);
    let bare = read_as(&events, Numbers::Sequence, false, Some);
    let sentence = |trace: &PcieTrace| {
        let said = trace.findings.iter().filter(|said| said.contains("no address"));
        said.cloned().collect::<Vec<_>>()
    };
    assert!(sentence(&made(&read(&events), None, SOFTWARE)).is_empty());
    let of = |file: &str| {
        format!(
            "The writes that go up in {file} have no address: those of 64 bytes count as completions and \
             others as payloads, by their size alone, and a payload of 64 bytes or a received message's \
             completion cannot be told from a post's completion."
        )
    };
    assert_eq!(sentence(&made(&bare, None, SOFTWARE)), [of("trace.csv")]);
    assert_eq!(sentence(&made(&read(&events), Some(&bare), SOFTWARE)), [of("direct.csv")]);
}

#[test]
fn what_is_sent_again_is_said_and_times_across_it_are_left_out() {
    // The last ten posts come again, as after a NAK, and then go on.
    let mut trace = Trace::new(Given::default(), Numbers::Sequence);
    let numbers = (1..=50).chain(41..=50).chain(51..=100);
    for (line, number) in (2..).zip(numbers) {
        trace.take(
            line,
            Packet {
                time: 300_000 * line,
                direction: Direction::Down,
                kind: Kind::Write,
                bytes: 64,
                address: Some(1),
                number: Some(number),
            },
        );
    }
    let read = trace.finish().unwrap();
    assert_eq!((read.lost, read.again, read.counted.posts), (Some(0), 10, 110));
    assert_eq!((read.rounds.posts.count(), read.rounds.apart), (49 + 49, 1));
    let trace = made(&read, None, SOFTWARE);
    let page = trace.text(&Among::new([]), &Layout { width: 500, ..Layout::default() });
    assert!(
        page.contains("no packet is missing by its number; 10 packets were sent again\n"),
        "{page}"
    );
    let left =
        "Times across packets that were sent again in trace.csv are left out: 1 pair of posts.";
    assert!(trace.findings.iter().any(|said| said == left), "{:?}", trace.findings);
}

#[test]
fn a_last_row_that_is_left_out_is_said() {
    let text = "time_ns,direction,type,bytes\n0,down,MWr,64\n300,down,MWr,64\n605,down,MWr,64\n9";
    let read = |text: &str| {
        bandgap_record::read_pcie_trace(text.as_bytes(), Given::default())
            .unwrap()
            .finish()
            .unwrap()
    };
    let cut =
        "The last line of trace.csv (4) has no end, so its last field may be cut: it is left out.";
    for (end, said) in [(text.len() - 3, Some(cut)), (text.len() - 1, None)] {
        let trace = made(&read(&text[..end]), None, SOFTWARE);
        let found = trace.findings.iter().find(|said| said.contains("has no end"));
        assert_eq!(found.map(String::as_str), said, "{:?}", trace.findings);
    }
}

/// Errors that times have in common are there once, or cancel.
#[test]
fn models_over_a_trace_have_the_intervals_of_what_they_add_up_to() {
    let events = |network: f64, turn: f64| -> Vec<(f64, char)> {
        let (mut begin, mut events) = (0.0, Vec::new());
        for at in 0..600_u32 {
            // All apart from each other, and none follows the others.
            let way = network + f64::from(at * 7 % 11);
            let ack = 270.0 + f64::from(at * 5 % 13);
            events.extend(
                [(0.0, 'p'), (way, 'c'), (way + ack, 'a'), (2000.0, 'd'), (2000.0 + ack, 'a')]
                    .map(|(after, event)| (begin + after, event)),
            );
            begin += 2000.0 + turn + f64::from(at * 3 % 17);
        }
        events
    };
    let (with, without) = (read(&events(765.0, 1000.0)), read(&events(549.0, 1000.0)));
    let hardware = Hardware::of(&with, Some(&without), SOFTWARE, 0.95);
    let all = table(&hardware, SOFTWARE, None, 0.95).unwrap().unwrap();
    let made = crate::breakdown::assemble::breakdown(&all, RULE, 0.95).unwrap();
    let half = |quantity: &Quantity| {
        let (low, high) = quantity.interval().unwrap();
        (high - low) / 2.0 * 1e9
    };
    let known = |of: &Known| of.as_ref().unwrap().half.unwrap();
    let (network, turn) = (known(&hardware.network), known(&hardware.turn));
    let model =
        |name: &str| half(&made.models.iter().find(|one| one.name == name).unwrap().modelled);
    let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-6, "{one} {other}");
    // wire + switch is Network; twice PCIe is added and subtracted, and so are LLP_post and LLP_prog.
    near(model("network"), network);
    near(model("hardware_alone"), network.hypot(turn));
    near(model("llp_latency"), network.hypot(turn));
    // By themselves they have all errors of what they follow from.
    let component =
        |name: &str| half(&made.components.iter().find(|one| one.name == name).unwrap().time);
    near(component("switch"), known(&hardware.switch));
    near(component("rc_to_mem_8"), known(&hardware.rc_to_mem));
    near(component("switch"), network.hypot(known(&hardware.wire)));
    // What they follow from counts in no group, and is read again as it was.
    let recorded = made.table().unwrap();
    let written = bandgap_record::read_component_table(all.to_toml().as_bytes()).unwrap();
    for table in [&all, &recorded, &written] {
        let stack = &table.stack;
        // PCIe and RC-to-MEM, PCIe alone.
        assert_eq!(["io", "both"].map(|of| stack.meant(of).unwrap().len()), [2, 1]);
        let models = stack.evaluated(&stack.state()).unwrap();
        let of = |name: &str| stack.deviation(&models[stack.model(name).unwrap()].sources);
        near(of("llp_latency").unwrap() * 1.959964, network.hypot(turn));
    }
    // A later trace that has less leaves the rest as it was.
    let posts = injection(&[300.0, 302.0, 298.0, 300.0]);
    let mut less = Hardware::of(&posts, None, SOFTWARE, 0.95);
    less.pcie = Ok(Timed::given(500.0, Some(1.0)));
    let later = table(&less, Software::default(), Some(all.clone()), 0.95).unwrap().unwrap();
    let time = |table: &bandgap_record::ComponentTable, name: &str| {
        let at = table.stack.components().iter().position(|one| one.name == name).unwrap();
        (table.stack.times()[at], table.stack.deviation(&table.stack.sources(at)).unwrap())
    };
    for name in ["rc_to_mem_8", "switch", "wire"] {
        assert_eq!(time(&later, name), time(&all, name), "{name}");
    }
    assert_eq!(time(&later, "pcie").0, 500.0);
}

#[test]
fn sentences_end_once() {
    let (with, without) = (ping_pong(&[765.0; 200]), ping_pong(&[549.0; 200]));
    let exchanged = made(&without, Some(&with), SOFTWARE);
    let said = |part: &str| exchanged.findings.iter().any(|said| said.ends_with(part));
    assert!(
        said("with the switch than without: are the traces exchanged?"),
        "{:?}",
        exchanged.findings
    );
    assert!(!exchanged.findings.iter().any(|said| said.contains("?.") || said.contains("..")));
}

#[test]
fn what_is_not_precise_is_a_doubt_and_nothing_is_missing() {
    assert_eq!(made(&ping_pong(&[765.0; 200]), None, SOFTWARE).verdict(), Verdict::Good);
    let wild = made(&injection(&[100.0, 900.0, 300.0, 50.0]), None, SOFTWARE);
    assert_eq!(wild.verdict(), Verdict::Doubtful(vec!["trace trace.csv: inj_overhead".to_owned()]));
    assert_eq!(made(&read(&[(0.0, 'p')]), None, SOFTWARE).verdict(), Verdict::Missing);
}

#[test]
fn components_go_into_a_table() {
    let ways = [765.62; 200];
    let (with, without) = (ping_pong(&ways), ping_pong(&[549.62; 200]));
    let of = |direct, software| Hardware::of(&with, direct, software, 0.95);
    let names = |table: &bandgap_record::ComponentTable| -> Vec<String> {
        table.stack.components().iter().map(|one| one.name.clone()).collect()
    };
    let alone = table(&of(None, Software::default()), Software::default(), None, 0.95);
    let alone = alone.unwrap().unwrap();
    assert_eq!(names(&alone), ["pcie", "network"]);
    let all = table(&of(Some(&without), SOFTWARE), SOFTWARE, None, 0.95).unwrap().unwrap();
    let parts = ["pcie", "wire", "switch", "rc_to_mem_8", "llp_post", "llp_prog"];
    assert_eq!(names(&all), [&parts[..], &["traced_network", "traced_turn"]].concat());
    let latency = all.stack.model("llp_latency").unwrap();
    let latency = &all.stack.evaluated(&all.stack.state()).unwrap()[latency];
    // 175 + 270 + 382.81 + 495 + 60
    assert!((latency.value - 1382.81).abs() < 1e-6, "{}", latency.value);

    let preset = || component_preset("thunderx2-connectx4");
    let software =
        Software { post: Some(Timed::given(175.42, None)), prog: Some(Timed::given(61.63, None)) };
    let merged = table(&of(Some(&without), software), Software::default(), preset(), 0.95);
    let merged = merged.unwrap().unwrap();
    assert_eq!(names(&merged).len(), names(&preset().unwrap()).len() + 2);
    // LLP_post is a model there: RC-to-MEM follows its components.
    let rc = merged.stack.components().iter().find(|one| one.name == "rc_to_mem_8").unwrap();
    let bandgap_model::breakdown::Time::Derived(formula) = &rc.time else { panic!("{rc:?}") };
    assert!(formula.contains("- llp_prog - (1 * `descriptor` + "), "{formula}");
    let times = merged.stack.times();
    let at = |name: &str| merged.stack.components().iter().position(|one| one.name == name);
    let found = of(Some(&without), software).rc_to_mem.unwrap().ns;
    assert!((times[at("rc_to_mem_8").unwrap()] - found).abs() < 1e-9);
    assert!(merged.notes[0].contains("pcie, wire, switch, rc_to_mem_8."), "{:?}", merged.notes);
    assert_eq!(merged.notes.len(), 1);

    // Of injection only what was observed.
    let injected = injection(&[300.0, 302.0, 298.0, 300.0]);
    let hardware = Hardware::of(&injected, None, Software::default(), 0.95);
    assert!(table(&hardware, Software::default(), None, 0.95).unwrap().is_none());
    let merged = table(&hardware, Software::default(), preset(), 0.95).unwrap().unwrap();
    let observed = merged.stack.models().find(|model| model.name == "llp_injection");
    assert!((observed.unwrap().observed.unwrap().value - 300.0).abs() < 1e-6);
    assert!(merged.notes[0].contains("was observed in the trace"), "{:?}", merged.notes);
}
