//! Costs by a fit of measured messages, with the uncertainty of the fit.

use bandgap_stats::interval::{student_factor, widened};
use bandgap_stats::{Interval, Regression};
use bandgap_units::{Bytes, Ns};

use super::{ByLength, Hockney};
use crate::hockney::HockneyFit;
use crate::signature::Estimate;

/// The relative fit of the times of single messages, segment by segment.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedMessages {
    /// The longest message of each segment; that of the last is any.
    ends: Vec<Bytes>,
    lines: Vec<Regression>,
    /// The lines of each launch that has one in every segment.
    launches: Vec<Vec<Regression>>,
    /// How many sizes they rest on.
    sizes: usize,
}

impl FittedMessages {
    /// Of a fit; `None` where a segment has no line. A segment ends half-way, by the factor, between the
    /// sizes that were measured.
    pub fn of(fit: &HockneyFit) -> Option<FittedMessages> {
        let ends = fit.breakpoints.iter().map(|point| {
            Bytes((point.last_below.max(1) as f64 * point.first_above as f64).sqrt().round() as u64)
        });
        let segments = &fit.relative.segments;
        let lines: Option<Vec<_>> = segments.iter().map(|of| of.line.clone()).collect();
        let lines = lines.filter(|lines| !lines.is_empty())?;
        let of_launch = |at: usize| segments.iter().map(|of| of.launches[at].clone()).collect();
        let launches = (0..segments[0].launches.len()).filter_map(of_launch).collect();
        let sizes = segments.iter().map(|segment| segment.points).sum();
        Some(FittedMessages {
            ends: ends.chain([Bytes(u64::MAX)]).collect(),
            lines,
            launches,
            sizes,
        })
    }

    /// What `time` makes of the messages' costs, with the interval that follows from the fit's.
    ///
    /// *Formula*: var = Σ gᵀVg over the segments, V the covariance of a segment's intercept and slope
    /// and g the derivatives of the cost by them, by central differences of one standard error; t of
    /// Student for the least degrees of freedom among the segments that count. Of several launches, [`widened`] by
    /// the costs that the lines of each give.
    /// *Assumes* a cost that is linear in the messages' times over such differences, as all of
    /// [`super`] are but for a maximum.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    pub fn estimate(&self, confidence: f64, time: impl Fn(&ByLength) -> Ns) -> Estimate {
        let cost = |lines: &[Regression]| time(&self.by_length(lines)).0;
        let value = cost(&self.lines);
        let half = self.half(confidence, cost);
        let own: Vec<f64> = self.launches.iter().map(|lines| cost(lines)).collect();
        let pooled = Interval { low: value - half, high: value + half };
        let Interval { low, high } = widened(value, pooled, &own, confidence);
        let estimator = "cost of the algorithm by the relative fit of echo";
        Estimate { value, low, high, samples: self.sizes, estimator }
    }

    /// The costs by these lines.
    fn by_length(&self, lines: &[Regression]) -> ByLength {
        let costs = |(end, line): (&Bytes, &Regression)| {
            let (startup, rate) = (Ns(line.intercept), 1e9 / line.slope);
            (*end, Hockney { startup, rate })
        };
        let mut up_to: Vec<(Bytes, Hockney)> = self.ends.iter().zip(lines).map(costs).collect();
        let (_, longer) = up_to.pop().expect("one segment at least");
        ByLength { up_to, longer }
    }

    /// The half-width of a cost by the variances of the lines.
    fn half(&self, confidence: f64, cost: impl Fn(&[Regression]) -> f64) -> f64 {
        let (mut squares, mut degrees) = (0.0, f64::INFINITY);
        for (segment, line) in self.lines.iter().enumerate() {
            let errors = [line.intercept_variance.sqrt(), line.slope_variance.sqrt()];
            let moved = |[intercept, slope]: [f64; 2]| {
                let mut lines = self.lines.clone();
                lines[segment].intercept += intercept;
                lines[segment].slope += slope;
                cost(&lines)
            };
            let along = |by: [f64; 2]| (moved(by) - moved(by.map(|by| -by))) / 2.0;
            let [a, b] = [along([errors[0], 0.0]), along([0.0, errors[1]])];
            let together = match errors[0] * errors[1] {
                0.0 => 0.0,
                product => line.covariance / product,
            };
            let part = a * a + b * b + 2.0 * together * a * b;
            if part > 0.0 {
                squares += part;
                degrees = degrees.min(line.intercept_degrees).min(line.slope_degrees);
            }
        }
        match degrees.is_finite() {
            true => student_factor(degrees, confidence) * squares.sqrt(),
            false => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::collectives::Broadcast;

    use super::super::broadcast;
    use super::*;
    use crate::hockney::{HockneyOptions, SizedTimes, fit};

    /// t(n) = 1000 + n/2 ns up to 64 bytes, 3000 + n/4 above, with a little scatter.
    fn messages(scatter: f64) -> FittedMessages {
        let sizes = [0_u64, 1, 4, 8, 16, 32, 48, 64, 128, 256, 512, 1024, 4096, 16384];
        let times = sizes.iter().enumerate().map(|(at, &bytes)| {
            let exact = match bytes {
                0..=64 => 1000.0 + bytes as f64 / 2.0,
                _ => 3000.0 + bytes as f64 / 4.0,
            };
            let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
            SizedTimes { bytes, times_ns: vec![exact * (1.0 + sign * scatter)] }
        });
        let times: Vec<SizedTimes> = times.collect();
        FittedMessages::of(&fit(&[&times], &HockneyOptions::default()).unwrap()).unwrap()
    }

    #[test]
    fn exact_messages_make_an_exact_cost() {
        let at = |bytes| {
            messages(0.0).estimate(0.95, |on| broadcast(Broadcast::Binomial, on, 8, Bytes(bytes)))
        };
        // Three messages in a row, of one protocol or the other.
        assert!((at(32).value - 3.0 * 1016.0).abs() < 1e-6, "{:?}", at(32));
        assert!((at(1024).value - 3.0 * 3256.0).abs() < 1e-6, "{:?}", at(1024));
        assert!(at(1024).high - at(1024).low < 1e-6);
    }

    #[test]
    fn the_interval_is_that_of_the_line_times_the_messages() {
        let messages = messages(0.01);
        let found =
            messages.estimate(0.95, |on| broadcast(Broadcast::Binomial, on, 8, Bytes(1024)));
        // var t̂(n) = var a + 2n·cov + n²·var b, and three times t̂ has thrice its deviation.
        let line = &messages.lines[1];
        let n = 1024.0;
        let variance =
            line.intercept_variance + 2.0 * n * line.covariance + n * n * line.slope_variance;
        let half = 3.0 * variance.sqrt() * student_factor(line.slope_degrees, 0.95);
        assert!(((found.high - found.low) / 2.0 / half - 1.0).abs() < 1e-6, "{found:?} {half}");
        assert!(found.low < 3.0 * 3256.0 && 3.0 * 3256.0 < found.high, "{found:?}");
    }
}
