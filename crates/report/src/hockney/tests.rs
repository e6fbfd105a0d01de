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
