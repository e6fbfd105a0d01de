use bandgap_record::{Breakpoint, Number, Weighting};

use super::*;
use crate::series::tests::{fit, segment};

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
    relative.breakpoints = vec![Breakpoint { bytes: Number(65536.0), low: None, high: None }];
    relative.ranks = Some(8);
    relative.distance = Some("same package".into());
    let page = hockney(&[&relative], &Layout::default());
    assert!(page.contains("The relative fit breaks at 64 KiB (given)."), "{page}");
    assert!(page.starts_with("comms1 (8 ranks, same package) over sim:ipsc860: "), "{page}");
    assert_eq!(hockney(&[], &Layout::default()), "");
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
        "5 to 18 samples",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    // Each symbol is named once, for all segments and both fits.
    assert!(page.contains("Estimator: least squares"), "{page}");
    assert!(!hockney(&[&relative], &Layout::default()).contains("In the relative fit"));
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
    assert_eq!(with(1.86e-8, -2.5e-8), ["1.86e-6 %", "−2.50e-6 % at 61 B"]);
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
