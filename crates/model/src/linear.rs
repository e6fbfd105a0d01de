//! Linear combinations of measured means.
//!
//! Once the regimes are chosen, every LogP parameter but the capacity is a fixed linear combination
//! of the observations' means. Value, variance, degrees of freedom and every bootstrap replicate
//! follow from its coefficients.

use std::collections::BTreeMap;

use bandgap_stats::bootstrap::Clustered;

/// A difference below this share of its terms is rounding error.
const ROUNDING: f64 = 1e-12;

/// One observation: its batch values inside the fence.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub batches: Vec<f64>,
    /// Round of each batch, numbered from 0 over all groups; if rounds are unknown, its index in
    /// the group.
    pub rounds: Vec<usize>,
    pub mean: f64,
    /// Variance of the mean, s²/n.
    pub variance: f64,
}

impl Group {
    /// Stretches the deviations from the mean by `factor`.
    pub(crate) fn widen(&mut self, factor: f64) {
        for batch in &mut self.batches {
            *batch = self.mean + factor * (*batch - self.mean);
        }
        self.variance *= factor * factor;
    }

    /// The batches with their rounds.
    pub(crate) fn clustered(&self) -> Clustered<'_> {
        Clustered { samples: &self.batches, clusters: &self.rounds }
    }

    pub(crate) fn degrees(&self) -> f64 {
        (self.batches.len() - 1) as f64
    }
}

/// constant + Σ coefficient·mean over some of the groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    constant: f64,
    /// By index of the group.
    coefficients: BTreeMap<usize, f64>,
}

impl Linear {
    /// Σ weightᵢ·mean of groupᵢ.
    pub(crate) fn of(terms: impl IntoIterator<Item = (usize, f64)>) -> Linear {
        let mut linear = Linear::default();
        for (group, weight) in terms {
            *linear.coefficients.entry(group).or_default() += weight;
        }
        linear
    }

    /// Σ factorᵢ·partᵢ.
    pub(crate) fn sum<'a>(parts: impl IntoIterator<Item = (f64, &'a Linear)>) -> Linear {
        let mut sum = Linear::default();
        for (factor, part) in parts {
            sum.constant += factor * part.constant;
            for (group, coefficient) in &part.coefficients {
                *sum.coefficients.entry(*group).or_default() += factor * coefficient;
            }
        }
        sum
    }

    pub(crate) fn shifted(mut self, constant: f64) -> Linear {
        self.constant += constant;
        self
    }

    /// Value for these means, by group.
    pub(crate) fn at(&self, mean: impl Fn(usize) -> f64) -> f64 {
        self.constant + self.terms().map(|(group, c)| c * mean(group)).sum::<f64>()
    }

    /// Groups with nonzero coefficients.
    fn terms(&self) -> impl Iterator<Item = (usize, f64)> {
        self.coefficients.iter().map(|(group, c)| (*group, *c)).filter(|(_, c)| *c != 0.0)
    }

    /// The groups with nonzero coefficients.
    pub(crate) fn groups(&self) -> impl Iterator<Item = usize> {
        self.terms().map(|(group, _)| group)
    }

    pub(crate) fn value(&self, groups: &[Group]) -> f64 {
        self.at(|group| groups[group].mean)
    }

    /// `number`, which is the value or an end of its interval, or 0 if it is only rounding error of
    /// the terms.
    pub(crate) fn rounded(&self, number: f64, groups: &[Group]) -> f64 {
        let terms = self.terms().map(|(group, c)| (c * groups[group].mean).abs());
        let terms = self.constant.abs() + terms.sum::<f64>();
        if number.abs() <= ROUNDING * terms { 0.0 } else { number }
    }

    /// Σ coefficient²·s²/n.
    pub(crate) fn variance(&self, groups: &[Group]) -> f64 {
        self.terms().map(|(group, c)| c * c * groups[group].variance).sum()
    }

    /// How much a group's mean counts.
    pub(crate) fn coefficient(&self, group: usize) -> f64 {
        self.coefficients.get(&group).copied().unwrap_or(0.0)
    }

    /// Degrees of freedom behind [`Linear::variance`], (Σvᵢ)²/Σ(vᵢ²/(nᵢ − 1)) with
    /// vᵢ = coefficientᵢ²·sᵢ²/nᵢ (Satterthwaite 1946, Welch 1947).
    pub(crate) fn degrees(&self, groups: &[Group]) -> f64 {
        let total = self.variance(groups);
        let square = |(group, c): (usize, f64)| {
            let part = c * c * groups[group].variance;
            part * part / groups[group].degrees()
        };
        let squares: f64 = self.terms().map(square).sum();
        if squares > 0.0 { total * total / squares } else { f64::INFINITY }
    }

    /// Degrees of freedom if whole rounds are drawn: the number of rounds of a group less one,
    /// averaged over the groups by their parts of [`Linear::variance`].
    pub(crate) fn degrees_of_rounds(&self, groups: &[Group]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (group, c) in self.terms() {
            let part = c * c * groups[group].variance;
            sum += part * (groups[group].clustered().count() as f64 - 1.0).max(1.0);
            total += part;
        }
        if total > 0.0 { sum / total } else { f64::INFINITY }
    }

    /// How far each round pulls the combination from its value, for the rounds that occur in its
    /// groups.
    pub(crate) fn pulls(&self, groups: &[Group]) -> Vec<f64> {
        let mut pulls = BTreeMap::<usize, f64>::new();
        for (group, c) in self.terms() {
            let Clustered { samples, clusters } = groups[group].clustered();
            let share = c / samples.len() as f64;
            for (sample, &round) in samples.iter().zip(clusters) {
                *pulls.entry(round).or_default() += share * (sample - groups[group].mean);
            }
        }
        pulls.into_values().collect()
    }

    /// Number of batch values behind the combination.
    pub(crate) fn samples(&self, groups: &[Group]) -> usize {
        self.groups().map(|group| groups[group].batches.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(batches: &[f64], rounds: &[usize], variance: f64) -> Group {
        let mean = batches.iter().sum::<f64>() / batches.len() as f64;
        Group { batches: batches.to_vec(), rounds: rounds.to_vec(), mean, variance }
    }

    /// 4 batches of as many rounds, and 3 batches of two.
    fn groups() -> [Group; 2] {
        [
            group(&[1.0, 2.0, 4.0, 5.0], &[0, 1, 2, 3], 0.5),
            group(&[9.0, 9.5, 11.5], &[0, 2, 2], 2.0),
        ]
    }

    #[test]
    fn a_group_is_widened_about_its_mean() {
        let [_, mut group] = groups();
        group.widen(2.0);
        assert_eq!((group.batches, group.mean, group.variance), (vec![8.0, 9.0, 13.0], 10.0, 8.0));
    }

    #[test]
    fn variance_and_degrees_are_those_of_the_parts() {
        // 4·a − b: parts 16 · 0.5 = 8 and 1 · 2 = 2.
        let (groups, terms) = (groups(), Linear::of([(0, 4.0), (1, -1.0)]));
        assert_eq!((terms.value(&groups), terms.variance(&groups)), (2.0, 10.0));
        assert_eq!(terms.samples(&groups), 7);
        // (8 + 2)²/(8²/3 + 2²/2), and by rounds (8 · 3 + 2 · 1)/(8 + 2).
        assert!((terms.degrees(&groups) - 100.0 / (64.0 / 3.0 + 2.0)).abs() < 1e-12);
        assert!((terms.degrees_of_rounds(&groups) - 2.6).abs() < 1e-12);
        // Where nothing scatters, nothing is unknown.
        let exact = groups.map(|group| Group { variance: 0.0, ..group });
        assert_eq!(terms.degrees(&exact), f64::INFINITY);
        assert_eq!(terms.degrees_of_rounds(&exact), f64::INFINITY);
    }
}
