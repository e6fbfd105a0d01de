//! Weighted sums about their own means, which can be added without losing digits.

use crate::line::Line;

/// First and second moments of weighted points.
///
/// Sums of raw powers would lose all digits if x goes from 0 to millions and the weights with its
/// square. Sums about the mean of each part do not, and two parts can be joined exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    /// Σw.
    weight: f64,
    /// Weighted means.
    x: f64,
    y: f64,
    /// Σw(x − x̄)², Σw(x − x̄)(y − ȳ), Σw(y − ȳ)².
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Moments {
    /// One point of positive weight.
    pub(super) fn point(x: f64, y: f64, weight: f64) -> Moments {
        Moments { weight, x, y, ..Moments::default() }
    }

    /// Moments of both parts together.
    ///
    /// *Formula*: Σw(x − x̄)² = the parts' sums + W₁W₂/(W₁ + W₂)·(x̄₂ − x̄₁)², the others alike.
    /// *Source*: Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing
    /// Sample Variances" (1979).
    pub(super) fn join(self, other: Moments) -> Moments {
        let weight = self.weight + other.weight;
        if weight == 0.0 {
            return self;
        }
        let share = other.weight / weight;
        let (dx, dy) = (other.x - self.x, other.y - self.y);
        let between = self.weight * share;
        Moments {
            weight,
            x: self.x + share * dx,
            y: self.y + share * dy,
            xx: self.xx + other.xx + between * dx * dx,
            xy: self.xy + other.xy + between * dx * dy,
            yy: self.yy + other.yy + between * dy * dy,
        }
    }

    /// The least-squares line; level where all x are the same.
    pub(super) fn line(&self) -> Line {
        let slope = if self.xx > 0.0 { self.xy / self.xx } else { 0.0 };
        Line { slope, intercept: self.y - slope * self.x }
    }

    /// Σw(y − line)² about the least-squares line.
    pub(super) fn misfit(&self) -> f64 {
        let explained = if self.xx > 0.0 { self.xy * self.xy / self.xx } else { 0.0 };
        (self.yy - explained).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_cut_gives_the_line_of_all(
            points in prop::collection::vec((0.0..4e6f64, 1.0..1e6f64, 1e-9..1.0f64), 3..20),
            cut in 0..20usize,
        ) {
            let part = |range: &[(f64, f64, f64)]| {
                range.iter().fold(Moments::default(), |sum, p| sum.join(Moments::point(p.0, p.1, p.2)))
            };
            let cut = cut.min(points.len());
            let sum = part(&points[..cut]).join(part(&points[cut..]));
            let column = |pick: fn(&(f64, f64, f64)) -> f64| points.iter().map(pick).collect::<Vec<_>>();
            let (x, y, w) = (column(|p| p.0), column(|p| p.1), column(|p| p.2));
            let line = Line::fit(&x, &y, &w).expect("different x");
            let found = sum.line();
            let scale = sum.yy.max(1e-9);
            let squares: f64 = points.iter().map(|p| p.2 * (p.1 - line.at(p.0)).powi(2)).sum();
            prop_assert!((found.slope - line.slope).abs() <= 1e-9 * (sum.yy / sum.xx).sqrt());
            prop_assert!((found.intercept - line.intercept).abs() <= 1e-8 * 1e6);
            prop_assert!((sum.misfit() - squares).abs() <= 1e-9 * scale);
        }
    }
}
