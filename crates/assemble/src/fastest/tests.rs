use super::*;
use crate::series::series;
use crate::tests::Synthetic;
use bandgap_campaign::Described;

fn point(bytes: u64) -> Described {
    Described { bytes, moved: bytes, ..Described::default() }.at("bytes", bytes).at("ranks", 4_u32)
}

/// A variant, and where it begins: with the ends of that.
type Range = (String, Option<(f64, f64, f64)>);

fn found(made: &Made) -> Vec<Range> {
    let Some(rows) = made.rows(FASTEST, "broadcast") else { return Vec::new() };
    let one = |row| {
        let from = rows.cell(row, "begins");
        let from = from.map(|of| (of.value.0, of.low.unwrap().0, of.high.unwrap().0));
        (rows.label(row, "variant").unwrap().to_string(), from)
    };
    rows.rows.iter().map(one).collect()
}

#[test]
fn a_crossover_is_where_the_times_cross_and_not_at_a_measured_size() {
    let mut of = Synthetic::new();
    for bytes in [8_u64, 64, 256, 1024] {
        let n = bytes as f64;
        for (name, ns) in [("binomial", 100.0 + 2.0 * n), ("chain", 300.0 + n), ("linear", 1e4)] {
            of.timed("broadcast", point(bytes).at("variant", name), ns);
        }
    }
    let made = of.made(series).unwrap();
    let [(first, None), (second, Some((from, low, high)))] = &found(&made)[..] else {
        panic!("{:?}", found(&made))
    };
    assert_eq!((&**first, &**second, *low, *high), ("binomial", "chain", 64.0, 256.0));
    assert!((from - 200.0).abs() < 1e-6, "{from}");
    assert!(made.quantity("fastest/broadcast/shm/ranks=4/from=64/begins").unwrap().converged);
}

#[test]
fn what_intervals_do_not_tell_apart_is_no_crossover() {
    let mut of = Synthetic::new();
    for bytes in [8_u64, 64, 256] {
        for (name, ns) in [("binomial", 100.0), ("chain", 100.1)] {
            of.timed("broadcast", point(bytes).at("variant", name), ns);
        }
    }
    let made = of.made(series).unwrap();
    assert_eq!((found(&made), made.codes()), (Vec::new(), Vec::<&str>::new()));
}

#[test]
fn a_first_look_has_its_ranges_too_and_says_where_there_was_none() {
    let mut of = Synthetic::new();
    for (bytes, name) in [(8, "binomial"), (64, "binomial"), (256, "chain"), (1024, "chain")] {
        of.timed("broadcast", point(bytes).with("variant", name), 100.0);
    }
    of.timed("broadcast", point(4096), 100.0);
    let made = of.made(series).unwrap();
    let chain = ("chain".to_owned(), Some((256.0, 64.0, 256.0)));
    assert_eq!(found(&made), [("binomial".to_owned(), None), chain]);
    assert_eq!(made.codes(), ["usual_algorithm"]);
}
