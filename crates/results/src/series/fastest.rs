//! Which variant is the fastest at which size, and where that changes.

use bandgap_campaign::judge::Judged;
use bandgap_campaign::series::{Part, Step, key};
use bandgap_kernels::in_series;
use bandgap_record::Seconds;
use bandgap_units::Ns;

use crate::measured::listed;

use super::derived::{Fastest, FoundBy, Look, LookedAt};
use super::schema::{Series, SeriesPoint};

/// What the first looks of a series chose, at sizes that left a choice.
pub(super) fn looks(judged: &Judged<'_>, steps: &[Step], of_all: bool) -> Vec<Look> {
    let several = steps.iter().any(|step| step.pair != steps[0].pair) && !of_all;
    let look = |step: &Step| {
        let chosen = judged.table().chosen(&key(step, Part::Whole))?;
        let way = || chosen.way.map(|way| way.name().to_owned());
        Some(Look {
            ranks: if of_all { step.ranks as u32 } else { 2 },
            pair: several.then(|| step.pair.map(|rank| rank as u32)),
            size: step.size.into(),
            // Of a step that names its variant, the way alone was chosen.
            variant: chosen.variant.clone().filter(|_| step.variant.is_none()).or_else(way)?,
            looked: chosen
                .looked
                .iter()
                .map(|(variant, time)| LookedAt {
                    variant: variant.clone(),
                    time: Seconds::from(Ns(*time)),
                })
                .collect(),
        })
    };
    steps.iter().filter_map(look).collect()
}

/// What was found at a size: the variants that may be the fastest, and how.
struct AtSize {
    size: u64,
    variants: Vec<String>,
    by: FoundBy,
    /// Whether all that were to be measured there have a time.
    is_whole: bool,
}

/// The fastest variants of a series whose sizes were measured in several, or were looked at in
/// several: for each number of ranks the ranges of sizes, ascending. `planned` are its steps.
pub(super) fn fastest(series: &Series, planned: &[Step], of_all: bool) -> Vec<Fastest> {
    // Others than algorithms, as loads, are nothing to choose from.
    if in_series(&series.name)
        .is_ok_and(|(_, known)| !known.variants.is_empty() && !known.by_algorithm())
    {
        return Vec::new();
    }
    let mut ranks: Vec<u32> = series.points.iter().map(|point| point.ranks).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let named = |ranks: u32, size: u64| -> Vec<&str> {
        let there = planned.iter().filter(|step| {
            let taking_part = if of_all { step.ranks as u32 } else { 2 };
            (taking_part, u64::from(step.size)) == (ranks, size)
        });
        let mut names: Vec<&str> = there.filter_map(|step| step.variant.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let mut all_named = planned.iter().filter_map(|step| step.variant.as_deref());
    let first_named = all_named.next();
    let are_several = all_named.any(|name| Some(name) != first_named);
    let of = |ranks: u32| {
        let points = || series.points.iter().filter(move |point| point.ranks == ranks);
        let mut sizes: Vec<u64> = points().map(SeriesPoint::size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if are_several || series.has_several_variants() {
            let best = |size: u64| {
                let there = points().filter(|point| point.size() == size).collect::<Vec<_>>();
                let named = named(ranks, size);
                // Launches may have chosen differently: of each that is known.
                let by = if named.is_empty() { FoundBy::Look } else { FoundBy::Measured };
                let known = names(there.iter().copied());
                let is_whole = named.iter().all(|name| known.iter().any(|known| known == name));
                let variants = match by {
                    FoundBy::Measured => candidates(&there, &named),
                    FoundBy::Look => names(there.into_iter()),
                };
                AtSize { size, variants, by, is_whole }
            };
            let all: Vec<AtSize> = sizes.into_iter().map(best).collect();
            ranges(&settled(all), ranks)
        } else {
            let chosen = |look: &Look| AtSize {
                size: look.size,
                variants: vec![look.variant.clone()],
                by: FoundBy::Look,
                is_whole: true,
            };
            // Those of several pairs may differ; they are recorded.
            let of_all = |of: &&Look| of.ranks == ranks && of.pair.is_none();
            let mut looks: Vec<&Look> = series.looks.iter().filter(of_all).collect();
            looks.sort_by_key(|look| (look.size, &look.variant));
            let all: Vec<AtSize> = looks.into_iter().map(chosen).collect();
            ranges(&all, ranks)
        }
    };
    ranks.into_iter().flat_map(of).collect()
}

/// The variants of these points, by name.
fn names<'a>(points: impl Iterator<Item = &'a SeriesPoint>) -> Vec<String> {
    let mut names: Vec<String> = points.filter_map(|point| point.variant.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// The variants that may be the fastest at a size: those whose intervals reach down to that of the
/// fastest, and those of `named` that have no time there. One without an interval is never told
/// apart.
fn candidates(points: &[&SeriesPoint], named: &[&str]) -> Vec<String> {
    let ends =
        |point: &SeriesPoint| point.time.interval().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let least = points.iter().min_by(|a, b| a.time.value.0.total_cmp(&b.time.value.0));
    let Some(least) = least else { return Vec::new() };
    let (_, high) = ends(least);
    let mut found = names(points.iter().copied().filter(|point| ends(point).0 <= high));
    let has_time = |name: &str| points.iter().any(|point| point.variant.as_deref() == Some(name));
    found.extend(named.iter().filter(|name| !has_time(name)).map(|name| (*name).to_owned()));
    found.sort();
    found
}

/// What is undecided at a size, and so decided on both sides of it, counts as there. What looks
/// chose stays as it is, and settles nothing; nor is settled where some have no time.
fn settled(mut sizes: Vec<AtSize>) -> Vec<AtSize> {
    let is_measured = |of: &AtSize| of.by == FoundBy::Measured;
    let is_decided = |of: &AtSize| is_measured(of) && of.variants.len() == 1;
    let decided: Vec<usize> = (0..sizes.len()).filter(|at| is_decided(&sizes[*at])).collect();
    for pair in decided.windows(2) {
        let winner = sizes[pair[0]].variants.clone();
        let between = pair[0] + 1..pair[1];
        if sizes[pair[1]].variants == winner
            && sizes[between.clone()]
                .iter()
                .all(|of| is_measured(of) && of.is_whole && of.variants.contains(&winner[0]))
        {
            sizes[between].iter_mut().for_each(|of| of.variants.clone_from(&winner));
        }
    }
    // Undecided neighbours are undecided between all that they name.
    let is_undecided = |of: &AtSize| is_measured(of) && of.variants.len() > 1;
    for alike in sizes.chunk_by_mut(|a, b| is_undecided(a) == is_undecided(b)) {
        if is_undecided(&alike[0]) {
            let mut union: Vec<String> =
                alike.iter().flat_map(|of| of.variants.iter().cloned()).collect();
            union.sort();
            union.dedup();
            alike.iter_mut().for_each(|of| of.variants.clone_from(&union));
        }
    }
    sizes
}

/// Neighbouring sizes with the same variants, found in the same way, as one range.
fn ranges(sizes: &[AtSize], ranks: u32) -> Vec<Fastest> {
    let range = |alike: &[AtSize]| {
        let (first, last) = (alike.first()?, alike.last()?);
        let (variants, by) = (first.variants.clone(), first.by);
        Some(Fastest { ranks, from: first.size, to: last.size, variants, by })
    };
    let is_alike = |a: &AtSize, b: &AtSize| a.variants == b.variants && a.by == b.by;
    sizes.chunk_by(is_alike).filter_map(range).collect()
}

/// The same in words: a sentence for each number of ranks and each way it was found; of a series over ranks,
/// one for all.
pub(super) fn sentences(series: &Series) -> Vec<String> {
    let all = &series.fastest;
    if series.has_one_size() {
        let alike = all.chunk_by(|a, b| a.variants == b.variants && a.by == b.by);
        return alike.map(over_ranks).collect();
    }
    let of_ranks = |of: &[Fastest]| {
        let ranges: Vec<String> =
            of.iter().enumerate().map(|(at, range)| ranged(series, range, at, of.len())).collect();
        format!("On {} ranks {}: {}.", of[0].ranks, told(of[0].by), ranges.join(", "))
    };
    let is_alike = |a: &Fastest, b: &Fastest| (a.ranks, a.by) == (b.ranks, b.by);
    all.chunk_by(is_alike).map(of_ranks).collect()
}

fn told(by: FoundBy) -> &'static str {
    match by {
        FoundBy::Measured => "the fastest is",
        FoundBy::Look => "a first look chose",
    }
}

fn over_ranks(alike: &[Fastest]) -> String {
    let ranks: Vec<String> = alike.iter().map(|of| of.ranks.to_string()).collect();
    format!("On {} ranks {}: {}.", listed(&ranks), told(alike[0].by), named(&alike[0]))
}

/// `binomial up to 8 KiB`.
fn ranged(series: &Series, range: &Fastest, at: usize, count: usize) -> String {
    let words = |size: u64| {
        let point = series.points.iter().find(|point| point.size() == size);
        point.map_or(size.to_string(), SeriesPoint::size_in_words)
    };
    let least = series.points.iter().map(SeriesPoint::size).min();
    let most = series.points.iter().map(SeriesPoint::size).max();
    let is_first = at == 0 && least == Some(range.from);
    let is_last = at + 1 == count && most == Some(range.to);
    let place = match (is_first, is_last) {
        (true, true) => "at all sizes".to_owned(),
        (true, false) => format!("up to {}", words(range.to)),
        (false, true) => format!("from {} on", words(range.from)),
        _ if range.from == range.to => format!("at {}", words(range.from)),
        _ => format!("from {} to {}", words(range.from), words(range.to)),
    };
    format!("{} {place}", named(range))
}

fn named(range: &Fastest) -> String {
    match &range.variants[..] {
        [one] => one.clone(),
        several => format!("undecided between {}", listed(several)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::{example, point};

    /// Points of both variants: their size, and their times in nanoseconds, ± 1.2 %.
    fn series(ranks: u32, times: &[(u64, f64, f64)]) -> Series {
        let points = times.iter().flat_map(|(bytes, binomial, scatter)| {
            [("binomial", binomial), ("scatter_allgather", scatter)].map(|(name, time)| {
                SeriesPoint { variant: Some(name.into()), ..point(*bytes, ranks, *time) }
            })
        });
        let mut series = example("broadcast", points.collect());
        let planned = planned(&series);
        series.fastest = fastest(&series, &planned, true);
        series
    }

    /// Steps that name both variants at each size.
    fn planned(series: &Series) -> Vec<Step> {
        let steps = series.points.iter().flat_map(|point| {
            ["binomial", "scatter_allgather"].map(|name| Step {
                variant: Some(name.into()),
                ..Step::new("broadcast", point.size() as u32, 1, point.ranks as usize)
            })
        });
        steps.collect()
    }

    #[test]
    fn where_others_have_no_time_the_one_that_has_is_not_the_fastest() {
        let mut found = series(4, &[(8, 100.0, 200.0), (64, 110.0, 300.0), (4096, 120.0, 500.0)]);
        let all = planned(&found);
        assert_eq!(found.fastest.len(), 1);
        // The greatest size lost one of two.
        let is_lost = |point: &SeriesPoint| {
            point.size() == 4096 && point.variant.as_deref() == Some("scatter_allgather")
        };
        found.points.retain(|point| !is_lost(point));
        found.fastest = fastest(&found, &all, true);
        assert_eq!(
            sentences(&found),
            ["On 4 ranks the fastest is: binomial up to 64 B, undecided between binomial and \
              scatter_allgather from 4 KiB on."]
        );
        // Neither is it where it is the fastest on both sides.
        let mut between = series(4, &[(8, 100.0, 200.0), (64, 110.0, 300.0), (4096, 120.0, 500.0)]);
        between.points.retain(|p| p.size() != 64 || p.variant.as_deref() == Some("binomial"));
        let counts: Vec<usize> =
            fastest(&between, &all, true).iter().map(|of| of.variants.len()).collect();
        assert_eq!(counts, [1, 2, 1]);
        // One that alone was asked for is not the fastest.
        let mut alone = all.clone();
        alone.retain(|step| step.variant.as_deref() == Some("binomial"));
        let mut only = found.clone();
        only.points.retain(|point| point.variant.as_deref() == Some("binomial"));
        assert_eq!(fastest(&only, &alone, true), []);
        // And so where every size did.
        found.points.retain(|point| point.variant.as_deref() == Some("binomial"));
        let decided = fastest(&found, &all, true);
        assert_eq!((decided.len(), decided[0].variants.len()), (1, 2), "{decided:?}");
        // The one that is left, without an interval.
        found.points.iter_mut().for_each(|p| (p.time.low, p.time.high) = (None, None));
        assert_eq!(fastest(&found, &all, true), decided);
    }

    #[test]
    fn what_looks_chose_at_some_sizes_is_not_measured_there() {
        let mut found = series(4, &[(8, 100.0, 200.0), (64, 110.0, 300.0), (4096, 120.0, 500.0)]);
        let mut steps = planned(&found);
        steps.iter_mut().filter(|step| step.size == 64).for_each(|step| step.variant = None);
        found.points.retain(|p| p.size() != 64 || p.variant.as_deref() == Some("binomial"));
        found.fastest = fastest(&found, &steps, true);
        let by: Vec<FoundBy> = found.fastest.iter().map(|of| of.by).collect();
        assert_eq!(by, [FoundBy::Measured, FoundBy::Look, FoundBy::Measured]);
        assert_eq!(
            sentences(&found),
            [
                "On 4 ranks the fastest is: binomial up to 8 B.",
                "On 4 ranks a first look chose: binomial at 64 B.",
                "On 4 ranks the fastest is: binomial from 4 KiB on."
            ]
        );
        // Launches whose looks chose differently at one size measured nothing else at the others.
        steps.iter_mut().for_each(|step| step.variant = None);
        let by_look = fastest(&found, &steps, true);
        assert!(by_look.iter().all(|of| of.by == FoundBy::Look), "{by_look:?}");
    }

    #[test]
    fn a_crossover_lies_between_sizes_that_are_told_apart() {
        let times = [
            (8, 100.0, 200.0),
            // Within each other's intervals, and binomial on both sides: binomial.
            (64, 120.0, 120.5),
            (1024, 150.0, 210.0),
            // Undecided, with another on each side.
            (4096, 300.0, 301.0),
            (16384, 900.0, 500.0),
            (65536, 3000.0, 1600.0),
        ];
        let found = series(4, &times);
        let ranges: Vec<(u64, u64, usize)> =
            found.fastest.iter().map(|of| (of.from, of.to, of.variants.len())).collect();
        assert_eq!(ranges, [(8, 1024, 1), (4096, 4096, 2), (16384, 65536, 1)]);
        assert_eq!(
            sentences(&found),
            ["On 4 ranks the fastest is: binomial up to 1 KiB, undecided between binomial and \
              scatter_allgather at 4 KiB, scatter_allgather from 16 KiB on."]
        );
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        let mut series = series(4, &[(8, 100.0, 900.0)]);
        for point in &mut series.points {
            (point.time.low, point.time.high) = (None, None);
        }
        let planned = planned(&series);
        assert_eq!(fastest(&series, &planned, true)[0].variants.len(), 2);
    }

    #[test]
    fn what_a_first_look_chose_is_told_as_such() {
        let points = [8u64, 64, 4096].map(|bytes| point(bytes, 4, 1e3)).into();
        let mut series = example("broadcast", points);
        for (size, variant) in [(8, "binomial"), (64, "binomial"), (4096, "chain")] {
            let (variant, looked) = (variant.into(), vec![]);
            series.looks.push(Look { ranks: 4, pair: None, size, variant, looked });
        }
        series.fastest = fastest(&series, &[], true);
        assert_eq!(
            sentences(&series),
            ["On 4 ranks a first look chose: binomial up to 64 B, chain from 4 KiB on."]
        );
    }

    #[test]
    fn of_barriers_ranks_are_named() {
        let (mut points, mut steps) = (Vec::new(), Vec::new());
        for (ranks, tree) in [(2, 100.0), (4, 300.0), (8, 400.0)] {
            for (name, time) in [("dissemination", 100.0), ("tree", tree)] {
                points.push(SeriesPoint { variant: Some(name.into()), ..point(0, ranks, time) });
                let step = Step::new("barrier", 0, 1, ranks as usize);
                steps.push(Step { variant: Some(name.into()), ..step });
            }
        }
        let mut series = example("barrier", points);
        series.fastest = fastest(&series, &steps, true);
        assert_eq!(
            sentences(&series),
            [
                "On 2 ranks the fastest is: undecided between dissemination and tree.",
                "On 4 and 8 ranks the fastest is: dissemination."
            ]
        );
    }
}
