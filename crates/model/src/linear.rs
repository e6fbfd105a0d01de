//! Sums over measured means.
//!
//! Once the regimes are chosen, every LogP parameter but the capacity is a fixed linear combination
//! of the observations' means. Value, variance, degrees of freedom and every bootstrap replicate
//! follow from its coefficients.

/// What is left of a difference below this share of its terms is rounding error, not time.
const ROUNDING: f64 = 1e-12;

/// One observation's part in the estimation: its batch values without the fenced ones.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub batches: Vec<f64>,
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

    pub(crate) fn degrees(&self) -> f64 {
        (self.batches.len() - 1) as f64
    }
}

/// constant + Σ coefficientᵢ·meanᵢ over all groups.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    constant: f64,
    coefficients: Vec<f64>,
}

impl Linear {
    pub(crate) fn constant(constant: f64, groups: usize) -> Linear {
        Linear { constant, coefficients: vec![0.0; groups] }
    }

    /// Σ weightᵢ·mean of groupᵢ.
    pub(crate) fn of(terms: impl IntoIterator<Item = (usize, f64)>, groups: usize) -> Linear {
        let mut linear = Linear::constant(0.0, groups);
        for (group, weight) in terms {
            linear.coefficients[group] += weight;
        }
        linear
    }

    /// self + factor·other.
    pub(crate) fn plus(mut self, factor: f64, other: &Linear) -> Linear {
        self.constant += factor * other.constant;
        for (mine, theirs) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *mine += factor * theirs;
        }
        self
    }

    pub(crate) fn shifted(mut self, constant: f64) -> Linear {
        self.constant += constant;
        self
    }

    /// The mean of several combinations under weights.
    pub(crate) fn weighted_mean<'a>(
        parts: impl IntoIterator<Item = (&'a Linear, f64)>,
        groups: usize,
    ) -> Linear {
        let parts: Vec<_> = parts.into_iter().collect();
        let total: f64 = parts.iter().map(|(_, weight)| weight).sum();
        parts.iter().fold(Linear::constant(0.0, groups), |sum, (part, weight)| {
            sum.plus(weight / total, part)
        })
    }

    pub(crate) fn at(&self, means: &[f64]) -> f64 {
        self.constant + self.coefficients.iter().zip(means).map(|(c, m)| c * m).sum::<f64>()
    }

    pub(crate) fn value(&self, groups: &[Group]) -> f64 {
        self.constant + self.coefficients.iter().zip(groups).map(|(c, g)| c * g.mean).sum::<f64>()
    }

    /// `number`, which is the value or one near it; 0 where that is rounding error beside the terms.
    pub(crate) fn rounded(&self, number: f64, groups: &[Group]) -> f64 {
        let terms = self.coefficients.iter().zip(groups).map(|(c, g)| (c * g.mean).abs());
        let terms = self.constant.abs() + terms.sum::<f64>();
        if number.abs() <= ROUNDING * terms { 0.0 } else { number }
    }

    /// Σ coefficient²·s²/n.
    pub(crate) fn variance(&self, groups: &[Group]) -> f64 {
        self.coefficients.iter().zip(groups).map(|(c, g)| c * c * g.variance).sum()
    }

    /// Degrees of freedom behind [`Linear::variance`], (Σvᵢ)²/Σ(vᵢ²/(nᵢ − 1)) with
    /// vᵢ = coefficientᵢ²·sᵢ²/nᵢ (Satterthwaite 1946, Welch 1947).
    pub(crate) fn degrees(&self, groups: &[Group]) -> f64 {
        let parts =
            || self.coefficients.iter().zip(groups).map(|(c, g)| (c * c * g.variance, g.degrees()));
        let total: f64 = parts().map(|(part, _)| part).sum();
        let squares: f64 = parts().map(|(part, degrees)| part * part / degrees).sum();
        if squares > 0.0 { total * total / squares } else { f64::INFINITY }
    }

    /// Batch values that count in the combination.
    pub(crate) fn samples(&self, groups: &[Group]) -> usize {
        self.coefficients
            .iter()
            .zip(groups)
            .filter(|(c, _)| **c != 0.0)
            .map(|(_, g)| g.batches.len())
            .sum()
    }

    pub(crate) fn uses(&self, group: usize) -> bool {
        self.coefficients[group] != 0.0
    }

    /// The same combination over a choice of the groups.
    pub(crate) fn narrowed(&self, chosen: &[usize]) -> Linear {
        Linear {
            constant: self.constant,
            coefficients: chosen.iter().map(|&group| self.coefficients[group]).collect(),
        }
    }
}
