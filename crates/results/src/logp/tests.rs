use bandgap_model::signature::Cause;
use bandgap_model::{Kind, Observation, Options, Regime, Row, extract, observations_from_rows};
use bandgap_record::{Evidence, Number, Quantity, Seconds};
use bandgap_report::{Scale, plot, svg};
use bandgap_units::Ns;

use super::figure::figure as signature_figure;
use super::text::page as signature;
use super::*;
use crate::measured::{Batch, FloorRatio, Pattern, State, Summary, examples};

pub(crate) fn time(value: f64, spread: f64, estimator: &str, converged: bool) -> Quantity {
    let interval = Some((Ns(value - spread), Ns(value + spread)));
    Quantity::time(Ns(value), interval, Evidence::new(estimator, 2400, converged)).unwrap()
}

pub(crate) fn number(value: f64, estimator: &str) -> Quantity {
    Quantity::number(value, Some((value, value)), Evidence::new(estimator, 40, true)).unwrap()
}

fn page(logp: &Logp) -> String {
    signature(logp, &Layout::default())
}

/// An arm over these delays, with os + or of its own; of slope 1.
fn arm([from, to]: [f64; 2], os: f64, or: f64) -> ArmLevel {
    ArmLevel {
        from_delay: Ns(from).into(),
        to_delay: Ns(to).into(),
        delays: 3,
        overheads: time(os + or, 0.8, "mean of g'(Δ) − Δ", true),
        recv_overhead: time(or, 0.8, "mean of g'(Δ) − os − Δ", true),
        slope: Some(number(1.02, "weighted slope of g'(Δ)")),
        holds: Some(true),
    }
}

/// A machine with os, or, g and RTT, and its message costs by the model's own formulas.
pub(crate) fn example(transport: &str, os: f64, or: f64, g: f64, rtt: f64, delays: &[f64]) -> Logp {
    let capacity = 64.0;
    let begin = (rtt / os).min(capacity);
    let point = |messages: u64, delay: f64| {
        // All requests go out at os + Δ until the first replies are back, and at the bottleneck's
        // pace from then on.
        let m = messages as f64;
        let slow = f64::max(g, os + or + delay);
        let first = (rtt / (os + delay)).clamp(1.0, capacity);
        let elapsed = m.min(first) * (os + delay) + (m - first).max(0.0) * slow;
        // Short phases and one of the longer ones scatter more.
        let spread = if messages == 128 { 0.16 } else { 0.01 };
        let seconds = Seconds::from(Ns(elapsed));
        let quantity = time(elapsed, elapsed * spread, "median of batch medians", spread < 0.05);
        Point {
            measure: Kind::Issue,
            messages,
            delay: Ns(delay).into(),
            cost: time(elapsed / m, elapsed / m * spread, "median of batch medians", spread < 0.05),
            elapsed: quantity.clone(),
            batches: vec![Batch { state: "N".into(), ..Batch::tabled(&[elapsed]) }],
            converged: spread < 0.05,
            clock_limited: false,
            summary: Summary {
                mean: seconds,
                median: quantity,
                min: seconds,
                p90: seconds,
                p99: seconds,
                p999: seconds,
                max: seconds,
                samples: 1,
            },
        }
    };
    let state = |label: &str, probe: f64, share: f64| State {
        label: label.into(),
        probe: Some(time(probe, 2.0, "median", true)),
        share: Number(share),
        ..State::only()
    };
    let parameters = |factor: f64| Parameters {
        send_overhead: Some(time(os, 0.05, "slope of elapsed(M), send-only", true)),
        recv_overhead: Some(time(or * factor, 2.1, "far arm of the hinge", true)),
        gap: Some(time(g * factor, 0.8, "slope of elapsed(M), steady", true)),
        latency: Some(time(
            rtt * factor / 2.0 - os - or * factor,
            1.8,
            "bootstrap over batches",
            false,
        )),
        rtt: Some(time(rtt * factor, 1.4, "median of batch medians", true)),
        idle: Some(time(g * factor - os - or * factor, 2.0, "bootstrap over batches", true)),
        capacity: Some(number(capacity, "longest burst without a stall")),
    };
    let messages = || (0..13).map(|exponent| 1u64 << exponent);
    Logp {
        name: "signature".into(),
        operation: None,
        bytes: None,
        transport: transport.into(),
        ranks: 2,
        pattern: Pattern::OneToOne,
        pair: Some([0, 1]),
        cores: Some([0, 1]),
        distance: Some("same package".into()),
        launches: 3,
        lost_launches: Vec::new(),
        state: state("N", 52.1, 0.86),
        parameters: parameters(1.0),
        regime: Regime::NetworkBound,
        transition: Some(Transition { messages: Number(begin), cause: Cause::RoundTrip }),
        arm: Some(Arm {
            slope: number(1.02, "least squares"),
            from_delay: Ns(delays[delays.len() / 2]).into(),
            holds: Some(true),
        }),
        arms: delays[delays.len() / 2..]
            .split_last()
            .filter(|(last, _)| **last > 0.0)
            .map(|(last, others)| arm([*others.first().unwrap_or(last), *last], os, or))
            .into_iter()
            .collect(),
        floor_ratios: vec![FloorRatio {
            name: "cache_line".into(),
            bytes: None,
            ratio: Number(1.06),
            low: Some(Number(1.04)),
            high: Some(Number(1.07)),
            converged: true,
            floor: Some(time(52.1, 0.5, "mean", true)),
        }],
        points: delays
            .iter()
            .flat_map(|delay| messages().map(move |m| (m, *delay)))
            .map(|(m, delay)| point(m, delay))
            .collect(),
        lines: vec![Line {
            name: "gap".into(),
            delay: Ns(0.0).into(),
            intercept: time(-90.0, 5.0, "least squares", true),
            slope: time(g, 0.8, "least squares", true),
            from: 512,
            to: 4096,
        }],
        other_states: vec![OtherState {
            state: state("F", 246.0, 0.14),
            parameters: parameters(4.0),
            regime: Regime::NetworkBound,
            lost_launches: Vec::new(),
        }],
        findings: vec![
            "or was found from the far arm only: below Δ = 40 ns the cache misses of the replies \
             overlap, and the model does not hold."
                .into(),
        ],
    }
}

/// A signature with every field filled, and one point with three batches.
pub(crate) fn sample() -> Logp {
    let around = |value: f64, low: f64, high: f64| {
        let interval = Some((Ns(low), Ns(high)));
        let by = Evidence::new("median of batch medians", 100, true);
        Quantity::time(Ns(value), interval, by).unwrap()
    };
    let mut logp = example("shm", 2.05, 14.0, 27.1, 120.0, &[0.0]);
    logp.points = vec![Point {
        measure: Kind::Issue,
        messages: 64,
        delay: Ns(0.0).into(),
        cost: around(27.22, 27.1, 27.35),
        elapsed: around(1742.0, 1734.0, 1750.0),
        batches: examples::batches(&[1734.0, 1750.25]),
        converged: true,
        clock_limited: false,
        summary: examples::summary(&[1734.0, 1750.25]),
    }];
    logp
}

/// The paper's Paragon in ns.
pub(crate) fn paragon() -> Logp {
    example("sim:paragon", 1400.0, 2200.0, 7600.0, 19_900.0, &[0.0, 2000.0, 8000.0, 16_000.0])
}

fn shm() -> Logp {
    example("shm", 2.05, 14.0, 27.1, 120.0, &[0.0, 10.0, 20.0, 40.0, 80.0, 160.0])
}

#[test]
fn the_page_explains_itself() {
    insta::assert_snapshot!("page_80", signature(&shm(), &Layout::default()));
    let wide = Layout { width: 132, ..Layout::default() };
    insta::assert_snapshot!("page_132", signature(&shm(), &wide));
    let plain = Layout { width: 60, ascii: true, ..Layout::default() };
    insta::assert_snapshot!("page_60_ascii", signature(&shm(), &plain));
}

#[test]
fn how_far_apart_cores_are_is_what_the_system_says_unless_time_is_virtual() {
    let heading = |logp: &Logp| page(logp).lines().take(3).collect::<Vec<_>>().join(" ");
    assert!(heading(&shm()).contains("(system: same package)"), "{}", heading(&shm()));
    assert!(heading(&paragon()).contains("(same package)"), "{}", heading(&paragon()));
}

#[test]
fn a_ratio_to_a_floor_has_an_interval_or_says_why_not() {
    let wide = Layout { width: 132, ..Layout::default() };
    let mut logp = sample();
    let text = |logp: &Logp| logp.text(&Among::new([logp as &dyn Shown]), &wide);
    assert!(text(&logp).contains("1.06 × (1.04 to 1.07) the floor cache_line, 52.1 ns"));
    (logp.floor_ratios[0].low, logp.floor_ratios[0].high) = (None, None);
    let few = text(&logp).replace('\n', " ");
    assert!(few.contains("1.06 × (no interval: too few rounds) the"), "{few}");
    logp.floor_ratios[0].floor = None;
    let old = text(&logp).replace('\n', " ");
    assert!(old.contains("1.06 × (no interval: an older run) the"), "{old}");
}

#[test]
fn a_hidden_gap_is_not_made_up() {
    let mut logp = shm();
    logp.regime = Regime::ProcessorBound;
    logp.parameters.gap = None;
    logp.other_states.clear();
    logp.findings.clear();
    let page = signature(&logp, &Layout { width: 132, ..Layout::default() });
    let row = |name: &str| page.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row(" gap ").contains("os + or"), "{page}");
    assert!(page.contains("Processor-bound: g = os + or"), "{page}");
}

#[test]
fn a_value_at_the_limit_of_the_clock_is_marked_and_no_doubtful_one() {
    let mut found = sample();
    let csv = |logp: &Logp| String::from_utf8(super::files::points(&[logp]).unwrap()).unwrap();
    assert!(!page(&found).contains('~') && csv(&found).ends_with(",true,false\n"));
    let os = found.parameters.send_overhead.as_mut().unwrap();
    (os.converged, os.clock_limited) = (false, true);
    let point = &mut found.points[0];
    (point.converged, point.clock_limited) = (false, true);
    (point.cost.converged, point.cost.clock_limited) = (false, true);
    let said = page(&found);
    assert!(said.contains("2.05 ns ~") && said.contains("\n~ at the clock's limit: "), "{said}");
    assert!(csv(&found).ends_with(",false,true\n"), "{}", csv(&found));
    assert!(
        plot(&signature_figure(&found), &Layout::default()).contains("(~: at the clock's limit)")
    );
    let others = |logp: &Logp| Logp { other_states: Vec::new(), ..logp.clone() };
    assert_eq!(others(&found).verdict(), Verdict::Good);
    // Neither is another thing.
    found.points[0].clock_limited = false;
    let named = ["signature over shm: M = 64 at Δ = 0 ns".to_owned()];
    assert_eq!(others(&found).verdict(), Verdict::Doubtful(named.into()));
    // Points at two delays that differ are not called alike.
    let mut two = others(&example("shm", 20.0, 17.0, 60.0, 300.0, &[0.0, 12.96, 13.04]));
    two.points.retain(|point| point.messages == 64);
    two.points.iter_mut().skip(1).for_each(|point| point.converged = false);
    let named = ["M = 64 at Δ = 12.96 ns", "M = 64 at Δ = 13.04 ns"];
    let named = named.map(|place| format!("signature over shm: {place}"));
    assert_eq!(two.verdict(), Verdict::Doubtful(named.into()));
    // A parameter that counts is named, missing or not known well; L and C do not count.
    let mut without = others(&found);
    without.points[0].clock_limited = true;
    without.parameters.gap = None;
    without.parameters.rtt.as_mut().unwrap().converged = false;
    without.parameters.capacity = None;
    let named = ["signature over shm: g (not found)", "signature over shm: RTT"];
    assert_eq!(without.verdict(), Verdict::Doubtful(named.map(str::to_owned).into()));
}

#[test]
fn no_line_is_wider_than_asked() {
    for width in [60, 80, 100, 132] {
        for ascii in [false, true] {
            let layout = Layout { width, ascii, ..Layout::default() };
            let page = signature(&shm(), &layout) + &plot(&signature_figure(&shm()), &layout);
            for line in page.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
            assert!(!page.contains('\u{1b}'));
        }
    }
}

#[test]
fn the_figure_has_the_paper_s_lines() {
    let figure = signature_figure(&paragon());
    let level = |name: &str| figure.references.iter().find(|line| line.name == name).unwrap().y;
    // os = 1.4, g = 7.6, and os + or + 16 = 19.6 µs, the paper's g' for Δ = 16.
    assert!((level("os") - 1400.0).abs() < 1e-6 && (level("g") - 7600.0).abs() < 1e-6);
    assert!((level("os + or + Δ") - 19_600.0).abs() < 1e-6);
    // 8 µs: 1.4 + 2.2 + 8 = 11.6 is above g as well; 2 µs: 5.6 is not.
    assert_eq!(figure.references.len(), 4);
    let labels: Vec<&str> = figure.regions.iter().map(|region| region.label.as_str()).collect();
    assert_eq!(labels, ["send only", "transition", "steady state"]);
    assert_eq!((figure.regions[1].from, figure.regions[1].to), (19_900.0 / 1400.0, 512.0));
    assert_eq!(figure.y.scale, Scale::Log10);
}

/// [`shm`] with a near arm over 10 and 20 ns, on a level of its own, before that from 80 ns on.
fn with_two_arms() -> Logp {
    let mut logp = shm();
    let near = ArmLevel { holds: None, ..arm([10.0, 20.0], 2.05, 7.0) };
    logp.arms = vec![near, arm([80.0, 160.0], 2.05, 14.0)];
    logp
}

#[test]
fn each_arm_has_a_line() {
    let said = page(&with_two_arms());
    let lines: Vec<&str> = said.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(" 10.0 to 20.0 ns ")).unwrap();
    let all = |line: &str, cells: &[&str]| {
        assert!(cells.iter().all(|cell| line.contains(cell)), "{line}: {said}");
    };
    all(lines[at], &["9.05 ns", "7.00 ns", "1.02, undecided"]);
    all(lines[at + 1], &["8.25 to 9.85 ns", "6.20 to 7.80 ns"]);
    all(lines[at + 2], &["80.0 to 160 ns", "16.1 ns", "14.0 ns", "1.02, holds"]);
    // One of one delay has no slope, and an older run no arms.
    let mut other = with_two_arms();
    other.arms = vec![ArmLevel { slope: None, holds: None, ..arm([80.0, 80.0], 2.05, 14.0) }];
    let said = page(&other);
    let line = said.lines().find(|line| line.starts_with(" 80.0 ns ")).unwrap();
    assert!(line.ends_with("unknown"), "{said}");
    other.arms.clear();
    assert!(!page(&other).contains("arm over Δ"));
}

#[test]
fn the_end_of_the_send_only_regime_is_said_where_there_is_one() {
    let of = |found: Option<f64>| {
        let end = |at| Transition { messages: Number(at), cause: Cause::RoundTrip };
        page(&Logp { transition: found.map(end), ..shm() }).replace('\n', " ")
    };
    assert!(of(Some(1.3)).contains("ends after 1 message, when the first replies return"));
    assert!(of(Some(1.6)).contains("ends after 2 messages, when"));
    assert!(!of(None).contains("send-only regime ends"));
    // Where overheads overlap, idle says nothing of waiting; the end at the capacity says that there is some.
    let end = Transition { messages: Number(22.0), cause: Cause::Capacity };
    let overlapped = Logp { regime: Regime::Overlapped, transition: Some(end), ..shm() };
    let said = page(&overlapped).replace('\n', " ");
    assert!(
        said.contains("How long the requester waits besides is not seen. The send-only"),
        "{said}"
    );
    assert!(said.contains("after 22 messages, when the capacity is reached"), "{said}");
    assert!(!said.contains("waits for nothing"), "{said}");
    // Without one os is drawn for the single message that it was read from.
    let mut none = Logp { transition: None, ..shm() };
    none.lines.push(Line { name: "send_overhead".into(), from: 1, to: 1, ..none.lines[0].clone() });
    let os = |logp: &Logp| signature_figure(logp).references[0].to;
    assert_eq!([os(&none), os(&shm()).round()], [1.0, 59.0]);
}

/// A table of a machine with os = 3, g = 17 and RTT = 206 ns, on which a message takes 36 ns + Δ up to
/// 60 ns and 82 ns + Δ from 105 ns on; without `near` the latter with every delay.
pub(crate) fn table_of_arms(near: bool) -> Vec<Observation> {
    let mut rows = Vec::new();
    let mut repeat = |kind, messages, delay_ns, truth: f64| {
        for share in [-0.002, -0.001, 0.0, 0.001, 0.002] {
            let elapsed_ns = truth * (1.0 + share);
            rows.push(Row {
                kind,
                messages,
                delay_ns,
                elapsed_ns,
                batch: None,
                round: None,
                launch: None,
            });
        }
    };
    repeat(Kind::Rtt, 1, 0.0, 206.0);
    for delay in [0.0, 10.0, 30.0, 60.0, 105.0, 210.0, 420.0] {
        let beside = match delay {
            0.0 if near => 17.0,
            0.0 => 92.0,
            ..=60.0 if near => 36.0,
            _ => 82.0,
        };
        for messages in [1_u32, 2, 3, 4, 8, 64, 256, 512, 1024] {
            let (issue, m): (f64, f64) = (3.0 + delay, f64::from(messages));
            let alone = m.min((206.0 / issue).max(1.0));
            let cost = f64::max(beside + delay, if near { 17.0 } else { 92.0 });
            repeat(Kind::Issue, u64::from(messages), delay, issue * alone + cost * (m - alone));
        }
    }
    observations_from_rows(&rows)
}

#[test]
fn all_arms_are_recorded_and_said() {
    let of = |near| {
        let table = table_of_arms(near);
        let found = extract(&table, &Options::default(), None).unwrap();
        assemble::fitted(&table, &found, examples::RULE, 0.95).unwrap()
    };
    let two = of(true);
    let whole = |time: Seconds| time.ns().0.round();
    let ranges =
        two.arms.iter().map(|arm| (whole(arm.from_delay), whole(arm.to_delay), arm.delays));
    assert_eq!(ranges.collect::<Vec<_>>(), [(10.0, 60.0, 3), (105.0, 420.0, 3)]);
    for (arm, both) in two.arms.iter().zip([36.0, 82.0]) {
        assert!((arm.overheads.as_time().unwrap().0 - both).abs() < 0.01 * both, "{arm:?}");
        assert!((arm.recv_overhead.as_time().unwrap().0 - both + 3.0).abs() < 1.0, "{arm:?}");
        assert_eq!(arm.holds, Some(true));
    }
    assert_eq!(Some(&two.arms[1].recv_overhead), two.parameters.recv_overhead.as_ref());
    let said = page(&two).replace('\n', " ");
    assert!(
        said.contains("There is a near arm") && said.contains("nothing is predicted"),
        "{said}"
    );
    assert!(said.contains("os and g are of loops without a delay"), "{said}");
    // Whether a table's delays had fences nobody knows.
    assert!(!said.contains("fences"), "{said}");
    let json = serde_json::to_value(&two).unwrap();
    assert_eq!(json["arms"][0]["delays"], 3);
    assert_eq!(serde_json::from_value::<Logp>(json).unwrap(), two);
    // The other way round.
    let one = of(false);
    assert_eq!(one.arms.len(), 1);
    let said = page(&one);
    assert!(!said.contains("near arm") && !said.contains("loops without a delay"), "{said}");
    assert_eq!(said.matches(", holds").count(), 1, "{said}");
}

#[test]
fn a_level_is_drawn_where_it_holds() {
    let levels = |logp: &Logp| -> Vec<(String, f64, f64, f64)> {
        let round = |value: f64| (value * 1e3).round() / 1e3;
        let lines = signature_figure(logp).references;
        lines.into_iter().map(|at| (at.name, round(at.y), at.from, round(at.to))).collect()
    };
    let (all, end) = (f64::NEG_INFINITY, f64::INFINITY);
    let of_two = levels(&with_two_arms());
    // os before the first replies, 120/2.05 messages; g in the steady state.
    assert_eq!(of_two[..2], [("os".into(), 2.05, all, 58.537), ("g".into(), 27.1, 512.0, end)]);
    // 9.05 + Δ on the near arm, nothing for the 40 ns between, 16.05 + Δ on the far one.
    let on_arms: Vec<f64> = of_two[2..].iter().map(|(_, y, ..)| *y).collect();
    assert_eq!(on_arms, [19.05, 29.05, 96.05, 176.05]);
    // An arm of which it is known that its slope is not 1 has no level.
    let mut refuted = with_two_arms();
    refuted.arms[1].holds = Some(false);
    let on_arms: Vec<f64> = levels(&refuted)[2..].iter().map(|(_, y, ..)| *y).collect();
    assert_eq!(on_arms, [19.05, 29.05]);
    // An older run has the far arm only, from 40 ns on.
    let older = Logp { arms: Vec::new(), ..with_two_arms() };
    let on_arms: Vec<f64> = levels(&older)[2..].iter().map(|(_, y, ..)| *y).collect();
    assert_eq!(on_arms, [56.05, 96.05, 176.05]);
}

#[test]
fn many_delays_are_thinned_and_the_reader_told() {
    let delays: Vec<f64> = (0..20).map(f64::from).collect();
    let figure = signature_figure(&example("shm", 2.0, 14.0, 27.0, 120.0, &delays));
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[7]), (8, "Δ = 0", "Δ = 19.0 ns"));
    assert_eq!(figure.notes[1], "8 of the 20 delays are shown.");
}

#[test]
fn delays_that_differ_have_names_that_differ() {
    let figure =
        signature_figure(&example("shm", 2.0, 14.0, 27.0, 120.0, &[0.0, 12.96, 13.04, 26.0]));
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["Δ = 0", "Δ = 12.96 ns", "Δ = 13.04 ns", "Δ = 26.0 ns"]);
    let mut close = shm();
    close.arms = vec![arm([12.96, 13.04], 2.05, 14.0)];
    assert!(page(&close).contains(" 12.96 to 13.04 ns "), "{}", page(&close));
}

#[test]
fn figures_are_drawn() {
    insta::assert_snapshot!("svg", svg(&signature_figure(&shm())));
    insta::assert_snapshot!("svg_paragon", svg(&signature_figure(&paragon())));
    insta::assert_snapshot!("plot_80", plot(&signature_figure(&shm()), &Layout::default()));
    let plain = Layout { width: 100, ascii: true, ..Layout::default() };
    insta::assert_snapshot!("plot_100_ascii", plot(&signature_figure(&paragon()), &plain));
}

#[test]
fn of_a_table_only_what_it_says_is_said() {
    let of = |launches: u32| {
        let table = Logp { transport: crate::measured::TABLE.into(), launches, ..shm() };
        page(&table).lines().next().unwrap().to_owned()
    };
    assert_eq!(
        [of(1), of(3)],
        ["LogP signature of a table", "LogP signature of a table; 3 launches"]
    );
}
