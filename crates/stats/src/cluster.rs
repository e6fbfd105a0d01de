//! Placement states: the levels between which a machine's probe time jumps.
//!
//! On a shared host two pinned processors may be hardware threads of one core, cores under one cache,
//! or cores of two sockets, and this may change within a second. So a short probe takes one of a few
//! well separated times. The states are found in the probes; neither their number nor their times
//! are assumed.

use crate::quantile::{quantile_sorted, sorted};

/// Minimum ratio of neighbouring states' times; see [`States::find`].
const RATIO: f64 = 1.5;

/// Half of the ratio's logarithm.
fn reach() -> f64 {
    RATIO.ln() / 2.0
}

/// One level of the probe time.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Shortest probe of the state.
    pub low: f64,
    /// Median probe of the state.
    pub centre: f64,
    /// Longest probe of the state.
    pub high: f64,
    /// Probes in the state.
    pub probes: usize,
}

/// The states found in a series of probes, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct States {
    states: Vec<State>,
}

impl States {
    /// Finds the states of probe times.
    ///
    /// *Formula*: on the logarithms, a probe is typical if at least max(3, 2 %) of all probes lie within
    /// ±½·ln 1.5 of it. Neighbouring typical probes are of one group if they are at most ½·ln 1.5
    /// apart. Neighbouring groups are one state if the ratio of their medians is below 1.5. Probes that
    /// are not typical (outliers, or probes during which the state changed) join no groups and make
    /// none.
    /// *Units*: those of the probes.
    /// *Assumes* positive probes, and states that each hold at least a few probes. A lone probe, or
    /// two, are one state.
    /// *Source*: density clustering (Ester et al., DBSCAN, 1996) in one dimension.
    pub fn find(probes: &[f64]) -> States {
        let reach = reach();
        let usable: Vec<f64> =
            probes.iter().copied().filter(|p| p.is_finite() && *p > 0.0).collect();
        let ordered = sorted(&usable);
        let logs: Vec<f64> = ordered.iter().map(|p| p.ln()).collect();
        let persistent = (ordered.len() / 50).max(3);
        let mut groups: Vec<Vec<f64>> = Vec::new();
        let mut last = f64::NEG_INFINITY;
        for (probe, log) in ordered.iter().zip(&logs) {
            let from = logs.partition_point(|other| *other < log - reach);
            let to = logs.partition_point(|other| *other <= log + reach);
            if to - from < persistent {
                continue;
            }
            match groups.last_mut() {
                Some(group) if log - last <= reach => group.push(*probe),
                _ => groups.push(vec![*probe]),
            }
            last = *log;
        }
        if groups.is_empty() && !ordered.is_empty() {
            groups.push(ordered);
        }
        let mut states: Vec<State> = Vec::new();
        let mut pending: Vec<f64> = Vec::new();
        for group in groups {
            let near = states
                .last()
                .is_some_and(|state| quantile_sorted(&group, 0.5) < state.centre * RATIO);
            if near {
                states.pop();
            } else {
                pending.clear();
            }
            pending.extend(group);
            states.push(State {
                low: pending[0],
                centre: quantile_sorted(&pending, 0.5),
                high: pending[pending.len() - 1],
                probes: pending.len(),
            });
        }
        States { states }
    }

    /// The states, shortest probe time first; empty only without probes.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The index of the state with the most probes.
    pub fn commonest(&self) -> Option<usize> {
        (0..self.states.len()).max_by_key(|&i| (self.states[i].probes, std::cmp::Reverse(i)))
    }

    /// The state of a probe: the nearest one, if the probe is within its range widened by √1.5;
    /// `None` for an outlier.
    pub fn label(&self, probe: f64) -> Option<usize> {
        if probe.is_nan() || probe <= 0.0 {
            return None;
        }
        let distance = |state: &State| {
            (state.low.ln() - probe.ln()).max(probe.ln() - state.high.ln()).max(0.0)
        };
        (0..self.states.len())
            .map(|i| (i, distance(&self.states[i])))
            .filter(|(_, distance)| *distance <= reach())
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(i, _)| i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn level(low: f64, high: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..count).map(|_| generator.random_range(low..high)).collect()
    }

    #[test]
    fn three_states_with_detours_between_them() {
        let mut probes = level(48.0, 63.0, 300, 1);
        probes.extend(level(24.0, 26.0, 20, 2));
        probes.extend(level(224.0, 280.0, 30, 3));
        // Each within 1.5 of the next: a chain from one state to the other.
        probes.extend([75.0, 100.0, 140.0, 190.0, 900.0]);
        let states = States::find(&probes);
        assert_eq!(states.states().len(), 3);
        assert_eq!(states.commonest(), Some(1));
        assert_eq!(states.label(25.0), Some(0));
        assert_eq!(states.label(55.0), Some(1));
        assert_eq!(states.label(68.0), Some(1));
        assert_eq!(states.label(250.0), Some(2));
        assert_eq!(states.label(120.0), None);
        assert_eq!(states.label(900.0), None);
        assert_eq!(states.label(0.0), None);
    }

    #[test]
    fn quiet_machine_has_one_state() {
        let mut probes = level(50.0, 58.0, 200, 4);
        probes.extend([400.0, 2000.0]);
        let states = States::find(&probes);
        assert_eq!(states.states().len(), 1);
        assert!((states.states()[0].centre - 54.0).abs() < 1.0);
        assert!(states.states()[0].high < 58.0);
    }

    #[test]
    fn slow_drift_is_no_second_state() {
        let probes: Vec<f64> = (0..200).map(|i| 50.0 + 0.2 * f64::from(i)).collect();
        assert_eq!(States::find(&probes).states().len(), 1);
    }

    #[test]
    fn few_probes() {
        assert_eq!(States::find(&[]).states(), []);
        assert_eq!(States::find(&[]).label(3.0), None);
        assert_eq!(States::find(&[]).commonest(), None);
        assert_eq!(States::find(&[52.0, 250.0]).states().len(), 1);
        assert_eq!(States::find(&[52.0, 53.0, 51.0, f64::NAN]).states()[0].probes, 3);
    }
}
