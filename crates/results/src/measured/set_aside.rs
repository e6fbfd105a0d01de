//! The batches of a run that are not in the state seen from.

use std::collections::BTreeMap;

use bandgap_campaign::judge::Judged;
use serde::{Deserialize, Serialize};

use crate::measured::checked::grouped;

/// How many batches of the run are not in a state, by where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// All timed batches of the run, those of the state among them.
    pub timed: u64,
    /// In other states.
    pub other_states: u64,
    /// In no state: between two, or across a change of pace.
    pub no_state: u64,
    /// Rejected when they were measured, by what for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected: BTreeMap<String, u64>,
}

impl SetAside {
    /// What there is beside so many batches of a state; `None` where these are all.
    pub(crate) fn beside(judged: &Judged<'_>, batches: usize) -> Option<SetAside> {
        let run = judged.set_aside();
        let rejected = run.rejected.iter().map(|(why, count)| (why.clone(), *count as u64));
        let rejected: BTreeMap<String, u64> = rejected.collect();
        let (timed, no_state) = (run.timed as u64, run.in_no_state as u64);
        let known = batches as u64 + no_state + rejected.values().sum::<u64>();
        let other_states = timed.saturating_sub(known);
        let found = SetAside { timed, other_states, no_state, rejected };
        (timed > batches as u64).then_some(found)
    }

    /// `51 in other states, 234 in no state, 43 rejected (the placement changed within the batch) of 1 044`. Of several
    /// reasons the commonest: the run file has all.
    pub(crate) fn words(&self) -> String {
        let mut parts = Vec::new();
        let mut add = |count: u64, what: &str| {
            if count > 0 {
                parts.push(format!("{} {what}", grouped(count)));
            }
        };
        add(self.other_states, "in other states");
        add(self.no_state, "in no state");
        // A file may say any numbers.
        let all = self.rejected.values().copied().fold(0, u64::saturating_add);
        if let Some((why, count)) = self.rejected.iter().max_by_key(|(_, count)| **count) {
            let how_often = match (self.rejected.len(), count.saturating_mul(2) > all) {
                (1, _) => "",
                (_, true) => "mostly: ",
                (_, false) => "most often: ",
            };
            add(all, &format!("rejected ({how_often}{why})"));
        }
        format!("{} of {}", parts.join(", "), grouped(self.timed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_reason_is_most_of_them_only_where_it_is() {
        let of = |counts: [(&str, u64); 3]| {
            let rejected = counts
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .map(|(why, count)| (why.into(), count));
            SetAside { timed: 1044, rejected: rejected.collect(), ..SetAside::default() }.words()
        };
        assert_eq!(of([("a", 3), ("b", 1), ("c", 1)]), "5 rejected (mostly: a) of 1\u{a0}044");
        assert_eq!(of([("a", 3), ("b", 2), ("c", 1)]), "6 rejected (most often: a) of 1\u{a0}044");
        assert_eq!(of([("a", 3), ("b", 0), ("c", 0)]), "3 rejected (a) of 1\u{a0}044");
    }
}
