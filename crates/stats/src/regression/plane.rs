//! A plane of least relative squares, by reweighting.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::design::clamped;
use crate::interval::{Interval, t_interval};

/// Maximum number of reweightings of a fit.
const REWEIGHTINGS: usize = 50;

/// Columns of the design: 1, x and z.
const COLUMNS: usize = 3;

/// A column counts as constant if the squares of its deviations are a smaller share of all squares
/// than this: they are rounding then.
const DEPENDENT: f64 = 1e-18;

/// A fitted plane y = intercept + x_slope·x + z_slope·z with variances.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// Intercept, rise per unit of x, rise per unit of z.
    pub coefficients: [f64; COLUMNS],
    /// Their variances.
    pub variances: [f64; COLUMNS],
    /// Degrees of freedom behind all of them.
    pub degrees: f64,
    /// If the plane holds, the probability of z-wise deviations at least as great as those found:
    /// tests whether y is linear in z. `None` for fewer than three different z, or too few points.
    pub bend_chance: Option<f64>,
}

impl Plane {
    /// The plane's y.
    pub fn at(&self, x: f64, z: f64) -> f64 {
        self.coefficients[0] + self.coefficients[1] * x + self.coefficients[2] * z
    }

    /// The t interval of a coefficient.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1, or there is no such coefficient.
    pub fn interval(&self, coefficient: usize, confidence: f64) -> Interval {
        let (value, variance) = (self.coefficients[coefficient], self.variances[coefficient]);
        t_interval(value, variance, self.degrees, confidence)
    }
}

/// The plane of least relative squares through positive y; `None` for fewer than four points, or if
/// x and z do not span a plane.
///
/// *Formula*: minimises Σwᵢ(yᵢ − a − b·xᵢ − c·zᵢ)² with wᵢ = 1/ŷᵢ², by reweighting as in
/// [`super::relative`]. Variances are s²(XᵀWX)⁻¹ with s² = Σwr²/(n − 3). `bend_chance` is the F
/// test of separate levels for each z against the levels a + c·z, with the same b.
/// *Assumes* independent errors with standard deviations proportional to y.
/// *Source*: McCullagh and Nelder, "Generalized Linear Models" (1989), chapter 8; Draper and Smith,
/// "Applied Regression Analysis" (1998), 2.1 (lack of fit).
///
/// # Panics
/// If the slices differ in length.
pub fn relative_plane(x: &[f64], z: &[f64], y: &[f64]) -> Option<Plane> {
    assert!(x.len() == y.len() && z.len() == y.len(), "as many x and z as y");
    if y.len() <= COLUMNS {
        return None;
    }
    let mut weights: Vec<f64> = y.iter().map(|y| 1.0 / (y * y)).collect();
    let mut fit = Plane::of(x, z, y, &weights)?;
    for _ in 0..REWEIGHTINGS {
        let next: Vec<f64> =
            (0..y.len()).map(|i| clamped(fit.at(x[i], z[i]), y[i], 0.0).powi(-2)).collect();
        let moved = next.iter().zip(&weights).map(|(new, old)| (new / old - 1.0).abs());
        if moved.fold(0.0, f64::max) < 1e-13 {
            break;
        }
        weights = next;
        fit = Plane::of(x, z, y, &weights)?;
    }
    let squares = |i: usize| weights[i] * (y[i] - fit.at(x[i], z[i])).powi(2);
    let squares: f64 = (0..y.len()).map(squares).sum();
    let bend_chance = bend_chance(x, z, y, &weights, squares);
    let variances = fit.variances.map(|unit| unit * squares / fit.degrees);
    Some(Plane { variances, bend_chance, ..fit })
}

impl Plane {
    /// Solves the normal equations about the weighted means; the variances are for errors of
    /// variance 1/w.
    fn of(x: &[f64], z: &[f64], y: &[f64], weights: &[f64]) -> Option<Plane> {
        let dot = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(weights).map(|((a, b), w)| w * a * b).sum()
        };
        let total: f64 = weights.iter().sum();
        let centre = |of: &[f64]| of.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / total;
        let means = [x, z, y].map(centre);
        let about = |at: usize, of: &[f64]| of.iter().map(|v| v - means[at]).collect::<Vec<f64>>();
        let (dx, dz, dy) = (about(0, x), about(1, z), about(2, y));
        let (xx, xz, zz) = (dot(&dx, &dx), dot(&dx, &dz), dot(&dz, &dz));
        let (xy, zy) = (dot(&dx, &dy), dot(&dz, &dy));
        let whole = xx * zz - xz * xz;
        let varies = |own: f64, of: &[f64]| own > DEPENDENT * dot(of, of);
        let spans = varies(xx, x) && varies(zz, z) && whole > ROUNDING * xx * zz;
        if !(spans && whole.is_finite()) {
            return None;
        }
        let (x_slope, z_slope) = ((zz * xy - xz * zy) / whole, (xx * zy - xz * xy) / whole);
        let [x, z, y] = means;
        let at_zero = (x * x * zz - 2.0 * x * z * xz + z * z * xx) / whole;
        Some(Plane {
            coefficients: [y - x_slope * x - z_slope * z, x_slope, z_slope],
            variances: [1.0 / total + at_zero, zz / whole, xx / whole],
            degrees: (weights.len() - COLUMNS) as f64,
            bend_chance: None,
        })
    }
}

/// Residuals relative to y below this are rounding.
const ROUNDING: f64 = 1e-9;

/// The probability of the deviations from a line in z, by the F test against a separate level for
/// each z.
fn bend_chance(x: &[f64], z: &[f64], y: &[f64], weights: &[f64], squares: f64) -> Option<f64> {
    let mut levels: Vec<f64> = z.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let free = y.len() as f64 - levels.len() as f64 - 1.0;
    if levels.len() < 3 || free < 1.0 {
        return None;
    }
    if squares <= y.len() as f64 * ROUNDING * ROUNDING {
        return Some(1.0);
    }
    // Sums about the means of each level.
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for level in &levels {
        let of: Vec<usize> = (0..y.len()).filter(|i| z[*i] == *level).collect();
        let weight: f64 = of.iter().map(|i| weights[*i]).sum();
        let mean = |v: &[f64]| of.iter().map(|i| weights[*i] * v[*i]).sum::<f64>() / weight;
        let (x_mean, y_mean) = (mean(x), mean(y));
        for i in of {
            let (dx, dy) = (x[i] - x_mean, y[i] - y_mean);
            xx += weights[i] * dx * dx;
            xy += weights[i] * dx * dy;
            yy += weights[i] * dy * dy;
        }
    }
    let within = if xx > 0.0 { (yy - xy * xy / xx).max(0.0) } else { yy };
    let more = (levels.len() - 2) as f64;
    let floor = y.len() as f64 * ROUNDING * ROUNDING;
    let ratio = ((squares - within).max(0.0) / more) / (within.max(floor) / free);
    FisherSnedecor::new(more, free).ok().map(|fisher| fisher.sf(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_points_on_a_plane_give_it_back() {
        // y = 5 + 2x + 3z.
        let (x, z) = ([0.0, 4.0, 0.0, 4.0, 9.0], [0.0, 0.0, 2.0, 2.0, 1.0]);
        let y: Vec<f64> = x.iter().zip(z).map(|(x, z)| 5.0 + 2.0 * x + 3.0 * z).collect();
        let plane = relative_plane(&x, &z, &y).unwrap();
        for (found, expected) in plane.coefficients.iter().zip([5.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{plane:?}");
        }
        assert_eq!(plane.degrees, 2.0);
        assert!((plane.at(10.0, 2.0) - 31.0).abs() < 1e-12);
    }

    #[test]
    fn what_spans_no_plane_has_none() {
        let y = [1.0, 2.0, 3.0, 4.5];
        assert!(relative_plane(&[0.0, 1.0, 2.0, 3.0], &[1.0; 4], &y).is_none());
        assert!(relative_plane(&[0.0, 1.0, 2.0, 3.0], &[0.0, 2.0, 4.0, 6.0], &y).is_none());
        assert!(relative_plane(&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0], &y[..3]).is_none());
    }

    #[test]
    fn variances_are_those_of_the_normal_equations() {
        // With y ≈ 1000 all weights are nearly 1/y², and with centred, orthogonal columns the
        // variances are s²/n, s²/Σx² and s²/Σz² (s relative, times 1000²).
        let x = [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
        let z = [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0];
        let noise = [0.3, -0.2, 0.1, 0.4, -0.3, 0.2, -0.1, -0.4];
        let y: Vec<f64> = noise.iter().map(|e| 1000.0 + e).collect();
        let plane = relative_plane(&x, &z, &y).unwrap();
        // The noise is orthogonal to 1; Σe·x = 0, Σe·z = 0 (0.4 − 0.4 …): Σe² = 0.6, n − 3 = 5.
        for variance in plane.variances {
            assert!((variance / (0.6 / 5.0 / 8.0) - 1.0).abs() < 1e-2, "{plane:?}");
        }
    }

    #[test]
    fn a_bend_is_as_likely_as_by_the_f_test() {
        // `tests/reference/plane.py`: two levels more than a line has, and 5 degrees of freedom.
        let x = [0.0, 2.0, 1.0, 3.0, 7.0, 0.0, 4.0, 2.0, 5.0, 6.0];
        let z = [0.0, 0.0, 1.0, 1.0, 1.0, 3.0, 3.0, 4.0, 4.0, 4.0];
        let y = [5.1, 9.2, 10.3, 14.6, 21.8, 13.8, 22.3, 21.4, 27.1, 28.8];
        let chance = relative_plane(&x, &z, &y).unwrap().bend_chance.unwrap();
        assert!((chance - 0.394_683_139_504).abs() < 1e-9, "{chance}");
    }

    #[test]
    fn a_bend_in_z_is_seen_and_a_line_is_not() {
        let points = || (0..40).map(|i| (f64::from(i % 10), f64::from(i / 10)));
        let chance = |scatter: f64, of: &dyn Fn(f64) -> f64| {
            let noise = |i: usize| 1.0 + scatter * ((i * 37 % 11) as f64 - 5.0);
            let (x, z): (Vec<f64>, Vec<f64>) = points().unzip();
            let y: Vec<f64> = points()
                .enumerate()
                .map(|(i, (x, z))| (100.0 + 10.0 * x + of(z)) * noise(i))
                .collect();
            relative_plane(&x, &z, &y).unwrap().bend_chance.unwrap()
        };
        assert!(chance(1e-3, &|z| 5.0 * z) > 0.01);
        assert!(chance(1e-3, &|z| 5.0 * z * z) < 1e-6);
        // However little, if it is no rounding.
        assert!(chance(1e-7, &|z| 5.0 * z + 5e-4 * z * z) < 1e-6);
        assert_eq!(chance(0.0, &|z| 5.0 * z + 1e-9 * z * z), 1.0);
        // Two levels cannot bend.
        let (x, z, y) =
            ([0., 1., 2., 0., 1., 2.], [0., 0., 0., 1., 1., 1.], [1., 2., 3., 2., 3., 4.1]);
        assert_eq!(relative_plane(&x, &z, &y).unwrap().bend_chance, None);
    }
}
