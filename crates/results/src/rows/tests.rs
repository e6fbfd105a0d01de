use crate::Outcome;
use bandgap_record::{Column, Note, Number};
use bandgap_report::{Layout, Scale, text};

use super::*;
use crate::hockney::Segment;
use crate::run::Run;
use crate::shown::CLOCK_LIMIT;

/// A quantity with an interval of ±2 %.
pub(crate) fn quantity(value: f64, unit: Unit) -> Quantity {
    let half = 0.02 * value.abs();
    let by = ("mean", 12, true);
    Quantity::new(value, Some((value - half, value + half)), unit, by).unwrap()
}

/// Rows of a series over these axes, each with its place and the cells of all columns.
pub(crate) fn rows(
    name: &str,
    axes: &[&str],
    columns: &[(&str, Unit)],
    all: impl IntoIterator<Item = (Vec<Place>, Vec<Option<f64>>)>,
) -> Rows {
    let column = |(name, unit): &(&str, Unit)| Column::new(name, *unit, "what it is").counting();
    let row = |(place, cells): (Vec<Place>, Vec<Option<f64>>)| {
        let units = columns.iter().map(|(_, unit)| *unit);
        let cells = cells.into_iter().zip(units).map(|(of, unit)| Some(quantity(of?, unit)));
        Row { place, cells: cells.collect(), ..Row::default() }
    };
    Rows {
        kind: "series".into(),
        name: name.into(),
        transport: "shm".into(),
        axes: axes.iter().map(|&axis| axis.to_owned()).collect(),
        columns: columns.iter().map(column).collect(),
        rows: all.into_iter().map(row).collect(),
        ..Rows::default()
    }
}

/// 0 B, powers of two to 4 MiB and their neighbours.
pub(crate) fn comms1() -> Rows {
    let near = |power: u32| [(1_u64 << power) - 3, 1 << power, (1 << power) + 3];
    let sizes = [0, 1, 2, 4, 8].into_iter().chain((4..=22).flat_map(near));
    let sizes = sizes.filter(|bytes| *bytes <= 4 << 20);
    let columns =
        [("time", Unit::Second), ("bandwidth", Unit::BytePerSecond), ("over_floor", Unit::One)];
    rows(
        "comms1",
        &["bytes"],
        &columns,
        sizes.map(|bytes| {
            let time = 79e-9 + bytes as f64 / 12e9;
            let rate = (bytes > 0).then_some(bytes as f64 / time);
            (vec![bytes.into()], vec![Some(time), rate, (bytes <= 8).then_some(1.3)])
        }),
    )
}

/// The fit of [`comms1`], or of a curve of another series.
pub(crate) fn fit(name: &str) -> Hockney {
    let line = |from_bytes, to_bytes| Segment {
        from_bytes,
        to_bytes,
        points: 20,
        r_inf: Some(quantity(12e9, Unit::BytePerSecond)),
        n_half: Some(quantity(948.0, Unit::Byte)),
        t0: None,
        pi0: None,
        r_squared: None,
        worst_residual: None,
        worst_bytes: None,
        rms_residual: None,
        intercept: Some(bandgap_units::Ns(79.0).into()),
        per_byte: Some(bandgap_units::Ns(1.0 / 12.0).into()),
    };
    Hockney {
        name: name.into(),
        transport: "shm".into(),
        curve: Labels::new(),
        messages: 1,
        weighting: "relative".into(),
        segments: vec![line(0, 4096), line(4097, 4 << 20)],
        breakpoints: Vec::new(),
    }
}

/// A run with these results.
pub(crate) fn run(results: Vec<Outcome>) -> Run {
    let bandgap = bandgap_record::Bandgap { version: "0.1.0".into(), revision: None };
    Run {
        bandgap,
        command: vec!["bandgap".into(), "comms1".into()],
        started: "2026-11-25T00:00:00Z".into(),
        elapsed: Number(1.0),
        seed: 1,
        interrupted: false,
        host: serde_json::Value::Null,
        hosts: Vec::new(),
        setup: Default::default(),
        plan: serde_json::Value::Null,
        conditions: Vec::new(),
        results,
        notes: Vec::new(),
    }
}

/// Blocks as lines of at most `width` columns.
pub(crate) fn lines(blocks: &[Block], width: u16) -> Vec<String> {
    let layout = Layout { width, ..Layout::default() };
    let lines: Vec<String> = text(blocks, &layout).lines().map(str::to_owned).collect();
    let wide = lines.iter().find(|line| line.chars().count() > width.into());
    assert_eq!(wide, None);
    lines
}

#[test]
fn all_rows_are_in_the_table_and_the_curves_are_drawn_with_their_lines() {
    let rows = comms1();
    let run = run(vec![rows.clone().into(), fit("comms1").into()]);
    let blocks = rows.detail(&crate::run::context(&run));
    let [Block::Section { .. }, Block::Table(table), Block::Figure(time), Block::Figure(rate)] =
        &blocks[..]
    else {
        panic!("{blocks:?}")
    };
    assert_eq!((table.rows.len(), table.columns.len()), (rows.rows.len(), 4));
    for figure in [time, rate] {
        let [measured, line] = &figure.series[..] else { panic!("{figure:?}") };
        assert_eq!(line.twin, Some(0));
        // On the line, as the times were made; each of both segments has one.
        assert_eq!(line.stretches().count(), 3);
        let drawn = measured.points.iter().find(|point| point.x == 4096.0).unwrap();
        let fitted = line.points.iter().find(|point| point.x == 4096.0).unwrap();
        assert!((fitted.y / drawn.y - 1.0).abs() < 1e-9);
    }
    assert_eq!(time.series[0].points[0].y, 79e-9);
}

#[test]
fn curves_are_told_apart_by_their_other_axes() {
    let place = |bytes: u64, ranks: u64| vec![bytes.into(), ranks.into()];
    let of = |sizes: &[u64], ranks: &[u64]| {
        let all =
            sizes.iter().flat_map(|n| ranks.iter().map(|p| (place(*n, *p), vec![Some(1e-6)])));
        rows("comms3", &["bytes", "ranks"], &[("time", Unit::Second)], all.collect::<Vec<_>>())
    };
    let series = |rows: &Rows| {
        let run = run(Vec::new());
        let figures = super::figures(rows, &crate::run::context(&run));
        figures
            .iter()
            .map(|figure| (figure.x.label.clone(), figure.series.len()))
            .collect::<Vec<_>>()
    };
    let over = |axis: &str, curves| (axis.to_owned(), curves);
    let both = [over("message size, n", 3), over("ranks, P", 1)];
    assert_eq!(series(&of(&[8, 64], &[2, 4, 8])), both);
    // Of one size they are drawn over the ranks; a single point is no curve.
    assert_eq!(series(&of(&[8], &[2, 4, 8])), [("ranks, P".to_owned(), 1)]);
    assert_eq!(series(&of(&[8], &[2])), []);
}

/// CoMet's figures 5.6 and 5.7: linear in log P, with the law's line; long messages would hide short ones.
#[test]
fn times_over_ranks_are_on_linear_axes_with_their_law() {
    let time = |bytes: u64, ranks: u64| 1e-6 * (5 + 3 * ranks.ilog2()) as f64 + bytes as f64 * 1e-9;
    let sizes = [8_u64, 64, 65_536];
    let all = sizes.iter().flat_map(|n| [2, 4, 8, 16].map(|p| (*n, p)));
    let all = all.map(|(n, p)| (vec![n.into(), p.into()], vec![Some(time(n, p))]));
    let series = rows("broadcast", &["bytes", "ranks"], &[("time", Unit::Second)], all);
    let columns = [("slope", Unit::Second), ("intercept", Unit::Second)];
    let mut law = rows(
        "broadcast",
        &["bytes"],
        &columns,
        [(vec![8_u64.into()], vec![Some(3e-6), Some(5e-6)])],
    );
    (law.kind, law.form) = ("growth".into(), Form::Law);
    let labels =
        [("law", Place::from("logarithmic")), ("from", 4_u64.into()), ("to", 16_u64.into())];
    law.labels = labels.map(|(name, of)| (name.to_owned(), of)).into();
    let run = run(vec![series.clone().into(), law.into()]);
    let figures = super::figures(&series, &crate::run::context(&run));
    let [_, figure] = &figures[..] else { panic!("{figures:?}") };
    assert_eq!((figure.x.scale, figure.y.scale), (Scale::Log2, Scale::Linear));
    let names: Vec<&str> = figure.series.iter().map(|of| &*of.name).collect();
    assert_eq!(names, ["n 8 B", ""]);
    let line = &figure.series[1];
    let places: Vec<(f64, f64)> =
        line.points.iter().map(|of| (of.x, (of.y * 1e9).round())).collect();
    assert_eq!((line.twin, places), (Some(0), vec![(4.0, 11e3), (8.0, 14e3), (16.0, 17e3)]));
    assert_eq!(figure.says, "Time over ranks; dashed: a + b·⌈log₂ P⌉ as fitted.");
}

/// CoMet's figures 5.8 to 5.12, and figure 10 of the LogP paper.
#[test]
fn times_of_one_operation_share_a_figure() {
    let run = run(Vec::new());
    let drawn = |rows: &Rows| super::figures(rows, &crate::run::context(&run));
    let columns = ["blocking", "non_blocking", "computation"].map(|name| (name, Unit::Second));
    let all = [0_u64, 1024].into_iter().flat_map(|n| [0_u64, 512, 4096].map(|k| (n, k)));
    let all = all.map(|(n, k)| {
        let [exchange, alone] = [1e-6 + n as f64 * 1e-9, k as f64 * 1e-9];
        let both = Some(exchange.max(alone));
        (vec![n.into(), k.into()], vec![Some(exchange + alone), both, Some(alone)])
    });
    let overlap = drawn(&rows("overlap", &["bytes", "elements"], &columns, all));
    assert_eq!(overlap.len(), 2);
    for (figure, n) in overlap.iter().zip(["0 B", "1 KiB"]) {
        assert_eq!(figure.title, format!("overlap over shm: time over vector length, n {n}"));
        let names: Vec<&str> = figure.series.iter().map(|of| &*of.name).collect();
        assert_eq!(names, ["without overlap", "with overlap", "DAXPY alone"]);
        assert_eq!((figure.x.scale, figure.y.scale), (Scale::Linear, Scale::Linear));
        assert!(figure.series.iter().all(|of| of.points.len() == 3));
    }
    assert_eq!((overlap[1].series[1].points[2].y * 1e9).round(), 4096.0);
    let columns = ["time", "send_overhead", "free"].map(|name| (name, Unit::Second));
    let of = |n: u64| (vec![n.into()], vec![Some(1e-6), Some(3e-7), Some(7e-7)]);
    let bulk = drawn(&rows("bulk_store", &["bytes"], &columns, [8, 4096].map(of)));
    let names: Vec<Vec<&str>> =
        bulk.iter().map(|of| of.series.iter().map(|of| &*of.name).collect()).collect();
    assert_eq!(names, [vec![""], vec!["busy, o(n)", "free, T − o(n)"]]);
}

#[test]
fn what_converged_or_is_at_the_clock_s_limit_is_marked() {
    let mut rows = comms1();
    rows.rows[1].cells[0].as_mut().unwrap().converged = false;
    let mut run = run(Vec::new());
    run.notes.push(Note::new(CLOCK_LIMIT, "series/comms1/shm/bytes=0/time"));
    let table = table(&rows, &rows.rows.iter().collect::<Vec<_>>(), &crate::run::context(&run));
    let mark = |row: usize| match &table.rows[row][1] {
        Cell::Value(shown) => shown.precision.mark(),
        other => panic!("{other:?}"),
    };
    assert_eq!([0, 1, 2].map(mark), [Some('~'), Some('*'), None]);
}

#[test]
fn labels_that_differ_stand_at_their_rows() {
    let mut rows = comms1();
    rows.rows[3].labels.insert("way".into(), "pieces".into());
    rows.labels.insert("buffers".into(), "same".into());
    let run = run(Vec::new());
    let all: Vec<&Row> = rows.rows.iter().collect();
    let table = table(&rows, &all, &crate::run::context(&run));
    let last = |row: usize| table.rows[row].last().cloned().unwrap();
    assert_eq!((last(3), last(4)), (Cell::Text("pieces".into()), Cell::Empty));
    assert!(table.columns.last().unwrap().optional);
}
