//! What the data do not support is not given, and the reason is.

use bandgap_model::hockney::{Breaks, Fit, HockneyOptions, sized_times_from_pairs};
use bandgap_model::{Finding, HockneyFit, ModelError, SizedTimes};

use super::fit;

fn exact(sizes: &[u64], time: impl Fn(f64) -> f64) -> Vec<SizedTimes> {
    let pairs = sizes.iter().map(|&bytes| (bytes, time(bytes as f64)));
    sized_times_from_pairs(pairs)
}

/// One segment, unless breaks are given.
fn single(data: &[SizedTimes], breaks: &[u64]) -> HockneyFit {
    let options =
        HockneyOptions { breaks: Breaks::At(breaks.to_vec()), ..HockneyOptions::default() };
    fit(data, &options).expect("a good table")
}

#[track_caller]
fn assert_says(fit: &Fit, code: &str, wanted: impl Fn(&[(&str, f64)]) -> bool) {
    let is_wanted = |of: &Finding| of.code == code && wanted(&of.values);
    assert!(fit.findings.iter().any(is_wanted), "{:?}", fit.findings);
}

#[test]
fn no_negative_startup() {
    // t = n − 500 on sizes from 1000 on.
    let fit = single(&exact(&[1000, 2000, 3000, 4000, 5000], |n| n - 500.0), &[]);
    for fit in [fit.relative, fit.ordinary] {
        let segment = &fit.segments[0];
        assert_eq!((segment.t0, segment.n_half, segment.pi0), (None, None, None));
        // The slope is as good as ever: 1 ns/B is 1 GB/s.
        assert!((segment.r_inf.unwrap().value - 1e9).abs() < 1.0);
        assert_says(
            &fit,
            "startup_below_zero",
            |values| matches!(values, [("t0", t0), ("from", 1000.0)] if (1e9 * t0 + 500.0).abs() < 1e-6),
        );
    }
}

#[test]
fn no_rate_of_an_unresolved_startup() {
    // t = 10 + n, off by ±5 % in turn: at 1000 and more, 10 is far below the noise.
    let sizes: Vec<u64> = (1..=10).map(|i| 1000 * i).collect();
    let data = exact(&sizes, |n| (10.0 + n) * if (n / 1000.0) % 2.0 == 0.0 { 0.95 } else { 1.05 });
    let fit = single(&data, &[]).relative;
    let segment = &fit.segments[0];
    let t0 = segment.t0.unwrap();
    assert!(t0.low < 0.0 && t0.value > 0.0, "{t0:?}");
    assert_eq!((segment.n_half, segment.pi0), (None, None));
    assert!(segment.r_inf.is_some());
    assert_says(&fit, "startup_unresolved", |values| values[0].0 == "high");
}

#[test]
fn no_infinite_rate() {
    // Falling: 100 − n/100 ns.
    let fit = single(&exact(&[0, 100, 200, 400, 800], |n| 100.0 - n / 100.0), &[]).relative;
    let segment = &fit.segments[0];
    assert_eq!((segment.r_inf, segment.n_half), (None, None));
    assert!((segment.t0.unwrap().value - 100.0).abs() < 1e-9);
    assert!((segment.pi0.unwrap().value - 1e7).abs() < 1e-3);
    assert_says(&fit, "rate_unresolved", |values| values[0].0 == "from");
}

#[test]
fn rounding_is_no_parameter() {
    // Exact tables: t = n/3 starts at nothing, and 123.4 ns at all sizes do not rise.
    let sizes = [7, 13, 70, 131, 1000, 5003];
    let proportional = single(&exact(&sizes, |n| n / 3.0), &[]);
    let level = single(&exact(&sizes, |_| 123.4), &[]);
    for fit in [proportional.relative, proportional.ordinary] {
        let segment = &fit.segments[0];
        assert!((segment.r_inf.unwrap().value - 3e9).abs() < 1.0);
        assert_eq!((segment.n_half, segment.pi0), (None, None));
        assert_says(&fit, "startup_unresolved", |values| values[0].0 == "high");
    }
    for fit in [level.relative, level.ordinary] {
        let segment = &fit.segments[0];
        assert!((segment.t0.unwrap().value - 123.4).abs() < 1e-9);
        assert_eq!((segment.r_inf, segment.n_half), (None, None));
        assert_says(&fit, "rate_unresolved", |values| values[0].0 == "from");
    }
}

#[test]
fn no_half_length_beyond_what_was_measured() {
    // t = 1000 + n up to 64 bytes: half of r∞ would come at 1000 bytes.
    let fit = single(&exact(&[0, 8, 16, 32, 64], |n| 1000.0 + n), &[]).relative;
    let segment = &fit.segments[0];
    assert_eq!(segment.n_half, None);
    assert!(segment.t0.is_some() && segment.r_inf.is_some() && segment.pi0.is_some());
    assert_says(
        &fit,
        "half_length_outside",
        |values| matches!(values, [("half", half), ("from", 0.0)] if (half - 1000.0).abs() < 1e-6),
    );
}

#[test]
fn no_line_through_two_sizes() {
    let fit = single(&exact(&[0, 8, 1000, 2000, 4000], |n| 100.0 + n), &[8]);
    for fit in [fit.relative, fit.ordinary] {
        let short = &fit.segments[0];
        assert_eq!((short.points, &short.line, short.t0), (2, &None, None));
        assert_eq!(short.residuals, None);
        let long = fit.segments[1].line.as_ref().unwrap();
        assert!((long.at(1000.0) - 1100.0).abs() < 1e-9);
        assert_says(&fit, "segment_too_short", |values| *values == [("sizes", 2.0), ("from", 0.0)]);
    }
}

#[test]
fn a_bend_is_no_line() {
    // t = 1000 + n²/1000 on 30 sizes: one line leaves an arch.
    let sizes: Vec<u64> = (0..30).map(|i| 100 * i).collect();
    let fit = single(&exact(&sizes, |n| 1000.0 + n * n / 1000.0), &[]);
    assert_says(
        &fit.relative,
        "line_missed",
        |values| matches!(values, [("rms", rms), ..] if *rms > 0.1),
    );
}

#[test]
fn a_time_is_off_by_its_share_of_the_line_wherever_that_is_said() {
    // 10 and 2.5 by turns: measured over the line, nothing is as far as its whole below it.
    let sizes: Vec<u64> = (0..8).map(|i| 1 << i).collect();
    let data = exact(&sizes, |n| if (n as u64).ilog2() % 2 == 0 { 10.0 } else { 2.5 });
    let mut options = HockneyOptions { breaks: Breaks::At(vec![]), ..HockneyOptions::default() };
    options.rounding = sizes.iter().map(|&bytes| (bytes, [0.25, 0.25])).collect();
    let fit = fit(&data, &options).unwrap().relative;
    let (line, found) = (fit.segments[0].line.clone().unwrap(), fit.segments[0].residuals.unwrap());
    let off = data.iter().map(|of| of.times_ns[0] / line.at(of.bytes as f64) - 1.0);
    let worst = off.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
    assert!((found.worst_relative - worst).abs() < 1e-12 && found.worst_relative > -1.0);
    // The finding has the same number, whatever rounding leaves open.
    let same = |values: &[(&str, f64)]| {
        let of = |name: &str| values.iter().find(|value| value.0 == name).unwrap().1;
        of("worst") == found.worst_relative && of("at") == found.worst_bytes as f64
    };
    assert_says(&fit, "line_missed", same);
}

#[test]
fn few_sizes_are_not_searched() {
    let data = exact(&[0, 8, 16, 1000, 2000], |n| 100.0 + n);
    let fit = fit(&data, &HockneyOptions::default()).unwrap();
    assert!(fit.breakpoints.is_empty());
    assert_eq!(fit.relative.segments.len(), 1);
    // Three sizes are fewer than a searched segment has, and still make a line.
    let fit = super::fit(&data[..3], &HockneyOptions::default()).unwrap();
    assert!((fit.relative.segments[0].t0.unwrap().value - 100.0).abs() < 1e-9);
}

#[test]
fn input_is_checked() {
    let options = HockneyOptions::default();
    let mut data = exact(&[0, 8, 16, 32], |n| 100.0 + n);
    for value in [0.0, -3.0, f64::INFINITY, 1e300] {
        data[1].times_ns = vec![10.0, value];
        assert_eq!(fit(&data, &options), Err(ModelError::BadTime(8, value)));
    }
    data[1].times_ns = vec![f64::NAN];
    assert!(matches!(fit(&data, &options), Err(ModelError::BadTime(8, _))));
    data[1].times_ns.clear();
    assert!(matches!(fit(&data, &options), Err(ModelError::Unusable(_))));
    // The same size again and again is one size.
    let same = sized_times_from_pairs([(8, 1.0), (8, 2.0), (8, 3.0)]);
    assert_eq!(fit(&same, &options), Err(ModelError::TooFewSizes(1)));
    assert_eq!(fit(&[], &options), Err(ModelError::TooFewSizes(0)));
    let data = exact(&[0, 8, 16, 32], |n| 100.0 + n);
    let outside = |at| ModelError::BreakOutside(at, 0, 32);
    for (given, error) in [
        (vec![32], outside(32)),
        (vec![8, 99], outside(99)),
        (vec![8, 12], ModelError::BreaksTooClose(8, 12)),
        (vec![16, 8], ModelError::BreaksTooClose(16, 8)),
        (vec![8, 8], ModelError::BreaksTooClose(8, 8)),
    ] {
        let options = HockneyOptions { breaks: Breaks::At(given), ..HockneyOptions::default() };
        assert_eq!(fit(&data, &options), Err(error));
    }
    // A break below all sizes parts nothing either.
    let data = exact(&[8, 16, 32], |n| 100.0 + n);
    let options = HockneyOptions { breaks: Breaks::At(vec![4]), ..HockneyOptions::default() };
    let error = ModelError::BreakOutside(4, 8, 32);
    assert_eq!(fit(&data, &options), Err(error));
    for confidence in [0.0, 1.0, f64::NAN] {
        let options = HockneyOptions { confidence, ..HockneyOptions::default() };
        assert!(matches!(fit(&data, &options), Err(ModelError::Unusable(_))));
    }
}

#[test]
fn one_interrupt_moves_nothing() {
    let clean = |n: f64| vec![1000.0 + n; 10];
    let mut data: Vec<SizedTimes> = [0, 100, 1000, 5000, 10_000]
        .map(|bytes| SizedTimes { bytes, times_ns: clean(bytes as f64) })
        .to_vec();
    data[2].times_ns[4] = 90_000.0;
    let fit = single(&data, &[]).relative;
    assert!((fit.segments[0].t0.unwrap().value - 1000.0).abs() < 1e-6);
}
