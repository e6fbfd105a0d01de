//! Choosing the fastest way to do an operation, before anything is measured.

use std::collections::BTreeMap;

use bandgap_comm::passing::Way;
use bandgap_kernels::{Refused, WHOLE};
use bandgap_stats::batch_value;
use bandgap_stats::quantile::median;

use super::step::Step;
use crate::budget::Budget;
use crate::data::Kept;
use crate::runner::{Runner, Stop};

/// Number of looks at each way.
const LOOKS: usize = 5;
/// Samples per look.
const SAMPLES: u32 = 6;
/// Share of the budget after which there are no more looks.
const LOOKING: f64 = 0.25;
/// Largest share of the launch's remaining time for a look between hosts, unless a single sample
/// takes longer.
const FAR: f64 = 0.01;
/// Smallest ratio between two sizes tried out. Sizes between them take the choice of the smaller
/// one.
const APART: u32 = 4;

/// Identifies operations that share choices: what distinguishes steps, without the size.
type Group = (String, usize, [usize; 2], Option<[usize; 2]>, Option<String>);

fn group(step: &Step) -> Group {
    let Step { series, ranks, pair, mesh, variant, .. } = step.clone();
    (series, ranks, pair, mesh, variant)
}

/// The choices for all operations that have several ways, by size.
#[derive(Debug, Default)]
pub(super) struct Choices(BTreeMap<Group, BTreeMap<u32, Chosen>>);

/// The chosen variant, and the chosen way of long messages.
type Chosen = (Option<String>, Option<Way>);

/// One way to do a step, and the times of its looks.
struct Candidate<'a> {
    planned: &'a Step,
    step: Step,
    times: Vec<f64>,
}

impl Choices {
    /// Looks at each way to do the steps of some sizes, in turn, and takes the one with the least
    /// median time. Then it looks at sizes between two with different choices, until it is known at
    /// which planned size the choice changes. A way that the machine refuses is left out. Nothing
    /// is chosen for a step if there was no time to look at all of its ways.
    ///
    /// # Errors
    /// Communication failed, the run was stopped, or a step cannot be done in any way.
    pub(super) fn look(
        steps: &[Step],
        budget: &Budget,
        runner: &mut dyn Runner,
    ) -> Result<Self, Stop> {
        let until = budget.spent(runner) + LOOKING;
        let mut choices = Self::default();
        let mut wanted = looked_at(steps);
        let mut looked: Vec<&Step> = Vec::new();
        while !wanted.is_empty() && choices.look_at(&wanted, (until, budget), runner)? {
            looked.append(&mut wanted);
            wanted = choices.between(steps);
            // Steps with a single way have no choice, and would come again.
            wanted.retain(|step| !looked.contains(step));
        }
        Ok(choices)
    }

    /// Looks at each way to do these steps. Returns whether there was enough time.
    fn look_at(
        &mut self,
        wanted: &[&Step],
        (until, budget): (f64, &Budget),
        runner: &mut dyn Runner,
    ) -> Result<bool, Stop> {
        let mut candidates = Vec::new();
        for planned in wanted {
            let fits = fitting(planned)?.into_iter();
            candidates.extend(fits.map(|step| Candidate { planned, step, times: Vec::new() }));
        }
        let virtual_time = runner.virtual_time();
        if virtual_time {
            leave_out(&mut candidates, |_| true);
        }
        let mut in_time = true;
        'looks: for _ in 0..if virtual_time { 1 } else { LOOKS } {
            let mut impossible: Vec<Way> = Vec::new();
            for candidate in &mut candidates {
                let way = beside_pieces(&candidate.step);
                if way.is_some_and(|way| impossible.contains(&way)) {
                    continue;
                }
                in_time = budget.spent(runner) <= until;
                if !in_time {
                    break 'looks;
                }
                // Between hosts the first look shows how many samples there is time for.
                let left = budget.left(runner);
                let fit = |first: &f64| (FAR * left * 1e9 / first) as u32;
                let samples = match runner.is_far() {
                    true => candidate.times.first().map_or(1, fit).clamp(1, SAMPLES),
                    false => SAMPLES,
                };
                let done = runner.run(&candidate.step.order(samples)?)?;
                impossible.extend(way.filter(|_| done.way != way));
                let is_there = done.unavailable.is_none();
                let time = if is_there { batch_value(done.column(WHOLE)) } else { f64::INFINITY };
                candidate.times.push(time);
                if let Some(reason) = done.refused {
                    runner.keep(Kept::Refused { reason })?;
                }
            }
            if !impossible.is_empty() {
                leave_out(&mut candidates, |way| impossible.contains(&way));
            }
        }
        for group in candidates.chunk_by(|a, b| std::ptr::eq(a.planned, b.planned)) {
            if group.iter().all(|candidate| !candidate.times.is_empty()) {
                self.add(group)?;
            }
        }
        Ok(in_time)
    }

    /// The middle step between each two neighbouring sizes with different choices.
    fn between<'a>(&self, steps: &'a [Step]) -> Vec<&'a Step> {
        let mut found = Vec::new();
        for (of, sizes) in &self.0 {
            let sizes: Vec<(&u32, &Chosen)> = sizes.iter().collect();
            for pair in sizes.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
                let is_between = |step: &&Step| {
                    group(step) == *of && *pair[0].0 < step.size && step.size < *pair[1].0
                };
                let mut between: Vec<&Step> = steps.iter().filter(is_between).collect();
                between.sort_by_key(|step| step.size);
                found.extend(between.get(between.len() / 2));
            }
        }
        found
    }

    /// Chooses the fastest of the candidates of one step.
    fn add(&mut self, candidates: &[Candidate<'_>]) -> Result<(), Stop> {
        let mut looked = Vec::new();
        for Candidate { step, times, .. } in candidates {
            looked.push((step, median(times) / step.parts(&step.kernel()?)));
        }
        looked.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (Some((best, _)), Some(first)) = (looked.first(), candidates.first()) else {
            return Ok(());
        };
        if looked.len() == 1 && best.variant.is_none() {
            return Ok(());
        }
        let chosen = (best.variant.clone(), best.way);
        self.0.entry(group(first.planned)).or_default().insert(best.size, chosen);
        Ok(())
    }

    /// A step as it is to be carried out, by the choice at its size or at the next smaller size
    /// with a look.
    pub(super) fn of(&self, step: &Step) -> Step {
        let below = || self.0.get(&group(step))?.range(..=step.size).next_back();
        match below().filter(|_| step.leaves_a_choice()) {
            Some((_, (variant, way))) => {
                Step { variant: variant.clone(), way: *way, ..step.clone() }
            }
            None => step.clone(),
        }
    }
}

/// Removes the ways that the machine refuses. If only one way is left, it is not named.
fn leave_out(candidates: &mut Vec<Candidate<'_>>, is_out: impl Fn(Way) -> bool) {
    candidates.retain(|candidate| !beside_pieces(&candidate.step).is_some_and(&is_out));
    for of_one in candidates.chunk_by_mut(|a, b| std::ptr::eq(a.planned, b.planned)) {
        if of_one.iter().all(|candidate| beside_pieces(&candidate.step).is_none()) {
            of_one.iter_mut().for_each(|candidate| candidate.step.way = candidate.planned.way);
        }
    }
}

/// The way of a step's long messages, unless it is in pieces, which always works.
fn beside_pieces(step: &Step) -> Option<Way> {
    step.way.filter(|way| *way != Way::Pieces)
}

/// The steps to look at: the smallest of each operation, then those far enough apart.
fn looked_at(steps: &[Step]) -> Vec<&Step> {
    let mut free: Vec<&Step> = steps.iter().filter(|step| step.leaves_a_choice()).collect();
    free.sort_by_key(|step| (group(step), step.size));
    let mut looked: Vec<&Step> = Vec::new();
    for step in free {
        let is_near = looked.last().is_some_and(|last| {
            group(last) == group(step) && step.size < last.size.saturating_mul(APART).max(1)
        });
        if !is_near {
            looked.push(step);
        }
    }
    looked
}

/// The ways in which a step can be carried out.
///
/// # Errors
/// There is none. The error says why the last one does not fit.
fn fitting(step: &Step) -> Result<Vec<Step>, Refused> {
    let mut fits = Vec::new();
    let mut last = None;
    for step in step.manners() {
        let order = step.order(SAMPLES)?;
        match (step.kernel()?.0.check)(&order, step.ranks) {
            Ok(()) => fits.push(step),
            Err(refused) => last = Some(refused),
        }
    }
    match last {
        Some(refused) if fits.is_empty() => Err(refused),
        _ => Ok(fits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Asked;
    use crate::planned::Planned;
    use crate::series::{SeriesPlan, key};
    use crate::tests::scripted::{Scripted, taking};

    fn led(steps: &[Step], runner: &mut Scripted) {
        let plan = SeriesPlan { asked: Asked::usual(1e9), steps: steps.to_vec(), samples: 10 };
        runner.size = 4;
        plan.lead(runner).unwrap();
    }

    #[test]
    fn where_the_looks_take_too_long_the_usual_algorithm_is_taken() {
        let steps = [2, 4].map(|ranks| Step { ranks, ..Step::new("broadcast", 8, 1, 4) });
        let asked = Asked::usual(24.0);
        let plan = SeriesPlan { asked, steps: steps.to_vec(), samples: 10 };
        let mut runner = Scripted::steady(100.0);
        (runner.size, runner.cost) = (4, 1.0);
        plan.lead(&mut runner).unwrap();
        // After six seconds, of six looks, the four algorithms of two ranks have been looked at once.
        let [two, four] = steps.map(|step| key(&step, WHOLE));
        let chosen =
            [&two, &four].map(|key| runner.kept.point(key).unwrap().labels.contains_key("variant"));
        assert_eq!(chosen, [true, false]);
        assert!(!runner.kept.batches(&four).is_empty());
        assert!(sized(&runner, 8, "algorithm").contains(&"\"binomial\"".to_owned()));
    }

    fn sized(runner: &Scripted, bytes: u32, axis: &str) -> Vec<String> {
        let orders = runner.timed().filter(|order| order.parameters["bytes"] == bytes);
        let mut told: Vec<String> = orders
            .map(|order| match axis {
                "way" => serde_json::to_string(&order.way).unwrap(),
                axis => order.parameters[axis].to_string(),
            })
            .collect();
        told.dedup();
        told
    }

    #[test]
    fn a_change_of_algorithm_is_found_at_its_size() {
        let sizes = [8, 40, 48, 56, 64, 80, 96, 120, 512, 4096];
        let steps = sizes.map(|bytes| Step::new("broadcast", bytes, 1, 4));
        // A chain is faster from 100 bytes on.
        let mut runner = Scripted::new(|order| {
            let bytes = order.parameters["bytes"].as_f64().unwrap();
            let time = match order.parameters["algorithm"].as_str().unwrap() {
                "binomial" => 100.0 + 2.0 * bytes,
                "chain" => 200.0 + bytes,
                _ => 1e9,
            };
            Ok(taking(order, time))
        });
        led(&steps, &mut runner);
        let label = |step: &Step| {
            runner.kept.point(&key(step, WHOLE)).unwrap().labels["variant"].to_string()
        };
        let chain: Vec<u32> =
            steps.iter().filter(|step| label(step) == "chain").map(|step| step.size).collect();
        assert_eq!(chain, [120, 512, 4096]);
        // Not at every size was looked.
        let looked = |bytes: u32| {
            let orders = runner.ran().filter(|order| order.samples == SAMPLES && !order.probed);
            orders.filter(|order| order.parameters["bytes"] == bytes).count() > 0
        };
        assert!(!looked(48) && looked(96));
    }

    #[test]
    fn the_way_of_long_messages_is_chosen_among_those_that_ranks_can_go() {
        let chosen = |can: bool, times: [f64; 2]| {
            let steps = [64, 64 << 10].map(|bytes| Step::new("comms1", bytes, 1, 2));
            let mut runner = Scripted::new(move |order| {
                let way = order.way.filter(|_| can).unwrap_or_default();
                let time = if way == Way::Pieces { times[0] } else { times[1] };
                Ok(crate::runner::Executed { way: Some(way), ..taking(order, time) })
            });
            led(&steps, &mut runner);
            let point = runner.kept.point(&key(&steps[1], WHOLE)).unwrap();
            let labelled = point.labels.contains_key("way");
            let [short, long] = [64, 64 << 10].map(|bytes| sized(&runner, bytes, "way"));
            assert_eq!((short, long.len()), (vec!["null".to_owned()], 1));
            (["pieces", "single"].map(|name| long[0].contains(name)), labelled)
        };
        assert_eq!(chosen(true, [100.0, 50.0]), ([false, true], true));
        assert_eq!(chosen(true, [30.0, 50.0]), ([true, false], true));
        // Where ranks fall back there is one way, which has no name.
        assert_eq!(chosen(false, [100.0, 1.0]), ([false; 2], false));
    }

    #[test]
    fn a_named_algorithm_is_not_chosen() {
        let named = Step { variant: Some("linear".into()), ..Step::new("broadcast", 8, 1, 4) };
        let mut runner = Scripted::steady(10.0);
        led(&[named], &mut runner);
        assert!(runner.ran().all(|order| order.parameters["algorithm"] == "linear"));
        // Beside these there are a look at how long it takes and the warm-up of a point.
        assert_eq!(runner.ran().count(), runner.timed().count() + runner.checked().count() + 3);
    }
}
