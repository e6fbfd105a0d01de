//! Placement states: finding them in the probes of a run, and the state of a batch.
//!
//! A state is a level of distance between the two processors, and whether something slowed them
//! compared with the fastest pace at that distance. Slowing can last for milliseconds or for the
//! whole run. Neither the number of levels nor their times are assumed. A machine that is slowed
//! throughout looks like a slower machine.

use std::collections::BTreeMap;

use bandgap_stats::quantile::quantile;
use bandgap_stats::{State, States};

use crate::data::{Probe, Rejected};

/// A batch whose probes differ by more than this factor saw two distances.
const STRADDLE: f64 = 1.4;
/// The fastest pace at a distance is this quantile of its probes, since few outliers are faster.
pub const FASTEST: f64 = 0.05;
/// A processor is slowed when it takes longer than at the fastest pace by more than this factor.
pub const SLOWED: f64 = 1.1;

/// With fewer batches per point on average, paces are not told apart: too few batches would count.
pub const ENOUGH: usize = 8;

/// One placement state.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// The level of the cache-line ping-pong, in nanoseconds one way.
    pub cache_line: State,
    /// Whether something slowed a processor.
    pub slowed: bool,
    /// Batches in this state.
    pub batches: usize,
    level: usize,
}

/// The states found in the probes of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Placements {
    /// The levels of distance.
    pub lines: States,
    /// The fastest pace at each level of distance.
    fastest: Vec<f64>,
    told_apart: bool,
    /// The states by distance, the fast one before the slowed one; empty without probes.
    pub states: Vec<Placement>,
}

impl Placements {
    /// Finds the states from the probes before and after each batch. `points` is the number of
    /// points.
    pub fn find(batches: &[[Probe; 2]], points: usize) -> Self {
        let lines = States::find(&batches.iter().map(line).collect::<Vec<_>>());
        let mut paces = vec![Vec::new(); lines.states().len()];
        for batch in batches {
            if let Some(level) = lines.label(line(batch)) {
                paces[level].extend(batch.map(|probe| probe.pace));
            }
        }
        let fastest = |paces: &Vec<f64>| match paces.is_empty() {
            true => f64::INFINITY,
            false => quantile(paces, FASTEST),
        };
        let fastest = paces.iter().map(fastest).collect();
        let told_apart = batches.len() >= ENOUGH * points.max(1);
        let mut placements = Self { lines, fastest, told_apart, states: Vec::new() };
        let mut found: BTreeMap<(usize, bool), usize> = BTreeMap::new();
        for place in batches.iter().filter_map(|batch| placements.place(batch)) {
            *found.entry(place).or_default() += 1;
        }
        for ((level, slowed), batches) in found {
            let cache_line = placements.lines.states()[level].clone();
            placements.states.push(Placement { cache_line, slowed, batches, level });
        }
        placements
    }

    /// Level of distance, and whether slowed; `None` between levels and if the pace changed.
    fn place(&self, batch: &[Probe; 2]) -> Option<(usize, bool)> {
        let level = self.lines.label(line(batch))?;
        if !self.told_apart {
            return Some((level, false));
        }
        let [before, after] = batch.map(|probe| probe.pace > SLOWED * self.fastest[level]);
        (before == after).then_some((level, before))
    }

    /// The index of the main state: the fast one at the commonest distance if it has a fifth of the
    /// batches there, else the commonest one there. The slowed state is a mixture of disturbances
    /// and says little about the machine.
    pub fn main(&self) -> Option<usize> {
        let level = self.lines.commonest()?;
        let states = || (0..self.states.len()).filter(|&i| self.states[i].level == level);
        let all: usize = states().map(|i| self.states[i].batches).sum();
        states()
            .find(|&i| !self.states[i].slowed && self.states[i].batches >= all.div_ceil(5))
            .or_else(|| states().max_by_key(|&i| self.states[i].batches))
    }

    /// The index of a batch's state; `None` if it is between states.
    pub fn label(&self, batch: &[Probe; 2]) -> Option<usize> {
        let place = self.place(batch)?;
        self.states.iter().position(|state| (state.level, state.slowed) == place)
    }
}

fn line(batch: &[Probe; 2]) -> f64 {
    f64::midpoint(batch[0].cache_line, batch[1].cache_line)
}

/// Rejects a batch if the probes before and after it show different distances.
pub fn straddles(probe: Option<[Probe; 2]>) -> Option<Rejected> {
    let [before, after] = probe?.map(|probe| probe.cache_line);
    let factor = before.max(after) / before.min(after).max(1e-3);
    (factor > STRADDLE).then_some(Rejected::PlacementChanged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(cache_line: f64, before: f64, after: f64) -> [Probe; 2] {
        [before, after].map(|pace| Probe { cache_line, pace })
    }

    #[test]
    fn states_are_told_by_distance_and_by_pace() {
        // Far: 40 batches at 400 ns, 30 slowed by 1.2 to 1.75. Near, as two threads of one core:
        // 700 ns always, which is the fastest there.
        let mut batches = vec![batch(140.0, 400.0, 402.0); 40];
        batches.extend((0..30).map(|i| batch(142.0, 600.0, 480.0 + 7.0 * f64::from(i))));
        batches.extend(vec![batch(28.0, 700.0, 705.0); 10]);
        let found = Placements::find(&batches, 1);
        let states = &found.states;
        let counts: Vec<_> = states.iter().map(|state| (state.slowed, state.batches)).collect();
        assert_eq!(counts, [(false, 10), (false, 40), (true, 30)]);
        assert_eq!(found.main(), Some(1));
        assert_eq!(found.label(&batches[0]), Some(1));
        assert_eq!(found.label(&batches[50]), Some(2));
        assert_eq!(found.label(&batches[75]), Some(0));
        // Slowed before, and not after: two states in one batch. 1000 ns is no distance.
        assert_eq!(found.label(&batch(140.0, 600.0, 400.0)), None);
        assert_eq!(found.label(&batch(1000.0, 400.0, 400.0)), None);
    }

    #[test]
    fn the_fastest_pace_is_looked_from_while_there_is_enough_of_it() {
        // 10 of 50 are a fifth, 10 of 51 are less.
        for (slowed, is_slowed) in [(40, false), (41, true)] {
            let mut batches = vec![batch(140.0, 400.0, 400.0); 10];
            batches.extend(vec![batch(140.0, 690.0, 700.0); slowed]);
            let found = Placements::find(&batches, 1);
            assert_eq!(found.states[found.main().unwrap()].slowed, is_slowed);
        }
    }

    #[test]
    fn few_batches_are_taken_together() {
        // 7 batches of one point, 15 of two.
        let slowed =
            |i: usize| batch(140.0, if i.is_multiple_of(2) { 400.0 } else { 700.0 }, 700.0);
        for (batches, points, states) in [(7, 1, 1), (8, 1, 2), (15, 2, 1), (16, 2, 2)] {
            let mut probes: Vec<_> = (0..batches).map(slowed).collect();
            probes[0] = batch(140.0, 400.0, 400.0);
            let found = Placements::find(&probes, points);
            assert_eq!(found.states.len(), states);
        }
    }

    #[test]
    fn without_probes_there_are_no_states() {
        let found = Placements::find(&[], 0);
        assert_eq!((&found.states[..], found.main()), (&[][..], None));
        assert_eq!(found.label(&batch(100.0, 1.0, 1.0)), None);
    }

    #[test]
    fn a_batch_across_a_change_of_distance_is_told() {
        let pair = |before: f64, after: f64| {
            straddles(Some([before, after].map(|cache_line| Probe { cache_line, pace: 400.0 })))
        };
        assert_eq!(straddles(None), None);
        assert_eq!(pair(100.0, 139.0), None);
        // 150 / 100.
        assert_eq!(pair(150.0, 100.0), Some(Rejected::PlacementChanged));
    }
}
