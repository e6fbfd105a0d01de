//! A size that stalls, a first row that never leaves the host, and rounded columns move no parameter.

use bandgap_model::hockney::{
    Breaks, HockneyFit, HockneyOptions, Segment, fit as fit_launches, sized_times_from_pairs,
};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::fit;

/// Times over the sizes 1, 2, 4, … bytes in nanoseconds, printed in steps of 10 ns.
fn printed(sizes: u32, time: impl Fn(u32, f64) -> f64) -> HockneyFit {
    let rows = (0..sizes).map(|power| {
        let ns = time(power, f64::from(1 << power));
        (1 << power, (ns / 10.0).round() * 10.0, [5.0; 2])
    });
    fitted(rows, Breaks::Automatic { most: 5 })
}

/// The fit of rows of bytes, nanoseconds, and how far what was rounded to them may lie below and above.
fn fitted(rows: impl Iterator<Item = (u64, f64, [f64; 2])>, breaks: Breaks) -> HockneyFit {
    let rows: Vec<(u64, f64, [f64; 2])> = rows.collect();
    let rounding = rows.iter().map(|&(bytes, _, by)| (bytes, by)).collect();
    let options = HockneyOptions { breaks, rounding, ..HockneyOptions::default() };
    fit(&sized_times_from_pairs(rows.into_iter().map(|(bytes, ns, _)| (bytes, ns))), &options)
        .expect("a good table")
}

/// Where segments end, and the time of a size.
type Truth = (&'static [u64], fn(f64) -> f64);

const TRUTHS: [Truth; 4] = [
    (&[], |n| 10e3 + n),
    (&[8 << 10], |n| if n <= 8192.0 { 20e3 } else { 40e3 + n / 20.0 }),
    (&[8 << 10], |n| if n <= 8192.0 { 2e3 + n / 2.0 } else { 9e3 + n / 12.0 }),
    (&[128, 32 << 10], |n| match n {
        ..=128.0 => 1e3 + n,
        ..=32768.0 => 3e3 + n / 2.0,
        _ => 30e3 + n / 12.0,
    }),
];

/// The last sizes of all segments but the last.
fn ends(fit: &HockneyFit) -> Vec<u64> {
    fit.breakpoints.iter().map(|at| at.last_below).collect()
}

#[test]
fn a_size_that_is_off_is_left_out_wherever_it_is() {
    for (breaks, time) in TRUTHS {
        let whole = printed(23, |_, n| time(n));
        assert_eq!((ends(&whole), &whole.left_out), (breaks.to_vec(), &vec![]));
        for factor in [0.05, 0.3, 20.0, 265.0] {
            for at in 0..23 {
                let fit = printed(23, |power, n| time(n) * if power == at { factor } else { 1.0 });
                let size = 1 << at;
                assert_eq!(fit.left_out, [size], "{factor}, {breaks:?}");
                // Beside a break the segment is as long as it was, but for this size.
                let below = |end: &u64| if *end == size { size / 2 } else { *end };
                assert_eq!(ends(&fit), breaks.iter().map(below).collect::<Vec<_>>());
                let [left_out] = &fit.findings[..] else { panic!("{:?}", fit.findings) };
                let [("bytes", bytes), ("time", told), ("line", line)] = left_out.values[..] else {
                    panic!("{left_out:?}")
                };
                assert!((1e9 * told - time(size as f64) * factor).abs() <= 5.0);
                let near = breaks.contains(&size);
                assert!(near || (1e9 * line / time(size as f64) - 1.0).abs() < 0.01, "{line}");
                assert_eq!((left_out.code, bytes), ("size_left_out", size as f64));
                for (found, known) in fit.relative.segments.iter().zip(&whole.relative.segments) {
                    assert_alike(found, known);
                }
            }
        }
    }
}

/// Whether t0 and r∞ are the same within the steps.
#[track_caller]
fn assert_alike(found: &Segment, known: &Segment) {
    assert!(!found.misfit);
    assert_eq!((found.t0.is_some(), found.r_inf.is_some()), (true, known.r_inf.is_some()));
    for (found, known) in [(found.t0, known.t0), (found.r_inf, known.r_inf)] {
        if let (Some(found), Some(known)) = (found, known) {
            assert!((found.low..=found.high).contains(&known.value), "{found:?} {known:?}");
        }
    }
}

#[test]
fn two_sizes_that_hide_each_other_are_left_out() {
    for (breaks, time) in TRUTHS {
        for [one, other] in [[0, 10], [9, 11], [3, 20], [16, 22]] {
            let fit = printed(23, |power, n| {
                time(n) * if [one, other].contains(&power) { 30.0 } else { 1.0 }
            });
            assert_eq!(
                (fit.left_out.as_slice(), ends(&fit).as_slice()),
                (&[1 << one, 1 << other][..], breaks)
            );
        }
    }
}

#[test]
fn a_first_row_that_never_leaves_the_host_is_left_out() {
    for first in [0, 1] {
        let rows = (first..=22).map(|power| {
            let bytes = if power == 0 { 0 } else { 1_u64 << power };
            let ns = if power == first { 950.0 } else { 21.7e3 + bytes as f64 / 11.0 };
            (bytes, (ns / 10.0).round() * 10.0, [5.0; 2])
        });
        let fit = fitted(rows, Breaks::Automatic { most: 5 });
        assert_eq!(fit.left_out, [2 * first]);
        let [segment] = &fit.relative.segments[..] else { panic!("{fit:?}") };
        assert!((segment.t0.unwrap().value / 21.7e3 - 1.0).abs() < 1e-3);
        assert!(segment.residuals.unwrap().rms_relative < 1e-3);
    }
}

#[test]
fn of_a_short_table_and_of_segments_that_are_given_a_size_is_left_out_too() {
    for sizes in 6..12 {
        let fit = printed(sizes, |power, n| if power == 3 { 90e3 } else { 10e3 + 100.0 * n });
        assert_eq!(fit.left_out, [8], "{sizes}");
    }
    let rows = (0..16).map(|power| {
        let n = f64::from(1 << power);
        let line = if power < 8 { 5e3 + n } else { 9e3 + n / 2.0 };
        (1 << power, line * if power == 10 { 3.0 } else { 1.0 }, [0.5; 2])
    });
    let given = fitted(rows.clone(), Breaks::At(vec![128]));
    assert_eq!((given.left_out.as_slice(), ends(&given)), (&[1 << 10][..], vec![128]));
    // Three sizes make a line that none of them can be off.
    let three = fitted(rows.take(11), Breaks::At(vec![128]));
    assert_eq!(three.left_out, []);
}

#[test]
fn a_launch_that_stalled_at_a_size_does_not_spoil_the_others() {
    let launch = |stall: u32| {
        let of = |power: u32| {
            let ns = 10e3 + f64::from(1 << power);
            (
                1 << power,
                ns * (1.0 + 1e-3 * f64::from(power % 3)) * if power == stall { 50.0 } else { 1.0 },
            )
        };
        sized_times_from_pairs((0..20).map(of))
    };
    let each = [launch(99), launch(12), launch(99)];
    let launches: Vec<&[_]> = each.iter().map(Vec::as_slice).collect();
    let fit = fit_launches(&launches, &HockneyOptions::default()).unwrap();
    assert_eq!(fit.left_out, [1 << 12]);
    let segment = &fit.relative.segments[0];
    assert!(segment.launches.iter().all(Option::is_some));
    let r_inf = segment.r_inf.unwrap();
    // No launch has the size, so that none differs.
    assert!((r_inf.value / 1e9 - 1.0).abs() < 0.01 && r_inf.high - r_inf.low < 0.01 * r_inf.value);
}

#[test]
fn noise_a_short_segment_and_a_bend_leave_every_size_in() {
    let mut left_out = 0;
    for seed in 0..600 {
        let (_, time) = TRUTHS[seed as usize % 4];
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = Normal::new(1.0, 0.03).unwrap();
        let pairs = (0..23).map(|power| {
            let ns = time(f64::from(1 << power)) * normal.sample(&mut generator);
            (1_u64 << power, ns)
        });
        let fit = fit(&sized_times_from_pairs(pairs), &HockneyOptions::default()).unwrap();
        left_out += usize::from(!fit.left_out.is_empty());
    }
    // One in a hundred is what the test of a size allows.
    assert!(left_out <= 12, "{left_out} of 600");
    // Three sizes beyond a cache are no stall.
    let beyond = printed(23, |power, n| (10e3 + n) * if power >= 20 { 3.0 } else { 1.0 });
    assert_eq!(beyond.left_out, []);
    let bent = printed(23, |_, n| 1e3 + n.powf(1.3));
    assert_eq!(bent.left_out, []);
}

#[test]
fn rounded_columns_are_no_misfit_and_hold_the_truth() {
    // Times in µs, and rates in MB/s and in GB/s, with fewer and more digits: (unit, digits, whether a rate).
    let columns = [
        (1e3, 0, false),
        (1e3, 1, false),
        (1e6, 2, false),
        (1e6, 2, true),
        (1e6, 0, true),
        (1e9, 3, true),
        (1e9, 2, true),
    ];
    let truths: [(f64, f64); 3] = [(251.5e3, 0.0), (1.6e3, 1.0 / 12.0), (30e3, 0.5)];
    for (unit, digits, is_rate) in columns {
        for (t0, per_byte) in truths {
            let step = 10f64.powi(-digits);
            let rows = (1..=22).filter_map(|power| {
                let bytes = 1_u64 << power;
                let ns = t0 + per_byte * bytes as f64;
                let number = if is_rate { bytes as f64 * 1e9 / ns / unit } else { ns / unit };
                let number = (number / step).round() * step;
                let given = |number: f64| {
                    if is_rate { bytes as f64 * 1e9 / unit / number } else { number * unit }
                };
                let (ns, ends) =
                    (given(number), [number - step / 2.0, number + step / 2.0].map(given));
                let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                // A column of nothing has no time.
                (number > 0.5 * step).then_some((bytes, ns, [ns - least, most - ns]))
            });
            let fit = fitted(rows, Breaks::Automatic { most: 5 });
            let name = format!("{unit} {digits} {is_rate} {t0} {per_byte}: {fit:#?}");
            assert_eq!((fit.relative.segments.len(), fit.left_out.len()), (1, 0), "{name}");
            let segment = &fit.relative.segments[0];
            assert!(!segment.misfit, "{name}");
            let found = segment.t0.unwrap();
            assert!((found.low..=found.high).contains(&t0), "{name}");
        }
    }
}
