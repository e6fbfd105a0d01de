//! Places of lines in memory, and walks over them.
//!
//! The cost of a line's transfer depends on where the line is: its page, its place in the cache,
//! its neighbours. So a measurement of transfers visits several places. No single place then
//! decides the result, and the times at the places form a distribution.

use bandgap_comm::{FloorRole, Measuring, Timer, Window};

use crate::Result;
use crate::mapping::PAGE;

/// Processors fetch lines in pairs, so a line that only one side writes has a neighbour that is
/// never written.
pub(crate) const WITH_NEIGHBOUR: usize = 128;
const IN_PAGE: usize = PAGE / WITH_NEIGHBOUR;

/// Offsets of the two lines of place `place`: in their own page, at other offsets and another
/// distance than those of the place before.
pub(crate) fn pair_at(place: usize) -> [usize; 2] {
    // 5 and the number of offsets are coprime, so all offsets are used before one is repeated.
    let first = 5 * place;
    let second = first + 1 + place % (IN_PAGE - 1);
    [first, second].map(|line| place * PAGE + line % IN_PAGE * WITH_NEIGHBOUR)
}

/// The number before the first one of an epoch.
pub(crate) fn first_number(epoch: u64, exchanges: u64) -> u64 {
    assert!(exchanges < u64::from(u32::MAX), "an epoch has fewer than 2^32 - 1 exchanges");
    epoch << 32
}

/// How a measurement visits its places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// Number of places that one sample visits in turn. The next sample uses the next places; the
    /// first place follows the last.
    pub(crate) at_once: usize,
    /// Untimed exchanges at each place before a sample, which bring lines back into the caches.
    pub(crate) warm: u32,
}

impl Walk {
    /// Exchanges of all samples, timed or not.
    pub(crate) fn exchanges(self, window: Window) -> u64 {
        let warm = self.at_once as u64 * u64::from(self.warm);
        window.all_rounds() + u64::from(window.samples) * warm
    }

    /// Calls `exchange` with a place and the number of the exchange, which begins after
    /// `first_number`: `window.rounds` times in each sample, and for the warm-up. Returns the ticks
    /// of the samples on the initiator.
    ///
    /// # Errors
    /// Errors of `exchange`.
    ///
    /// # Panics
    /// The number of places is not a multiple of that of a sample, or there are 2³² − 1 exchanges
    /// or more.
    #[inline(always)]
    pub(crate) fn over<P: Copy>(
        self,
        places: &[P],
        epoch: u64,
        with: &Measuring<'_, impl Timer>,
        mut exchange: impl FnMut(P, u64) -> Result<()>,
    ) -> Result<Vec<u64>> {
        let Measuring { role, window, timer, .. } = *with;
        assert!(places.len().is_multiple_of(self.at_once), "samples have equally many places");
        let mut number = first_number(epoch, self.exchanges(window));
        let mut next = |place| {
            number += 1;
            exchange(place, number)
        };
        let mut ticks = Vec::with_capacity(window.samples as usize);
        let groups = places.chunks(self.at_once).cycle().take(window.samples as usize);
        for group in groups {
            for &place in group {
                (0..self.warm).try_for_each(|_| next(place))?;
            }
            let mut round = group.iter().cycle().take(window.rounds as usize);
            let start = timer.stamp();
            round.try_for_each(|&place| next(place))?;
            ticks.push(timer.stamp().ticks().wrapping_sub(start.ticks()));
        }
        if role == FloorRole::Responder {
            ticks.clear();
        }
        Ok(ticks)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::Duration;

    use bandgap_comm::Stamp;

    use super::*;
    use crate::control::PROBE_PLACES;
    use crate::floor::PLACES;
    use crate::probe::{PROBE_WINDOWS, WALK};

    #[test]
    fn places_differ_in_page_in_offset_and_in_distance() {
        let pairs: Vec<[usize; 2]> = (0..PLACES).map(pair_at).collect();
        for (place, [ping, pong]) in pairs.iter().enumerate() {
            assert_eq!([ping / PAGE, pong / PAGE], [place; 2]);
            assert!(ping.is_multiple_of(WITH_NEIGHBOUR) && pong.is_multiple_of(WITH_NEIGHBOUR));
            assert_ne!(ping, pong);
        }
        // 4096/128 = 32 offsets, each of them twice, and 31 distances.
        for line in 0..2 {
            let mut offsets = BTreeMap::<usize, usize>::new();
            pairs.iter().for_each(|pair| *offsets.entry(pair[line] % PAGE).or_default() += 1);
            assert!(line == 1 || offsets.len() == 32 && offsets.values().all(|times| *times == 2));
            assert!(offsets.len() >= 16, "{offsets:?}");
        }
        let apart = |[ping, pong]: &[usize; 2]| (pong + PAGE - ping) % PAGE;
        let apart: BTreeSet<usize> = pairs.iter().map(apart).collect();
        assert_eq!(apart.len(), 31);
    }

    /// Advances by what the exchanges so far cost.
    #[derive(Default)]
    pub(crate) struct Costs(Cell<u64>);

    impl Timer for Costs {
        fn stamp(&self) -> Stamp {
            Stamp::from_ticks(self.0.get())
        }

        fn work(&self, _iterations: u32) {}
    }

    /// The ticks of a walk's samples, and how often each place was visited, if an exchange at a place costs `cost`.
    fn walked(
        walk: Walk,
        places: usize,
        window: Window,
        cost: impl Fn(usize) -> u64,
    ) -> (Vec<u64>, BTreeMap<usize, u64>) {
        let timer = Costs::default();
        let (role, patience) = (FloorRole::Initiator, Duration::ZERO);
        let with =
            Measuring { role, window, timer: &timer, turn: 0, patience, give_up: &|_, _| true };
        let (mut visits, mut expected) = (BTreeMap::new(), 7 << 32);
        let places: Vec<usize> = (0..places).collect();
        let ticks = walk.over(&places, 7, &with, |place, number| {
            expected += 1;
            assert_eq!(number, expected);
            *visits.entry(place).or_default() += 1;
            timer.0.set(timer.0.get() + cost(place));
            Ok(())
        });
        assert_eq!(expected - (7 << 32), walk.exchanges(window));
        (ticks.unwrap(), visits)
    }

    #[test]
    fn a_walk_visits_every_place_equally_and_times_what_follows_the_warm_up() {
        // Four places, of which a sample has one or two; so often that each has two samples.
        for (at_once, samples) in [(1, 8), (2, 4)] {
            let walk = Walk { at_once, warm: 3 };
            let (ticks, visits) = walked(walk, 4, Window { samples, rounds: 10 }, |_| 1);
            assert_eq!(ticks, vec![10; samples as usize]);
            // Two samples: three exchanges to warm up in each, and ten timed ones shared by those at once.
            assert_eq!(
                visits.values().sum::<u64>(),
                walk.exchanges(Window { samples, rounds: 10 })
            );
            assert_eq!(
                visits,
                (0..4).map(|place| (place, 2 * (3 + 10 / at_once as u64))).collect()
            );
        }
    }

    #[test]
    fn each_sample_tells_of_its_own_places() {
        let walk = Walk { at_once: 1, warm: 1 };
        let (ticks, _) = walked(walk, 4, Window { samples: 6, rounds: 5 }, |place| place as u64);
        assert_eq!(ticks, [0, 5, 10, 15, 0, 5]);
    }

    #[test]
    fn one_slow_place_does_not_move_a_probe() {
        let window = Window { samples: PROBE_WINDOWS, rounds: 24 };
        for slow in 0..PROBE_PLACES {
            let cost = |place| if place == slow { 500 } else { 1 };
            let (mut windows, visits) = walked(WALK, PROBE_PLACES, window, cost);
            assert_eq!(visits.len(), PROBE_PLACES);
            assert!(visits.values().all(|times| *times == 1 + 3), "{visits:?}");
            windows.sort_unstable();
            assert_eq!(windows[1], 24);
            assert!(windows[2] > 24, "each place is timed");
        }
    }
}
