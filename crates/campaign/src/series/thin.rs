//! Leaving out sizes if there is no time for the least rounds over all.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_kernels::Order;

use super::samples::{by_bytes, by_time};
use super::step::Step;
use crate::budget::Budget;
use crate::experiment::LEAST_ROUNDS;
use crate::runner::{Runner, Stop};

/// Number of steps that are tried to find the time of a batch.
const TRIALS: usize = 5;
/// Batches per point for which there must be time: a checked one, and one in each of the least
/// rounds.
const BATCHES: f64 = 1.0 + LEAST_ROUNDS as f64;
/// Share of the launch's remaining time for these batches.
const MEASURING: f64 = 0.75;
/// Share of the launch's time after which there are no more trials.
const TRYING: f64 = 0.2;
/// Largest share of the launch's remaining time for one operation between hosts. Longer ones are
/// left out.
const FAR_SHARE: f64 = 0.05;
/// Largest multiple of that for a look, as predicted from a message of at least [`LONG`] bytes.
const FAR_LOOK: f64 = 2.0;
const LONG: f64 = 4096.0;
/// Smallest number of sizes that remain of a curve.
const LEAST: usize = 2;

/// The steps for which there is time, with at most `most` samples per batch. Each curve keeps its
/// first and last size, and others that are evenly spread. Virtual time keeps all.
///
/// # Errors
/// Communication failed, the run was stopped, or a step cannot be carried out.
pub(super) fn affordable(
    steps: Vec<Step>,
    budget: &Budget,
    most: u32,
    runner: &mut dyn Runner,
) -> Result<Vec<Step>, Stop> {
    if runner.virtual_time() || steps.len() <= LEAST {
        return Ok(steps);
    }
    let steps = match runner.is_far() {
        true => reachable(steps, FAR_SHARE * budget.left(runner), runner)?,
        false => steps,
    };
    let trials = spread(steps.len(), TRIALS).into_iter();
    let trials = trials.map(|at| steps[at].order(by_bytes(&steps[at], most)));
    let mut trials: Vec<Order> = trials.collect::<Result<_, _>>()?;
    by_time(&mut trials, budget, runner)?;
    let begun = runner.elapsed();
    let mut tried = 0.0;
    for order in &trials {
        runner.run(order)?;
        tried += 1.0;
        if budget.spent_of_all(runner) > TRYING {
            break;
        }
    }
    let batch = runner.elapsed().saturating_sub(begun).as_secs_f64() / tried;
    thinned(steps, MEASURING * budget.left(runner) / (BATCHES * batch))
}

/// The steps of each curve before the first that takes longer than `most` seconds, but at least two.
fn reachable(steps: Vec<Step>, most: f64, runner: &mut dyn Runner) -> Result<Vec<Step>, Stop> {
    of_curves(steps, |all| {
        let mut end = all[LEAST.min(all.len()) - 1].size;
        // Length and time of the longest step so far.
        let mut last: Option<(f64, f64)> = None;
        for step in spread(all.len(), TRIALS * 2).into_iter().map(|at| all[at]) {
            let bytes = step.bytes()?.max(1) as f64;
            // The time of long messages grows at most in proportion to their bytes.
            let too_long = |(before, time): (f64, f64)| {
                before >= LONG && time * bytes / before > FAR_LOOK * most
            };
            if last.is_some_and(too_long) {
                break;
            }
            let begun = runner.elapsed();
            runner.run(&step.order(1)?)?;
            let time = runner.elapsed().saturating_sub(begun).as_secs_f64();
            if time > most {
                break;
            }
            (end, last) = (end.max(step.size), Some((bytes, time)));
        }
        Ok(all.iter().map(|step| step.size).filter(|size| *size <= end).collect())
    })
}

/// About `most` of the steps.
fn thinned(steps: Vec<Step>, most: f64) -> Result<Vec<Step>, Stop> {
    let share = (most / steps.len() as f64).min(1.0);
    of_curves(steps, |all| {
        let count = (share * all.len() as f64) as usize;
        Ok(spread(all.len(), count.max(LEAST)).into_iter().map(|at| all[at].size).collect())
    })
}

/// The steps of each curve with the sizes that `kept` chooses from its steps, which are ascending in size.
fn of_curves(
    mut steps: Vec<Step>,
    mut kept: impl FnMut(&[&Step]) -> Result<BTreeSet<u32>, Stop>,
) -> Result<Vec<Step>, Stop> {
    let curve = |step: &Step| (step.series.clone(), step.ranks, step.pair, step.variant.clone());
    let mut curves: BTreeMap<_, BTreeMap<u32, &Step>> = BTreeMap::new();
    for step in &steps {
        curves.entry(curve(step)).or_default().insert(step.size, step);
    }
    let sizes = curves.into_iter().map(|(curve, of)| {
        let all: Vec<&Step> = of.into_values().collect();
        Ok((curve, kept(&all)?))
    });
    let sizes = sizes.collect::<Result<BTreeMap<_, _>, Stop>>()?;
    steps.retain(|step| sizes[&curve(step)].contains(&step.size));
    Ok(steps)
}

/// `count` of the indices below `all`, evenly spread, with the first and the last; all indices if
/// there are no more.
fn spread(all: usize, count: usize) -> Vec<usize> {
    if count >= all {
        return (0..all).collect();
    }
    let steps = count.saturating_sub(1).max(1);
    (0..count).map(|at| at * (all - 1) / steps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Asked;
    use crate::planned::Planned;
    use crate::tests::scripted::Scripted;
    use bandgap_kernels::WHOLE;

    use crate::series::{SeriesPlan, key};

    #[test]
    fn each_curve_keeps_its_ends_and_an_even_part_of_its_sizes() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(10, 4), [0, 3, 6, 9]);
        assert_eq!((spread(10, 1), spread(1, 2), spread(0, 2)), (vec![0], vec![0], vec![]));
        let of = |series: &str, count: u32| {
            (0..count).map(|at| Step::new(series, 1 << at, 1, 2)).collect::<Vec<_>>()
        };
        let steps = [of("comms1", 10), of("comms2", 4), of("synch1", 1)].concat();
        let left = thinned(steps.clone(), 6.0).unwrap();
        let sizes = |name: &str| {
            let of = left.iter().filter(|step| step.series == name);
            of.map(|step| step.size.ilog2()).collect::<Vec<_>>()
        };
        assert_eq!(
            ["comms1", "comms2", "synch1"].map(sizes),
            [vec![0, 3, 6, 9], vec![0, 3], vec![0]]
        );
        assert_eq!(thinned(steps.clone(), 15.0).unwrap(), steps);
    }

    #[test]
    fn points_are_fewer_where_batches_take_long() {
        let steps: Vec<Step> = (0..16).map(|at| Step::new("comms1", 1 << at, 1, 2)).collect();
        // After 10 s of looks and trials 72 s leave 54 for batches of 1 s, so for 16 points of three and more; 32 s leave
        // 24, for 8, and looks at these and the warm-up take the time of two.
        for (latest, expected) in [(82.0, 16), (42.0, 6)] {
            let asked = Asked::usual(40.0);
            let plan = SeriesPlan { asked, steps: steps.clone(), samples: 10 };
            let mut runner = Scripted::steady(100.0);
            (runner.cost, runner.latest) = (1.0, latest);
            plan.lead(&mut runner).unwrap();
            let is_measured = |step: &&Step| !runner.kept.batches(&key(step, WHOLE)).is_empty();
            assert_eq!(steps.iter().filter(is_measured).count(), expected, "{latest}");
            // The others are described: they lack a value.
            assert_eq!(runner.kept.points().len(), steps.len());
        }
    }
}
