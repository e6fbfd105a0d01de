use super::*;
use crate::tests::Synthetic;
use bandgap_comm::Yields;

#[test]
fn floors_are_times_or_rates_and_layers_stand_over_them() {
    let mut of = Synthetic::new();
    of.setting.transport.clear();
    let planned = [
        Floor::new("cache_line", "one line", Yields::HalfRoundTrip, 10),
        Floor::new("copy", "a copy", Yields::Bytes(1000), 1),
        Floor {
            over: vec!["cache_line".into()].into(),
            kernel: Some("comms1".into()),
            ..Floor::new("message", "8 bytes", Yields::HalfRoundTrip, 10)
        },
        Floor {
            over: vec!["copy".into()].into(),
            kernel: Some("store".into()),
            ..Floor::new("store", "4000 bytes", Yields::Bytes(4000), 1)
        },
        Floor::new("elsewhere", "not here", Yields::Operation, 1),
        Floor::new("never", "not measured", Yields::Operation, 1),
    ];
    for (name, ns) in [("cache_line", 60.0), ("copy", 100.0), ("message", 90.0), ("store", 600.0)] {
        of.times(&key(name), ns);
    }
    of.rejected(
        &key("elsewhere"),
        bandgap_campaign::data::Rejected::Unavailable("no such call".into()),
    );
    let made = of.made(|of| floors(of, &planned)).unwrap();
    assert!((made.value("floor/cache_line/time").unwrap() / 60e-9 - 1.0).abs() < 1e-6);
    assert!((made.value("floor/copy/rate").unwrap() / 1e10 - 1.0).abs() < 1e-5);
    assert_eq!(made.value("floor/message/over_cache_line"), Some(1.5));
    // 150 ns for each 1000 bytes, which the copy takes 100 for.
    assert_eq!(made.value("floor/store/over_copy"), Some(1.5));
    assert_eq!((made.results.len(), made.codes()), (4, vec!["floor_unavailable"]));
    assert_eq!(made.rows(FLOOR, "copy").unwrap().labels["meaning"], "a copy".into());
}

#[test]
fn a_floor_over_sizes_has_a_row_each_with_what_was_lost() {
    let mut of = Synthetic::new();
    of.setting.transport.clear();
    let planned = [Floor::new("lossy", "some are lost", Yields::HalfRoundTrip, 1)
        .samples(10)
        .over_sizes(&[8, 1000, 2000])];
    of.times(&sized_key("lossy", 8), 5000.0);
    for (bytes, lost) in [(8, 0.0), (1000, 10.0)] {
        of.batch(&lost_key(&sized_key("lossy", bytes)), lost, (0, 0));
    }
    let made = of.made(|of| floors(of, &planned)).unwrap();
    let value = |id: &str| made.value(&format!("floor/lossy/{id}"));
    assert!((value("bytes=8/time").unwrap() / 5e-6 - 1.0).abs() < 1e-6);
    assert_eq!(value("bytes=8/lost"), Some(0.0));
    // All ten of each batch.
    assert!(value("bytes=1000/lost").unwrap() > 0.0);
    assert_eq!(value("bytes=1000/lost"), value("bytes=1000/sent"));
    assert_eq!(value("bytes=1000/time"), None);
    assert_eq!(made.rows(FLOOR, "lossy").unwrap().rows.len(), 2);
}
