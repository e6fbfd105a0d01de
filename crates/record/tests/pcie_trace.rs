//! Traces with known answers, and traces that are wrong.

#[path = "support/synthetic.rs"]
mod synthetic;

use bandgap_model::pcie::{Given, Hardware, Known, Range, Read, Software, Timed};
use bandgap_record::{TableError, read_pcie_trace};
use proptest::prelude::*;
use synthetic::{Machine, PAPER, Traffic};

const SOFTWARE: Software = Software {
    post: Some(Timed { ns: 175.42, half: None, values: 1, samples: 1 }),
    prog: Some(Timed { ns: 61.63, half: None, values: 1, samples: 1 }),
};

fn read_with(text: &str, given: Given) -> Result<Read, String> {
    let trace = read_pcie_trace(text.as_bytes(), given).map_err(|error| error.to_string())?;
    trace.finish().map_err(|error| error.to_string())
}

fn read(text: &str) -> Result<Read, String> {
    read_with(text, Given::default())
}

fn hardware(of: &Machine, direct: Option<&Machine>) -> Hardware {
    let read = |machine: &Machine| read(&machine.text()).expect("a synthetic trace is right");
    let direct = direct.map(read);
    Hardware::of(&read(of), direct.as_ref(), SOFTWARE, 0.95)
}

const INJECTION: Machine = Machine { traffic: Traffic::Injection, ..PAPER };
const DIRECT: Machine = Machine { switch: 0.0, seed: 2, ..PAPER };

/// All components, with what they must be.
fn components(hardware: &Hardware) -> [(&'static str, &Known, f64); 5] {
    [
        ("PCIe", &hardware.pcie, 137.49),
        ("Network", &hardware.network, 382.81),
        ("Wire", &hardware.wire, 274.81),
        ("Switch", &hardware.switch, 108.0),
        ("RC-to-MEM", &hardware.rc_to_mem, 240.96),
    ]
}

fn near(name: &str, found: &Known, expected: f64, within: f64) {
    let found = found.as_ref().unwrap_or_else(|why| panic!("{name}: {why}"));
    assert!((found.ns / expected - 1.0).abs() <= within, "{name}: {found:?} is not {expected}");
}

#[test]
fn the_papers_components_come_back() {
    for payload in [8, 64] {
        for receive_completions in [true, false] {
            let with = |machine: Machine| Machine { payload, receive_completions, ..machine };
            let found = hardware(&with(PAPER), Some(&with(DIRECT)));
            for (name, component, expected) in components(&found) {
                near(name, component, expected, 1e-3);
            }
            let why = found.injection.unwrap_err();
            assert!(why.contains("it is a ping-pong"), "{why}");
        }
    }
    let found = hardware(&INJECTION, None);
    near("injection", &found.injection, 282.33, 1e-3);
    near("PCIe", &found.pcie, 137.49, 1e-3);
    for (component, expected) in [
        (found.network, "no payload comes back"),
        (found.wire, "there is no trace without a switch"),
        (found.rc_to_mem, "no payload comes back"),
    ] {
        let why = component.unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
}

/// Without numbers, with tags, without addresses: what is told apart by the order alone.
#[test]
fn columns_may_be_missing() {
    for numbers in ["", "tag", "sequence"] {
        for addresses in [true, false] {
            let with = |machine: Machine| Machine { numbers, addresses, ..machine };
            // Without addresses, completions of received messages look like those of posts.
            let with = |machine| Machine { receive_completions: addresses, ..with(machine) };
            let found = hardware(&with(PAPER), Some(&with(DIRECT)));
            let all = components(&found);
            for (name, component, expected) in all {
                near(&format!("{name}, {numbers}, {addresses}"), component, expected, 1e-3);
            }
            let found = hardware(&with(INJECTION), None);
            near("injection", &found.injection, 282.33, 1e-3);
        }
    }
    // Payloads of 64 bytes without addresses: refused, not guessed.
    let alike = Machine { payload: 64, addresses: false, receive_completions: false, ..PAPER };
    let found = hardware(&alike, None);
    let why = found.injection.unwrap_err();
    assert!(why.contains("cannot be told from completions without addresses"), "{why}");
    assert!(found.network.is_err() && found.rc_to_mem.is_err());
}

/// With jitter, lost rows and shared acknowledgements the intervals of 95 % hold what is true in about 95 % of
/// the traces.
#[test]
fn intervals_hold_the_truth() {
    const TRACES: u64 = 60;
    let mut held = [0; 7];
    for seed in 0..TRACES {
        let rough = |machine: Machine, salt| Machine {
            messages: 600,
            jitter: 12.0,
            lost: 0.01,
            shared_acks: true,
            seed: 10 * seed + salt,
            ..machine
        };
        let found = hardware(&rough(PAPER, 1), Some(&rough(DIRECT, 2)));
        let injected = hardware(&rough(INJECTION, 3), None);
        let more = [("injection", &injected.injection, 282.33), ("PCIe", &injected.pcie, 137.49)];
        for (at, (name, component, truth)) in components(&found).into_iter().chain(more).enumerate()
        {
            let found = component.as_ref().unwrap_or_else(|why| panic!("{name}: {why}"));
            let half = found.half.unwrap();
            held[at] += u64::from((found.ns - truth).abs() <= half);
            assert!((found.ns / truth - 1.0).abs() < 0.03, "{name}: {found:?}");
            // Narrow enough to say something.
            assert!(half < 0.03 * truth, "{name}: {found:?}");
        }
    }
    // Of 60 at 95 % at least 51 in all but one case of a thousand.
    for (at, held) in held.into_iter().enumerate() {
        assert!(held >= 51, "component {at}: {held} of {TRACES}");
    }
}

#[test]
fn what_is_lost_and_shared_is_counted() {
    let whole = read(&PAPER.text()).unwrap();
    assert_eq!((whole.lost, whole.again, whole.acks.shared, whole.acks.alone), (Some(0), 0, 0, 0));
    assert_eq!(whole.counted.posts, 2000);
    assert_eq!((whole.counted.completions, whole.counted.payloads), (2000, 4000));
    assert_eq!(whole.payload_bytes, Some(8));
    let rough = read(&Machine { lost: 0.02, shared_acks: true, ..PAPER }.text()).unwrap();
    // 8000 packets, of which 2 % are lost: 160 ± 13.
    let lost = rough.lost.unwrap();
    assert!((110..=210).contains(&lost), "{lost}");
    assert!(rough.acks.shared > 200, "{}", rough.acks.shared);
    assert!(rough.rounds.apart > 0 && rough.acks.alone > 0);
    assert_eq!(read(&Machine { numbers: "tag", ..PAPER }.text()).unwrap().lost, None);
}

/// A number that counts the rows of both directions, as analysers have it too, is no sequence number.
#[test]
fn numbers_that_do_not_count_are_not_taken_for_lost_rows() {
    let text = Machine { numbers: "", ..PAPER }.text();
    let numbered: String = text
        .lines()
        .enumerate()
        .map(|(at, line)| {
            format!("{line},{}\n", if at == 0 { "sequence".to_owned() } else { at.to_string() })
        })
        .collect();
    let found = read(&numbered).unwrap();
    assert_eq!(found.lost, None);
    let found = Hardware::of(&found, None, SOFTWARE, 0.95);
    near("Network", &found.network, 382.81, 1e-3);
}

#[test]
fn addresses_can_be_given() {
    let alike = Machine { payload: 64, ..PAPER };
    let range = |from, to| vec![Range { from, to }];
    let given =
        Given { completions: range(0x7f10_0000_0000, 0x7f10_0003_ffff), ..Given::default() };
    let read = |given| read_with(&alike.text(), given);
    let found = read(given.clone()).unwrap();
    assert_eq!((found.counted.completions, found.counted.payloads), (2000, 4000));
    let found = read(Given { payloads: range(0x7f20_0000_0000, u64::MAX), ..given }).unwrap();
    // Completions of received messages are neither.
    assert_eq!((found.counted.completions, found.counted.payloads), (2000, 2000));
    let wrong = read(Given { completions: range(0, 1), ..Given::default() }).unwrap_err();
    assert_eq!(
        wrong,
        format!(
            "line 2: the post there and those after it have no completion: from there to line {} no MWr \
             of 64 bytes goes up to the addresses given",
            alike.text().lines().count()
        )
    );
    let found = read(Given { posts: range(0x38_0000_0800, 0x38_0000_083f), ..Given::default() });
    assert_eq!(found.unwrap().counted.posts, 1000);
}

/// Rows of `text` for which `keep` holds; the header among them.
fn only(text: &str, keep: impl Fn(&str) -> bool) -> String {
    let lines = text.lines().enumerate().filter(|(at, line)| *at == 0 || keep(line));
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

#[test]
fn a_trace_without_completions_is_refused_unless_it_has_posts_alone() {
    for machine in [&PAPER, &INJECTION] {
        let none = only(&machine.text(), |line| !line.contains(",up,MWr,64,"));
        let why = read(&none).unwrap_err();
        assert!(why.starts_with("line 2: the post there and those after it have no"), "{why}");
    }
    // As the paper's figure 6: only what goes down, and no acknowledgements.
    let posts = only(&INJECTION.text(), |line| line.contains(",down,MWr,"));
    let found = Hardware::of(&read(&posts).unwrap(), None, SOFTWARE, 0.95);
    near("injection", &found.injection, 282.33, 1e-3);
    assert_eq!(found.pcie.unwrap_err(), "the trace has no completion (MWr of 64 bytes up)");
    // Completions alone: PCIe, and nothing else.
    let completions =
        only(&INJECTION.text(), |line| line.contains(",up,MWr,64,") || line.contains(",down,ACK,"));
    let found = Hardware::of(&read(&completions).unwrap(), None, SOFTWARE, 0.95);
    near("PCIe", &found.pcie, 137.49, 1e-3);
    assert_eq!(found.injection.unwrap_err(), "the trace has no post (MWr of 64 bytes down)");
    let unanswered = only(&INJECTION.text(), |line| !line.contains(",down,ACK,"));
    let found = Hardware::of(&read(&unanswered).unwrap(), None, SOFTWARE, 0.95);
    assert_eq!(found.pcie.unwrap_err(), "the trace has no acknowledgement (ACK down)");
    // Posts with the answers of the network interface, and with what it reads.
    let answered =
        only(&INJECTION.text(), |line| line.contains(",down,MWr,") || line.contains(",up,ACK,"));
    let time = answered.lines().last().unwrap().split(',').next().unwrap();
    let asking = format!("{answered}{time},up,MRd,0,,\n");
    for text in [&answered, &asking] {
        let found = read(text).unwrap();
        assert_eq!(found.counted.completions, 0);
        let found = Hardware::of(&found, None, SOFTWARE, 0.95);
        near("injection", &found.injection, 282.33, 1e-3);
    }
    // What was acknowledged, or is a payload, went up: then completions would have been seen too.
    for row in ["down,ACK,,,17", "up,MWr,8,0x10,4000"] {
        let why = read(&format!("{answered}{time},{row}\n")).unwrap_err();
        assert!(why.contains("have no completion"), "{why}");
    }
    let neither = only(&PAPER.text(), |line| line.contains("ACK"));
    let why = read(&neither).unwrap_err();
    assert!(why.starts_with("line 2: from there to line 8001 there is no post"), "{why}");
}

#[test]
fn traces_that_are_exchanged_are_noticed() {
    let found = hardware(&DIRECT, Some(&PAPER));
    let why = found.switch.unwrap_err();
    assert_eq!(
        why,
        "Network is 108.00 ns shorter with the switch than without: are the traces exchanged?"
    );
    let software = Software { post: Some(Timed::given(1000.0, None)), ..SOFTWARE };
    let found = Hardware::of(&read(&PAPER.text()).unwrap(), None, software, 0.95);
    let why = found.rc_to_mem.unwrap_err();
    assert!(why.starts_with("2·PCIe + LLP_prog + LLP_post is 583.62 ns longer than"), "{why}");
    let none = Hardware::of(&read(&PAPER.text()).unwrap(), None, Software::default(), 0.95);
    assert!(none.rc_to_mem.unwrap_err().contains("LLP_post and LLP_prog, which no trace has"));
}

#[test]
fn times_are_read_in_any_unit() {
    let text =
        "TIME,direction,type,bytes\n1.5,down,MWr,64\n2,Downstream,mwr(64),64\n2.25,DOWN,MWr,64\n";
    for (unit, scale) in [("ps", 1e-3), ("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)] {
        let found = read(&text.replace("TIME", &format!("time_{unit}"))).unwrap();
        // Less than a picosecond is cut off.
        let expected = if unit == "ps" { 0.5 } else { 0.375 };
        let injection = Hardware::of(&found, None, SOFTWARE, 0.95).injection.unwrap();
        assert_eq!(injection.ns, expected * scale, "{unit}");
        assert_eq!(injection.samples, 2);
    }
    // Seconds since 1970 keep their picoseconds, and times before a trigger are negative.
    let late = "time_s,direction,type,bytes\n1763800000.000000000001,down,MWr,64\n\
                1763800000.000000282331,down,MWr,64\n1763800000.000000564661,down,MWr,64\n";
    let found = Hardware::of(&read(late).unwrap(), None, SOFTWARE, 0.95).injection.unwrap();
    assert_eq!(found.ns, 282.33);
    let early = "\u{feff}# made by hand\n\"time_ns\",direction,\"type\",bytes,note\n\
                 \"-10\",down,\"MWr\",64,a\n\n# a comment\n-0.5,down,MWr,64,\n1e1,down,MWr,64,b\n";
    let found = Hardware::of(&read(early).unwrap(), None, SOFTWARE, 0.95).injection.unwrap();
    assert_eq!(found.ns, 10.0);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    const HEAD: &str = "time_ns,direction,type,bytes,address,sequence\n1,down,MWr,64,0x1,1\n";
    let row = |row: &str| read(&format!("{HEAD}{row}\n3,up,MWr,64,2,1\n")).unwrap_err();
    for (told, expected) in [
        (row("0.5,up,MWr,64,2,1"), "line 3: it is 0.5 ns earlier than line 2: rows must be in the"),
        (row("x,up,MWr,64,2,1"), "line 3: time_ns is 'x': it must be a number"),
        (row("inf,up,MWr,64,2,1"), "line 3: time_ns is 'inf': it is too long, or no number"),
        (row(",up,MWr,64,2,1"), "line 3: time_ns is '': it must be a number"),
        (row("2,left,MWr,64,2,1"), "line 3: direction is 'left': it must be down (to the network"),
        (row("2,up,MWr,,2,1"), "line 3: bytes is '': it must be a whole number of bytes"),
        (row("2,up,ACK,-1,2,1"), "line 3: bytes is '-1': it must be a whole number of bytes"),
        (row("2,up,MWr,64,0xg,1"), "line 3: address is '0xg': it must be at most 16 hexadecimal"),
        (row("2,up,MWr,64,2,one"), "line 3: sequence is 'one': it must be a whole number"),
        (row("2,up,MWr"), "line 3: 3 fields where the header has 6"),
        (row("2,up,MWr,64,2,1,1"), "line 3: 7 fields where the header has 6"),
        (row("2,up,\"a,b\",64,2,1"), "line 3: it has a comma within quotes"),
        (read("time,direction\n").unwrap_err(), "line 1: column time_ns is missing"),
        (read("time_ns,time_s,direction\n").unwrap_err(), "line 1: columns time_ns and time_s say"),
        (read("time_ns,direction,type\n").unwrap_err(), "line 1: column bytes is missing"),
        (read("time_ns,direction,type,bytes\n").unwrap_err(), "it has a header but no rows"),
        (read("# nothing\n\n").unwrap_err(), "it is empty (CSV whose first line names"),
    ] {
        assert!(told.starts_with(&format!("read the table: {expected}")), "{told}\n{expected}");
    }
    let cut = read(&format!("{HEAD}2,up,MWr,64,0x")).unwrap_err();
    assert_eq!(
        cut,
        "read the table: line 3: 5 fields where the header has 6; the trace ends in the middle of this line"
    );
    // 2^64 ps.
    let after =
        |time| read(&format!("time_s,direction,type,bytes\n0,down,MWr,64\n{time},down,MWr,64\n"));
    assert!(after("18446744.073709551615").is_ok());
    assert_eq!(
        after("18446744.073709551616").unwrap_err(),
        "read the table: line 3: it is more than 213.5 days after the first row: times are read no further"
    );
    let endless = std::io::Read::chain(HEAD.as_bytes(), std::io::repeat(b'1'));
    let Err(TableError::Line { line: 3, why }) = read_pcie_trace(endless, Given::default()) else {
        panic!("a line without an end was read");
    };
    assert_eq!(why, "it is longer than 64 KiB");
}

/// Wherever the last row is cut, nothing of it is taken: what is left of its last field may be a number too.
#[test]
fn a_last_row_without_an_end_is_left_out() {
    let text = PAPER.text();
    let whole = read(&text).unwrap();
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    let without = read(&text[..last]).unwrap();
    assert_eq!((whole.rows, without.rows, without.cut), (without.rows + 1, whole.rows - 1, None));
    let number = text.lines().count() as u64;
    let field = text.rfind(',').unwrap() + 1;
    // With nothing of the last field, with all of it, and between.
    for end in field..text.len() {
        let cut = read(&text[..end]).unwrap();
        assert_eq!((cut.rows, cut.span, cut.cut), (without.rows, without.span, Some(number)));
        assert_eq!(cut.counted, without.counted, "{}", &text[last..end]);
    }
    for end in last + 1..field - 1 {
        let told = read(&text[..end]).unwrap_err();
        assert!(told.contains("the trace ends in the middle of this line"), "{told}");
    }
    // A comment says nothing, and neither does a blank line.
    for end in ["# the end", "  "] {
        let found = read(&format!("{text}{end}")).unwrap();
        assert_eq!((found.rows, found.cut), (whole.rows, None));
    }
    let only = "time_ns,direction,type,bytes\n1,down,MWr,64";
    assert_eq!(
        read(only).unwrap_err(),
        "read the table: line 2: the line has no end, so its last field may be cut, and there is no other row"
    );
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = read_pcie_trace(&bytes[..], Given::default());
    }

    #[test]
    fn no_rows_panic(
        rows in prop::collection::vec(
            "[0-9]{1,3}(\\.[0-9]{1,4}|e[0-9]{1,3})?,(up|down),(MWr|ACK|MRd|x),(64|8|0),(0x)?[0-9a-f]{0,16},[0-9]{0,4}",
            0..80,
        ),
        sorted: bool,
        numbers in prop_oneof![Just("sequence"), Just("tag"), Just("more")],
    ) {
        let mut rows = rows;
        if sorted {
            let time = |row: &String| row.split(',').next().unwrap().parse::<f64>().unwrap();
            rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        }
        let text = format!("time_ns,direction,type,bytes,address,{numbers}\n{}\n", rows.join("\n"));
        if let Ok(found) = read(&text) {
            let found = Hardware::of(&found, Some(&found), SOFTWARE, 0.95);
            for time in [&found.injection, &found.pcie, &found.network, &found.wire, &found.switch] {
                prop_assert!(time.as_ref().is_err() || time.as_ref().is_ok_and(|it| it.ns >= 0.0));
            }
        }
    }

    #[test]
    fn no_damage_to_a_trace_panics(
        cut in 0.0..1.0f64, at in 0.0..1.0f64, insert in "[a-zA-Z0-9 .,#\n\"xNaN-]{0,12}",
    ) {
        let text = Machine { messages: 20, ..PAPER }.text();
        let place = |share: f64| (share * text.len() as f64) as usize;
        let _ = read(&text[..place(cut)]);
        let (before, after) = text.split_at(place(at));
        let _ = read(&format!("{before}{insert}{after}"));
    }
}
