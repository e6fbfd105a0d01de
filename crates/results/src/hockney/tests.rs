use crate::Outcome;
use bandgap_report::Cell;

use super::*;
use crate::logp::tests::run;

/// Two segments of a series over a transport, whose r∞ is so many times 10 GB/s.
pub(crate) fn example(name: &str, transport: &str, weighting: &str, times: f64) -> Outcome {
    let of = |value: f64, unit| {
        let interval = Some((0.98 * value, 1.02 * value));
        Some(Quantity::new(value, interval, unit, ("least squares", 12, true)).unwrap())
    };
    let segment = |from_bytes, to_bytes, rate: f64, t0: f64| Segment {
        from_bytes,
        to_bytes,
        points: 12,
        r_inf: of(rate, Unit::BytePerSecond),
        n_half: of(rate * t0, Unit::Byte),
        t0: of(t0, Unit::Second),
        pi0: of(1.0 / t0, Unit::PerSecond),
        r_squared: Some(Number(0.9999)),
        worst_residual: Some(Number(-0.06)),
        worst_bytes: Some(2048),
        rms_residual: Some(Number(0.02)),
        intercept: Some(Seconds(Number(t0))),
        per_byte: Some(Seconds(Number(1.0 / rate))),
    };
    let bytes = Number(3072.0);
    Hockney {
        name: name.to_owned(),
        transport: transport.to_owned(),
        curve: Labels::new(),
        messages: 1,
        weighting: weighting.to_owned(),
        segments: vec![
            segment(1, 2048, 0.6 * times * 1e10, 8e-8),
            segment(4096, 4 << 20, times * 1e10, 7e-7),
        ],
        breakpoints: vec![Breakpoint {
            bytes,
            low: Some(Number(2048.0)),
            high: Some(Number(5120.0)),
        }],
    }
    .into()
}

#[test]
fn the_short_table_has_a_row_for_each_segment_of_the_relative_fit() {
    let results = [
        example("comms1", "shm", "relative", 1.0),
        example("comms1", "shm", "ordinary", 1.1),
        example("comms1", "tcp", "relative", 0.5),
        example("echo", "shm", "relative", 0.7),
    ];
    let run = run(results, Vec::new());
    let context = crate::run::context(&run);
    let blocks = segments(&context, "comms1", "shm");
    let [Block::Table(table), Block::Text(_)] = &blocks[..] else { panic!("{blocks:?}") };
    let rates: Vec<f64> = table
        .rows
        .iter()
        .map(|row| if let Cell::Value(shown) = &row[2] { shown.value } else { panic!("{row:?}") })
        .collect();
    assert_eq!(rates, [6e9, 1e10]);
    assert_eq!(table.columns.len(), SHORT.len());
    assert_eq!(segments(&context, "comms1", "unix"), []);
    // The details have all columns.
    let blocks = run.results[1].as_shown().detail(&context);
    let Some(Block::Table(table)) = blocks.get(1) else { panic!("{blocks:?}") };
    assert_eq!((table.columns.len(), table.rows.len()), (HEADS.len(), 2));
}

#[test]
fn several_curves_are_told_apart() {
    let curve = |ranks: u64| {
        let Outcome::Hockney(mut fit) = example("broadcast", "shm", "relative", 1.0) else {
            panic!()
        };
        fit.curve = Labels::from([("ranks".to_owned(), ranks.into())]);
        Outcome::Hockney(fit)
    };
    let run = run([curve(2), curve(4)], Vec::new());
    let blocks = segments(&crate::run::context(&run), "broadcast", "shm");
    let [Block::Table(table)] = &blocks[..] else { panic!("{blocks:?}") };
    let named = |row: usize| table.rows[row][0].clone();
    assert_eq!(table.rows.len(), 4);
    assert_ne!(named(0), named(2));
    assert_eq!(named(1), "".into());
}

#[test]
fn a_time_is_that_of_its_segment_s_line() {
    let Outcome::Hockney(fit) = example("comms1", "shm", "relative", 1.0) else { panic!() };
    let time = |bytes: u64| fit.time(bytes).map(|time| (time * 1e12).round());
    assert_eq!(time(1000), Some(80e3 + (1000.0 / 0.006_f64).round()));
    assert_eq!(time(10_000), Some(700e3 + 1e6));
    assert_eq!(time(1 << 30), None);
}
