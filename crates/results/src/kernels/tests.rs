use super::*;
use crate::Outcome;
use crate::curves::SIDE_BY_SIDE;
use crate::rows::tests::{comms1, fit, lines, rows, run};
use crate::run::Run;
use bandgap_record::Labels;

fn timed(name: &str, axes: &[&str], all: &[(&[u64], f64)]) -> Rows {
    let place = |of: &[u64]| of.iter().map(|at| Place::from(*at)).collect::<Vec<_>>();
    let row = |(at, time): &(&[u64], f64)| (place(at), vec![Some(*time)]);
    rows(name, axes, &[("time", Unit::Second)], all.iter().map(row))
}

fn labelled(mut rows: Rows, row: usize, name: &str, label: &str) -> Rows {
    rows.rows[row].labels.insert(name.into(), label.into());
    rows
}

fn tables(blocks: &[Block]) -> Vec<&Table> {
    let tables = blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    tables.collect()
}

/// All that `comet` measures.
fn comet() -> Run {
    let all = |name: &str| {
        timed(name, &["bytes", "ranks"], &[(&[8, 4], 140e-9), (&[1 << 20, 4], 212e-6)])
    };
    let matrix = |name: &str| {
        timed(name, &["dimension", "ranks"], &[(&[64, 4], 4.1e-6), (&[512, 4], 270e-6)])
    };
    let grows = |name: &str, law: &str, value: f64, unit: Unit, axes: &[&str], at: Vec<Place>| {
        let rows = rows(name, axes, &[("slope", unit)], [(at, vec![Some(value)])]);
        labelled(Rows { kind: "growth".into(), form: Form::Law, ..rows }, 0, "law", law)
    };
    let columns = [("time", Unit::Second), ("slowdown", Unit::One)];
    let load =
        |load: u64, slow: Option<f64>| (vec![64_u64.into(), load.into()], vec![Some(1e-7), slow]);
    let contention = rows(
        "contention",
        &["bytes", "load"],
        &columns,
        [load(0, None), load(50, Some(1.8)), load(90, Some(3.9))],
    );
    let side_by_side = |columns: &[&str], by: Option<&str>| Form::SideBySide {
        tables: vec![columns.iter().map(|&of| of.to_owned()).collect()],
        by: by.map(str::to_owned),
        alone: false,
    };
    let ranges = |title: &str, of: &str| Form::Ranges { title: title.into(), of: of.into() };
    let contention = Rows { form: side_by_side(&["slowdown", "time"], Some("load")), ..contention };
    let share =
        |bytes: u64, of: f64| (vec![bytes.into(), 1000_u64.into()], vec![Some(1e-6), Some(of)]);
    let columns = [("blocking", Unit::Second), ("hidden", Unit::One)];
    let overlap =
        rows("overlap", &["bytes", "elements"], &columns, [share(8, -0.12), share(1 << 20, 0.71)]);
    let overlap = Rows { form: side_by_side(&["hidden"], None), ..overlap };
    let range = |at: u64, from: Option<f64>| (vec![4_u64.into(), at.into()], vec![from]);
    let fastest = rows(
        "broadcast",
        &["ranks", "from"],
        &[("begins", Unit::Byte)],
        [range(0, None), range(1024, Some(32768.0))],
    );
    let fastest = labelled(labelled(fastest, 0, "variant", "tree"), 1, "variant", "chain");
    let hops =
        rows("echo", &["from"], &[("h", Unit::Second)], [(vec![0_u64.into()], vec![Some(25e-6)])]);
    let hops = Rows { kind: "hops".into(), form: ranges("each further hop", "h"), ..hops };
    let fastest = Rows { form: ranges("algorithms", "variant"), ..fastest };
    let mut results: Vec<Outcome> =
        vec![Rows { name: "echo".into(), ..comms1() }.into(), fit("echo").into()];
    for name in ["exchange", "broadcast", "global_sum"] {
        results.extend([all(name).into(), fit(name).into()]);
    }
    results.push(timed("barrier", &["ranks"], &[(&[2], 60e-9), (&[4], 118e-9)]).into());
    results.push(grows("barrier", "logarithmic", 58e-9, Unit::Second, &[], Vec::new()).into());
    results.push(
        grows("broadcast", "logarithmic", 61e-9, Unit::Second, &["bytes"], vec![8_u64.into()])
            .into(),
    );
    for name in [
        "update_guard",
        "shift_north",
        "shift_east",
        "transpose",
        "row_broadcast",
        "column_broadcast",
    ] {
        results.push(matrix(name).into());
        results
            .push(grows(name, "quadratic", 2.0, Unit::One, &["ranks"], vec![4_u64.into()]).into());
    }
    results.extend(
        [contention, overlap, Rows { kind: "fastest".into(), ..fastest }, hops].map(Outcome::from),
    );
    run(results)
}

fn all(run: &Run) -> Vec<&Rows> {
    run.results.iter().filter_map(Outcome::as_rows).collect()
}

#[test]
fn one_series_is_a_few_rows_with_their_distance_from_the_line() {
    let rows = Rows { form: Form::Kernel { rows: 9, headline: true }, ..comms1() };
    let run = run(vec![rows.clone().into(), fit("comms1").into()]);
    let context = crate::run::context(&run);
    let blocks = curve(&rows, &context);
    let [table] = &tables(&blocks)[..] else { panic!("{blocks:?}") };
    let sizes: Vec<&Cell> = table.rows.iter().map(|row| &row[0]).collect();
    let number = |text: &str| Cell::Number(text.to_owned());
    // One fewer for the line's second segment.
    assert_eq!(sizes.len(), 8);
    assert_eq!((sizes[0], sizes[1], sizes[7]), (&number("0 B"), &number("8 B"), &number("4 MiB")));
    assert_eq!(table.rows[3].last(), Some(&number("0 %")));
    // What is left out is counted.
    assert!(
        blocks.iter().any(|block| matches!(block, Block::More(text) if text.starts_with("53 "))),
        "{blocks:?}"
    );
    for width in [60, 100] {
        lines(&blocks, width);
    }
    assert!(lines(&blocks, 100).len() <= 11);
}

#[test]
fn several_curves_stand_side_by_side() {
    let many: Vec<([u64; 2], f64)> = (0..20)
        .flat_map(|power| [2, 3, 4, 8, 16].map(|p| ([1 << power, p], 1e-6 * p as f64)))
        .collect();
    let many: Vec<(&[u64], f64)> = many.iter().map(|(at, time)| (&at[..], *time)).collect();
    let rows = timed("comms3", &["bytes", "ranks"], &many);
    let rows = Rows { form: Form::Kernel { rows: 9, headline: false }, ..rows };
    let run = run(Vec::new());
    let blocks = curve(&rows, &crate::run::context(&run));
    let [table] = &tables(&blocks)[..] else { panic!("{blocks:?}") };
    assert_eq!((table.columns.len(), table.rows.len()), (1 + SIDE_BY_SIDE, 8));
}

#[test]
fn a_kernel_is_a_line() {
    let run = comet();
    let context = crate::run::context(&run);
    let blocks = kernels(&all(&run), &context);
    let shown = lines(&blocks, 100);
    let [table] = &tables(&blocks)[..] else { panic!("{blocks:?}") };
    assert_eq!(table.rows.len(), 11);
    // Thirty-two with heading, doubt and where it is kept.
    assert!(shown.len() <= 24, "{}", shown.len());
    let name = |row: usize| match &table.rows[row][0] {
        Cell::Text(name) => name.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((name(0), name(4)), ("echo".to_owned(), "barrier".to_owned()));
    let text = |row: usize, cell: &str| table.rows[row].contains(&Cell::Text(cell.to_owned()));
    assert!(text(0, "n, 2 parts") && text(5, "N²"), "{table:?}");
    let has =
        |row: usize, part: &str| matches!(&table.rows[row][7], Cell::Text(of) if of.contains(part));
    assert!(has(2, "61.0 ns") && has(4, "58.0 ns"), "{table:?}");
    // Of one kernel some of its rows too; and sixty columns.
    let few = lines(&kernels(&all(&run)[..1], &context), 100);
    assert!(few.len() <= 10, "{few:?}");
    lines(&blocks, 60);
}

#[test]
fn what_is_no_kernel_has_its_own_form() {
    let run = comet();
    let context = crate::run::context(&run);
    let named = |name: &str| {
        all(&run).into_iter().find(|rows| rows.name == name && rows.kind == "series").unwrap()
    };
    let contention = curve(named("contention"), &context);
    assert_eq!(tables(&contention)[0].columns.len(), 4);
    let overlap = curve(named("overlap"), &context);
    assert_eq!((tables(&overlap)[0].columns.len(), tables(&overlap)[0].rows.len()), (2, 2));
}

#[test]
fn floors_and_layers_are_one_table() {
    let floor = |name: &str, columns: &[(&str, Unit)], cells: Vec<Option<f64>>| {
        let rows = rows(name, &[], columns, [(Vec::new(), cells)]);
        let meaning =
            Labels::from([("meaning".to_owned(), "one store seen by the other core".into())]);
        let form = Form::Floor;
        Rows { kind: "floor".into(), form, transport: String::new(), labels: meaning, ..rows }
    };
    let all = [
        floor("cache_line", &[("time", Unit::Second)], vec![Some(60e-9)]),
        floor("copy_local", &[("rate", Unit::BytePerSecond)], vec![Some(1.2e10)]),
        floor(
            "message",
            &[("time", Unit::Second), ("over_cache_line", Unit::One)],
            vec![Some(90e-9), Some(1.5)],
        ),
    ];
    let run = run(Vec::new());
    let blocks = kernels(&all.iter().collect::<Vec<_>>(), &crate::run::context(&run));
    let [table] = &tables(&blocks)[..] else { panic!("{blocks:?}") };
    assert_eq!((table.rows.len(), table.columns.len()), (3, 4));
    assert_eq!((&table.rows[0][2], table.rows[2][2] == Cell::Empty), (&Cell::Empty, false));
}

#[test]
fn algorithms_hops_and_dimensions_are_told() {
    let run = comet();
    let context = crate::run::context(&run);
    let blocks = kernels(&all(&run), &context);
    let has = |text: &str| {
        let told = |block: &&Block| matches!(block, Block::Text(own) if own.contains(text));
        blocks.iter().filter(told).count()
    };
    assert_eq!((has("chain"), has("25.0")), (1, 1), "{blocks:?}");
    let cells = tables(&blocks).into_iter().flat_map(|table| table.rows.iter().flatten());
    assert!(cells.into_iter().any(|cell| *cell == Cell::Number("N 64".to_owned())), "{blocks:?}");
}

#[test]
fn lines_are_named_by_what_tells_them_apart() {
    let of = |name: &str, transport: &str| {
        let rows = timed(name, &["bytes"], &[(&[8], 1e-6), (&[64], 2e-6)]);
        Rows { transport: transport.into(), form: Form::Kernel { rows: 9, headline: true }, ..rows }
    };
    let names = |all: &[(&str, &str)]| {
        let rows: Vec<Rows> = all.iter().map(|(name, way)| of(name, way)).collect();
        let run = run(rows.iter().cloned().map(Outcome::from).collect());
        let blocks = kernels(&rows.iter().collect::<Vec<_>>(), &crate::run::context(&run));
        let all = tables(&blocks)[0].rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
        all.into_iter().map(|cell| format!("{cell:?}")).collect::<Vec<_>>()
    };
    let cells = |all: &[&str]| -> Vec<_> {
        all.iter().map(|of| format!("{:?}", Cell::Text((*of).into()))).collect()
    };
    let same = [("echo", "tcp"), ("echo", "ucx:tcp")];
    assert_eq!(names(&same), cells(&["tcp", "ucx:tcp"]));
    assert_eq!(names(&[("echo", "tcp"), ("all_gather", "tcp")]), cells(&["echo", "all gather"]));
    let both = [("echo", "tcp"), ("stream", "shm")];
    assert_eq!(names(&both), cells(&["echo tcp", "stream shm"]));
}
