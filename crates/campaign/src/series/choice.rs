//! How an operation is done fastest here, found out before anything is measured.

use std::collections::BTreeMap;

use bandgap_comm::passing::Way;
use bandgap_kernels::{Refused, WHOLE};
use bandgap_stats::batch_value;

use super::step::{SINGLE, Step};
use crate::data::{Chosen, manner};
use crate::runner::{Runner, Stop};

/// Looks at each way to do it.
const LOOKS: usize = 5;
/// Samples of a look.
const SAMPLES: u32 = 6;
/// Share of the budget after which there are no more looks.
const LOOKING: f64 = 0.25;
/// Sizes that are looked at first lie this factor apart, at least; those between take what was chosen for
/// the one below, unless those around them chose differently.
const APART: u32 = 4;

/// What tells operations apart that are chosen for each by itself: all of a step but its size.
type Group = (String, usize, [usize; 2], Option<[usize; 2]>, Option<String>);

fn group(step: &Step) -> Group {
    let Step { series, ranks, pair, mesh, variant, .. } = step.clone();
    (series, ranks, pair, mesh, variant)
}

/// The choices of all steps that leave one, by size.
#[derive(Debug, Default)]
pub(super) struct Choices(BTreeMap<Group, BTreeMap<u32, Chosen>>);

/// One way to do a step, and the times of its looks.
struct Candidate<'a> {
    planned: &'a Step,
    step: Step,
    times: Vec<f64>,
}

impl Choices {
    /// Looks at each way to do the steps of some sizes, in turns, and takes the one of the least
    /// median time. Where two sizes that were looked at chose differently, it looks between them, until there is no step
    /// between. A way that the ranks cannot go is left out. Nothing is chosen for those of which
    /// not all ways were looked at within a quarter of `budget`, in seconds.
    ///
    /// # Errors
    /// Communication failed, the run was stopped, or a step can be done in no way.
    pub(super) fn look(steps: &[Step], budget: f64, runner: &mut dyn Runner) -> Result<Self, Stop> {
        let begun = runner.elapsed();
        let mut choices = Self::default();
        let mut impossible: Vec<Way> = Vec::new();
        if runner.virtual_time() {
            impossible.push(SINGLE);
        }
        let mut next = looked_at(steps);
        while !next.is_empty() {
            let mut candidates = Vec::new();
            for planned in next {
                let fits = fitting(planned)?.into_iter();
                candidates.extend(fits.map(|step| Candidate { planned, step, times: Vec::new() }));
            }
            leave_out(&mut candidates, &impossible);
            let looks = if runner.virtual_time() { 1 } else { LOOKS };
            for _ in 0..looks {
                for candidate in &mut candidates {
                    let way = beside_pieces(&candidate.step);
                    if way.is_some_and(|way| impossible.contains(&way)) {
                        continue;
                    }
                    let spent = runner.elapsed().saturating_sub(begun).as_secs_f64();
                    if !runner.virtual_time() && spent > LOOKING * budget {
                        choices.add_all(&candidates)?;
                        return Ok(choices);
                    }
                    let done = runner.run(&candidate.step.order(SAMPLES)?)?;
                    impossible.extend(way.filter(|_| done.way != way));
                    candidate.times.push(batch_value(done.column(WHOLE)));
                }
                leave_out(&mut candidates, &impossible);
            }
            choices.add_all(&candidates)?;
            next = choices.undecided(steps);
        }
        Ok(choices)
    }

    /// The steps in the middle between two neighbours that were looked at and chose differently.
    fn undecided<'a>(&self, steps: &'a [Step]) -> Vec<&'a Step> {
        let free = by_size(steps);
        let mut middle = Vec::new();
        for of_group in free.chunk_by(|a, b| group(a) == group(b)) {
            let Some(looked) = self.0.get(&group(of_group[0])) else { continue };
            for ((from, a), (to, b)) in looked.iter().zip(looked.iter().skip(1)) {
                let between = |step: &&&Step| (from + 1..*to).contains(&step.size);
                let between: Vec<&Step> = of_group.iter().filter(between).copied().collect();
                if (&a.variant, a.way) != (&b.variant, b.way) {
                    middle.extend(between.get(between.len() / 2));
                }
            }
        }
        middle
    }

    /// Takes the fastest of the candidates of each step of which all were looked at.
    fn add_all(&mut self, candidates: &[Candidate<'_>]) -> Result<(), Stop> {
        let of_one = candidates.chunk_by(|a, b| std::ptr::eq(a.planned, b.planned));
        for group in of_one.filter(|of| of.iter().all(|candidate| !candidate.times.is_empty())) {
            self.add(group)?;
        }
        Ok(())
    }

    /// Takes the fastest of the candidates of one step.
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
        let chosen = Chosen {
            variant: best.variant.clone(),
            way: best.way,
            looked: looked
                .iter()
                .map(|(step, ns)| (manner(step.variant.as_deref(), step.way), *ns))
                .collect(),
        };
        self.0.entry(group(first.planned)).or_default().insert(best.size, chosen);
        Ok(())
    }

    /// What was chosen for a step: at its size, or at the next smaller one that was looked at. The
    /// times are those of that size.
    pub(super) fn of(&self, step: &Step) -> Option<Chosen> {
        if !step.leaves_a_choice() {
            return None;
        }
        let (size, chosen) = self.0.get(&group(step))?.range(..=step.size).next_back()?;
        let looked = if *size == step.size { chosen.looked.clone() } else { Vec::new() };
        Some(Chosen { looked, ..chosen.clone() })
    }
}

/// Leaves out ways that ranks cannot go. Where there is one way only then, it has no name.
fn leave_out(candidates: &mut Vec<Candidate<'_>>, impossible: &[Way]) {
    let is_out = |way: Way| impossible.contains(&way);
    candidates.retain(|candidate| !beside_pieces(&candidate.step).is_some_and(is_out));
    for of_one in candidates.chunk_by_mut(|a, b| std::ptr::eq(a.planned, b.planned)) {
        if of_one.iter().all(|candidate| beside_pieces(&candidate.step).is_none()) {
            of_one.iter_mut().for_each(|candidate| candidate.step.way = candidate.planned.way);
        }
    }
}

/// The way of a step's long messages, if it is not the one that all ranks can go.
fn beside_pieces(step: &Step) -> Option<Way> {
    step.way.filter(|way| *way != Way::Pieces)
}

/// The median of a few.
fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// The steps that leave a choice, of each operation by size.
fn by_size(steps: &[Step]) -> Vec<&Step> {
    let mut free: Vec<&Step> = steps.iter().filter(|step| step.leaves_a_choice()).collect();
    free.sort_by_key(|step| (group(step), step.size));
    free
}

/// The steps that are looked at first: of each operation the smallest, and then those far enough apart.
fn looked_at(steps: &[Step]) -> Vec<&Step> {
    let mut looked: Vec<&Step> = Vec::new();
    for step in by_size(steps) {
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
/// There is none; the error says why the last one does not fit.
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
    use crate::scripted::{Scripted, taking};
    use crate::series::{Part, SeriesPlan, key};

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
        let [two, four] = steps.map(|step| key(&step, Part::Whole));
        assert_eq!(runner.kept.chosen(&two).map(|chosen| chosen.looked.len()), Some(4));
        assert!(runner.kept.chosen(&four).is_none() && !runner.kept.batches(&four).is_empty());
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
    fn the_fastest_algorithm_of_each_size_is_measured_and_kept() {
        let steps = [8, 16, 1 << 20].map(|bytes| Step::new("broadcast", bytes, 1, 4));
        // A chain is faster for long messages, and linear never is.
        let mut runner = Scripted::new(|order| {
            let bytes = order.parameters["bytes"].as_f64().unwrap();
            let time = match order.parameters["algorithm"].as_str().unwrap() {
                "binomial" => 100.0 + 2.0 * bytes,
                "chain" => 300.0 + bytes,
                _ => 1e9,
            };
            Ok(taking(order, time))
        });
        led(&steps, &mut runner);
        let algorithms = [8, 16, 1 << 20].map(|bytes| sized(&runner, bytes, "algorithm"));
        assert_eq!(algorithms, [["\"binomial\""], ["\"binomial\""], ["\"chain\""]]);
        let looked = runner.kept.chosen(&key(&steps[2], Part::Whole)).unwrap();
        assert_eq!(looked.variant.as_deref(), Some("chain"));
        // There and back is two operations.
        assert_eq!(looked.looked[0], ("chain".to_owned(), (300.0 + f64::from(1 << 20)) / 2.0));
        // 16 bytes are near to 8, but there is where the one ends and the other begins.
        let near = runner.kept.chosen(&key(&steps[1], Part::Whole)).unwrap();
        assert_eq!((near.variant.as_deref(), near.looked.len()), (Some("binomial"), 4));
    }

    #[test]
    fn the_crossover_is_found_where_it_is_and_other_sizes_take_what_is_below() {
        let sizes: Vec<u32> = (0..=10).map(|log| 8 << log).collect();
        let steps: Vec<Step> = sizes.iter().map(|&n| Step::new("broadcast", n, 1, 4)).collect();
        // The lines cross at 300 bytes.
        let mut runner = Scripted::new(|order| {
            let bytes = order.parameters["bytes"].as_f64().unwrap();
            let time = match order.parameters["algorithm"].as_str().unwrap() {
                "binomial" => 2.0 * bytes,
                "chain" => 300.0 + bytes,
                _ => 1e9,
            };
            Ok(taking(order, time))
        });
        led(&steps, &mut runner);
        for (step, bytes) in steps.iter().zip(sizes) {
            let chosen = runner.kept.chosen(&key(step, Part::Whole)).unwrap();
            let expected = if bytes < 300 { "binomial" } else { "chain" };
            assert_eq!(chosen.variant.as_deref(), Some(expected), "{bytes}");
        }
        // 8, 32, 128, … are looked at, and between 128 and 512.
        let looked =
            |step: &&Step| !runner.kept.chosen(&key(step, Part::Whole)).unwrap().looked.is_empty();
        assert_eq!(steps.iter().filter(looked).count(), 6 + 1);
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
            let looked = runner.kept.chosen(&key(&steps[1], Part::Whole));
            let looked = looked.map_or(0, |chosen| chosen.looked.len());
            let [short, long] = [64, 64 << 10].map(|bytes| sized(&runner, bytes, "way"));
            assert_eq!((short, long.len()), (vec!["null".to_owned()], 1));
            (["pieces", "single"].map(|name| long[0].contains(name)), looked)
        };
        assert_eq!(chosen(true, [100.0, 50.0]), ([false, true], 2));
        assert_eq!(chosen(true, [30.0, 50.0]), ([true, false], 2));
        // Where ranks fall back there is one way, which has no name.
        assert_eq!(chosen(false, [100.0, 1.0]), ([false; 2], 0));
    }

    #[test]
    fn each_named_algorithm_of_long_messages_stays_what_it_is() {
        let named = |name: &str| Step {
            variant: Some(name.into()),
            ..Step::new("broadcast", 64 << 10, 1, 4)
        };
        let mut runner = Scripted::steady(10.0);
        led(&[named("binomial"), named("chain")], &mut runner);
        let both: std::collections::BTreeSet<String> =
            sized(&runner, 64 << 10, "algorithm").into_iter().collect();
        assert_eq!(both.len(), 2, "{both:?}");
        // As what it is measured, it is found again.
        for step in [named("binomial"), named("chain")] {
            let found = step.done().into_iter().map(|step| key(&step, Part::Whole));
            assert!(found.filter(|key| !runner.kept.batches(key).is_empty()).count() == 1);
        }
        let free = Step::new("broadcast", 64 << 10, 1, 4);
        assert!(free.done().contains(&named("chain")));
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
