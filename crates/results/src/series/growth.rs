//! How the times of a series grow: with the dimension of a matrix, and with the number of ranks.

use std::collections::BTreeMap;

use bandgap_campaign::signature::judge;
use bandgap_model::doublings::{RankTime, doublings, doublings_over_launches};
use bandgap_model::growth::{ESTIMATOR, Growth, Law, growth, growth_over_launches};
use bandgap_record::{Convergence, Evidence, Number, Quantity, RecordError, Seconds, Unit};
use bandgap_report::table::{interval, value};
use bandgap_stats::{Interval, Rule};
use bandgap_units::{Fraction, Ns, significant};

use super::derived::{RankGrowth, SizeGrowth};
use super::schema::{Series, SeriesPoint};
use crate::measured::{LostLaunch, Which, lost_in_words, recorded};

/// Curves of a figure over ranks, at most.
const CURVES: usize = 6;

/// How each curve of a series over dimensions grows with them.
pub(super) fn over_sizes(
    series: &Series,
    (confidence, rule): (f64, Rule),
) -> Result<Vec<SizeGrowth>, RecordError> {
    let mut found = Vec::new();
    if series.points.iter().any(|point| point.dimension.is_none()) {
        return Ok(found);
    }
    for (which, points) in series.curves() {
        let sizes: Vec<f64> = points.iter().map(|point| point.size() as f64).collect();
        let times: Vec<f64> =
            points.iter().filter_map(|point| point.time.as_time()).map(|t| t.0).collect();
        let own = launch_times(&points);
        let (mut exponents, mut lost_launches) = (Vec::new(), Vec::new());
        for (launch, of) in own {
            let (sizes, times): (Vec<f64>, Vec<f64>) = of.into_iter().unzip();
            match growth(&sizes, &times, confidence) {
                Some(own) => exponents.push(own.exponent),
                None => lost_launches.push(without_fit(launch)),
            }
        }
        let of = growth_over_launches(&sizes, &times, &exponents, confidence);
        let Some(of) = of else { continue };
        found.push(SizeGrowth {
            which,
            lost_launches,
            from: points.iter().map(|point| point.size()).min().unwrap_or(0),
            to: points.iter().map(|point| point.size()).max().unwrap_or(0),
            law: of.law,
            exponent: exponent(&of, sizes.len(), rule)?,
            constant: Seconds::from(Ns(of.constant)),
            factor: Seconds::from(Ns(of.factor)),
            rms_relative: Number(of.rms_relative),
        });
    }
    Ok(found)
}

/// The sizes of a curve and their times in nanoseconds, by launch, where there are several.
fn launch_times(points: &[&SeriesPoint]) -> BTreeMap<u32, Vec<(f64, f64)>> {
    let mut launches = BTreeMap::<u32, Vec<(f64, f64)>>::new();
    for point in points {
        for (launch, time) in point.launch_times() {
            launches.entry(launch).or_default().push((point.size() as f64, time));
        }
    }
    if launches.len() < 2 { BTreeMap::new() } else { launches }
}

/// A launch that has times, but too few of them.
fn without_fit(launch: u32) -> LostLaunch {
    LostLaunch { launch, reason: "too few points for a fit of its own".to_owned() }
}

/// An exponent as it is recorded: without an interval where that has no end.
fn exponent(of: &Growth, sizes: usize, rule: Rule) -> Result<Quantity, RecordError> {
    let judged =
        |interval: Interval| rule.without_clock().judge(interval.half_width(), of.exponent);
    let convergence = of.interval.map_or(Convergence::No, judged);
    let evidence = Evidence::new(ESTIMATOR, sizes as u64, convergence);
    let ends = of.interval.map(|interval| (interval.low, interval.high));
    Quantity::new(of.exponent, ends, Unit::One, evidence)
}

/// How a series over several numbers of ranks grows with their doublings: at a few sizes, in each
/// variant.
pub(super) fn over_ranks(
    series: &Series,
    (confidence, rule): (f64, Rule),
) -> Result<Vec<RankGrowth>, RecordError> {
    let mut found = Vec::new();
    if !series.has_several_ranks() {
        return Ok(found);
    }
    let sizes = few_sizes(series);
    let several = series.has_several_variants();
    // Times over ranks, by variant and size.
    let mut curves = BTreeMap::<(Option<String>, u64), Vec<RankTime>>::new();
    let mut launches = BTreeMap::<(Option<String>, u64, u32), Vec<RankTime>>::new();
    for point in series.points.iter().filter(|point| sizes.contains(&point.size())) {
        let variant = point.variant.clone().filter(|_| several);
        let Some(Ns(ns)) = point.time.as_time() else { continue };
        let half = |(low, high): (f64, f64)| Ns::from_secs((high - low) / 2.0).0;
        let half_width = point.time.interval().map(half);
        let time = RankTime { ranks: point.ranks, ns, half_width };
        for (launch, ns) in point.launch_times() {
            let own = launches.entry((variant.clone(), point.size(), launch)).or_default();
            own.push(RankTime { ranks: point.ranks, ns, half_width: None });
        }
        curves.entry((variant, point.size())).or_default().push(time);
    }
    for ((variant, size), times) in curves {
        let (mut rises, mut lost_launches) = (Vec::new(), Vec::new());
        for ((_, _, launch), times) in
            launches.iter().filter(|((v, s, _), _)| (v, *s) == (&variant, size))
        {
            match doublings(times, confidence) {
                Some(own) => rises.push(own.per_doubling.value),
                None => lost_launches.push(without_fit(*launch)),
            }
        }
        let of = doublings_over_launches(&times, &rises, confidence);
        let Some(of) = of else { continue };
        let powers = times.iter().map(|time| time.ranks).filter(|ranks| ranks.is_power_of_two());
        found.push(RankGrowth {
            lost_launches,
            variant,
            size,
            ranks: powers.collect(),
            constant: Seconds::from(Ns(of.constant)),
            per_doubling: recorded(
                &of.per_doubling,
                Unit::Second,
                judge(&of.per_doubling, &rule.without_clock()),
            )?,
            rms_relative: Number(of.rms_relative),
            linear: of.is_linear,
        });
    }
    Ok(found)
}

/// A few sizes of a series that were measured on all numbers of ranks: the least, the greatest, and
/// powers of two between them.
pub(super) fn few_sizes(series: &Series) -> Vec<u64> {
    let mut on: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for point in &series.points {
        on.entry(point.size()).or_default().push(point.ranks);
    }
    let mut ranks: Vec<u32> = series.points.iter().map(|point| point.ranks).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let everywhere = |on: &[u32]| ranks.iter().all(|ranks| on.contains(ranks));
    let sizes: Vec<u64> =
        on.iter().filter(|(_, on)| everywhere(on)).map(|(size, _)| *size).collect();
    let (Some(&least), Some(&most)) = (sizes.first(), sizes.last()) else { return Vec::new() };
    let round: Vec<u64> = sizes
        .into_iter()
        .filter(|size| [least, most].contains(size) || size.is_power_of_two())
        .collect();
    let last = round.len() - 1;
    let wanted = CURVES.min(round.len()).max(2) - 1;
    let mut few: Vec<u64> =
        (0..=wanted).map(|at| round[(at * last + wanted / 2) / wanted]).collect();
    few.dedup();
    few
}

/// Both in words.
pub(super) fn sentences(series: &Series) -> Vec<String> {
    let mut told: Vec<String> = series.growth.iter().map(sized).collect();
    if !series.has_several_ranks() || series.points.iter().any(|point| point.dimension.is_some()) {
        return told;
    }
    if series.doublings.is_empty() {
        told.push(
            "Whether the time is linear in log₂ P is undecided: that takes three powers of two as \
             numbers of ranks P."
                .to_owned(),
        );
    }
    let alike = series.doublings.chunk_by(|a, b| a.variant == b.variant);
    told.extend(alike.map(|of| doubled(series, of)));
    told
}

/// Which launches are in no interval of an exponent, or of a rise.
pub(super) fn lost(series: &Series) -> Vec<String> {
    let of_sizes = series.growth.iter().map(|of| &of.lost_launches);
    let of_ranks = series.doublings.iter().map(|of| &of.lost_launches);
    let mut all: Vec<&LostLaunch> = of_sizes.chain(of_ranks).flatten().collect();
    all.sort_by_key(|of| of.launch);
    all.dedup();
    let all: Vec<LostLaunch> = all.into_iter().cloned().collect();
    let what = "no growth of its own for every curve";
    lost_in_words(series.launches, &all, what).into_iter().collect()
}

fn sized(of: &SizeGrowth) -> String {
    let how = match of.law {
        Law::Linear => "is linear in N",
        Law::Quadratic => "is quadratic in N",
        Law::Power => "grows neither like N nor like N²",
        Law::Undecided => "grows with N in a way that these sizes leave undecided",
    };
    let subject = match of.which.words() {
        none if none.is_empty() => "The time".to_owned(),
        words => format!("The time on {words}"),
    };
    format!(
        "{subject} {how} from N = {} to {}: t = a + b·Nᵉ with e = {} ({}) and a = {}.",
        of.from,
        of.to,
        significant(of.exponent.value.0, 3),
        match of.exponent.interval() {
            Some(_) => interval(&of.exponent),
            None => "its interval has no end".to_owned(),
        },
        of.constant.ns(),
    )
}

/// A sentence on all sizes of a variant.
fn doubled(series: &Series, of: &[RankGrowth]) -> String {
    let words = |size: u64| {
        let point = series.points.iter().find(|point| point.size() == size);
        point.map_or(size.to_string(), SeriesPoint::size_in_words)
    };
    let one = |growth: &RankGrowth| {
        let at = match series.has_one_size() {
            true => String::new(),
            false => format!("{} ", words(growth.size)),
        };
        // What is below this is rounding.
        let share = if growth.rms_relative.0 < 1e-9 { 0.0 } else { growth.rms_relative.0 };
        format!(
            "{at}({}, {}, a doubling; residuals {})",
            value(&growth.per_doubling),
            interval(&growth.per_doubling),
            Fraction(share)
        )
    };
    let at = if series.has_one_size() { " " } else { " at " };
    let part = |is: &dyn Fn(&RankGrowth) -> bool| {
        let all: Vec<String> = of.iter().filter(|of| is(of)).map(one).collect();
        (!all.is_empty()).then(|| format!("{at}{}", all.join(", ")))
    };
    let rises = |of: &RankGrowth| of.per_doubling.interval().is_some_and(|(low, _)| low > 0.0);
    let decided = |linear: bool| {
        let is = if linear { "linear" } else { "not linear" };
        Some(format!("{is} in log₂ P{}", part(&|of| of.linear == Some(linear))?))
    };
    let who = of[0].variant.as_ref().map_or(String::new(), |variant| format!(" of {variant}"));
    let parts: Vec<String> = [true, false].into_iter().filter_map(decided).collect();
    let decided = (!parts.is_empty()).then(|| format!("The time{who} is {}.", parts.join("; ")));
    let unknown = part(&|of| of.linear.is_none() && rises(of)).map(|places| {
        format!(
            "The times{who} are not known well enough to say whether they are linear in log₂ \
             P{places}."
        )
    });
    let undecided = part(&|of| of.linear.is_none() && !rises(of)).map(|places| {
        format!("Whether the time{who} rises linearly with log₂ P is undecided{places}.")
    });
    [decided, unknown, undecided].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The fitted time at a size, in nanoseconds.
pub(super) fn at(growth: &SizeGrowth, size: f64) -> f64 {
    growth.constant.ns().0 + growth.factor.ns().0 * size.powf(growth.exponent.value.0)
}

/// The growth of a curve.
pub(super) fn of_curve<'a>(series: &'a Series, which: &Which) -> Option<&'a SizeGrowth> {
    series.growth.iter().find(|growth| growth.which == *which)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::examples::RULE;
    use crate::series::tests::{example, point};

    #[test]
    fn how_matrices_grow_is_told_in_a_sentence() {
        let matrix = |rows: u64| {
            let time = 3e5 + 2.0 * (rows * rows) as f64;
            SeriesPoint { dimension: Some(rows), ..point(8 * rows, 16, time) }
        };
        let mut series = example("transpose", [64, 128, 256, 512, 1024].map(matrix).into());
        series.growth = over_sizes(&series, (0.95, RULE)).unwrap();
        let [told] = &sentences(&series)[..] else { panic!("{:?}", sentences(&series)) };
        assert!(told.starts_with("The time is quadratic in N from N = 64 to 1024:"), "{told}");
        assert!(told.contains("e = 2.00 (2.00 to 2.00) and a = 300 µs"), "{told}");
        assert!((at(&series.growth[0], 512.0) / (3e5 + 2.0 * 512.0 * 512.0) - 1.0).abs() < 1e-3);
        // An exponent at the end of those that are looked at.
        let steep = |rows: u64| SeriesPoint {
            dimension: Some(rows),
            ..point(8 * rows, 16, 1e-3 * (rows as f64).powi(4))
        };
        series.points = [64, 128, 256, 512, 1024].map(steep).into();
        series.growth = over_sizes(&series, (0.95, RULE)).unwrap();
        let exponent = &series.growth[0].exponent;
        assert!(exponent.interval().is_none() && !exponent.converged, "{exponent:?}");
        let told = sentences(&series).concat();
        assert!(
            told.contains("leave undecided") && told.contains("(its interval has no end)"),
            "{told}"
        );
        // Over bytes there is none.
        let bytes = example("echo", vec![point(8, 2, 1e3)]);
        assert_eq!(over_sizes(&bytes, (0.95, RULE)).unwrap(), []);
    }

    fn over(ranks: &[u32], time: impl Fn(f64) -> f64) -> Series {
        let at = |ranks: u32| [8, 64, 512, 4096].map(|n| point(n, ranks, time(f64::from(ranks))));
        let mut series = example("broadcast", ranks.iter().flat_map(|ranks| at(*ranks)).collect());
        series.doublings = over_ranks(&series, (0.95, RULE)).unwrap();
        series
    }

    #[test]
    fn what_is_linear_in_doublings_is_told_and_what_is_undecided() {
        let tree = over(&[2, 4, 8], |ranks| 1e3 * ranks.log2());
        assert!(
            tree.doublings.iter().all(|of| of.linear == Some(true)) && tree.doublings.len() == 4
        );
        let told = sentences(&tree).concat();
        assert!(
            told.starts_with(
                "The time is linear in log₂ P at 8 B (1.00 µs, 1.00 to 1.00 µs, a doubling;"
            ),
            "{told}"
        );
        let line = sentences(&over(&[2, 4, 8, 16, 32], |ranks| 1e3 * ranks.sqrt())).concat();
        assert!(line.starts_with("The time is not linear in log₂ P at 8 B"), "{line}");
        // Three of what doubles each time say little.
        let few = sentences(&over(&[2, 4, 8], |ranks| 1e3 * (ranks - 1.0))).concat();
        // They rise; how is not known.
        assert!(
            few.starts_with("Whether the time rises linearly with log₂ P is undecided at 8 B"),
            "{few}"
        );
        // The same tree, of times that are known to 12 %.
        let mut vague = tree.clone();
        for point in &mut vague.points {
            let by = |share: f64| Some(Number(point.time.value.0 * share));
            (point.time.low, point.time.high) = (by(0.88), by(1.12));
        }
        vague.doublings = over_ranks(&vague, (0.95, RULE)).unwrap();
        let told = sentences(&vague).concat();
        let begin =
            "The times are not known well enough to say whether they are linear in log₂ P at 8 B (";
        assert!(
            told.starts_with(begin) && vague.doublings.iter().all(|of| of.linear.is_none()),
            "{told}"
        );
        let two = sentences(&over(&[2, 4], |ranks| 1e3 * ranks)).concat();
        assert!(two.contains("undecided"), "{two}");
        assert_eq!(sentences(&over(&[4], |ranks| ranks)), [""; 0]);
    }

    #[test]
    fn a_few_sizes_are_the_ends_and_powers_between() {
        let mut points = Vec::new();
        for ranks in [2, 4] {
            points.extend(
                [0, 1, 3, 4, 13, 16, 64, 253, 256, 1024, 5000].map(|n| point(n, ranks, 1e3)),
            );
        }
        // What not all have does not count.
        points.push(point(9999, 4, 1e3));
        let few = few_sizes(&example("broadcast", points));
        assert_eq!((few.first(), few.last(), few.len()), (Some(&0), Some(&5000), 6));
        assert!(few[1..5].iter().all(|size| size.is_power_of_two()), "{few:?}");
    }
}
