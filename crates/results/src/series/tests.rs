use bandgap_model::hockney::Weighting;
use bandgap_record::{Evidence, Number, Quantity, Seconds, Unit};
use bandgap_report::{Figure, Layout, Style, plot, svg_panels};
use bandgap_units::Ns;

use super::figure::figures as series_figures;
use super::text::page as series;
use super::*;
use crate::hockney::SegmentLine;
use crate::hockney::tests::{fit, segment};
use crate::measured::{Checked, State, Summary, Which, examples};

fn evidence(converged: bool) -> Evidence {
    Evidence::new("median of batch medians", 120, converged)
}

fn time(value: f64, share: f64, converged: bool) -> Quantity {
    let interval = Some((Ns(value * (1.0 - share)), Ns(value * (1.0 + share))));
    Quantity::time(Ns(value), interval, evidence(converged)).unwrap()
}

pub(crate) fn point(bytes: u64, ranks: u32, value: f64) -> SeriesPoint {
    // One point scatters more than was asked for.
    let converged = bytes != 2048;
    let share = if converged { 0.012 } else { 0.12 };
    let seconds = |factor: f64| Seconds::from(Ns(value * factor));
    SeriesPoint {
        bytes,
        elements: None,
        dimension: None,
        mesh: None,
        ranks,
        pair: None,
        hops: None,
        variant: None,
        way: None,
        distance: Some("one hop".into()),
        time: time(value, share, converged),
        bandwidth: (bytes > 0).then(|| {
            let rate = |time: f64| bytes as f64 * 1e9 / time;
            let ends = (rate(value * (1.0 + share)), rate(value * (1.0 - share)));
            let by = evidence(converged);
            Quantity::new(rate(value), Some(ends), Unit::BytePerSecond, by).unwrap()
        }),
        rate: None,
        send_overhead: None,
        gap: None,
        overlap: None,
        modelled_hockney: None,
        modelled_loggp: None,
        state: "N".into(),
        converged,
        clock_limited: false,
        summary: Summary {
            mean: seconds(1.02),
            median: time(value, share, converged),
            min: seconds(0.97),
            p90: seconds(1.05),
            p99: seconds(1.3),
            p999: seconds(1.9),
            max: seconds(3.1),
            samples: 6000,
        },
        batches: vec![],
    }
}

pub(crate) fn example(name: &str, points: Vec<SeriesPoint>) -> Series {
    Series {
        name: name.into(),
        transport: "sim:ipsc860".into(),
        ranks: points.iter().map(|point| point.ranks).max().unwrap_or(0),
        pair: Some([0, 1]),
        cores: None,
        launches: 3,
        lost_launches: Vec::new(),
        verified: true,
        checked: Some(Checked {
            batches: 64,
            messages: 1280,
            compared: 1280,
            points: 2,
            points_left_out: 0,
            timed_batches: 512,
            timed_messages: 51_200,
            timed_compared: 512,
            timed_summed: 0,
        }),
        buffers: None,
        state: State { label: "N".into(), share: Number(0.93), ..State::only() },
        points,
        floor_ratios: Vec::new(),
        looks: vec![],
        fastest: vec![],
        growth: vec![],
        doublings: vec![],
        findings: vec![],
    }
}

/// A series of two points with three batches each.
pub(crate) fn sample() -> Series {
    let around = |value: f64, low: f64, high: f64| {
        Quantity::time(Ns(value), Some((Ns(low), Ns(high))), evidence(true)).unwrap()
    };
    let point = |bytes: u64, time: Quantity, samples: &[f64]| SeriesPoint {
        bandwidth: (bytes > 0).then(|| examples::rate((bytes as f64 / time.value.0).round(), true)),
        send_overhead: (bytes > 0).then(|| around(40.0, 39.0, 41.0)),
        distance: Some("same package".into()),
        time,
        batches: examples::batches(samples),
        summary: examples::summary(samples),
        ..point(bytes, 2, 1.0)
    };
    let points = vec![
        point(0, around(150.0, 148.0, 152.0), &[149.0, 151.0]),
        point(4096, around(512.0, 500.0, 520.0), &[511.0, 513.25]),
    ];
    Series { transport: "shm".into(), cores: Some([0, 1]), ..example("comms1", points) }
}

/// CoMet's iPSC/860 in ns: 79 µs + 0.63 µs·n up to 100 bytes, 156 µs + 0.41 µs·n above.
fn ipsc860(bytes: u64) -> f64 {
    let (t0, slope) = if bytes <= 100 { (79e3, 630.0) } else { (156e3, 410.0) };
    t0 + slope * bytes as f64
}

pub(crate) fn comms1() -> Series {
    let sizes = std::iter::once(0).chain((0..=20).map(|exponent| 1u64 << exponent));
    example("comms1", sizes.map(|bytes| point(bytes, 2, ipsc860(bytes))).collect())
}

#[test]
fn a_fitted_line_far_from_the_points_is_not_drawn_there() {
    use crate::hockney::tests::segment;
    let series = example(
        "comms1",
        [64u64, 1024, 16_384].map(|n| point(n, 2, 100.0 + n as f64 / 4.0)).into(),
    );
    let drawn = |t0: f64| {
        let mut ordinary = fit(Weighting::Ordinary);
        (ordinary.name, ordinary.transport) = (series.name.clone(), series.transport.clone());
        (ordinary.segments, ordinary.breakpoints) =
            (vec![segment(64, 16_384, 100.0, 0.25)], vec![]);
        ordinary.segments[0].line.as_mut().unwrap().intercept = Ns(t0).into();
        // 116 to 4196 ns.
        let [time, rate] = &series_figures(&series, &[&ordinary])[..] else {
            panic!("two figures")
        };
        let ends = |figure: &Figure| {
            let all = figure.series.iter().flat_map(|of| &of.points);
            let ys = || all.clone().map(|point| point.y).filter(|y| y.is_finite());
            (ys().fold(f64::INFINITY, f64::min), ys().fold(0.0, f64::max))
        };
        (ends(time), ends(rate), time.series.len())
    };
    let (time, rate, curves) = drawn(-15.99);
    // 64 B would take 0.01 ns, at 6.4 TB/s.
    assert!(time.0 > 116.0 / 1.26 && time.1 < 4196.0 * 1.26, "{time:?}");
    assert!(rate.1 < 16_384.0 / 4196e-9 * 1.26 && rate.0 > 64.0 / 116e-9 / 1.26, "{rate:?}");
    assert_eq!(curves, 2);
    // A line that is nowhere near is not named either.
    assert_eq!(drawn(1e6).2, 1);
}

fn figures() -> Vec<Figure> {
    let (ordinary, relative) = (fit(Weighting::Ordinary), fit(Weighting::Relative));
    series_figures(&comms1(), &[&ordinary, &relative])
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

#[test]
fn the_fitted_lines_are_those_of_the_parameters() {
    let figures = figures();
    let curve = &figures[0].series[1];
    assert_eq!((curve.name.as_str(), curve.style), ("relative fit", Style::Dashed));
    // t(64) = 79 + 0.63·64 = 119.32 µs ends the first segment; nothing joins it to the second, which
    // begins with t(128) = 156 + 0.41·128 = 208.48 µs.
    let stretches: Vec<_> = curve.stretches().filter(|stretch| !stretch.is_empty()).collect();
    let [first, second] = stretches.as_slice() else { panic!("{} stretches", stretches.len()) };
    assert!(close(first.last().unwrap().y, 119_320.0) && close(second[0].y, 208_480.0));
    // The bandwidth there: 64 B / 119.32 µs = 536 373 B/s.
    let curve = &figures[1].series[1];
    let first = curve.stretches().next().unwrap();
    assert!(close(first.last().unwrap().y, 64e9 / 119_320.0));
}

#[test]
fn n_half_is_marked_where_it_is_inside() {
    let figures = figures();
    // n½ = 79/0.63 = 125.4 bytes is beyond the first segment's 64; 156/0.41 = 380.5 is inside the
    // second. There t is 2·t0 = 312 µs and r is r∞/2 = 1.2195 MB/s.
    let [mark] = figures[0].marks.as_slice() else { panic!("{:?}", figures[0].marks) };
    assert_eq!(mark.name, "n½ = 380 B");
    assert!(close(mark.x, 156.0 / 0.41) && close(mark.y, 312e3));
    assert!(close(figures[1].marks[0].y, 1e9 / 410.0 / 2.0));
    assert!(close(figures[1].references[0].y, 1e9 / 410.0));
    // Where it is not, neither it nor r∞ is drawn.
    let mut relative = fit(Weighting::Relative);
    relative.segments.pop();
    let figures = series_figures(&comms1(), &[&relative]);
    assert!(figures[1].marks.is_empty() && figures[1].references.is_empty());
}

#[test]
fn r_infinity_is_drawn_where_the_bandwidth_goes_whatever_it_counts() {
    // Four ranks send 12 messages in an operation: r∞ is that of all, or in a file that does not say,
    // of one. Either way the bandwidth of all approaches 12e9/410.
    let mut of_all = comms1();
    for point in &mut of_all.points {
        let all = point.bytes as f64 / point.time.value.0 * 12.0;
        point.bandwidth = point.bandwidth.is_some().then(|| examples::rate(all, true));
    }
    let one = fit(Weighting::Relative);
    let mut all = Hockney { messages: 12, ..one.clone() };
    for segment in &mut all.segments {
        let rate = segment.r_inf.as_ref().unwrap().value.0;
        segment.r_inf = Some(examples::rate(12.0 * rate, true));
    }
    for fit in [one, all] {
        let [line] = &series_figures(&of_all, &[&fit])[1].references[..] else {
            panic!("one line")
        };
        assert!(close(line.y, 12e9 / 410.0), "{}", line.y);
    }
}

#[test]
fn segments_are_divided_at_the_breakpoints() {
    let figure = &figures()[0];
    let ends: Vec<(f64, f64)> =
        figure.regions.iter().map(|region| (region.from, region.to)).collect();
    assert_eq!(ends, [(f64::NEG_INFINITY, 96.0), (96.0, f64::INFINITY)]);
    assert_eq!(figure.notes[1], "Segments of the relative fit meet at 96 B (64 B to 128 B).");
    assert_eq!(figure.notes[2], "0 B (t = 79.0 µs) has no place on a logarithmic axis.");
}

#[test]
fn other_series_fits_are_left_out() {
    let mut other = fit(Weighting::Relative);
    other.name = "comms2".into();
    let names = |fits: &[&Hockney]| {
        let figures = series_figures(&comms1(), fits);
        figures[0].series.iter().map(|curve| (curve.name.clone(), curve.style)).collect::<Vec<_>>()
    };
    // What has no fit is joined by a line.
    assert_eq!(names(&[&other]), [("measured".to_owned(), Style::Line)]);
}

#[test]
fn a_line_is_drawn_whatever_was_made_of_it() {
    let mut relative = fit(Weighting::Relative);
    relative.segments[0].line = None;
    // t(n) = −2 µs + 0.7 µs·n: no parameter but r∞ makes sense, and still that is what was fitted.
    relative.segments[1].line =
        Some(SegmentLine { intercept: Ns(-2e3).into(), per_byte: Ns(700.0).into() });
    relative.segments[1].t0 = None;
    relative.segments[1].n_half = None;
    let figures = series_figures(&comms1(), &[&relative]);
    let curve = &figures[0].series[1];
    let stretches: Vec<_> = curve.stretches().filter(|stretch| !stretch.is_empty()).collect();
    let [only] = stretches.as_slice() else { panic!("{} stretches", stretches.len()) };
    // −2 + 0.7·128 = 87.6 µs.
    assert!(close(only[0].y, 87_600.0));
    assert!(figures[0].marks.is_empty());
}

#[test]
fn barriers_are_plotted_over_ranks() {
    let mut points: Vec<SeriesPoint> =
        [2, 4, 8, 16].map(|ranks| point(0, ranks, 1000.0 * f64::from(ranks.ilog2()))).into();
    for point in &mut points {
        let rate = 1.0 / point.time.value.0;
        point.rate = Some(Quantity::new(rate, None, Unit::PerSecond, evidence(true)).unwrap());
    }
    let barriers = example("synch1", points);
    let figures = series_figures(&barriers, &[]);
    assert_eq!(figures.len(), 1);
    let at: Vec<f64> = figures[0].series[0].points.iter().map(|point| point.x).collect();
    assert_eq!(at, [2.0, 4.0, 8.0, 16.0]);
    assert_eq!(figures[0].x.label, "ranks");
    insta::assert_snapshot!("synch1_80", series(&barriers, &Layout::default()));
}

#[test]
fn points_of_several_distances_are_told_apart() {
    let mut both = example("comms1", vec![point(64, 2, 1e3), point(64, 2, 2e3)]);
    assert!(series(&both, &Layout::default()).contains("(one hop)"));
    both.points[1].distance = Some("two hops".into());
    assert!(!series(&both, &Layout::default()).contains("(one hop)"));
    let names: Vec<String> = both.quantities().into_iter().map(|(name, _)| name).collect();
    let of = |hops, what| format!("comms1 over sim:ipsc860, 64 B, {hops}: {what}");
    let each = ["one hop", "two hops"].map(|hops| [of(hops, "time"), of(hops, "bandwidth")]);
    assert_eq!(names, each.concat());
}

#[test]
fn the_page_explains_itself() {
    insta::assert_snapshot!("page_80", series(&comms1(), &Layout::default()));
    let mut store = example(
        "bulk_store",
        (3..=8).map(|exponent| 1u64 << exponent).map(|n| point(n, 2, 100.0 + n as f64)).collect(),
    );
    for point in &mut store.points {
        point.send_overhead = Some(time(40.0, 0.01, true));
        point.overlap = Some(time(60.0 + point.bytes as f64, 0.01, true));
        point.gap = Some(time(90.0 + point.bytes as f64, 0.01, true));
    }
    store.findings = vec!["o(n) does not depend on n: the copy is the other side's.".into()];
    let wide = Layout { width: 132, ..Layout::default() };
    insta::assert_snapshot!("store_132", series(&store, &wide));
    insta::assert_snapshot!("store_80", series(&store, &Layout::default()));
    let figure = &series_figures(&store, &[])[0];
    assert_eq!(figure.series[1].name, "o(n)");
    assert!(figure.title.ends_with(": time and send overhead"), "{}", figure.title);
    assert!(figure.notes.last().is_some_and(|note| note.contains("o(n) and t(n)")));
}

#[test]
fn a_table_of_others_claims_no_conditions() {
    let mut points = [1u64, 8, 64].map(|bytes| point(bytes, 0, 1900.0 + bytes as f64));
    for point in &mut points {
        let time = point.time.as_time().unwrap();
        point.time = Quantity::time(time, None, Evidence::new("as printed", 1, true)).unwrap();
        point.distance = None;
    }
    let mut table = example("osu_latency", points.into());
    table.transport = "table".into();
    // The points are the reader's own: one plot is all that is printed.
    let page = table.text(&Among::new([]), &Layout::default());
    assert!(page.starts_with("osu_latency: time (3 times from a table)\n"), "{page}");
    assert!(!page.contains("interval,") && !page.contains("State"), "{page}");
    let figure = &series_figures(&table, &[])[0];
    assert_eq!(figure.title, "osu_latency: time");
    assert_eq!(figure.subtitle, "3 times from a table");
}

#[test]
fn no_line_is_wider_than_asked() {
    for width in [60, 80, 100, 132] {
        for ascii in [false, true] {
            let layout = Layout { width, ascii, ..Layout::default() };
            let plots = figures().iter().map(|figure| plot(figure, &layout)).collect::<String>();
            let page = series(&comms1(), &layout) + &plots;
            for line in page.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
        }
    }
}

#[test]
fn figures_are_drawn() {
    insta::assert_snapshot!("svg", svg_panels(&figures()));
    let layout = Layout::default();
    insta::assert_snapshot!("time_80", plot(&figures()[0], &layout));
    let plain = Layout { width: 100, ascii: true, ..layout };
    insta::assert_snapshot!("bandwidth_100_ascii", plot(&figures()[1], &plain));
}

#[test]
fn panels_share_one_file() {
    let drawn = svg_panels(&figures());
    for (open, close) in [("<svg ", "</svg>"), ("<title>", "</title>"), ("<desc>", "</desc>")] {
        assert_eq!((drawn.matches(open).count(), drawn.matches(close).count()), (1, 1), "{open}");
    }
    assert_eq!(drawn.matches("<text ").count(), drawn.matches("</text>").count());
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
    // The ground is as high as both.
    let heights: Vec<f64> = [&figures()[..1], &figures()[1..], &figures()[..]]
        .map(svg_panels)
        .iter()
        .map(|drawn| {
            drawn.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        })
        .collect();
    assert_eq!(heights[0] + heights[1], heights[2]);
    assert!(svg_panels(&[]).ends_with("</svg>\n"));
}

#[test]
fn what_became_of_the_bytes_is_said_where_there_are_some() {
    let header = |transport: &str, checked: Option<Checked>, sizes: &[u64]| {
        let points = sizes.iter().map(|bytes| point(*bytes, 2, 100.0)).collect();
        let mut series = example("comms1", points);
        series.verified = checked.is_some_and(|checked| checked.is_complete());
        (series.transport, series.checked) = (transport.into(), checked);
        let page = text::page(&series, &Layout { width: 300, ..Layout::default() });
        let told: Vec<&str> = page.lines().skip(1).take_while(|line| !line.is_empty()).collect();
        let figure = series_figures(&series, &[]).into_iter().next();
        (told.join("; "), figure.map(|figure| figure.subtitle))
    };
    let none = Checked { timed_batches: 3, timed_messages: 60, ..Checked::default() };
    let some = Checked { batches: 2, messages: 4000, compared: 4000, timed_compared: 3, ..none };
    let part = Checked { points: 39, points_left_out: 4, ..some };
    let checked = "; Contents compared: all 4\u{a0}000 messages of 2 checked batches; 3 of 60 messages \
                   of 3 timed batches.";
    let unchecked = "; Contents compared: no checked batch; 0 of 60 messages of 3 timed batches.";
    let unknown = "; How much was checked of what was received is not recorded.";
    for (transport, checks, sizes, told, titled) in [
        ("shm", Some(some), &[0, 8][..], checked, "; data verified in checked batches"),
        ("shm", Some(none), &[0, 8], unchecked, "; data not verified"),
        (
            "shm",
            Some(part),
            &[0, 8],
            &format!("{checked} 4 of 39 points had no checked batch."),
            "; data verified in checked batches of 35 of 39 points",
        ),
        ("shm", None, &[0, 8], unknown, "; data not verified"),
        ("sim:ipsc860", None, &[0, 8], "; virtual time, in which no bytes move", "; virtual time"),
        ("shm", Some(some), &[0], "", "no figure"),
    ] {
        let found = header(transport, checks, sizes);
        let whole = "93 % of the batches";
        assert!(found.0.ends_with(&format!("{whole}{told}")), "{}", found.0);
        let title = found.1.unwrap_or_else(|| format!("{whole}no figure"));
        assert!(title.ends_with(&format!("{whole}{titled}")), "{title}");
    }
}

#[test]
fn a_sweep_over_ranks_has_a_curve_and_a_fit_for_each_number() {
    let points = [2u32, 4, 8].into_iter().flat_map(|ranks| {
        [8u64, 64, 512, 4096]
            .map(|bytes| point(bytes, ranks, 1e5 * f64::from(ranks) + bytes as f64 * 410.0))
    });
    let sweep = example("comms3", points.collect());
    let fits: Vec<Hockney> = [2, 4, 8]
        .map(|ranks| Hockney {
            which: Which { ranks: Some(ranks), ..Which::default() },
            ..fit_of(&sweep)
        })
        .into();
    let figure = &series_figures(&sweep, &fits.iter().collect::<Vec<_>>())[0];
    let names: Vec<&str> = figure.series.iter().map(|curve| curve.name.as_str()).collect();
    let expected = ["2 ranks", "4 ranks", "8 ranks"];
    let fitted = expected.map(|name| format!("relative fit, {name}"));
    assert_eq!(names, [&expected[..], &fitted.each_ref().map(String::as_str)].concat());
    // Whose segments they are could not be told.
    assert!(figure.regions.is_empty() && figure.marks.is_empty());
    let page = series(&sweep, &Layout::default());
    assert!(page.contains(" ranks ") && page.contains(": 2, 4 and 8 ranks"), "{page}");
    let name = "comms3 over sim:ipsc860, 64 B, 4 ranks: time";
    assert!(sweep.quantities().iter().any(|(of, _)| of == name), "{name}");
}

fn fit_of(series: &Series) -> Hockney {
    let transport = series.transport.clone();
    Hockney { name: series.name.clone(), transport, ..fit(Weighting::Relative) }
}

#[test]
fn a_line_that_begins_below_zero_is_drawn_where_it_is_above() {
    // −328 + 0.41·n µs is zero at 800 bytes.
    let mut relative = fit(Weighting::Relative);
    relative.segments = vec![segment(1, 1 << 20, 328e3, 410.0)];
    relative.segments[0].line =
        Some(SegmentLine { intercept: Ns(-328e3).into(), per_byte: Ns(410.0).into() });
    for figure in series_figures(&comms1(), &[&relative]) {
        let curve = figure.series.iter().find(|curve| curve.name == "relative fit").unwrap();
        let drawn: Vec<f64> =
            curve.stretches().flatten().map(|point| point.x).filter(|x| x.is_finite()).collect();
        assert!(!drawn.is_empty() && drawn.iter().all(|x| *x > 800.0), "{drawn:?}");
        assert!(curve.stretches().flatten().all(|point| point.y > 0.0));
    }
}

#[test]
fn sizes_of_matrices_are_named_as_what_they_are() {
    let bytes = example("shift_north", vec![point(64, 4, 10.0), point(512, 4, 20.0)]);
    let mut matrices = bytes.clone();
    for (point, rows) in matrices.points.iter_mut().zip([64, 128]) {
        point.dimension = Some(rows);
    }
    let headed =
        |series: &Series, heading: &str| text::page(series, &Layout::default()).contains(heading);
    assert!(headed(&matrices, " N × N ") && !headed(&matrices, "size n"));
    assert!(headed(&bytes, "size n") && !headed(&bytes, "N × N"));
}

#[test]
fn the_echo_without_a_load_comes_before_those_with_one() {
    let names = |name: &str, variants: [&str; 3]| {
        let with =
            |variant: &str| SeriesPoint { variant: Some(variant.into()), ..point(8, 4, 1.0) };
        let mut series = example(name, variants.map(with).to_vec());
        series.sort();
        let sorted: Vec<String> =
            series.points.iter().map(|point| point.variant.clone().unwrap()).collect();
        let curves: Vec<String> =
            series.curves().into_iter().map(|(which, _)| which.variant.unwrap()).collect();
        assert_eq!(sorted, curves);
        sorted
    };
    let loads = ["90 % load", "50 % load", "idle"];
    assert_eq!(names("contention", loads), ["idle", "50 % load", "90 % load"]);
    // Algorithms follow on nothing, and are told by name.
    let algorithms = ["linear", "chain", "binomial"];
    assert_eq!(names("broadcast", algorithms), ["binomial", "chain", "linear"]);
}

#[test]
fn a_single_barrier_has_no_place_on_an_axis_of_sizes() {
    assert!(series_figures(&example("synch1", vec![point(0, 2, 190.0)]), &[]).is_empty());
}

#[test]
fn columns_without_which_one_can_do_give_way_to_whole_numbers() {
    let evidence = || evidence(false);
    let time = |low: f64, value: f64, high: f64| {
        Quantity::time(Ns(value), Some((Ns(low), Ns(high))), evidence()).unwrap()
    };
    let points = [1_048_573u64, 4_194_301].map(|bytes| {
        let mut point = point(bytes, 2, 51_300.0);
        // The longest that intervals are.
        point.time = time(-192.0, 13_900.0, 27_900.0);
        let rate = bytes as f64 / 13.9e-6;
        point.bandwidth = Some(Quantity::new(rate, None, Unit::BytePerSecond, evidence()).unwrap());
        point.send_overhead = Some(time(11_000.0, 13_300.0, 15_000.0));
        point.gap = Some(time(11_000.0, 13_300.0, 15_000.0));
        point.overlap = Some(time(-500.0, 569.0, 15_000.0));
        point
    });
    let series = example("bulk_store", points.into());
    let page = |width| text::page(&series, &Layout { width, ..Layout::default() });
    for width in [80, 100, 118, 120, 132] {
        let page = page(width);
        let rows = page.lines().filter(|line| line.contains("-0.192 to 27.9 µs"));
        assert_eq!(rows.count(), 2, "{page}");
        assert!(page.lines().all(|line| line.chars().count() <= usize::from(width)), "{page}");
    }
    let has = |width, heading: &str| page(width).contains(heading);
    assert!(!has(80, "t − o") && has(100, "t − o") && has(120, "g(n)"));
    assert!(!has(120, "p99") && has(160, "p99") && has(160, "samples"));
}
