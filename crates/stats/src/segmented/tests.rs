use super::*;
use crate::interval::Interval;
use crate::line::Line;
use proptest::prelude::*;

/// Σw(y − line)² of points `start..end`, by the ordinary fit.
fn misfit(points: &Points, start: usize, end: usize) -> f64 {
    let (x, y, w) = (&points.x[start..end], &points.y[start..end], &points.weights[start..end]);
    let line = Line::fit(x, y, w).expect("different x");
    x.iter().zip(y).zip(w).map(|((x, y), w)| w * (y - line.at(*x)).powi(2)).sum()
}

/// The least misfit of points `start..` in `segments`, trying every cut.
fn brute(points: &Points, start: usize, segments: usize) -> f64 {
    let count = points.x.len();
    if segments == 1 {
        return misfit(points, start, count);
    }
    let ends = start + points.fewest..=count - (segments - 1) * points.fewest;
    ends.map(|end| misfit(points, start, end) + brute(points, end, segments - 1))
        .fold(f64::INFINITY, f64::min)
}

/// The search for so many segments of four points, of exact y with so much noise.
fn found(x: &[f64], y: &[f64], most: usize, noise: &[f64]) -> Option<Choice> {
    let ranges: Vec<Interval> = y.iter().map(|&y| Interval { low: y, high: y }).collect();
    search(x, y, Limits { fewest: 4, cuts: Cuts::Most(most), noise, ranges: &ranges })
}

/// x, y and weights from random steps.
fn columns(raw: &[(f64, f64, f64)]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let x = raw.iter().scan(0.0, |x, p| {
        *x += p.0;
        Some(*x)
    });
    (x.collect(), raw.iter().map(|p| p.1).collect(), raw.iter().map(|p| p.2).collect())
}

proptest! {
    #[test]
    fn no_cut_is_better(
        raw in prop::collection::vec((0.5..100.0f64, 1.0..50.0f64, 0.1..3.0f64), 6..16),
        fewest in 2..4usize,
    ) {
        let (x, y, weights) = columns(&raw);
        let points = Points { x: &x, y: &y, weights: &weights, fewest };
        let best = partitions(&points, 4);
        prop_assert_eq!(best.len(), 4.min(x.len() / fewest));
        for (index, starts) in best.iter().enumerate() {
            let expected = brute(&points, 0, index + 1);
            // The cuts named are those of that misfit, and leave enough points.
            let ends = starts.iter().skip(1).copied().chain([x.len()]);
            let mut sum = 0.0;
            for (&start, end) in starts.iter().zip(ends) {
                prop_assert!(end - start >= fewest);
                sum += misfit(&points, start, end);
            }
            prop_assert!((sum - expected).abs() <= 1e-9 * (1.0 + expected));
        }
    }

    #[test]
    fn the_choice_knows_no_units(
        raw in prop::collection::vec((1.0..100.0f64, 50.0..100.0f64, 1.0..2.0f64), 12..30),
        (across, up) in (1e-3..1e3f64, 1e-6..1e6f64),
    ) {
        let (x, y, _) = columns(&raw);
        let scaled = |values: &[f64], by: f64| values.iter().map(|v| v * by).collect::<Vec<_>>();
        let noise = vec![1e-6; x.len()];
        let one = found(&x, &y, 3, &noise).unwrap();
        let other = found(&scaled(&x, across), &scaled(&y, up), 3, &noise).unwrap();
        prop_assert_eq!(&one.starts, &other.starts);
        prop_assert!((one.noise / other.noise - 1.0).abs() < 1e-6);
    }
}

/// Twelve points on y = 100 + x, then twelve on y = 400 + x/2, each off by ±1 % in turn.
fn two_lines() -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..24).map(|i| f64::from(i) * 10.0).collect();
    let y = x.iter().enumerate().map(|(i, x)| {
        let line = if i < 12 { 100.0 + x } else { 400.0 + x / 2.0 };
        line * if i % 2 == 0 { 1.01 } else { 0.99 }
    });
    (x.clone(), y.collect())
}

#[test]
fn two_lines_with_a_jump() {
    let (x, y) = two_lines();
    let choice = found(&x, &y, 4, &vec![1e-6; x.len()]).unwrap();
    assert_eq!(choice.starts, [0, 12]);
    // At x = 110 the first line has 210, at 120 the second has 460: no noise of 1 % moves the cut.
    let points = Points { x: &x, y: &y, weights: &choice.weights, fewest: 4 };
    assert_eq!(break_range(&points, &[0, 12], 1, 0.95), (12, 12));
    // A hundred times the noise allows every place that leaves four points on each side.
    let weights: Vec<f64> = choice.weights.iter().map(|weight| weight / 1e4).collect();
    let points = Points { weights: &weights, ..points };
    assert_eq!(break_range(&points, &[0, 12], 1, 0.95), (4, 20));
}

#[test]
fn noise_of_a_few_points_is_not_taken_for_a_line_of_their_own() {
    // On y = 100 + x; the first six are off by ±1 % in turn, the others by ±0.01 %. The first six lean
    // by chance: 1, 1, 1, −1, −1, −1.
    let x: Vec<f64> = (0..30).map(|i| f64::from(i) * 10.0).collect();
    let off = |i: usize| match i {
        0..3 => 1e-2,
        3..6 => -1e-2,
        i if i % 2 == 0 => 1e-4,
        _ => -1e-4,
    };
    let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| (100.0 + x) * (1.0 + off(i))).collect();
    let mut noise = vec![1e-6; 30];
    let unknown = found(&x, &y, 3, &noise).unwrap();
    assert_eq!(unknown.starts, [0, 6]);
    noise[..6].fill(1e-2);
    let known = found(&x, &y, 3, &noise).unwrap();
    assert_eq!(known.starts, [0]);
    // The others' noise is found from the others: 1e-4, not 1 %.
    assert!((known.noise / 1e-4 - 1.0).abs() < 0.2, "{}", known.noise);
}

#[test]
fn known_noise_forbids_more_segments() {
    // ±1 % in turn within each line is explained by no line; with a noise of 100 % known from
    // repetitions, not even the jump counts.
    let (x, y) = two_lines();
    let choice = found(&x, &y, 4, &vec![1.0; x.len()]).unwrap();
    assert_eq!(choice.starts, [0]);
}

#[test]
fn exact_lines_stay_whole() {
    // Without any noise the criterion must not chase rounding.
    let x: Vec<f64> = (0..200).map(|i| f64::from(i * i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 1234.5 + 0.317 * x).collect();
    let choice = found(&x, &y, 5, &vec![1e-6; x.len()]).unwrap();
    assert_eq!(choice.starts, [0]);
}

#[test]
fn long_tables_keep_exact_cuts() {
    // 5000 points, more than are searched exactly; lines change at 1234 and 3210, inside blocks.
    let x: Vec<f64> = (0..5000).map(f64::from).collect();
    let y: Vec<f64> = (0..5000u32)
        .map(|i| {
            let x = f64::from(i);
            let line = match i {
                0..1234 => 100.0 + 0.1 * x,
                1234..3210 => 300.0 + 0.05 * x,
                _ => 600.0 + 0.01 * x,
            };
            line * (1.0 + 0.01 * f64::from(i % 5) - 0.02)
        })
        .collect();
    let choice = found(&x, &y, 4, &vec![1e-6; x.len()]).unwrap();
    assert_eq!(choice.starts, [0, 1234, 3210]);
}

#[test]
fn too_few_points_have_no_cut() {
    assert!(found(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 2, &[0.01; 3]).is_none());
}
