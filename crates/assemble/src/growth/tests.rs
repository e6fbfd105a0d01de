use super::*;
use crate::series::series;
use crate::tests::Synthetic;
use bandgap_campaign::Described;

fn law(made: &Made, name: &str, row: usize) -> (String, Option<u64>, f64) {
    let rows = made.rows(GROWTH, name).unwrap();
    let row = &rows.rows[row];
    let label = |name| rows.label(row, name).unwrap();
    (label("law").to_string(), label("from").number(), row.cells[0].as_ref().unwrap().value.0)
}

#[test]
fn matrices_grow_with_their_dimension_or_its_square() {
    let mut of = Synthetic::new();
    for n in [64_u64, 128, 256, 512, 1024] {
        let matrix = || Described::default().at("dimension", n).at("ranks", 16_u32);
        let side = n as f64;
        of.timed("transpose", matrix(), 3e5 + 2.0 * side * side);
        of.timed("row_broadcast", matrix(), 1e5 + 900.0 * side);
        // Up to 128 by another protocol.
        of.timed("update_guard", matrix(), (212_960.0 + 3280.0 * side).max(684e3));
        of.timed("shift_north", matrix(), 1e3 * side.powf(1.5));
    }
    let made = of.made(series).unwrap();
    let (told, from, slope) = law(&made, "transpose", 0);
    assert_eq!((&*told, from), ("quadratic", Some(64)));
    assert!((slope / 2e-9 - 1.0).abs() < 1e-3, "{slope}");
    assert_eq!(law(&made, "row_broadcast", 0).0, "linear");
    let (told, from, _) = law(&made, "update_guard", 0);
    assert_eq!((&*told, from), ("linear", Some(128)));
    assert!(made.value("growth/transpose/shm/ranks=16/slope").is_some());
    // What no law tells has no row.
    assert!(made.rows(GROWTH, "shift_north").is_none());
}

#[test]
fn collectives_grow_with_the_doublings_of_the_ranks() {
    let mut of = Synthetic::new();
    for bytes in (0..10).map(|power| 8_u64 << power) {
        for ranks in [2_u64, 4, 8, 16, 32] {
            let point = || Described::default().at("bytes", bytes).at("ranks", ranks);
            let ranks = ranks as f64;
            of.timed("broadcast", point(), 1e3 * ranks.log2());
            of.timed("comms3", point(), 1e3 * ranks.sqrt());
        }
    }
    let made = of.made(series).unwrap();
    assert_eq!(made.rows(GROWTH, "broadcast").unwrap().rows.len(), 10);
    let (told, from, slope) = law(&made, "broadcast", 9);
    assert_eq!((&*told, from), ("logarithmic", Some(2)));
    assert!((slope - 1e-6).abs() < 1e-9, "{slope}");
    assert!(made.value("growth/broadcast/shm/bytes=4096/slope").is_some());
    assert!(made.rows(GROWTH, "comms3").is_none());
}

#[test]
fn two_numbers_of_ranks_tell_nothing() {
    let mut of = Synthetic::new();
    for ranks in [2_u64, 4] {
        of.timed("synch1", Described::default().at("ranks", ranks), 1e3);
    }
    assert!(of.made(series).unwrap().rows(GROWTH, "synch1").is_none());
}
