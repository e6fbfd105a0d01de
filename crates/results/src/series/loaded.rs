//! What a load beside an echo changes, in words.

use std::collections::BTreeMap;

use bandgap_campaign::Table;
use bandgap_campaign::contention::{Beside, Between, ContentionPlan, load_key};
use bandgap_campaign::judge::Judged;
use bandgap_campaign::series::{Part, key};
use bandgap_kernels::LOADS;
use bandgap_stats::interval::joint_confidence;
use bandgap_stats::paired::{PairedRatio, paired_ratio_over_launches, undisturbed};
use bandgap_stats::{Interval, Rule, batch_value};
use bandgap_units::Bytes;

/// How many times as long the echo takes at a size.
struct Slowed {
    size: u32,
    /// `None` where it has no bounds.
    ratio: Option<PairedRatio>,
    /// Its interval where those of all planned sizes hold together, which decides; `None` where that has no
    /// bounds.
    joint: Option<Interval>,
}

/// Sentences on the loads, what they have in common with the echo, and by how much it is slower.
pub(crate) fn findings(plan: &ContentionPlan, judged: &Judged<'_>) -> Vec<String> {
    plan.pairs.iter().flat_map(|beside| of_pair(plan, beside, judged)).collect()
}

fn of_pair(plan: &ContentionPlan, beside: &Beside, judged: &Judged<'_>) -> Vec<String> {
    let Beside { echo: [a, b], load: [from, to], between } = *beside;
    let what = match between {
        Between::Channel => "their messages share a channel of the network",
        Between::Nothing => "their messages share no channel of the network",
        Between::Machine => {
            "on one machine what contends is the memory system, and where ranks share processors, these"
        }
    };
    let mut sentences = vec![format!(
        "Echo between ranks {a} and {b}, load from rank {from} to rank {to}: {what}."
    )];
    let (idle, _) = LOADS[0];
    for (load, percent) in LOADS.into_iter().filter(|(_, percent)| *percent > 0) {
        let slowed: Vec<Option<Slowed>> = plan
            .sizes
            .iter()
            .map(|&size| {
                let launches = rounds(plan, beside, size, [load, idle], judged);
                let is_measured = launches.iter().map(Vec::len).sum::<usize>() >= 2;
                let ratio = |confidence| paired_ratio_over_launches(&launches, confidence);
                let joint = joint_confidence(judged.confidence(), plan.sizes.len());
                is_measured.then(|| Slowed {
                    size,
                    ratio: ratio(judged.confidence()),
                    joint: ratio(joint).map(|of| of.interval),
                })
            })
            .collect();
        let Some(length) = length(judged.table(), beside, percent) else {
            sentences.push(format!(
                "The {load} is left out: the curve of the echo between {a} and {b} has no bandwidth of \
                 which a share could be taken."
            ));
            continue;
        };
        if length.is_first {
            sentences.push(format!(
                "Messages of {}, the shortest of the curve of the echo between {a} and {b}, already reach \
                 {percent} % of its greatest bandwidth: the {load} is no less than that.",
                length.bytes
            ));
        }
        let found: Vec<Slowed> = slowed.into_iter().flatten().collect();
        let what = comparison(&found, plan.sizes.len(), &judged.rule().without_clock());
        sentences.push(format!(
            "Under the {load} (messages of {}) the echo between {a} and {b} {what}.",
            length.bytes
        ));
        sentences.extend(rejected(plan, beside, load, judged.table()));
    }
    sentences
}

/// How many batches under a load do not count.
fn rejected(plan: &ContentionPlan, beside: &Beside, load: &str, table: &Table) -> Option<String> {
    let keys = plan.sizes.iter().map(|&size| key(&plan.step(beside, size, load), Part::Whole));
    let (mut all, mut rejected) = (0_usize, Vec::new());
    for key in keys {
        let batches = table.batches(&key);
        all += batches.len();
        rejected.extend(batches.iter().filter_map(|batch| batch.rejected.as_deref()));
    }
    let first = rejected.first()?;
    let [a, b] = beside.echo;
    Some(format!(
        "Batches under the {load} between {a} and {b} that do not count: {} of {all}; the first as {first}.",
        rejected.len()
    ))
}

/// The length of the messages of a load.
struct Length {
    bytes: Bytes,
    /// Whether it is the shortest of the curve, of which shorter ones may reach the share too.
    is_first: bool,
}

fn length(table: &Table, beside: &Beside, percent: u32) -> Option<Length> {
    let chosen = table.chosen(&load_key(beside.echo, percent))?;
    let variant = chosen.variant.as_ref()?;
    let is_first = chosen.looked.first().is_some_and(|(first, _)| first == variant);
    Some(Length { bytes: Bytes(variant.parse().ok()?), is_first })
}

/// Times under a load and without, from batches of the same rounds, by launch.
fn rounds(
    plan: &ContentionPlan,
    beside: &Beside,
    size: u32,
    loads: [&str; 2],
    judged: &Judged<'_>,
) -> Vec<Vec<(f64, f64)>> {
    let keys = loads.map(|load| key(&plan.step(beside, size, load), Part::Whole));
    let judged = judged.seen_by(&keys[1]);
    let [loaded, idle] = keys.map(|key| judged.table().batches(&key));
    let usable =
        |batch: &&bandgap_campaign::data::Batch| judged.counts(batch) && !batch.samples.is_empty();
    let mut launches = BTreeMap::<u32, Vec<[f64; 2]>>::new();
    for batch in loaded.iter().filter(usable) {
        let round = (batch.launch, batch.round);
        let mut idle = idle.iter().filter(usable);
        if let Some(beside) = idle.find(|other| (other.launch, other.round) == round) {
            let row = [&batch.samples, &beside.samples].map(|samples| batch_value(samples));
            launches.entry(batch.launch).or_default().push(row);
        }
    }
    let pairs = |rows: Vec<[f64; 2]>| undisturbed(&rows).into_iter().map(Into::into).collect();
    launches.into_values().map(pairs).collect()
}

/// Of so many planned sizes: `takes 1.05 × (1.02 to 1.08) as long at 1 MiB, up to 13 × (12 to 14) at 8 B; undecided at 3 of 12 sizes`.
fn comparison(all: &[Slowed], planned: usize, rule: &Rule) -> String {
    let bounded = || all.iter().filter_map(|of| Some((of.size, of.ratio?, of.joint?)));
    let is_same = |(_, ratio, joint): &(u32, PairedRatio, Interval)| {
        ratio.value == 1.0 && joint.low == 1.0 && joint.high == 1.0
    };
    let differs = |(_, _, joint): &(u32, PairedRatio, Interval)| !joint.contains(1.0);
    let mut differ: Vec<(u32, PairedRatio, Interval)> = bounded().filter(differs).collect();
    differ.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let same = bounded().filter(is_same).count();
    let undecided = bounded().count() - differ.len() - same;
    let unbounded = all.len() - bounded().count();
    let mut parts = Vec::new();
    let times = |(size, ratio, _): &(u32, PairedRatio, Interval)| {
        let PairedRatio { value, interval } = ratio;
        let number = |x: f64| bandgap_units::significant(x, 3);
        let mark = match rule.judge(interval.half_width(), *value).is_enough() {
            true => "",
            false => ", not converged",
        };
        format!(
            "{} × ({} to {}{mark}) as long at {}",
            number(*value),
            number(interval.low),
            number(interval.high),
            Bytes(u64::from(*size))
        )
    };
    match differ.as_slice() {
        [] => {}
        [one] => parts.push(format!("takes {}", times(one))),
        [least, .., most] => parts.push(format!("takes {}, and {}", times(least), times(most))),
    }
    if same > 0 {
        parts.push(format!("takes the same time at {same} of {} sizes", all.len()));
    }
    if undecided > 0 {
        let widened = match planned {
            1 => String::new(),
            planned => format!(", widened to hold at all {planned} sizes together,"),
        };
        parts.push(format!(
            "is undecided at {undecided} of {} sizes: the interval of the ratio{widened} contains 1",
            all.len()
        ));
    }
    if unbounded > 0 {
        parts.push(format!(
            "is undecided at {unbounded} of {} sizes: the ratio has no bounds, since the times without a load \
             differ too much",
            all.len()
        ));
    }
    if parts.is_empty() {
        return "was not measured in two rounds".to_owned();
    }
    if all.len() < planned {
        let missing = planned - all.len();
        parts.push(format!("was not measured in two rounds at {missing} of {planned} sizes"));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bandgap_campaign::data::{Batch, Chosen, Kept};
    use bandgap_campaign::plan::Asked;

    fn rule(precision: f64) -> Rule {
        Rule { precision, stamp: 0.0 }
    }

    fn slowed(size: u32, value: f64, half: f64) -> Slowed {
        let interval = Interval { low: value - half, high: value + half };
        Slowed { size, ratio: Some(PairedRatio { value, interval }), joint: Some(interval) }
    }

    #[test]
    fn the_least_and_the_greatest_slowdown_are_named_and_what_is_undecided_counted() {
        let all = [
            slowed(8, 2.0, 0.5),
            slowed(64, 1.5, 0.25),
            slowed(512, 1.1, 0.2),
            slowed(4096, 0.75, 0.125),
            slowed(0, 1.0, 0.0),
        ];
        assert_eq!(
            comparison(&all, 7, &rule(0.3)),
            "takes 0.750 × (0.625 to 0.875) as long at 4 KiB, and 2.00 × (1.50 to 2.50) as long at 8 B; \
             takes the same time at 1 of 5 sizes; is undecided at 1 of 5 sizes: the interval of the \
             ratio, widened to hold at all 7 sizes together, contains 1; was not measured in two rounds at 2 of 7 sizes"
        );
        // 0.5 of 2.00 is 25 %, 0.125 of 0.750 is 17 %.
        let narrower = comparison(&all, 7, &rule(0.2));
        assert!(narrower.contains("2.00 × (1.50 to 2.50, not converged) as"), "{narrower}");
        assert!(narrower.contains("0.750 × (0.625 to 0.875) as"), "{narrower}");
        assert!(!comparison(&all, 5, &rule(0.3)).contains("not measured"));
        assert_eq!(comparison(&[], 1, &rule(0.3)), "was not measured in two rounds");
    }

    #[test]
    fn a_ratio_without_bounds_is_undecided_and_was_measured() {
        let without_bounds = "is undecided at 1 of 1 sizes: the ratio has no bounds, since the times \
                              without a load differ too much";
        let unbounded = Slowed { size: 8, ratio: None, joint: None };
        assert_eq!(comparison(&[unbounded], 1, &rule(0.3)), without_bounds);
        // Times without a load of 1, 2 and 3: the interval of their mean is 2 ± 2.48.
        let (plan, beside) = planned();
        let table = measured(&plan, &beside, &[[4.0, 1.0], [4.0, 2.0], [4.0, 3.0]]);
        let said = findings(&plan, &plan.asked.judge(&table)).join("\n");
        assert!(said.contains(without_bounds) && !said.contains("not measured"), "{said}");
    }

    #[test]
    fn a_slowdown_at_one_of_many_sizes_needs_the_more_evidence() {
        // 1.2, with standard error 0.0408 over three degrees of freedom: 3.18 of these are 0.13 at 95 %, and 0.28 are
        // 6.9, at 1 − 5 %/8.
        let (mut plan, beside) = planned();
        let table =
            measured(&plan, &beside, &[[11.0, 10.0], [12.0, 10.0], [12.0, 10.0], [13.0, 10.0]]);
        let said = |plan: &ContentionPlan| findings(plan, &plan.asked.judge(&table)).join("\n");
        let alone = said(&plan);
        assert!(alone.contains("takes 1.20 × (1.07 to 1.33"), "{alone}");
        plan.sizes = (0..8).map(|power| 8 << power).collect();
        let many = said(&plan);
        assert!(!many.contains("takes 1.20 ×"), "{many}");
        assert!(
            many.contains("is undecided at 1 of 1 sizes: the interval of the ratio, widened to"),
            "{many}"
        );
    }

    /// Rounds of the time of 8 B under the 50 % load, and without a load.
    fn measured(plan: &ContentionPlan, beside: &Beside, rounds: &[[f64; 2]]) -> Table {
        let mut table = Table::default();
        let looked = vec![("64".to_owned(), 10.0)];
        let chosen = Chosen { variant: Some("64".to_owned()), way: None, looked };
        table.push(Kept::Chosen { key: load_key([0, 1], 50), chosen });
        for (round, times) in (0..).zip(rounds) {
            for (load, time) in ["50 % load", LOADS[0].0].iter().zip(times) {
                let key = key(&plan.step(beside, 8, load), Part::Whole);
                let batch = Batch { samples: vec![*time], round, ..Batch::default() };
                table.push(Kept::Batch { key, batch });
            }
        }
        table
    }

    /// An echo of 8 B between ranks 0 and 1 beside a load from 2 to 3.
    fn planned() -> (ContentionPlan, Beside) {
        let (precision, confidence, seed, stamp, check, budget) = (0.05, 0.95, 1, 0.0, false, 1.0);
        let asked = Asked { precision, confidence, budget, seed, stamp, check };
        let beside = Beside { echo: [0, 1], load: [2, 3], between: Between::Machine };
        (ContentionPlan { asked, pairs: vec![beside], ranks: 4, sizes: vec![8] }, beside)
    }

    #[test]
    fn loads_that_are_none_or_the_shortest_and_batches_that_do_not_count_are_named() {
        let (plan, beside) = planned();
        let mut table = Table::default();
        let looked = vec![("64".to_owned(), 10.0), ("256".to_owned(), 40.0)];
        let chosen = Chosen { variant: Some("64".to_owned()), way: None, looked };
        table.push(Kept::Chosen { key: load_key([0, 1], 50), chosen });
        let key = key(&plan.step(&beside, 8, "50 % load"), Part::Whole);
        let batch = Batch { rejected: Some("why".to_owned()), ..Batch::default() };
        table.push(Kept::Batch { key, batch });
        let said = findings(&plan, &plan.asked.judge(&table)).join("\n");
        for what in [
            "Messages of 64 B, the shortest of the curve of the echo between 0 and 1, already reach 50 %",
            "Batches under the 50 % load between 0 and 1 that do not count: 1 of 1; the first as why.",
            "The 90 % load is left out: the curve",
        ] {
            assert!(said.contains(what), "{said}");
        }
    }
}
