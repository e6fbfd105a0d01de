//! How much points scatter about their line, compared with their own errors.

/// Standard deviations of χ² from which on scatter is not noise: for one line among many, and for
/// all lines.
pub(crate) const OF_ONE: f64 = 3.0;
pub(crate) const OF_ALL: f64 = 2.0;

/// The same for the far arm. Each resample chooses its beginning again, which already brings some
/// of the scatter into its interval.
pub(crate) const OF_FAR: f64 = 10.0;

/// The most that a single line counts among all lines, in standard deviations of χ².
const MOST: f64 = 6.0;

/// χ² of points about a line: the sum of the squared distances, each divided by its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scatter {
    pub squares: f64,
    /// k, the number of points less the line's two parameters.
    pub degrees: f64,
}

impl Scatter {
    /// From the points' distances in units of their errors; `None` for fewer than three points.
    pub(crate) fn of(off: impl ExactSizeIterator<Item = f64>) -> Option<Scatter> {
        let degrees = off.len().checked_sub(2).filter(|&k| k > 0)? as f64;
        Some(Scatter { squares: off.map(|o| o.powi(2)).sum(), degrees })
    }

    /// Whether χ² exceeds its mean k by this many of its standard deviations √(2k).
    pub(crate) fn is_beyond(&self, deviations: f64) -> bool {
        self.squares > noise(self.degrees, deviations)
    }

    /// √(χ²/k), at least 1: the factor by which errors are stretched to explain the scatter (Birge
    /// 1932).
    fn factor(&self) -> f64 {
        (self.squares / self.degrees).sqrt().max(1.0)
    }

    /// The factor of this line if its scatter is not noise, otherwise 1.
    pub(crate) fn own_factor(&self) -> f64 {
        self.factor_beyond(OF_ONE)
    }

    /// The factor if χ² exceeds its mean by this many of its standard deviations, otherwise 1.
    pub(crate) fn factor_beyond(&self, deviations: f64) -> f64 {
        if self.is_beyond(deviations) { self.factor() } else { 1.0 }
    }

    /// The factor of all lines together if their scatter is not noise, otherwise 1. Many points
    /// show a scatter that those of one line do not. A line that is not straight says little about
    /// the others: it counts as if it just reached [`MOST`].
    pub(crate) fn common_factor(lines: &[Scatter]) -> f64 {
        let all = lines.iter().fold(Scatter::default(), |sum, line| Scatter {
            squares: sum.squares + line.squares.min(noise(line.degrees, MOST)),
            degrees: sum.degrees + line.degrees,
        });
        all.factor_beyond(OF_ALL)
    }
}

/// The χ² that exceeds its mean k by this many of its standard deviations √(2k).
fn noise(degrees: f64, deviations: f64) -> f64 {
    degrees + deviations * (2.0 * degrees).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_do_not_scatter() {
        assert_eq!(Scatter::of([0.0, 0.0].into_iter()), None);
        let three = Scatter::of([1.0, 2.0, 2.0].into_iter()).unwrap();
        assert_eq!(three, Scatter { squares: 9.0, degrees: 1.0 });
    }

    #[test]
    fn one_line_is_stretched_only_beyond_noise() {
        // Of 8 degrees of freedom χ² is 8 ± 4: up to 20 is noise.
        assert_eq!(Scatter { squares: 20.0, degrees: 8.0 }.own_factor(), 1.0);
        assert_eq!(Scatter { squares: 32.0, degrees: 8.0 }.own_factor(), 2.0);
    }

    #[test]
    fn many_lines_show_what_one_does_not() {
        let line = Scatter { squares: 18.0, degrees: 8.0 };
        assert_eq!((line.own_factor(), Scatter::common_factor(&[line; 10])), (1.0, 1.5));
        // A line that does not fit counts as 8 + 6 · 4.
        let bent = Scatter { squares: 8000.0, degrees: 8.0 };
        assert_eq!(Scatter::common_factor(&[line, bent]), (50.0f64 / 16.0).sqrt());
        // Less scatter than the errors does not make them smaller.
        assert_eq!(Scatter::common_factor(&[Scatter { squares: 2.0, degrees: 8.0 }]), 1.0);
        // Of one such line alone χ² is 8 ± 4: up to 16 is noise.
        assert_eq!(Scatter::common_factor(&[Scatter { squares: 16.0, degrees: 8.0 }]), 1.0);
        assert_eq!(Scatter::common_factor(&[]), 1.0);
    }
}
