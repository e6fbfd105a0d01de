use bandgap_model::hops::HopTimes;
use bandgap_report::{Layout, Style};

use super::*;
use crate::measured::examples::RULE;
use crate::series::tests::{example, point};

/// CoMet's iPSC/860 over one to three hops, in nanoseconds.
fn ipsc860(bytes: u64, hops: u32) -> f64 {
    let (startup, per_byte) = if bytes <= 100 { (79e3, 630.0) } else { (156e3, 410.0) };
    startup + per_byte * bytes as f64 + 25e3 * f64::from(hops - 1)
}

const SIZES: [u64; 10] = [0, 8, 16, 32, 64, 128, 512, 4096, 65536, 1 << 20];

fn of(time: impl Fn(u64, u32) -> f64) -> Hops {
    let at = (1..=3).flat_map(|hops| SIZES.map(|bytes| (bytes, hops)));
    let times: Vec<HopTimes> = at
        .map(|(bytes, hops)| HopTimes { bytes, hops, times_ns: vec![time(bytes, hops)] })
        .collect();
    let times = [(0, times)].into();
    assemble::hops(("echo", "sim:ipsc860", 1), &times, &[64], (0.95, RULE)).unwrap()
}

pub(crate) fn sample() -> Hops {
    // Alternating residuals of 1 %, so that intervals are seen.
    let mut hops = of(|bytes, hops| {
        let sign = if (bytes.count_ones() + hops).is_multiple_of(2) { 1.0 } else { -1.0 };
        ipsc860(bytes, hops) * (1.0 + 0.01 * sign)
    });
    hops.findings.push("A hop is one of the network's.".into());
    hops
}

#[test]
fn the_page_gives_start_up_byte_and_hop() {
    let page = text::page(&of(ipsc860), &Layout { width: 100, ..Layout::default() });
    let short = page.lines().find(|line| line.contains("0 B to 64 B")).unwrap();
    for value in ["79.0 µs", "0.630 ns", "25.0 µs"] {
        // 630 ns a byte.
        let value = if value == "0.630 ns" { "630 ns" } else { value };
        assert!(short.contains(value), "{page}");
    }
    let long = page.lines().find(|line| line.contains("128 B to 1 MiB")).unwrap();
    assert!(
        long.contains("156 µs") && long.contains("410 ns") && long.contains("25.0 µs"),
        "{page}"
    );
    assert!(page.contains("1, 2 and 3 hops"), "{page}");
    insta::assert_snapshot!(
        "page_100",
        text::page(&sample(), &Layout { width: 100, ..Layout::default() })
    );
}

#[test]
fn each_distance_is_a_curve_with_its_fit() {
    let hops = sample();
    let at = (1..=3u32).flat_map(|hops| SIZES.map(|bytes| (bytes, hops)));
    let points = at.map(|(bytes, hops)| {
        let of = point(bytes, 2, ipsc860(bytes, hops));
        crate::series::SeriesPoint { hops: Some(hops), pair: Some([0, hops]), ..of }
    });
    let series = example("echo", points.collect());
    let results: [&dyn Shown; 2] = [&series, &hops];
    let figures = hops.figures(&Among::new(results));
    let [figure] = &figures[..] else { panic!("one figure") };
    let drawn: Vec<(&str, Style, Option<usize>)> =
        figure.series.iter().map(|curve| (curve.name.as_str(), curve.style, curve.twin)).collect();
    assert_eq!(
        drawn,
        [
            ("1 hop", Style::Points, None),
            ("fit, 1 hop", Style::Dashed, Some(0)),
            ("2 hops", Style::Points, None),
            ("fit, 2 hops", Style::Dashed, Some(2)),
            ("3 hops", Style::Points, None),
            ("fit, 3 hops", Style::Dashed, Some(4)),
        ]
    );
    // The fit of three hops at 1 MiB, near 156 µs + 430 ms + 50 µs.
    let last = figure.series[5].stretches().filter(|of| !of.is_empty()).last().unwrap();
    let expected = ipsc860(1 << 20, 3);
    assert!((last.last().unwrap().y / expected - 1.0).abs() < 0.02);
    // Alone, the fit is drawn.
    let alone = hops.figures(&Among::new([]));
    assert!(alone[0].series.iter().all(|curve| curve.twin.is_none()));
}

#[test]
fn the_table_has_all_digits_and_empty_cells() {
    let mut hops = of(ipsc860);
    hops.segments[0].t_byte = None;
    let files = hops.files(&Among::new([&hops as &dyn Shown])).unwrap();
    let table = files.iter().find(|file| file.name == "hops.csv").unwrap();
    let text = String::from_utf8(table.contents.clone()).unwrap();
    let row: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(&row[..5], ["echo", "sim:ipsc860", "0", "64", "15"]);
    assert_eq!(&row[8..11], ["", "", ""]);
    assert!((row[11].parse::<f64>().unwrap() - 25e3).abs() < 1e-3, "{text}");
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "hops.csv",
            "hops-echo-sim_ipsc860.svg",
            "gnuplot/hops-echo-sim_ipsc860.dat",
            "gnuplot/hops-echo-sim_ipsc860.gp",
        ]
    );
}

#[test]
fn what_the_data_do_not_support_is_missing() {
    // Times fall with the length in the first segment.
    let hops = of(|bytes, hops| match bytes {
        0..=64 => 1e5 - 100.0 * bytes as f64 + 1e3 * f64::from(hops),
        _ => ipsc860(bytes, hops),
    });
    assert!(hops.segments[0].t_byte.is_none() && hops.segments[1].t_byte.is_some());
    let page = text::page(&hops, &Layout { width: 120, ..Layout::default() });
    assert!(page.contains("not found") && page.contains("t_byte is not given"), "{page}");
    assert_eq!(hops.quantities().len(), 5);
}

#[test]
fn parameters_of_times_that_do_not_follow_the_fit_have_not_converged() {
    let judged = |time: &dyn Fn(u64, u32) -> f64| {
        // As often up as down at each distance.
        let sign = |bytes: u64, hops: u32| {
            let at = SIZES.iter().position(|of| *of == bytes).unwrap() as u32;
            f64::from((at + hops) % 2) - 0.5
        };
        let at = (1..=4).flat_map(|hops| SIZES.map(|bytes| (bytes, hops)));
        let times = at.map(|(bytes, hops)| {
            let times_ns = vec![time(bytes, hops) * (1.0 + 0.001 * sign(bytes, hops))];
            HopTimes { bytes, hops, times_ns }
        });
        let times = [(0, times.collect())].into();
        // Any interval is narrow enough for the rule.
        let rule = bandgap_stats::Rule { precision: 1e6, stamp: 0.0 };
        let found = assemble::hops(("echo", "sim:ipsc860", 1), &times, &[], (0.95, rule)).unwrap();
        let said = "From 0 B to 1 MiB the parameters count as not converged";
        let converged: Vec<bool> = found.quantities().iter().map(|(_, of)| of.converged).collect();
        (converged, found.findings.iter().filter(|finding| finding.starts_with(said)).count())
    };
    let linear = |bytes: u64, hops: u32| 1e4 + bytes as f64 + 1e3 * f64::from(hops);
    assert_eq!(judged(&linear), (vec![true; 3], 0));
    // A jump at the last distance is no line in the hops.
    let jump = |bytes, hops| linear(bytes, hops) + if hops > 3 { 4e3 } else { 0.0 };
    assert_eq!(judged(&jump), (vec![false; 3], 1));
    // Nor is a time that rises ever more steeply with the length.
    let bent = |bytes: u64, hops| linear(bytes, hops) + (bytes as f64).powf(1.5);
    let (converged, said) = judged(&bent);
    assert!(converged.iter().all(|of| !of) && said == 1, "{converged:?}");
}
