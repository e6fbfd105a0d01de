use crate::Outcome;
use bandgap_record::{Column, Labels, Note, Row};
use bandgap_report::{Cell, Layout, text};

use super::*;
use crate::Run;

/// A time ± `half`, in nanoseconds.
pub(crate) fn time(ns: f64, half: f64, converged: bool) -> Quantity {
    let s = |ns: f64| ns * 1e-9;
    let interval = Some((s(ns - half), s(ns + half)));
    Quantity::new(s(ns), interval, Unit::Second, ("slope", 24, converged)).unwrap()
}

/// A signature with these os, or, g and RTT in nanoseconds, and its curve.
pub(crate) fn example(transport: &str, [os, or, g, rtt]: [f64; 4]) -> [Outcome; 2] {
    let mut logp = Logp::new(SIGNATURE, transport, None);
    let known = |value: f64| Some(time(value, 0.02 * value.abs(), true));
    logp.parameters = Parameters {
        send_overhead: Some(time(os, 0.1 * os, false)),
        recv_overhead: known(or),
        gap: known(g),
        latency: known(rtt / 2.0 - os - or),
        sent_latency: None,
        overheads: known(os + or),
        rtt: known(rtt),
        idle: known(g - os - or),
        capacity: None,
    };
    logp.regime = Regime::NetworkBound;
    let messages = Number(rtt / os);
    logp.transition = Some(Transition { messages, cause: "round_trip".to_owned() });
    let seconds = |ns: f64| Seconds(Number(ns * 1e-9));
    let slope =
        Some(Quantity::new(1.01, Some((0.99, 1.03)), Unit::One, ("slope", 9, true)).unwrap());
    let (from_delay, to_delay) = (seconds(2.0 * g), seconds(4.0 * g));
    logp.arms = vec![Arm {
        from_delay,
        to_delay,
        recv_overhead: known(or).unwrap(),
        slope,
        holds: Some(true),
    }];
    let line = |name: &str, delay: f64, slope: f64, from, to| Line {
        name: name.to_owned(),
        delay: seconds(delay),
        intercept: seconds(slope),
        slope: seconds(slope),
        from,
        to,
    };
    let delays: Vec<f64> = (0..9).map(|at| f64::from(at) * g / 2.0).collect();
    logp.lines = vec![line("send_overhead", 0.0, os, 1, 4), line("gap", 0.0, g, 64, 256)];
    logp.lines
        .extend(delays[1..].iter().map(|delay| line("gap", *delay, delay + os + or, 16, 256)));
    let ratio = Quantity::new(1.25, Some((1.2, 1.3)), Unit::One, ("ratio", 24, true)).unwrap();
    logp.over_floor = Some(OverFloor { floor: "cache_line".to_owned(), ratio });
    let row = |delay: f64, messages: u64| {
        let cost = (os + delay).max(if messages > 16 { g.max(os + or + delay) } else { 0.0 });
        let cells = vec![
            Some(time(cost, 0.01 * cost, true)),
            Some(time(cost * messages as f64, 1.0, true)),
        ];
        let place = vec![messages.into(), ((delay * 1e3).round() as u64).into()];
        Row { place, labels: Labels::new(), cells, spread: None }
    };
    let rows = delays.iter().flat_map(|&delay| (0..9).map(move |k| row(delay, 1 << k)));
    let curve = Rows {
        kind: "series".into(),
        name: SIGNATURE.into(),
        transport: transport.into(),
        form: bandgap_record::Form::Details,
        axes: vec!["messages".into(), "delay_ps".into()],
        columns: ["cost", "elapsed"].map(|name| Column::new(name, Unit::Second, "")).into(),
        rows: rows.collect(),
        ..Rows::default()
    };
    [logp.into(), curve.into()]
}

/// A run of these results.
pub(crate) fn run(results: impl IntoIterator<Item = Outcome>, notes: Vec<Note>) -> Run {
    Run { notes, command: Vec::new(), ..crate::rows::tests::run(results.into_iter().collect()) }
}

fn figures(blocks: &[Block]) -> Vec<&bandgap_report::Figure> {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        })
        .collect()
}

#[test]
fn the_details_have_every_parameter_and_arm_and_the_figure() {
    let run = run(example("shm", [2.0, 14.0, 27.0, 120.0]), Vec::new());
    let blocks = run.results[0].as_shown().detail(&crate::run::context(&run));
    let rows = |block: &Block| match block {
        Block::Table(table) => Some(table.rows.len()),
        _ => None,
    };
    let rows: Vec<usize> = blocks.iter().filter_map(rows).collect();
    // Six parameters and the ratio; one arm.
    assert_eq!(rows, [8, 1]);
    let [figure] = figures(&blocks)[..] else { panic!("one figure") };
    assert_eq!(figure.series.len(), 6);
    assert!(figure.series.iter().all(|series| series.points.len() == 9));
    let first = &figure.series[0].points[0];
    assert_eq!((first.x, (first.y * 1e9).round()), (1.0, 2.0));
    // os to RTT/os messages, g from 64 on, and os + or + Δ for the three Δ of those shown that are on the arm.
    let levels: Vec<(f64, f64, f64)> =
        figure.references.iter().map(|of| ((of.y * 1e12).round() / 1e3, of.from, of.to)).collect();
    let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(levels[..2], [(2.0, least, 60.0), (27.0, 64.0, most)]);
    assert_eq!(
        levels[2..],
        [(16.0 + 54.0, 16.0, most), (16.0 + 81.0, 16.0, most), (16.0 + 108.0, 16.0, most)]
    );
    assert_eq!(figure.regions.len(), 3);
}

/// Figure 6 of the LogP paper.
#[test]
fn several_signatures_are_bars_with_the_first() {
    let both = [example("shm", [2.0, 5.0, 10.0, 30.0]), example("tcp", [20.0, 30.0, 60.0, 90.0])];
    let bars = |run: &Run, at: usize| {
        let blocks = run.results[at].as_shown().detail(&crate::run::context(run));
        blocks.into_iter().find_map(|of| if let Block::Bars(bars) = of { Some(bars) } else { None })
    };
    let one = run(both[0].clone(), Vec::new());
    assert_eq!(bars(&one, 0), None);
    let run = run(both.concat(), Vec::new());
    assert_eq!(bars(&run, 2), None);
    let drawn = bars(&run, 0).unwrap();
    assert!(drawn.to_scale);
    let times = |bar: &bandgap_report::Bar| -> Vec<(String, i64)> {
        let time = |share: f64| (share * bar.whole * 1e9).round() as i64;
        bar.parts.iter().map(|part| (part.name.clone(), time(part.share))).collect()
    };
    let known = |all: &[(&str, i64)]| -> Vec<(String, i64)> {
        all.iter().map(|(name, ns)| ((*name).to_owned(), *ns)).collect()
    };
    let all: Vec<_> = drawn.bars.iter().map(|bar| (&*bar.name, times(bar))).collect();
    let expected = [
        ("shm: half a round trip", known(&[("os", 2), ("L", 8), ("or", 5)])),
        ("shm: gap", known(&[("g", 10)])),
        ("tcp: half a round trip", known(&[("os", 20), ("L", -5), ("or", 30)])),
        ("tcp: gap", known(&[("g", 60)])),
    ];
    assert_eq!(all, expected);
}

#[test]
fn what_the_clock_limits_is_marked_by_its_note() {
    let note = Note::new(crate::CLOCK_LIMIT, "logp/shm/send_overhead");
    let run = run(example("shm", [2.0, 14.0, 27.0, 120.0]), vec![note]);
    let blocks = run.results[0].as_shown().detail(&crate::run::context(&run));
    let Some(Block::Table(table)) = blocks.get(1) else { panic!("no table") };
    let mark = |row: &Vec<Cell>| match &row[2] {
        Cell::Value(shown) => shown.precision.mark(),
        other => panic!("{other:?}"),
    };
    let marks: Vec<Option<char>> = table.rows.iter().map(mark).collect();
    assert_eq!(marks[0], Some('~'));
    assert!(marks[1..].iter().all(Option::is_none));
}

#[test]
fn curves_are_those_of_the_same_length_and_pattern() {
    let [mut fan, mut own] = example("shm", [2.0, 14.0, 27.0, 120.0]);
    let (Outcome::Logp(logp), Outcome::Rows(rows)) = (&mut fan, &mut own) else { panic!() };
    (logp.pattern, logp.ranks) = ("fan_out".to_owned(), 5);
    rows.axes.splice(0..0, ["pattern".to_owned(), "ranks".to_owned()]);
    for row in &mut rows.rows {
        row.place.splice(0..0, ["fan_out".into(), 5_u64.into()]);
    }
    let (logp, rows) = (logp.clone(), rows.clone());
    let [one, plain] = example("shm", [1.0, 1.0, 9.0, 99.0]);
    let results = [plain.clone(), own.clone(), one.clone(), fan.clone()];
    assert_eq!(logp.id(), "logp/shm/pattern=fan_out/ranks=5");
    let among = |results: &'static [Outcome]| {
        crate::Context::of_results(results.iter().map(Outcome::as_shown).collect(), &[])
    };
    let results: &'static [Outcome] = Vec::from(results).leak();
    assert_eq!(logp.curve(&among(results)), Some(&*rows));
    let Outcome::Logp(one) = one else { panic!() };
    assert_eq!(one.curve(&among(results)).map(|rows| rows.axes.len()), Some(2));
    assert_eq!(one.curve(&among(&results[1..2])), None);
}

#[test]
fn extreme_values_stay_within_the_line() {
    for scale in [1e-3, 1.0, 1e3, 1e9] {
        let run = run(
            example("sim:a_machine_of_a_long_name", [2.0, 14.0, 27.0, 120.0].map(|of| scale * of)),
            Vec::new(),
        );
        for width in [60, 100] {
            let layout = Layout { width, ..Layout::default() };
            let blocks = run.results[0].as_shown().detail(&crate::run::context(&run));
            let text = text(&blocks, &layout);
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
        }
    }
}
