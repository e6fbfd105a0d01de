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
    let memories = steps.iter().any(|step| step.memory != steps[0].memory);
    let look = |step: &Step| {
        let chosen = judged.table().chosen(&key(step, Part::Whole))?;
        let way = || chosen.way.map(|way| way.name().to_owned());
        Some(Look {
            ranks: if of_all { step.ranks as u32 } else { 2 },
            pair: several.then(|| step.pair.map(|rank| rank as u32)),
            memory: memories.then(|| step.memory.name().to_owned()),
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

/// The fastest variants of a series whose sizes were measured in several, or were looked at in
/// several: for each number of ranks the ranges of sizes, ascending.
pub(super) fn fastest(series: &Series) -> Vec<Fastest> {
    // Others than algorithms, as loads, are nothing to choose from.
    if in_series(&series.name)
        .is_ok_and(|(_, known)| !known.variants.is_empty() && !known.by_algorithm())
    {
        return Vec::new();
    }
    let mut ranks: Vec<u32> = series.points.iter().map(|point| point.ranks).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let of = |ranks: u32| {
        let points = || series.points.iter().filter(move |point| point.ranks == ranks);
        let mut sizes: Vec<u64> = points().map(SeriesPoint::size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if series.has_several_variants() {
            let best = |size: &u64| {
                let there = points().filter(|point| point.size() == *size).collect::<Vec<_>>();
                (*size, candidates(&there))
            };
            ranges(&settled(sizes.iter().map(best).collect()), ranks, FoundBy::Measured)
        } else {
            let chosen = |look: &Look| (look.size, vec![look.variant.clone()]);
            // Those of several pairs or memories may differ; they are recorded.
            let of_all = |of: &&Look| of.ranks == ranks && of.pair.is_none() && of.memory.is_none();
            let looks = series.looks.iter().filter(of_all);
            let mut looks: Vec<(u64, Vec<String>)> = looks.map(chosen).collect();
            looks.sort();
            ranges(&looks, ranks, FoundBy::Look)
        }
    };
    ranks.into_iter().flat_map(of).collect()
}

/// The variants that may be the fastest at a size: those whose intervals reach down to that of the
/// fastest. One without an interval is never told apart.
fn candidates(points: &[&SeriesPoint]) -> Vec<String> {
    let ends =
        |point: &SeriesPoint| point.time.interval().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let least = points.iter().min_by(|a, b| a.time.value.0.total_cmp(&b.time.value.0));
    let Some(least) = least else { return Vec::new() };
    let (_, high) = ends(least);
    let near = points.iter().filter(|point| ends(point).0 <= high);
    let mut names: Vec<String> = near.filter_map(|point| point.variant.clone()).collect();
    names.sort();
    names
}

/// What is undecided at a size, and so decided on both sides of it, counts as there.
fn settled(mut sizes: Vec<(u64, Vec<String>)>) -> Vec<(u64, Vec<String>)> {
    let decided: Vec<usize> = (0..sizes.len()).filter(|at| sizes[*at].1.len() == 1).collect();
    for pair in decided.windows(2) {
        let winner = sizes[pair[0]].1.clone();
        let between = pair[0] + 1..pair[1];
        if sizes[pair[1]].1 == winner
            && sizes[between.clone()].iter().all(|(_, names)| names.contains(&winner[0]))
        {
            sizes[between].iter_mut().for_each(|(_, names)| names.clone_from(&winner));
        }
    }
    // Undecided neighbours are undecided between all that they name.
    let all: Vec<Vec<String>> = sizes
        .chunk_by(|a, b| (a.1.len() > 1) == (b.1.len() > 1))
        .flat_map(|alike| {
            let mut union: Vec<String> = alike.iter().flat_map(|of| of.1.clone()).collect();
            union.sort();
            union.dedup();
            let named = |of: &(u64, Vec<String>)| match of.1.len() {
                0 | 1 => of.1.clone(),
                _ => union.clone(),
            };
            alike.iter().map(named).collect::<Vec<_>>()
        })
        .collect();
    sizes.iter_mut().zip(all).for_each(|(of, names)| of.1 = names);
    sizes
}

/// Neighbouring sizes with the same variants as one range.
fn ranges(sizes: &[(u64, Vec<String>)], ranks: u32, by: FoundBy) -> Vec<Fastest> {
    let range = |alike: &[(u64, Vec<String>)]| {
        let (first, last) = (alike.first()?, alike.last()?);
        Some(Fastest { ranks, from: first.0, to: last.0, variants: first.1.clone(), by })
    };
    sizes.chunk_by(|a, b| a.1 == b.1).filter_map(range).collect()
}

/// The same in words: a sentence for each number of ranks; of a series over ranks, one for all.
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
    all.chunk_by(|a, b| a.ranks == b.ranks).map(of_ranks).collect()
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
        series.fastest = fastest(&series);
        series
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
        assert_eq!(fastest(&series)[0].variants.len(), 2);
    }

    #[test]
    fn what_a_first_look_chose_is_told_as_such() {
        let points = [8u64, 64, 4096].map(|bytes| point(bytes, 4, 1e3)).into();
        let mut series = example("broadcast", points);
        for (size, variant) in [(8, "binomial"), (64, "binomial"), (4096, "chain")] {
            let (variant, looked) = (variant.into(), vec![]);
            series.looks.push(Look { ranks: 4, pair: None, memory: None, size, variant, looked });
        }
        series.fastest = fastest(&series);
        assert_eq!(
            sentences(&series),
            ["On 4 ranks a first look chose: binomial up to 64 B, chain from 4 KiB on."]
        );
    }

    #[test]
    fn of_barriers_ranks_are_named() {
        let mut points = Vec::new();
        for (ranks, tree) in [(2, 100.0), (4, 300.0), (8, 400.0)] {
            for (name, time) in [("dissemination", 100.0), ("tree", tree)] {
                points.push(SeriesPoint { variant: Some(name.into()), ..point(0, ranks, time) });
            }
        }
        let mut series = example("barrier", points);
        series.fastest = fastest(&series);
        assert_eq!(
            sentences(&series),
            [
                "On 2 ranks the fastest is: undecided between dissemination and tree.",
                "On 4 and 8 ranks the fastest is: dissemination."
            ]
        );
    }
}
