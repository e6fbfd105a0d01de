//! Sums over measured means.
//!
//! Once the regimes are chosen, every LogP parameter but the capacity is a fixed linear combination
//! of the observations' means. Value, variance, degrees of freedom and every bootstrap replicate
//! follow from its coefficients.

/// A difference below this share of its terms is rounding error, not time.
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
    /// Σ weightᵢ·mean of groupᵢ.
    pub(crate) fn of(terms: impl IntoIterator<Item = (usize, f64)>, groups: usize) -> Linear {
        let mut linear = Linear { constant: 0.0, coefficients: vec![0.0; groups] };
        for (group, weight) in terms {
            linear.coefficients[group] += weight;
        }
        linear
    }

    /// Σ factorᵢ·partᵢ.
    pub(crate) fn sum<'a>(
        parts: impl IntoIterator<Item = (f64, &'a Linear)>,
        groups: usize,
    ) -> Linear {
        let mut sum = Linear::of([], groups);
        for (factor, part) in parts {
            sum.constant += factor * part.constant;
            for (mine, theirs) in sum.coefficients.iter_mut().zip(&part.coefficients) {
                *mine += factor * theirs;
            }
        }
        sum
    }

    pub(crate) fn shifted(mut self, constant: f64) -> Linear {
        self.constant += constant;
        self
    }

    /// The combination of these means, one for each group.
    pub(crate) fn at(&self, means: impl IntoIterator<Item = f64>) -> f64 {
        self.constant + self.coefficients.iter().zip(means).map(|(c, m)| c * m).sum::<f64>()
    }

    pub(crate) fn value(&self, groups: &[Group]) -> f64 {
        self.at(groups.iter().map(|group| group.mean))
    }

    /// `number`, the value or an end of its interval; 0 where it is rounding error beside the terms.
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
