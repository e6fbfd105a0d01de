use super::*;
use crate::measured::examples::{batches, time};
use crate::measured::{Checked, State};
use bandgap_kernels::OverlapMode;
use bandgap_record::{Evidence, Number};
use bandgap_units::Ns;

/// 1 KiB and 256 KiB, without and with a computation: a slowdown, and a share that is undecided.
pub(crate) fn sample() -> Overlap {
    let gain = |value: f64| {
        let ends = Some((Ns(value - 20.0), Ns(value + 20.0)));
        Quantity::time(Ns(value), ends, Evidence::new("mean of differences", 7, true)).unwrap()
    };
    let point = |bytes, elements, times: [f64; 3], share: Option<f64>| {
        let [blocking, non_blocking, computation] = times;
        OverlapPoint {
            bytes,
            elements,
            blocking: time(blocking, true),
            non_blocking: time(non_blocking, true),
            exchange: time(500.0 + bytes as f64 / 10.0, true),
            computation: time(computation, true),
            overheads: time(90.0, true),
            gain: gain(blocking - non_blocking),
            hideable: (elements > 0).then(|| time(400.0, true)),
            share: share.map(|share| {
                let ends = Some((share - 0.05, share + 0.05));
                Quantity::number(share, ends, Evidence::new("Fieller", 7, true)).unwrap()
            }),
        }
    };
    let points = vec![
        point(1024, 0, [600.0, 650.0, 2.0], None),
        point(1024, 8192, [4600.0, 4700.0, 4000.0], Some(-0.245)),
        point(262_144, 0, [26_700.0, 26_710.0, 2.0], None),
        point(262_144, 8192, [30_700.0, 27_900.0, 4000.0], Some(0.7)),
        point(262_144, 65_536, [60_700.0, 60_705.0, 32_000.0], None),
    ];
    let findings = vec!["Non-blocking is slower at 2 of 5 points.".to_owned()];
    let batches = OverlapBatches {
        mode: OverlapMode::Blocking,
        bytes: Some(1024),
        elements: Some(8192),
        batches: batches(&[4590.0, 4610.0]),
    };
    Overlap {
        transport: "shm".into(),
        ranks: 2,
        pair: [0, 1],
        cores: Some([0, 2]),
        launches: 1,
        lost_launches: Vec::new(),
        checked: Some(Checked {
            batches: 20,
            messages: 80,
            compared: 80,
            points: 2,
            points_left_out: 0,
            timed_batches: 100,
            timed_messages: 9000,
            timed_compared: 100,
            timed_summed: 0,
        }),
        state: State {
            label: "N".into(),
            probe: Some(time(52.0, true)),
            share: Number(0.97),
            ..State::only()
        },
        points,
        batches: vec![batches],
        findings,
    }
}

#[test]
fn a_page_shows_times_gains_shares_and_the_map() {
    for width in [80, 132] {
        let layout = Layout { width, ..Layout::default() };
        insta::assert_snapshot!(format!("page_{width}"), text::page(&sample(), &layout));
    }
}

#[test]
fn the_table_has_a_row_for_each_point_and_empty_cells_without_a_share() {
    let files = sample().files(&Among::new([&sample() as &dyn Shown])).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["overlap.svg"]);
    let one = sample();
    let files = one.files(&Among::new([&one as &dyn Shown])).unwrap();
    assert_eq!(files[0].name, "overlap.csv");
    insta::assert_snapshot!(String::from_utf8(files[0].contents.clone()).unwrap());
}

#[test]
fn a_pair_of_curves_for_each_size_and_the_share_below_zero() {
    let [times, shares] = &sample().figures(&Among::new([]))[..] else { panic!("two figures") };
    let names: Vec<&str> = times.series.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(
        names,
        ["1 KiB, blocking", "1 KiB, non-blocking", "256 KiB, blocking", "256 KiB, non-blocking"]
    );
    assert!(times.series.iter().all(|curve| curve.points.iter().all(|point| point.x > 0.0)));
    assert!(times.notes[1].contains("600 ns and 650 ns (1 KiB)"), "{:?}", times.notes);
    assert_eq!(shares.series[0].points[0].y, -24.5);
    // What is undecided is not drawn.
    assert_eq!(shares.series[1].points.len(), 1);
}

#[test]
fn a_time_that_scatters_is_a_doubt() {
    let mut overlap = sample();
    assert_eq!(overlap.verdict(), Verdict::Good);
    overlap.points[3].overheads.converged = false;
    let Verdict::Doubtful(named) = overlap.verdict() else { panic!("all converged") };
    let [name] = &named[..] else { panic!("{named:?}") };
    assert!(name.starts_with("overlap over ") && name.ends_with(": overheads"), "{name}");
}
