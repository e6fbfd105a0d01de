//! K requesters to one replier: the gap of each, and how it grows.

use bandgap_campaign::Setting;
use bandgap_campaign::fan_in::{CONTENDED, key};
use bandgap_campaign::judge::Judged;
use bandgap_record::{Convergence, Evidence, Quantity, RecordError};
use bandgap_stats::launches::over_launches;
use bandgap_stats::{Interval, Point};

use super::{Contention, ContentionRow};
use crate::error::AssembleError;
use crate::measured::{Launches, Pattern, conditions, convergence_of, estimated};

/// One row per K that was measured.
pub(crate) fn contention(
    judged: &Judged<'_>,
    setting: &Setting,
) -> Result<Contention, AssembleError> {
    judged.point(&key(1)).ok_or(AssembleError::Empty)?;
    let (mut rows, mut seen) = (Vec::new(), Vec::new());
    for (point, _) in judged.table().iter() {
        let Some(requesters) = point.number("requesters").map(|k| k as usize) else { continue };
        let Some(gap) = estimated(judged, point, setting.is_virtual()) else { continue };
        let ratio =
            ratio(judged, requesters, &gap, convergence_of(judged, &key(1), setting.is_virtual()))?;
        seen.push(judged.by_launch(point).into_keys().collect());
        rows.push(ContentionRow { requesters: requesters as u32, ratio, gap });
    }
    let transport = setting.transport.clone();
    let measured = judged.table().iter().flat_map(|(_, batches)| batches);
    let launches = Launches::of_points(setting.launches, measured.map(|b| b.launch), &seen);
    let Launches { lost, mut findings } = launches;
    findings.extend(conditions(setting, CONTENDED));
    Ok(Contention { pattern: Pattern::FanIn, transport, lost_launches: lost, rows, findings })
}

/// g_K / g_1; for K = 1 it is 1 by definition, without an error, however much g_1 scatters. It has
/// converged if both gaps have, g_1 as told by `alone`, and its own interval is within the precision.
fn ratio(
    judged: &Judged<'_>,
    requesters: usize,
    gap: &Quantity,
    alone: Convergence,
) -> Result<Quantity, RecordError> {
    let keys = [key(requesters), key(1)];
    let confidence = judged.confidence();
    let pooled = keys.each_ref().map(|key| {
        let values: Vec<_> = judged.in_rounds(key).collect();
        Point::in_rounds(&values, confidence)
    });
    let (ratio, interval) = match pooled {
        [Some(all), Some(alone)] if requesters > 1 => {
            let ratio = all.value / alone.value;
            // Relative widths of numerator and denominator add in quadrature.
            let relative = |point: &Point| point.interval.half_width() / point.value;
            let half = ratio * relative(&all).hypot(relative(&alone));
            let interval = Interval { low: ratio - half, high: ratio + half };
            // In a ratio cancels what a launch does to both gaps alike.
            let own = judged.launches_of_both(&keys).into_iter();
            let own: Vec<f64> = own.map(|[all, alone]| all / alone).collect();
            over_launches((ratio, interval), &own, confidence)
        }
        _ => (1.0, Interval { low: 1.0, high: 1.0 }),
    };
    let half = interval.half_width();
    let estimator = "ratio of gaps, relative widths in quadrature";
    let convergence = match requesters {
        1 => Convergence::Converged,
        _ => {
            let own = judged.rule().without_clock().judge(half, ratio);
            own.min(gap.convergence()).min(alone)
        }
    };
    let evidence = Evidence::new(estimator, gap.samples, convergence);
    Quantity::number(ratio, Some((interval.low, interval.high)), evidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bandgap_campaign::data::{Batch, Kept, Table};

    /// Batches whose value is the number given.
    fn table(gaps: &[(usize, [f64; 2])]) -> Table {
        let mut table = Table::default();
        for (requesters, values) in gaps {
            for value in values {
                let samples = vec![*value];
                let batch = Batch { samples, ..Batch::default() };
                table.push(Kept::Batch { key: key(*requesters), batch });
            }
        }
        table
    }

    #[test]
    fn ratios_are_to_one_requester_whose_own_is_one() {
        // Of several gaps g_1, g / 1e9 · 1e9 / g is not 1 for some.
        for tenths in 1..=100 {
            let own = f64::from(tenths) / 10.0;
            // Means own and 3·own; half-widths t·s/√2 of [x − d, x + d] are t·d with t(1, 95 %) =
            // 12.7062, so relative 12.7062·0.01 for both, and √2 of that for the ratio.
            let table =
                table(&[(1, [0.99 * own, 1.01 * own]), (3, [0.99 * 3.0 * own, 1.01 * 3.0 * own])]);
            let judged = Judged::of(&table, 0.95, 0.05, 1);
            let setting = Setting { cpus: Some(vec![0, 1]), ..Setting::default() };
            let found = contention(&judged, &setting).unwrap();
            let [one, three] = &found.rows[..] else { panic!("two rows") };
            let exact = |q: &Quantity| [Some(q.value.0), q.low.map(|n| n.0), q.high.map(|n| n.0)];
            assert_eq!(exact(&one.ratio), [Some(1.0); 3]);
            // ±12.7 % is more than 5 %, of the gaps but not of 1.
            assert_eq!([one.ratio.converged, one.gap.converged], [true, false]);
            assert!((three.ratio.value.0 - 3.0).abs() < 1e-9);
            let half = 3.0 * 0.127_062 * f64::sqrt(2.0);
            assert!((three.ratio.high.unwrap().0 - 3.0 - half).abs() < 1e-4);
        }
    }

    #[test]
    fn a_ratio_of_two_gaps_that_have_converged_may_be_wider_than_they() {
        // Five batches each, half-widths t(4, 95 %)·s/√5 = 2.776·s/√5 of the mean: 3.9 % both, so
        // √2 of that for the ratio, 5.6 %.
        let around = |mean: f64| [-0.04, -0.02, 0.0, 0.02, 0.04].map(|share| mean * (1.0 + share));
        let mut table = Table::default();
        for (requesters, mean) in [(1, 10.0), (3, 30.0)] {
            for value in around(mean) {
                let batch = Batch { samples: vec![value], ..Batch::default() };
                table.push(Kept::Batch { key: key(requesters), batch });
            }
        }
        let setting = Setting { cpus: Some(vec![0, 1]), ..Setting::default() };
        for (precision, converged) in [(0.05, [true, false]), (0.06, [true, true])] {
            let judged = Judged::of(&table, 0.95, precision, 1);
            let rows = contention(&judged, &setting).unwrap().rows;
            assert_eq!([rows[1].gap.converged, rows[1].ratio.converged], converged);
        }
    }

    #[test]
    fn the_interval_of_a_ratio_is_as_wide_as_was_asked_for() {
        let around = |mean: f64| [0.99 * mean, 1.01 * mean];
        let table = table(&[(1, around(10.0)), (3, around(30.0))]);
        let setting = Setting { cpus: Some(vec![0, 1]), ..Setting::default() };
        // t(1) = 12.7062 at 95 %, and tan(0.45 π) = 6.3138 at 90 %; times 1 % of 3, and √2.
        for (confidence, factor) in [(0.95, 12.7062), (0.9, 6.3138)] {
            let judged = Judged::of(&table, confidence, 0.05, 1);
            let rows = contention(&judged, &setting).unwrap().rows;
            let (low, high) = rows[1].ratio.interval().unwrap();
            let half = 0.03 * factor * f64::sqrt(2.0);
            assert!(((high - low) / 2.0 - half).abs() < 1e-4, "{confidence}: {low} to {high}");
        }
    }

    #[test]
    fn without_one_requester_there_is_nothing_to_compare_with() {
        let table = table(&[(3, [3.0, 3.1])]);
        let judged = Judged::of(&table, 0.95, 0.05, 1);
        let setting = Setting::default();
        assert!(matches!(contention(&judged, &setting), Err(AssembleError::Empty)));
    }
}
