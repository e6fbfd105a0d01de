//! What became of the timed batches of a run: those that no estimate of the main state uses.

use std::collections::BTreeMap;

use crate::bare::FLOOR;
use crate::data::Table;
use crate::key::Key;
use crate::placement::Placements;

/// All timed batches of a run, and those of them that are in no state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// All timed batches of the run, whatever became of them.
    pub timed: usize,
    /// Those of them that are of floors beside what was measured; none where there are only floors.
    pub of_floors: usize,
    /// Batches that count and were not probed: they are taken to be of every state.
    pub unprobed: usize,
    /// Batches that were not rejected, and lie between states or across a change of pace.
    pub in_no_state: usize,
    /// Rejected batches by what they were rejected for.
    pub rejected: BTreeMap<&'static str, usize>,
}

impl SetAside {
    /// Counts the batches of a table. One without samples timed nothing.
    pub fn of(table: &Table, states: &Placements) -> Self {
        let mut found = Self::default();
        let is_floor = |key: &Key| key.what() == FLOOR;
        let has_others = table.iter().any(|(key, _)| !is_floor(key));
        for (key, batch) in table.executed().filter(|(_, batch)| !batch.samples.is_empty()) {
            found.of_floors += usize::from(has_others && is_floor(key));
            found.timed += 1;
            match (&batch.rejected, &batch.probe) {
                (Some(why), _) => *found.rejected.entry(why.code()).or_default() += 1,
                (None, None) => found.unprobed += 1,
                (None, Some(probe)) => {
                    found.in_no_state += usize::from(states.label(probe).is_none());
                }
            }
        }
        found
    }

    /// The share of so many batches among all.
    pub fn share(&self, batches: usize) -> f64 {
        batches as f64 / self.timed.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Batch, Kept, Probe, Rejected};

    #[test]
    fn every_timed_batch_is_in_a_state_or_is_counted_with_its_reason() {
        let probe = |before: f64, after: f64| {
            Some([before, after].map(|pace| Probe { cache_line: 100.0, pace }))
        };
        let rejected = |why| Batch { rejected: Some(why), ..Batch::default() };
        let fast = Batch { probe: probe(400.0, 400.0), ..Batch::default() };
        let mut all = vec![fast; 20];
        all.extend([
            rejected(Rejected::PlacementChanged),
            rejected(Rejected::PlacementChanged),
            rejected(Rejected::NotWarm),
            Batch { probe: probe(400.0, 600.0), ..Batch::default() },
            Batch::default(),
        ]);
        let mut table = Table::default();
        for batch in all {
            let batch = Batch { samples: vec![1.0], ..batch };
            table.push(Kept::Batch { key: Key::new("a"), batch });
        }
        // Nothing was timed.
        table.push(Kept::Batch {
            key: Key::new("a"),
            batch: rejected(Rejected::Unavailable("why".into())),
        });
        let probes: Vec<_> = table.batches(&Key::new("a")).iter().filter_map(|b| b.probe).collect();
        let states = Placements::find(&probes, 1);
        let found = SetAside::of(&table, &states);
        assert_eq!((found.share(20), SetAside::default().share(0)), (0.8, 0.0));
        assert_eq!((found.timed, found.unprobed, found.in_no_state), (25, 1, 1));
        let reasons: Vec<(&str, usize)> = found.rejected.into_iter().collect();
        assert_eq!(reasons, [("not_warm", 1), ("placement_changed", 2)]);
        assert_eq!(states.states().iter().map(|s| s.batches()).sum::<usize>(), 20);
    }

    #[test]
    fn a_batch_with_two_times_is_one() {
        let mut table = Table::default();
        let probe = Some([Probe { cache_line: 100.0, pace: 400.0 }; 2]);
        for (key, again) in [("whole", false), ("issue", true)] {
            let batch = Batch { samples: vec![1.0], probe, again, ..Batch::default() };
            (0..10).for_each(|_| {
                table.push(Kept::Batch { key: Key::new(key), batch: batch.clone() });
            });
        }
        let judged = crate::judge::Judged::of(&table, 0.95, 0.05, 1);
        assert_eq!((judged.set_aside().timed, judged.counted()), (10, 10));
        assert_eq!(judged.states().states()[0].batches(), 10);
        // Both times are values all the same.
        assert_eq!(
            [judged.values(&Key::new("whole")).len(), judged.values(&Key::new("issue")).len()],
            [10; 2]
        );
    }

    #[test]
    fn floors_beside_are_counted_and_floors_alone_are_not_beside() {
        let of = |keys: &[&str]| {
            let mut table = Table::default();
            for key in keys {
                for samples in [vec![1.0], vec![1.0], Vec::new()] {
                    let batch = Batch { samples, ..Batch::default() };
                    table.push(Kept::Batch { key: Key::new(key), batch });
                }
            }
            let found = SetAside::of(&table, &Placements::find(&[], 1));
            (found.timed, found.of_floors)
        };
        assert_eq!(of(&["echo", FLOOR]), (4, 2));
        assert_eq!([of(&["echo"]), of(&[FLOOR])], [(2, 0), (2, 0)]);
    }
}
