use bandgap_model::hockney::Weighting;
use bandgap_record::{Evidence, Number, Quantity, Unit};
use bandgap_units::Ns;

use super::text::{breakpoint, determination, page as hockney};
use super::*;
use crate::measured::Which;

pub(crate) fn segment(from_bytes: u64, to_bytes: u64, t0: f64, slope: f64) -> Segment {
    let by = || Evidence::new("least squares", 18, true);
    let around = |value: f64| Some((value * 0.98, value * 1.03));
    let (rate, half) = (1e9 / slope, t0 / slope);
    Segment {
        from_bytes,
        to_bytes,
        points: 9,
        r_inf: Some(
            Quantity::new(rate, Some((rate * 0.99, rate * 1.01)), Unit::BytePerSecond, by())
                .unwrap(),
        ),
        n_half: Some(Quantity::new(half, around(half), Unit::Byte, by()).unwrap()),
        t0: Some(Quantity::time(Ns(t0), Some((Ns(t0 * 0.99), Ns(t0 * 1.02))), by()).unwrap()),
        pi0: Some(Quantity::new(1e9 / t0, around(1e9 / t0), Unit::PerSecond, by()).unwrap()),
        r_squared: Some(Number(0.99987)),
        residuals: Some(Residuals {
            rms_relative: Number(0.0071),
            worst_relative: Number(-0.019),
            worst_bytes: 16,
        }),
        line: Some(SegmentLine { intercept: Ns(t0).into(), per_byte: Ns(slope).into() }),
    }
}

pub(crate) fn sample() -> Hockney {
    fit(Weighting::Relative)
}

pub(crate) fn fit(weighting: Weighting) -> Hockney {
    Hockney {
        name: "comms1".into(),
        transport: "sim:ipsc860".into(),
        which: Which::default(),
        messages: 1,
        weighting,
        lost_launches: Vec::new(),
        segments: vec![segment(0, 64, 79e3, 630.0), segment(128, 1 << 20, 156e3, 410.0)],
        breakpoints: vec![Breakpoint {
            bytes: Number(96.0),
            low: Some(Number(64.0)),
            high: Some(Number(128.0)),
        }],
        findings: vec![],
    }
}

#[test]
fn fits_of_the_same_segments_stand_side_by_side() {
    let mut ordinary = fit(Weighting::Ordinary);
    let mut relative = fit(Weighting::Relative);
    ordinary.segments[0].t0.as_mut().unwrap().converged = false;
    ordinary.segments[0].pi0 = None;
    ordinary.segments[0].n_half = None;
    let finding = "n½ lies outside the sizes of segment 1: measure between 64 and 128 bytes.";
    ordinary.findings = vec![finding.into()];
    relative.findings = vec![finding.into()];
    let page = hockney(&[&ordinary, &relative], &Layout::default());
    // What both found is said once.
    assert_eq!(page.matches("measure between").count(), 1);
    assert_eq!(page.matches("not found").count(), 2);
    insta::assert_snapshot!("both_80", page);
}

#[test]
fn fits_of_other_segments_stand_below_one_another() {
    let mut ordinary = fit(Weighting::Ordinary);
    ordinary.segments = vec![segment(0, 1 << 20, 100e3, 411.0)];
    ordinary.breakpoints.clear();
    let relative = fit(Weighting::Relative);
    let plain = Layout { width: 60, ascii: true, ..Layout::default() };
    let page = hockney(&[&ordinary, &relative], &plain);
    assert!(page.lines().all(|line| line.chars().count() <= 60), "{page}");
    insta::assert_snapshot!("apart_60_ascii", page);
}

#[test]
fn a_breakpoint_that_was_given_has_no_interval() {
    let mut relative = fit(Weighting::Relative);
    // Given as 64 B, one of the sizes.
    relative.breakpoints = vec![Breakpoint { bytes: Number(64.0), low: None, high: None }];
    relative.which.ranks = Some(8);
    let page = hockney(&[&relative], &Layout::default());
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "The relative fit breaks at 64 B (given; 64 B is the last size below, 128 B the first above).";
    assert!(words.contains(told), "{page}");
    assert!(page.starts_with("comms1 (8 ranks) over sim:ipsc860: "), "{page}");
}

#[test]
fn what_one_fit_found_is_said_of_that_fit() {
    let ordinary = fit(Weighting::Ordinary);
    let mut relative = fit(Weighting::Relative);
    relative.findings.push("From 0 B to 64 B r∞ is not given.".into());
    relative.segments[1].n_half.as_mut().unwrap().samples = 5;
    relative.breakpoints[0].bytes = Number(80.0);
    let page = hockney(&[&ordinary, &relative], &Layout::default());
    for told in [
        "In the relative fit: From 0 B",
        "The ordinary fit breaks at 96 B (",
        "The relative fit breaks at 80 B (",
        "5 to 18 values",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    // Each symbol is named once, for all segments and both fits.
    assert!(page.contains("Estimator: least squares"), "{page}");
    assert!(!hockney(&[&relative], &Layout::default()).contains("In the relative fit"));
}

#[test]
fn a_parameter_that_has_not_converged_is_doubtful_and_one_that_is_missing_is_not() {
    let mut relative = fit(Weighting::Relative);
    relative.segments[0].pi0 = None;
    assert_eq!(relative.verdict(), Verdict::Good);
    relative.segments[0].t0.as_mut().unwrap().converged = false;
    let Verdict::Doubtful(named) = relative.verdict() else { panic!("all converged") };
    assert!(named.len() == 1 && named[0].ends_with("relative fit, segment 1: t0"), "{named:?}");
}

#[test]
fn nines_are_not_rounded_away() {
    assert_eq!(determination(0.99987), "0.99987");
    assert_eq!(determination(0.87), "0.870");
}

#[test]
fn what_both_found_with_other_numbers_is_said_once() {
    let (mut ordinary, mut relative) = (fit(Weighting::Ordinary), fit(Weighting::Relative));
    let missed = |sizes: &str, by: &str| format!("From {sizes} the line meets n = 0 at {by}.");
    relative.findings = vec![missed("0 B to 64 B", "-403 ns (-6.09 µs to 5.28 µs)")];
    ordinary.findings = vec![
        missed("0 B to 64 B", "-2.35 µs (-5.17 µs to 463 ns)"),
        missed("128 B to 1 MiB", "-2.35 µs (-5.17 µs to 463 ns)"),
    ];
    let page = hockney(&[&relative, &ordinary], &Layout { width: 160, ..Layout::default() });
    let bullets: Vec<&str> = page.lines().filter(|line| line.starts_with("- In")).collect();
    // Other sizes are another finding.
    assert_eq!(
        bullets,
        [
            "- In both fits, with the numbers of the relative one: From 0 B to 64 B the line meets \
             n = 0 at -403 ns (-6.09 µs to 5.28 µs).",
            "- In the ordinary fit: From 128 B to 1 MiB the line meets n = 0 at -2.35 µs \
             (-5.17 µs to 463 ns).",
        ]
    );
}

#[test]
fn rounding_errors_are_no_residuals() {
    let with = |rms: f64, worst: f64| {
        let mut fit = fit(Weighting::Relative);
        fit.segments.truncate(1);
        fit.segments[0].residuals = Some(Residuals {
            rms_relative: Number(rms),
            worst_relative: Number(worst),
            worst_bytes: 61,
        });
        let page = hockney(&[&fit], &Layout::default());
        let row = |name: &str| {
            let line = page.lines().find(|line| line.contains(name)).unwrap();
            line.split(name).nth(1).unwrap().trim().to_owned()
        };
        [row("rms residual"), row("worst")]
    };
    assert_eq!(with(1.86e-16, -2.48e-16), ["0 %", "0 %"]);
    assert_eq!(with(1.86e-8, -2.5e-8), ["1.86e-6 %", "-2.50e-6 % at 61 B"]);
}

#[test]
fn bounds_of_a_breakpoint_are_written_as_sizes() {
    let point = Breakpoint {
        bytes: Number(32_769.0),
        low: Some(Number(32_768.0)),
        high: Some(Number(32_771.0)),
    };
    assert_eq!(breakpoint(&point), "32.0 KiB (32 KiB to 32771 B)");
}

/// Text without its line breaks.
fn told(fits: &[&Hockney], page: fn(&[&Hockney], &Layout) -> String) -> String {
    page(fits, &Layout::default()).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn whose_rate_r_infinity_is_stands_beside_it() {
    let one = fit(Weighting::Relative);
    let all = Hockney { messages: 12, ..one.clone() };
    let [of_one, of_all] = [&one, &all].map(|fit| told(&[fit], hockney));
    assert!(of_one.contains("t(n) = (n + n½)/r∞, t0 = n½/r∞, π0 = 1/t0, 95 %"), "{of_one}");
    assert!(!of_one.contains("together"), "{of_one}");
    for words in [
        "t(n) = 12 (n + n½)/r∞, t0 = 12 n½/r∞, π0 = 12/t0, 95 %",
        "r∞ and π0 are those of all 12 messages of an operation together.",
    ] {
        assert!(of_all.contains(words), "{words}: {of_all}");
    }
    let curve = |ranks: u32, messages: u64| Hockney {
        which: Which { ranks: Some(ranks), ..Which::default() },
        messages,
        ..one.clone()
    };
    let [of_one, of_all] = [[curve(2, 1), curve(3, 1)], [curve(2, 2), curve(3, 6)]]
        .map(|curves| told(&curves.each_ref(), super::curves::page));
    assert!(of_one.contains("t(n) = (n + n½)/r∞") && !of_one.contains("messages k"), "{of_one}");
    assert!(of_all.contains("r∞ of all k messages of an operation together"), "{of_all}");
    assert!(of_all.contains("messages k"), "{of_all}");
    // What counts one is as it was.
    let json = serde_json::to_value(&one).unwrap();
    assert!(json.get("messages").is_none());
    assert_eq!(serde_json::from_value::<Hockney>(json).unwrap(), one);
    assert_eq!(serde_json::to_value(&all).unwrap()["messages"], 12);
}

#[test]
fn fits_of_several_curves_share_a_table_or_a_line() {
    let fits = |count: u32| -> Vec<Hockney> {
        let of = |ranks: u32| {
            let which = Which { ranks: Some(ranks), ..Which::default() };
            let both = [Weighting::Relative, Weighting::Ordinary];
            both.map(|weighting| Hockney { which: which.clone(), ..fit(weighting) })
        };
        (2..2 + count).flat_map(of).collect()
    };
    let text = |count: u32| {
        let all = fits(count);
        let among = Among::new(all.iter().map(|fit| fit as &dyn Shown));
        let layout = Layout { width: 100, ..Layout::default() };
        all.iter().map(|fit| fit.text(&among, &layout)).collect::<String>()
    };
    let three = text(3);
    for curve in ["2 ranks", "3 ranks", "4 ranks"] {
        assert_eq!(three.lines().filter(|line| line.starts_with(&format!(" {curve} "))).count(), 1);
    }
    assert_eq!(three.matches("relative fit of each curve").count(), 1, "{three}");
    let many = text(16);
    assert_eq!(many.trim().lines().count(), 1, "{many}");
    assert!(many.contains("all 16 curves"), "{many}");
}
