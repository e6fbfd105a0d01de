//! Launches that gave nothing, and points that not all launches have.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A launch that gave nothing to a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostLaunch {
    /// Which, from 0 as of a batch.
    pub launch: u32,
    /// Why.
    pub reason: String,
}

/// What there is to say of the launches of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launches {
    /// Those that gave nothing.
    pub(crate) lost: Vec<LostLaunch>,
    /// That in words, and how many points not all of the others have.
    pub(crate) findings: Vec<String>,
}

impl Launches {
    /// Of a result whose points have batches that count of these launches, of so many begun. Launches in
    /// `measured` have batches, whether they count or not.
    pub(crate) fn of_points(
        begun: u32,
        measured: impl IntoIterator<Item = u32>,
        points: &[BTreeSet<u32>],
    ) -> Launches {
        let measured: BTreeSet<u32> = measured.into_iter().collect();
        let counted: BTreeSet<u32> = points.iter().flatten().copied().collect();
        let reason = |launch| match measured.contains(&launch) {
            true => "none of its batches counts here",
            false => "it has no batch",
        };
        let lost = |launch| LostLaunch { launch, reason: reason(launch).to_owned() };
        let missing = (0..begun).filter(|launch| !counted.contains(launch));
        let mut all = Launches::lost(begun, missing.map(lost).collect());
        all.findings.extend(partly(points, counted.len()));
        all
    }

    /// These, of so many begun. A single launch is no matter of launches.
    pub(crate) fn lost(begun: u32, lost: Vec<LostLaunch>) -> Launches {
        if begun < 2 {
            return Launches::default();
        }
        let findings = lost_in_words(begun, &lost, "nothing").into_iter().collect();
        Launches { lost, findings }
    }
}

/// Of a fit to these launches, of which those at the indices in `lost` have too few times for a fit of
/// their own.
pub(crate) fn unfitted(begun: u32, launches: &[u32], lost: &[usize]) -> Launches {
    let lost: Vec<u32> = lost.iter().map(|&index| launches[index]).collect();
    let of = |launch: u32| {
        let reason = match launches.contains(&launch) {
            true if !lost.contains(&launch) => return None,
            true => "too few sizes of a segment for a line",
            false => "no times that count",
        };
        Some(LostLaunch { launch, reason: reason.to_owned() })
    };
    let lost: Vec<LostLaunch> = (0..begun).filter_map(of).filter(|_| begun > 1).collect();
    let findings = lost_in_words(begun, &lost, "no fit of its own").into_iter().collect();
    Launches { lost, findings }
}

/// That these of so many launches gave no `what`, each with the reason; `None` where all did.
pub(crate) fn lost_in_words(begun: u32, lost: &[LostLaunch], what: &str) -> Option<String> {
    if lost.is_empty() {
        return None;
    }
    let named: Vec<String> =
        lost.iter().map(|of| format!("launch {} ({})", of.launch + 1, of.reason)).collect();
    let give = if lost.len() == 1 { "gives" } else { "give" };
    let left = match begun as usize - lost.len().min(begun as usize) {
        0 | 1 => "Fewer than two are left, so that intervals hold no variance between launches."
            .to_owned(),
        left => format!("Intervals hold the variance between the other {left}."),
    };
    let lost = lost.len();
    Some(format!("{lost} of {begun} launches {give} {what}: {}. {left}", named.join("; ")))
}

/// Sentences of results of these names: each once, after the names of those that have it.
pub(crate) fn by_name<'a>(told: impl IntoIterator<Item = (&'a str, &'a [String])>) -> Vec<String> {
    let mut once: Vec<(&String, Vec<&str>)> = Vec::new();
    for (name, findings) in told {
        for finding in findings {
            match once.iter_mut().find(|(known, _)| *known == finding) {
                Some((_, names)) => names.push(name),
                None => once.push((finding, vec![name])),
            }
        }
    }
    once.into_iter().map(|(finding, names)| format!("{}: {finding}", names.join(", "))).collect()
}

/// How many points have fewer launches than the result.
fn partly(points: &[BTreeSet<u32>], launches: usize) -> Option<String> {
    let fewer = points.iter().filter(|point| point.len() < launches).count();
    let single = points.iter().filter(|point| launches > 1 && point.len() == 1).count();
    let alone = match single {
        0 => String::new(),
        _ => format!(
            " At {single} there is one launch only, and the interval holds no variance between launches."
        ),
    };
    (fewer > 0).then(|| {
        format!(
            "At {fewer} of {} points not all of the {launches} launches have batches that count.{alone}",
            points.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_without_batches_that_count_are_named_with_the_reason() {
        let points = [BTreeSet::from([0, 3]), BTreeSet::from([0]), BTreeSet::from([0, 3])];
        let found = Launches::of_points(4, [0, 2, 3], &points);
        let lost: Vec<(u32, &str)> =
            found.lost.iter().map(|of| (of.launch, of.reason.as_str())).collect();
        assert_eq!(lost, [(1, "it has no batch"), (2, "none of its batches counts here")]);
        assert_eq!(
            found.findings,
            [
                "2 of 4 launches give nothing: launch 2 (it has no batch); launch 3 (none of its \
                 batches counts here). Intervals hold the variance between the other 2.",
                "At 1 of 3 points not all of the 2 launches have batches that count. At 1 there is one \
                 launch only, and the interval holds no variance between launches."
            ]
        );
        let one = Launches::of_points(2, [0], &points[1..2]);
        assert!(one.findings[0].starts_with("1 of 2 launches gives nothing: launch 2 ("));
        assert!(one.findings[0].contains("Fewer than two are left"), "{:?}", one.findings);
    }

    #[test]
    fn where_none_is_lost_nothing_is_said() {
        let all = [BTreeSet::from([0, 1]), BTreeSet::from([0, 1])];
        assert_eq!(Launches::of_points(2, [0, 1], &all), Launches::default());
        // A single launch cannot be lost beside others.
        assert_eq!(Launches::of_points(1, [], &[]), Launches::default());
        assert_eq!(Launches::of_points(0, [3], &[BTreeSet::from([3])]), Launches::default());
    }
}
