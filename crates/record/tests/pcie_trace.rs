//! Traces with known answers, and traces that are wrong.

#[path = "../../sim/tests/all/damaged.rs"]
mod damaged;
#[path = "support/synthetic.rs"]
mod synthetic;

use bandgap_model::breakdown::Errors;
use bandgap_model::pcie::{Hardware, Known, Software, Timed, Trace, Why};
use bandgap_record::{TableError, read_pcie_trace};
use damaged::{cases, damaged};
use proptest::prelude::*;
use synthetic::{Machine, PAPER, Traffic};

fn software() -> Software {
    let given = |ns| Some(Timed { ns, errors: Errors::new(), samples: 0 });
    Software { post: given(175.42), prog: given(61.63) }
}

fn read(text: &str) -> Result<Trace, TableError> {
    read_pcie_trace(text.as_bytes())
}

/// The header and some rows of a trace.
fn first_rows() -> String {
    PAPER.text().lines().take(12).map(|line| format!("{line}\n")).collect()
}

fn of(text: &str) -> Hardware {
    Hardware::of(("trace", &read(text).expect("a trace that is right")), None, &software())
}

fn hardware(of: &Machine, direct: Option<&Machine>) -> Hardware {
    let read = |machine: &Machine| read(&machine.text()).expect("a synthetic trace is right");
    let direct = direct.map(read);
    Hardware::of(("trace", &read(of)), direct.as_ref().map(|of| ("direct", of)), &software())
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
            assert_eq!(found.injection, Err(Why::PingPong));
        }
    }
    let found = hardware(&INJECTION, None);
    near("injection", &found.injection, 282.33, 1e-3);
    near("PCIe", &found.pcie, 137.49, 1e-3);
    for (component, why) in [
        (found.network, Why::NoPingPong),
        (found.wire, Why::NoDirectTrace),
        (found.rc_to_mem, Why::NoPingPong),
    ] {
        assert_eq!(component, Err(why));
    }
}

/// Without numbers, without addresses: what is told apart by the order alone.
#[test]
fn columns_may_be_missing() {
    for numbers in ["", "sequence"] {
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
    assert_eq!(found.injection, Err(Why::NoAddresses));
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
            let half = 1.96 * found.deviation().unwrap();
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
    let whole = read(&PAPER.text()).unwrap().counted;
    assert_eq!((whole.lost, whole.posts), (Some(0), 2000));
    assert_eq!((whole.completions, whole.payloads), (2000, 4000));
    let rough = read(&Machine { lost: 0.02, shared_acks: true, ..PAPER }.text()).unwrap();
    // 8000 packets, of which 2 % are lost: 160 ± 13.
    let lost = rough.counted.lost.unwrap();
    assert!((110..=210).contains(&lost), "{lost}");
    assert_eq!(read(&Machine { numbers: "", ..PAPER }.text()).unwrap().counted.lost, None);
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
    assert_eq!(read(&numbered).unwrap().counted.lost, None);
    near("Network", &of(&numbered).network, 382.81, 1e-3);
}

/// Rows of `text` for which `keep` holds; the header among them.
fn only(text: &str, keep: impl Fn(&str) -> bool) -> String {
    let lines = text.lines().enumerate().filter(|(at, line)| *at == 0 || keep(line));
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

#[test]
fn what_a_trace_has_not_is_told_and_the_rest_computed() {
    // As the paper's figure 6: only what goes down, and no acknowledgements.
    let found = of(&only(&INJECTION.text(), |line| line.contains(",down,MWr,")));
    near("injection", &found.injection, 282.33, 1e-3);
    assert_eq!(found.pcie, Err(Why::NoCompletions));
    // Completions alone: PCIe, and nothing else.
    let completions =
        only(&INJECTION.text(), |line| line.contains(",up,MWr,64,") || line.contains(",down,ACK,"));
    let found = of(&completions);
    near("PCIe", &found.pcie, 137.49, 1e-3);
    assert_eq!((found.injection, found.network), (Err(Why::NoPosts), Err(Why::NoPosts)));
    let found = of(&only(&INJECTION.text(), |line| !line.contains(",down,ACK,")));
    assert_eq!(found.pcie, Err(Why::NoAcknowledgements));
}

#[test]
fn times_below_zero_are_none() {
    assert_eq!(hardware(&DIRECT, Some(&PAPER)).switch, Err(Why::Negative));
    let paper = read(&PAPER.text()).unwrap();
    let mut slow = software();
    slow.post.as_mut().unwrap().ns = 1000.0;
    assert_eq!(Hardware::of(("trace", &paper), None, &slow).rc_to_mem, Err(Why::Negative));
    let none = Hardware::of(("trace", &paper), None, &Software::default());
    assert_eq!(none.rc_to_mem, Err(Why::NoSoftware));
}

/// What RC-to-MEM was derived from is in it with the opposite sign.
#[test]
fn errors_that_components_have_in_common_cancel() {
    let found = hardware(&Machine { jitter: 12.0, messages: 600, ..PAPER }, None);
    let (pcie, rc) = (found.pcie.unwrap(), found.rc_to_mem.unwrap());
    let (source, error) = pcie.errors.first_key_value().unwrap();
    assert!((rc.errors[source] + 2.0 * error).abs() < 1e-9, "{rc:?}");
}

#[test]
fn times_are_read_to_the_picosecond() {
    let text = "time_ns,direction,type,bytes\n1.5,down,MWr,64\n2,Downstream,mwr(64),64\n2.25,DOWN,MWr,64\n";
    let injection = of(text).injection.unwrap();
    assert_eq!((injection.ns, injection.samples), (0.375, 2));
    // Nanoseconds since 1970 keep their picoseconds, and times before a trigger are negative.
    let late = "time_ns,direction,type,bytes\n1763800000000000000.001,down,MWr,64\n\
                1763800000000000282.331,down,MWr,64\n1763800000000000564.661,down,MWr,64\n";
    let found = of(late).injection.unwrap();
    assert_eq!(found.ns, 282.33);
    let early = "\u{feff}# made by hand\n\"time_ns\",direction,\"type\",bytes,note\n\
                 \"-10\",down,\"MWr\",64,a\n\n# a comment\n-0.5,down,MWr,64,\n10,down,MWr,64,b\n";
    let found = of(early).injection.unwrap();
    assert_eq!(found.ns, 10.0);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    const HEAD: &str = "time_ns,direction,type,bytes,address,sequence\n1,down,MWr,64,0x1,1\n";
    let line = |text: &str| match read(text).unwrap_err() {
        TableError::Line(line, _) => Some(line),
        _ => None,
    };
    for row in [
        "0.5,up,MWr,64,2,1",
        "x,up,MWr,64,2,1",
        "2,left,MWr,64,2,1",
        "2,up,MWr,,2,1",
        "2,up,MWr,64,0xg,1",
        "2,up,MWr",
    ] {
        assert_eq!(line(&format!("{HEAD}{row}\n3,up,MWr,64,2,1\n")), Some(3), "{row}");
    }
    for (head, at) in [
        ("time,direction\n", Some(1)),
        ("time_ns,direction,type\n", Some(1)),
        ("time_ns,direction,type,bytes\n", None),
        ("# nothing\n\n", None),
    ] {
        assert_eq!(line(head), at, "{head}");
    }
    // 2^64 ps.
    let after = |time| {
        read(&format!("time_ns,direction,type,bytes\n0,down,MWr,64\n{time},down,MWr,64\n")).is_ok()
    };
    assert!(after("18446744073709551.615") && !after("18446744073709551.616"));
    let endless = std::io::Read::chain(HEAD.as_bytes(), std::io::repeat(b'1'));
    assert!(matches!(read_pcie_trace(endless), Err(TableError::Line(3, _))));
}

/// Wherever the last row is cut, nothing of it is taken: what is left of its last field may be a number too.
#[test]
fn a_last_row_without_an_end_is_left_out() {
    let text = PAPER.text();
    let whole = read(&text).unwrap();
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    let field = text.rfind(',').unwrap() + 1;
    for end in field..text.len() {
        let cut = read(&text[..end]).unwrap();
        assert_eq!(cut.rows, whole.rows - 1, "{}", &text[last..end]);
    }
    for end in last + 1..field - 1 {
        assert!(matches!(read(&text[..end]), Err(TableError::Line(..))));
    }
    for end in ["# the end", "  "] {
        assert_eq!(read(&format!("{text}{end}")).unwrap().rows, whole.rows);
    }
}

proptest! {
    #[test]
    fn no_rows_panic(
        rows in prop::collection::vec(
            "[0-9]{1,3}(\\.[0-9]{1,4}|e[0-9]{1,3})?,(up|down),(MWr|ACK|MRd|x),(64|8|0),(0x)?[0-9a-f]{0,16},[0-9]{0,4}",
            0..80,
        ),
        sorted: bool,
        numbers in prop_oneof![Just("sequence"), Just("more")],
    ) {
        let mut rows = rows;
        if sorted {
            let time = |row: &String| row.split(',').next().unwrap().parse::<f64>().unwrap();
            rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        }
        let text = format!("time_ns,direction,type,bytes,address,{numbers}\n{}\n", rows.join("\n"));
        if let Ok(found) = read(&text) {
            let found = Hardware::of(("a", &found), Some(("b", &found)), &software());
            for time in [&found.injection, &found.pcie, &found.network, &found.wire, &found.switch] {
                prop_assert!(time.as_ref().is_err() || time.as_ref().is_ok_and(|it| it.ns >= 0.0));
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_trace_is_read_or_refused(text in damaged(vec![first_rows()])) {
        let _ = read(&text);
    }
}

#[test]
fn packets_between_which_no_time_passes_are_refused_at_the_last_line() {
    let row = "110908.512,down,MWr,64,0x3800000800,71\n";
    let text = format!("time_ns,direction,type,bytes,address,sequence\n{}", row.repeat(3));
    for (text, line) in [(text.clone(), 4), (text + "110909,up,UpdateFC,0,,\n", 5)] {
        assert!(matches!(read(&text), Err(TableError::Line(at, _)) if at == line));
    }
}
