use bandgap_record::{Evidence, Quantity};
use bandgap_report::{Scale, plot, svg};
use bandgap_units::Ns;

use super::page as surface;
use super::*;
use crate::logp::surface_figure::figure as surface_figure;
use crate::logp::tests::example;
use crate::series::tests::{example as series_of, point};

/// A Myrinet whose transfers take 20 ns a byte of both processor and network, in ns.
fn myrinet(bytes: u64) -> Logp {
    let (os, or, n) = (2000.0, 2600.0, bytes as f64);
    let delays = [0.0, 4000.0, 16_000.0, 64_000.0];
    let busy = os + 20.0 * n;
    let gap = f64::max(18_000.0, busy + or);
    let mut logp = example("sim:myrinet", busy, or, gap, 31_400.0 + 40.0 * n, &delays);
    logp.name = "bulk_store_signature".into();
    (logp.operation, logp.bytes) = (Some(Operation::Store), Some(bytes));
    if gap == busy + or {
        logp.regime = Regime::ProcessorBound;
        logp.parameters.gap = None;
    }
    logp.findings.truncate(usize::from(bytes == 64));
    logp
}

fn all() -> Vec<Logp> {
    [0, 64, 2048].map(myrinet).into()
}

fn store_series() -> Series {
    let mut points = [0u64, 1, 2048].map(|n| point(n, 2, 31_400.0 + 40.0 * n as f64));
    for point in &mut points {
        let evidence = Evidence::new("T(n) − o(n)", 100, true);
        let left = Ns(29_400.0 + 20.0 * point.bytes as f64);
        point.overlap = Some(Quantity::time(left, None, evidence).unwrap());
    }
    series_of("bulk_store", Vec::<SeriesPoint>::from(points))
}

#[test]
fn lengths_stand_side_by_side() {
    let all = all();
    let all: Vec<&Logp> = all.iter().collect();
    let series = store_series();
    insta::assert_snapshot!("surface_80", surface(&all, Some(&series), &Layout::default()));
    let wide = Layout { width: 132, ..Layout::default() };
    insta::assert_snapshot!("surface_132", surface(&all, Some(&series), &wide));
}

#[test]
fn what_limits_the_rate_is_said_and_no_gap_made_up() {
    let long = myrinet(2048);
    let page = surface(&[&long], None, &Layout { width: 100, ..Layout::default() });
    let row = |name: &str| page.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row(" gap ").contains("os + or"), "{page}");
    assert!(row("bound by").contains("processor"), "{page}");
    assert!(!page.contains("t − o"), "{page}");
}

#[test]
fn lengths_found_in_different_states_say_so() {
    let (short, mut long) = (myrinet(64), myrinet(2048));
    long.state.label = "F".into();
    let page = surface(&[&short, &long], None, &Layout::default());
    let states = page.lines().find(|line| line.contains("state")).unwrap();
    assert!(states.contains('N') && states.contains('F'), "{page}");
    assert!(!page.contains("State "), "{page}");
}

#[test]
fn a_column_has_no_value_of_a_series_in_another_state() {
    let (short, mut long) = (myrinet(0), myrinet(2048));
    long.state.label = "F".into();
    let mut series = store_series();
    series.state.label.clone_from(&short.state.label);
    let page = |series: &Series| {
        surface(&[&short, &long], Some(series), &Layout { width: 132, ..Layout::default() })
    };
    let told = page(&series);
    let row = |page: &str| page.lines().find(|line| line.contains("t − o  ")).map(str::to_owned);
    // T(n) − o(n) is 29.4 µs at 0 bytes, and 70.4 µs at 2 KiB.
    let shown = row(&told).unwrap();
    assert!(shown.contains("29.4") && !shown.contains("70.4"), "{told}");
    assert!(told.contains("t − o was measured in the state N. The signatures of 2 KiB"), "{told}");
    // In the other state it is the other one that has none.
    series.state.label = "F".into();
    let told = page(&series);
    let shown = row(&told).unwrap();
    assert!(shown.contains("70.4") && !shown.contains("29.4"), "{told}");
    assert!(told.contains("The signatures of 0 B are of another state"), "{told}");
    // Where all are of one state nothing is to be said.
    let told = surface(&[&long], Some(&series), &Layout::default());
    assert!(told.contains("70.4") && !told.contains("another state"), "{told}");
}

#[test]
fn the_figure_is_a_curve_for_each_length() {
    let all = all();
    let figure = surface_figure(&all.iter().collect::<Vec<_>>());
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["0 B", "64 B", "2 KiB", "Δ alone"]);
    assert_eq!((figure.x.scale, figure.y.scale), (Scale::Log10, Scale::Log10));
    let at = |series: usize| figure.series[series].points.iter().map(|point| point.x);
    assert_eq!(at(0).collect::<Vec<_>>(), [4000.0, 16_000.0, 64_000.0]);
    // Of 4096 messages with Δ = 64 µs, those before the first reply at os + Δ = 66 µs, all others
    // at os + or + Δ = 68.6 µs.
    let cost = figure.series[0].points[2].y;
    assert!(cost > 68_590.0 && cost < 68_600.0, "{cost}");
    // With Δ = 4 µs the gap of 18 µs shows, but for 2 KiB: os + or + Δ = 42.96 + 2.6 + 4 µs.
    let low: Vec<f64> = (0..3).map(|series| figure.series[series].points[0].y).collect();
    assert!(low[0] < 18_001.0 && low[1] < 18_001.0, "{low:?}");
    assert!((low[2] - 49_560.0).abs() < 60.0, "{low:?}");
    assert!(figure.notes[1].contains("(0 B)") && figure.notes[1].contains("(2 KiB)"));
}

#[test]
fn no_line_is_wider_than_asked() {
    let all = [0, 64, 1024, 16_384, 262_144].map(myrinet);
    let all: Vec<&Logp> = all.iter().collect();
    for width in [60, 80, 100, 132] {
        for ascii in [false, true] {
            let layout = Layout { width, ascii, ..Layout::default() };
            let page = surface(&all, Some(&store_series()), &layout)
                + &plot(&surface_figure(&all), &layout);
            for line in page.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
        }
    }
}

#[test]
fn the_figure_is_drawn() {
    let all = all();
    let figure = surface_figure(&all.iter().collect::<Vec<_>>());
    insta::assert_snapshot!("svg", svg(&figure));
    insta::assert_snapshot!("plot_80", plot(&figure, &Layout::default()));
}

#[test]
fn lengths_that_find_no_room_stand_below() {
    let all = [0, 64, 1024, 16_384, 262_144].map(myrinet);
    let all: Vec<&Logp> = all.iter().collect();
    for (width, tables) in [(60, 3), (80, 2), (132, 1)] {
        let page = surface(&all, None, &Layout { width, ..Layout::default() });
        let rows = page.lines().filter(|line| line.starts_with(" os ")).count();
        assert_eq!(rows, tables, "{page}");
        // An interval that is broken leaves its end, or its unit, on a line by itself.
        let broken = |line: &str| {
            let mut words = line.split_whitespace().peekable();
            let units = words.peek().is_some() && words.all(|word| word == "µs" || word == "ms");
            units || line.ends_with(" to")
        };
        assert!(!page.lines().any(broken), "{page}");
    }
}
