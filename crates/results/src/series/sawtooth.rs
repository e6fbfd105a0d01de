//! Sizes that are nearly the same and take times that are not.

use std::cmp::Reverse;

use super::schema::{Series, SeriesPoint};
use crate::measured::listed;

/// Sizes are neighbours where the longer is less than this times the shorter.
const NEIGHBOURS: f64 = 1.1;
/// Times that differ by more than this factor are told.
const APART: f64 = 1.5;
/// Pairs that are named before the others are only counted.
const NAMED: usize = 4;

/// Two neighbouring sizes of one curve, the slower one first, and how many times as long it takes.
type Step<'a> = (&'a SeriesPoint, &'a SeriesPoint, f64);

/// Neighbouring sizes whose times differ by far, with intervals that do not meet: a round size is fast, say, and a few
/// bytes more take another way. `None` where there are none.
pub(super) fn sentence(series: &Series) -> Option<String> {
    let curves = series.curves();
    let pairs = curves.iter().flat_map(|(which, points)| {
        let windows = points.windows(2).filter(|pair| are_neighbours(pair[0], pair[1]));
        windows.map(move |pair| (which, pair))
    });
    let (mut all, mut apart) = (0, Vec::new());
    for (which, pair) in pairs {
        all += 1;
        apart.extend(step(pair[0], pair[1]).map(|step| (which, step)));
    }
    apart.sort_by_key(|(_, (.., times))| Reverse((1e3 * times) as u64));
    let named = apart.iter().take(NAMED).map(|(which, (slow, fast, times))| {
        let which = Some(which.words()).filter(|words| !words.is_empty());
        let of = which.map(|words| format!(" ({words})")).unwrap_or_default();
        let (slow, fast) = (slow.size_in_words(), fast.size_in_words());
        format!("{slow} takes {times:.1} times as long as {fast}{of}")
    });
    let mut named: Vec<String> = named.collect();
    if apart.len() > NAMED {
        named.push(format!("{} more", apart.len() - NAMED));
    }
    (!apart.is_empty()).then(|| {
        format!(
            "Of {all} pairs of neighbouring sizes, which differ by less than 10 %, {} differ in time by more than \
             {APART} times: {}.",
            apart.len(),
            listed(&named)
        )
    })
}

fn are_neighbours(a: &SeriesPoint, b: &SeriesPoint) -> bool {
    let [shorter, longer] = [a, b].map(|point| point.size() as f64);
    a.dimension.is_none() && shorter > 0.0 && longer > shorter && longer < NEIGHBOURS * shorter
}

fn step<'a>(a: &'a SeriesPoint, b: &'a SeriesPoint) -> Option<Step<'a>> {
    let is_faster = a.time.value.0 < b.time.value.0;
    let (fast, slow) = if is_faster { (a, b) } else { (b, a) };
    let times = slow.time.value.0 / fast.time.value.0;
    let ((_, high), (low, _)) = (fast.time.interval()?, slow.time.interval()?);
    (times > APART && times.is_finite() && high < low).then_some((slow, fast, times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::{example, point};

    fn said(times: &[(u64, f64)]) -> Option<String> {
        let points = times.iter().map(|(bytes, time)| point(*bytes, 2, *time)).collect();
        sentence(&example("comms1", points))
    }

    #[test]
    fn sizes_that_are_nearly_the_same_and_take_other_times_are_named() {
        // 61 and 67 are within 10 % of 64; 3 and 5 are not of 4.
        let saw = [(3, 90.0), (4, 40.0), (5, 90.0), (61, 120.0), (64, 60.0), (67, 99.0)];
        assert_eq!(
            said(&saw).as_deref(),
            Some(
                "Of 2 pairs of neighbouring sizes, which differ by less than 10 %, 2 differ in time by more than 1.5 \
                 times: 61 B takes 2.0 times as long as 64 B and 67 B takes 1.7 times as long as 64 B."
            )
        );
        // 1.5 times is not more, and a longer message may take longer.
        assert_eq!(said(&[(61, 89.0), (64, 60.0), (128, 400.0)]), None);
    }

    #[test]
    fn the_worst_are_named_and_the_others_counted() {
        let saw = (0..6).flat_map(|at| [(1000 << at, 10.0 + f64::from(at)), (1001 << at, 100.0)]);
        let said = said(&saw.collect::<Vec<_>>()).unwrap();
        assert!(said.contains(" 6 differ in time") && said.ends_with(" and 2 more."), "{said}");
        assert!(said.contains("1001 B takes 10.0 times as long as 1000 B"), "{said}");
    }

    #[test]
    fn times_that_are_not_known_well_enough_are_not_told() {
        let mut series = example("comms1", vec![point(61, 2, 120.0), point(64, 2, 60.0)]);
        assert!(sentence(&series).is_some());
        (series.points[0].time.low, series.points[0].time.high) = (None, None);
        assert_eq!(sentence(&series), None);
    }
}
