use crate::Outcome;
use bandgap_record::{Column, Form, Note, Row};
use bandgap_report::{Layout, Precision, text};

use super::*;
use crate::hockney::tests::example as fit;
use crate::logp::tests::{example, run, time};

/// The series whose fit stands in the table.
fn series(transport: &str) -> Outcome {
    let form = Form::Kernel { rows: 9, headline: true };
    let row = |bytes: u64| {
        let rate = bytes as f64 / (1e-6 + bytes as f64 / 8e9);
        let interval = Some((0.99 * rate, 1.01 * rate));
        let rate = Quantity::new(rate, interval, Unit::BytePerSecond, ("n/t", 24, true)).unwrap();
        Row { place: vec![bytes.into()], cells: vec![Some(rate)], ..Row::default() }
    };
    Rows {
        kind: "series".into(),
        form,
        name: "comms1".into(),
        transport: transport.into(),
        axes: vec!["bytes".into()],
        columns: vec![Column::new("bandwidth", Unit::BytePerSecond, "")],
        rows: vec![row(8), row(65536), row(4 << 20)],
        ..Rows::default()
    }
    .into()
}

fn results() -> Vec<Outcome> {
    let mut all: Vec<Outcome> = Vec::new();
    for (at, transport) in ["shm", "tcp", "unix"].into_iter().enumerate() {
        let times = [1.0, 81.0, 34.0][at];
        all.extend(example(transport, [2.0, 14.0, 27.0, 120.0].map(|of| times * of)));
        all.push(fit("comms1", transport, "relative", 1.2 / times));
        all.push(series(transport));
        all.push(fit("comms1", transport, "ordinary", 9.0));
    }
    all
}

fn table(blocks: &[Block]) -> &Table {
    let Some(Block::Table(table)) = blocks.first() else { panic!("{blocks:?}") };
    table
}

/// The row with these words in its first two cells.
fn row<'a>(table: &'a Table, symbol: &str, name: &str) -> Option<&'a [Cell]> {
    let is_it =
        |row: &&Vec<Cell>| row[0] == symbol.into() && (name.is_empty() || row[1] == name.into());
    Some(&table.rows.iter().find(is_it)?[2..])
}

fn values(cells: &[Cell]) -> Vec<f64> {
    let value = |cell: &Cell| match cell {
        Cell::Value(shown) => shown.value,
        _ => f64::NAN,
    };
    cells.iter().map(value).collect()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{found:?}");
}

#[test]
fn each_transport_has_a_column_with_its_headline_values() {
    let run = run(results(), Vec::new());
    let blocks = headline(&crate::run::context(&run));
    let table = table(&blocks);
    assert_eq!(table.columns.len(), 5);
    close(&values(row(table, "os", "").unwrap()), &[2e-9, 162e-9, 68e-9]);
    close(&values(row(table, "RTT/2", "").unwrap()), &[60e-9, 81.0 * 60e-9, 34.0 * 60e-9]);
    close(&values(row(table, "", "over its floor").unwrap()), &[1.25; 3]);
    close(
        &values(row(table, "1/g", "messages (M/s)").unwrap()),
        &[1e3 / 27.0, 1e3 / 2187.0, 1e3 / 918.0],
    );
    assert!(row(table, "os+or", "").is_none());
    close(&values(row(table, "64 KiB", "bandwidth (GB/s)").unwrap()), &[65.536 / 9.192; 3]);
    close(&values(row(table, "4 MiB", "bandwidth (GB/s)").unwrap()), &[4194.304 / 525.288; 3]);
    // In the unit of the greatest, which is no part of the cells.
    let rates = row(table, "r∞", "(GB/s)").unwrap();
    close(&values(rates), &[12.0, 12.0 / 81.0, 12.0 / 34.0]);
    assert!(
        rates.iter().all(
            |cell| matches!(cell, Cell::Value(shown) if shown.apart && shown.unit == Unit::One)
        )
    );
    assert_eq!(
        row(table, "", "rate limited by").unwrap(),
        ["network".into(), "network".into(), "network".into()]
    );
    let os = row(table, "os", "").unwrap();
    assert!(matches!(&os[0], Cell::Value(shown) if shown.precision.mark() == Some('*')));
    assert_eq!(blocks.len(), 1);
    let shown = text(&blocks, &Layout { width: 100, ..Layout::default() });
    assert!(shown.lines().count() <= 14, "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
}

#[test]
fn what_is_missing_leaves_no_row_or_says_so() {
    let mut all = results();
    all.retain(|result| !matches!(result, Outcome::Hockney(_)));
    let Outcome::Logp(first) = &mut all[0] else { panic!() };
    (first.parameters.gap, first.over_floor) = (None, None);
    let run = run(all, vec![Note::new(crate::CLOCK_LIMIT, "logp/tcp/send_overhead")]);
    let blocks = headline(&crate::run::context(&run));
    let table = table(&blocks);
    assert!(row(table, "r∞", "").is_none() && row(table, "n½", "").is_none());
    assert_eq!(row(table, "1/g", "").unwrap()[0], Cell::Empty);
    assert_eq!(row(table, "g", "").unwrap()[0], UNKNOWN.into());
    assert_eq!(row(table, "", "over its floor").unwrap()[0], Cell::Empty);
    assert!(
        matches!(&row(table, "os", "").unwrap()[1], Cell::Value(shown) if shown.precision.mark() == Some('~'))
    );
    let empty = crate::logp::tests::run([], Vec::new());
    assert_eq!(headline(&crate::run::context(&empty)), []);
    // A run of COMMS1 alone.
    let alone =
        crate::logp::tests::run([series("tcp"), fit("comms1", "tcp", "relative", 1.0)], Vec::new());
    let blocks = headline(&crate::run::context(&alone));
    assert_eq!((blocks.len(), super::tests::table(&blocks).rows.len()), (1, 4));
}

#[test]
fn overheads_that_the_data_do_not_tell_apart_are_shown_as_their_sum() {
    for (half, is_apart) in [(0.24, true), (0.26, false)] {
        let mut all = example("shm", [2.0, 14.0, 27.0, 120.0]);
        let Outcome::Logp(logp) = &mut all[0] else { panic!() };
        logp.parameters.recv_overhead = Some(time(14.0, 14.0 * half, false));
        let run = run(all, Vec::new());
        let blocks = headline(&crate::run::context(&run));
        let of = |symbol: &str| row(table(&blocks), symbol, "").map(values).unwrap_or_default();
        assert_eq!([of("os").len(), of("or").len(), of("L").len()], [usize::from(is_apart); 3]);
        close(&of("os+or"), if is_apart { &[] } else { &[16e-9] });
    }
}

#[test]
fn a_signature_fits_on_its_screen_with_its_plot() {
    for scale in [1e-2, 1.0, 1e4] {
        let run = run(example("shm", [2.0, 14.0, 27.0, 120.0].map(|of| scale * of)), Vec::new());
        let context = crate::run::context(&run);
        let mut figures = run.results[0].as_shown().detail(&context);
        figures.retain(|block| matches!(block, Block::Figure(_)));
        let shown = |blocks: &[Block]| text(blocks, &Layout { width: 100, ..Layout::default() });
        let (table, plot) = (shown(&headline(&context)), shown(&figures));
        assert!(table.lines().count() <= 12 && plot.lines().count() <= 20, "{table}{plot}");
        assert!((table + &plot).lines().all(|line| line.chars().count() <= 100));
    }
}

#[test]
fn transfers_have_a_column_for_each_length() {
    let of = |bytes: u64| {
        let [Outcome::Logp(mut logp), _] = example("shm", [2.0, 14.0, 27.0, 120.0]) else {
            panic!()
        };
        (logp.name, logp.bytes) = ("bulk_store_signature".to_owned(), Some(bytes));
        Outcome::Logp(logp)
    };
    let run = run([of(0), of(4096)], Vec::new());
    let blocks = surface(&crate::run::context(&run), "bulk_store_signature", "shm");
    assert_eq!(table(&blocks).columns.len(), 4);
    assert_eq!(headline(&crate::run::context(&run)), []);
}

#[test]
fn where_no_line_holds_a_sentence_says_so_and_kinds_of_launches_have_no_mean() {
    let mut all = results();
    let fits = all.iter_mut().filter_map(|of| match of {
        Outcome::Hockney(fit) => Some(fit),
        _ => None,
    });
    for segment in fits.flat_map(|fit| &mut fit.segments) {
        segment.r_inf.iter_mut().for_each(|of| of.converged = false);
    }
    let kinds = Note::new("launches_of_kinds", "series/comms1/tcp/bytes=4194304/time");
    let not_known = Note::new("not_known", "logp/tcp/send_overhead");
    let run = run(all, vec![kinds.with("kinds", 3.0), not_known]);
    let context = crate::run::context(&run);
    let blocks = headline(&context);
    assert!(matches!(blocks[..], [Block::Table(_), Block::Text(_)]));
    let table = table(&blocks);
    assert!(row(table, "r∞", "").is_none() && row(table, "n½", "").is_none());
    let tcp = |symbol: &str| row(table, symbol, "").unwrap()[1].clone();
    assert_eq!(tcp("4 MiB"), "3 kinds".into());
    // The sum stands for os and or, and L = RTT/2 − os − or is given with them alone.
    assert_eq!([tcp("os"), tcp("or"), tcp("L")], [const { Cell::Empty }; 3]);
    assert!(matches!(row(table, "os+or", "").unwrap(), [Cell::Empty, Cell::Value(_), Cell::Empty]));
    let drawn = context.drawn.borrow();
    let doubtful = drawn.iter().filter(|(_, of)| **of == Precision::No);
    let doubtful: Vec<&str> = doubtful.map(|(id, _)| id.as_str()).collect();
    assert_eq!(
        doubtful,
        [
            "logp/shm/send_overhead",
            "logp/unix/send_overhead",
            "series/comms1/tcp/bytes=4194304/bandwidth",
        ]
    );
}
