use std::collections::BTreeMap;

use super::*;
use crate::tests::Synthetic;

fn message(bytes: u64) -> Described {
    let between = Described::default().at("bytes", bytes);
    Described { bytes, moved: bytes, parts: 2, timed: 32.0, pair: Some([0, 1]), ..between }
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-6)
}

#[test]
fn a_point_has_its_time_its_bandwidth_and_the_floor_of_its_length() {
    let mut of = Synthetic::new();
    of.setting.distances = BTreeMap::from([([0, 1], "shared L3".to_owned())]);
    of.floor("cache_line", Yields::HalfRoundTrip, "comms1", 40.0);
    of.timed("comms1", message(8).with("way", "pieces"), 60.0);
    of.timed("comms1", message(4096).with("way", "single copy"), 1000.0);
    let lost = Key::new("comms1").at("bytes", 1_u32);
    of.point(&lost, message(1));
    let made = of.made(series).unwrap();
    let value = |id: &str| made.value(&format!("series/comms1/shm/{id}"));
    assert!(near(value("bytes=8/time"), 60e-9) && near(value("bytes=8/over_floor"), 1.5));
    assert!(near(value("bytes=4096/bandwidth"), 4.096e9));
    assert_eq!(value("bytes=4096/over_floor"), None);
    let rows = made.rows(SERIES, "comms1").unwrap();
    assert_eq!((rows.rows.len(), rows.verified), (2, Some(true)));
    assert_eq!(rows.label(&rows.rows[0], "floor"), Some(&"cache_line".into()));
    assert_eq!(rows.label(&rows.rows[1], "way"), Some(&"single copy".into()));
    // What all have in common is said once, and columns without values are not there.
    assert_eq!(rows.labels.get("distance"), Some(&"shared L3".into()));
    assert!(rows.rows[0].spread.is_some_and(|spread| spread.samples == 30));
    let columns: Vec<&str> = rows.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(columns, ["time", "bandwidth", "over_floor"]);
    let [missing] = &made.notes[..] else { panic!("{:?}", made.notes) };
    assert_eq!(
        (&*missing.code, &missing.values["points"]),
        ("points_missing", &bandgap_record::Value::from(1.0))
    );
}

#[test]
fn a_collective_that_returns_at_once_without_bytes_sends_nothing() {
    for (empty, sends) in [(10.0, Some("nothing")), (400.0, None)] {
        let mut of = Synthetic::new();
        for (bytes, time) in [(0, empty), (8, 500.0), (64, 600.0)] {
            of.timed("broadcast", message(bytes).at("ranks", 4_u32), time);
        }
        let made = of.made(series).unwrap();
        let rows = made.rows(SERIES, "broadcast").unwrap();
        assert_eq!(rows.rows[0].labels.get("sends"), sends.map(Into::into).as_ref());
        assert!(rows.rows[1..].iter().all(|row| !row.labels.contains_key("sends")));
    }
}

#[test]
fn a_floor_of_whole_operations_is_compared_with_whole_ones() {
    let mut of = Synthetic::new();
    of.floor("pair", Yields::Operation, "comms1", 100.0);
    of.timed("comms1", message(0), 60.0);
    let made = of.made(series).unwrap();
    assert!(near(made.value("series/comms1/shm/bytes=0/over_floor"), 1.2));
    // Of others there is none.
    of.setting.oversubscribed = true;
    assert_eq!(of.made(series).unwrap().value("series/comms1/shm/bytes=0/over_floor"), None);
}

#[test]
fn what_has_no_size_has_a_rate() {
    let mut of = Synthetic::new();
    of.timed("synch1", Described::default().at("ranks", 4_u32), 250.0);
    let made = of.made(series).unwrap();
    assert!(near(made.value("series/synch1/shm/ranks=4/rate"), 4e6));
    let rows = made.rows(SERIES, "synch1").unwrap();
    assert_eq!((rows.verified, rows.column("bandwidth")), (None, None));
}

#[test]
fn launches_that_chose_differently_are_of_one_point() {
    let mut of = Synthetic::new();
    let key = of.timed("comms1", message(4096).with("way", "pieces"), 1000.0);
    of.point(&key, message(4096).with("way", "single copy"));
    let made = of.made(series).unwrap();
    let rows = made.rows(SERIES, "comms1").unwrap();
    assert_eq!(rows.rows.len(), 1);
    let both = vec!["pieces".to_owned(), "single copy".to_owned()];
    assert_eq!(rows.labels.get("way"), Some(&both.into()));
}

#[test]
fn transfers_have_overheads_gaps_and_room_for_computation() {
    let mut of = Synthetic::new();
    let one = of.timed("bulk_store", message(64), 1000.0);
    of.times(&one.with("part", ISSUE), 300.0);
    of.timed("bulk_store", message(64).at(BURST, 16_u32), 4000.0);
    let made = of.made(series).unwrap();
    let value = |column: &str| made.value(&format!("series/bulk_store/shm/bytes=64/{column}"));
    assert!(near(value("send_overhead"), 300e-9));
    assert!(near(value("free"), 700e-9), "{:?}", value("free"));
    assert!(near(value("gap"), 200e-9), "{:?}", value("gap"));
    // Bursts are no rows.
    assert_eq!(made.rows(SERIES, "bulk_store").unwrap().rows.len(), 1);
}

#[test]
fn virtual_time_is_exact_and_compares_no_bytes() {
    let mut of = Synthetic::new();
    of.setting.cpus = None;
    let key = Key::new("comms1").at("bytes", 8_u32);
    of.point(&key, message(8).with("buffers", "same"));
    of.batch(&key, 79_000.0, (0, 0));
    of.batch(&key, 79_000.0, (0, 1));
    let made = of.made(series).unwrap();
    let time = made.quantity("series/comms1/shm/bytes=8/time").unwrap();
    assert!(time.converged && time.half_width() == Some(0.0));
    let rows = made.rows(SERIES, "comms1").unwrap();
    assert_eq!(
        (rows.verified, rows.labels.get("buffers"), rows.rows[0].spread),
        (None, None, None)
    );
}

#[test]
fn without_a_value_there_is_nothing() {
    let mut of = Synthetic::new();
    of.point(&Key::new("comms1"), message(8));
    assert!(matches!(of.made(series), Err(AssembleError::Empty)));
}

#[test]
fn a_series_without_a_value_beside_others_is_noted_as_missing() {
    let mut of = Synthetic::new();
    of.timed("comms1", message(8), 60.0);
    of.point(&Key::new("comms2").at("bytes", 8_u32), message(8));
    let made = of.made(series).unwrap();
    let missing = made.notes.iter().filter(|note| note.code == "too_little");
    let about: Vec<&str> = missing.map(|note| &*note.about).collect();
    assert_eq!(about, ["series/comms2/shm"]);
}

#[test]
fn curves_for_fits_are_of_lengths_and_count_all_messages() {
    let mut of = Synthetic::new();
    for bytes in [8, 64] {
        of.timed("comms1", message(bytes), 60.0);
        for ranks in [2_u32, 4] {
            let moved = u64::from(ranks * (ranks - 1)) * bytes;
            let point = Described { moved, bytes, ..Described::default() };
            of.timed("comms3", point.at("bytes", bytes).at("ranks", ranks), 90.0);
        }
    }
    let point = Described { bytes: 128, moved: 128, ..Described::default() };
    of.timed("transpose", point.at("dimension", 8_u32), 10.0);
    let judged = bandgap_campaign::judge::Judged::of(&of.table, 0.95, 0.05, 1);
    let found = curve_times(&Measured { setting: &of.setting, judged: &judged });
    let told: Vec<(&str, u64, usize)> = found
        .iter()
        .map(|of| {
            (&*of.name, of.messages, of.launches.iter().flatten().map(|of| of.times_ns.len()).sum())
        })
        .collect();
    assert_eq!(told, [("comms1", 1, 20), ("comms3", 2, 20), ("comms3", 12, 20)]);
    assert_eq!(found[2].which, Labels::from([("ranks".to_owned(), 4_u64.into())]));
}

#[test]
fn over_distances_a_hop_has_its_time() {
    let mut of = Synthetic::new();
    for hops in [1_u64, 2, 3] {
        for bytes in [0_u64, 64, 256, 1024, 4096] {
            let ns = 79e3 + 630.0 * bytes as f64 + 25e3 * (hops - 1) as f64;
            let point = message(bytes).at("hops", hops).with("from", 0_u32).with("to", hops);
            of.timed("echo", point, ns);
        }
    }
    let made = of.made(series).unwrap();
    let value = |name: &str| made.value(&format!("hops/echo/shm/from=0/{name}"));
    let close =
        |name, expected: f64| value(name).is_some_and(|of| (of / expected - 1.0).abs() < 1e-3);
    assert!(close("t_startup", 79e-6) && close("t_byte", 0.63e-6) && close("h", 25e-6), "{made:?}");
}
