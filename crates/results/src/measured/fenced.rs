//! Disturbed samples and batches, which no mean holds.

use bandgap_campaign::Key;
use bandgap_campaign::data::Batch;
use bandgap_campaign::judge::Judged;
use bandgap_stats::outlier::inside_fence;
use bandgap_stats::rounds;
use bandgap_units::Fraction;
use serde::{Deserialize, Serialize};

use crate::measured::checked::grouped;

/// What the fences left out of the batches of a result that count: samples of their batch, batches of their point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fenced {
    /// Samples of these batches.
    pub samples: u64,
    /// Those outside the fence of their batch.
    pub samples_outside: u64,
    /// These batches.
    pub batches: u64,
    /// Those outside the fence of their point, in their launch.
    pub batches_outside: u64,
}

impl Fenced {
    /// Of the batches of these keys that count as the table is seen. A key belongs to one result, so that all results of
    /// a run look at each batch once.
    pub(crate) fn of<'a>(
        judged: &Judged<'_>,
        keys: impl Iterator<Item = (&'a Key, &'a [Batch])>,
    ) -> Fenced {
        let mut found = Fenced::default();
        for (key, batches) in keys {
            // Further times of batches that are counted under another key.
            if batches.iter().all(|batch| batch.again) {
                continue;
            }
            for batch in batches.iter().filter(|batch| judged.counts(batch)) {
                found.samples += batch.samples.len() as u64;
                found.samples_outside += outside(&batch.samples);
            }
            for values in judged.by_launch(key).values() {
                found.batches += values.len() as u64;
                found.batches_outside += outside(&rounds::of(values));
            }
        }
        found
    }

    /// `outside their fence 3 of 1 044 batches of this result, and 0.4 % of their samples`; `None` where nothing is.
    pub(crate) fn words(&self) -> Option<String> {
        let share = self.samples_outside as f64 / self.samples.max(1) as f64;
        let samples = Fraction(share);
        let outside = grouped(self.batches_outside);
        let batches = format!("{outside} of {} batches of this result", grouped(self.batches));
        let what = match (self.batches_outside, self.samples_outside) {
            (0, 0) => return None,
            (0, _) => format!("{samples} of the samples of this result"),
            (_, 0) => batches,
            _ => format!("{batches}, and {samples} of their samples"),
        };
        Some(format!("outside their fence {what}"))
    }
}

fn outside(values: &[f64]) -> u64 {
    match values {
        [] => 0,
        _ => (values.len() - inside_fence(values).len()) as u64,
    }
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::data::{Kept, Table};

    use super::*;

    fn of_all(table: &Table) -> Fenced {
        Fenced::of(&Judged::of(table, 0.95, 0.05, 1), table.iter())
    }

    #[test]
    fn samples_and_batches_outside_their_fence_are_counted() {
        let of = |times: &[f64], disturbed: usize| {
            let mut table = Table::default();
            for (round, &time) in (0..).zip(times) {
                let mut samples = vec![time; 10];
                samples[..disturbed].fill(50.0 * time);
                let batch = Batch { samples, round, ..Batch::default() };
                table.push(Kept::Batch { key: Key::new("a"), batch });
            }
            of_all(&table)
        };
        let six = [100.0, 101.0, 102.0, 99.0, 100.0, 700.0];
        let found = of(&six, 1);
        let expected = Fenced { samples: 60, samples_outside: 6, batches: 6, batches_outside: 1 };
        assert_eq!(found, expected);
        let words = "outside their fence 1 of 6 batches of this result, and 10 % of their samples";
        assert_eq!(found.words().as_deref(), Some(words));
        assert_eq!(
            of(&six, 0).words().as_deref(),
            Some("outside their fence 1 of 6 batches of this result")
        );
        let samples = of(&six[..5], 1).words();
        assert_eq!(
            samples.as_deref(),
            Some("outside their fence 10 % of the samples of this result")
        );
        assert_eq!(of(&six[..5], 0).words(), None);
        assert_eq!(of_all(&Table::default()), Fenced::default());
    }
}
