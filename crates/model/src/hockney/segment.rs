//! From lines to parameters, and which of them the data support.

use bandgap_stats::interval::Interval;
use bandgap_stats::regression::{self, Regression};
use bandgap_stats::runs::few_runs;

use super::finding::{HockneyFinding, Range};
use super::input::Table;
use super::rounding::Moved;
use super::{Breakpoint, Fit, Residual, ResidualSummary, Segment, Weighting};
use crate::signature::Estimate;

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Relative residuals above this root mean square are a finding.
const LARGE_RESIDUAL: f64 = 0.1;

/// Residuals below this are rounding, whatever their order.
const SMALL_RESIDUAL: f64 = 1e-4;

/// A startup time, or the rise over a segment, below this share of its shortest time is rounding.
const UNSEEN: f64 = 1e-6;

/// So few runs of equal sign are not chance if their probability is below this.
const RARE: f64 = 1e-3;

/// Fits every segment with one weighting.
pub(super) fn fits(
    table: &Table,
    breakpoints: &[Breakpoint],
    weighting: Weighting,
    confidence: f64,
) -> Fit {
    let mut fit =
        Fit { weighting, segments: Vec::new(), residuals: Vec::new(), findings: Vec::new() };
    let ends =
        breakpoints.iter().map(|b| table.bytes.partition_point(|&size| size <= b.last_below));
    let mut start = 0;
    for end in ends.chain([table.bytes.len()]) {
        Piece { table, start, end, weighting, confidence }.fit(&mut fit);
        start = end;
    }
    fit
}

/// The sizes of one segment.
struct Piece<'a> {
    table: &'a Table,
    start: usize,
    end: usize,
    weighting: Weighting,
    confidence: f64,
}

impl Piece<'_> {
    /// What a column of the table has of this segment.
    fn part<'a>(&self, column: &'a [f64]) -> &'a [f64] {
        &column[self.start..self.end]
    }

    fn range(&self) -> Range {
        Range { from: self.table.bytes[self.start], to: self.table.bytes[self.end - 1] }
    }

    fn fit(&self, fit: &mut Fit) {
        let (x, times) = (self.part(&self.table.x), self.part(&self.table.times));
        let range = self.range();
        let line = match self.weighting {
            Weighting::Relative => regression::relative(x, times),
            Weighting::Ordinary => regression::ordinary(x, times),
        };
        let mut segment = Segment {
            from_bytes: range.from,
            to_bytes: range.to,
            t0: None,
            r_inf: None,
            n_half: None,
            pi0: None,
            r_squared: None,
            residuals: None,
            points: x.len(),
            line: None,
            gap_per_byte: None,
        };
        match line {
            None => fit.findings.push(HockneyFinding::TooFewSizes { range, sizes: x.len() }),
            Some(line) => {
                let residuals = self.residuals(&line);
                segment.residuals = Some(self.judge(&residuals, &mut fit.findings));
                segment.r_squared = Some(line.r_squared);
                self.parameters(&line, &mut segment, &mut fit.findings);
                segment.line = Some(line);
                fit.residuals.extend(residuals);
            }
        }
        fit.segments.push(segment);
    }

    fn residuals(&self, line: &Regression) -> Vec<Residual> {
        (self.start..self.end)
            .map(|i| Residual {
                bytes: self.table.bytes[i],
                time: self.table.times[i],
                fitted: line.at(self.table.x[i]),
            })
            .collect()
    }

    /// Sums up the residuals, and notes where they do not look like noise.
    fn judge(&self, residuals: &[Residual], findings: &mut Vec<HockneyFinding>) -> ResidualSummary {
        let range = self.range();
        let count = residuals.len() as f64;
        let rms = |of: fn(&Residual) -> f64| {
            (residuals.iter().map(|r| of(r).powi(2)).sum::<f64>() / count).sqrt()
        };
        let worst = residuals
            .iter()
            .max_by(|a, b| a.relative().abs().total_cmp(&b.relative().abs()))
            .expect("a fitted segment has sizes");
        let summary = ResidualSummary {
            rms: rms(Residual::absolute),
            rms_relative: rms(Residual::relative),
            worst_relative: worst.relative(),
            worst_bytes: worst.bytes,
        };
        if summary.rms_relative > LARGE_RESIDUAL {
            findings.push(HockneyFinding::LargeResiduals {
                range,
                rms: summary.rms_relative,
                worst: summary.worst_relative,
                at: summary.worst_bytes,
            });
        }
        let deviations: Vec<f64> = residuals.iter().map(Residual::absolute).collect();
        let chance = few_runs(&deviations);
        // The coarsest step counts: a fit may rest on that size.
        let half_steps = self.part(&self.table.half_steps);
        let coarse = half_steps.iter().zip(residuals).map(|(half, residual)| half / residual.time);
        let small = coarse.fold(SMALL_RESIDUAL, f64::max);
        if summary.rms_relative > small && chance < RARE {
            let rms = summary.rms_relative;
            findings.push(HockneyFinding::Bent { range, rms, chance });
        }
        summary
    }

    /// Fills in the parameters that make sense, and notes why others do not.
    fn parameters(
        &self,
        line: &Regression,
        segment: &mut Segment,
        findings: &mut Vec<HockneyFinding>,
    ) {
        let range = self.range();
        let moved = self.moved(line);
        let startup = moved.intercept(line.intercept, line.intercept_interval(self.confidence));
        let slope = moved.slope(line.slope, line.slope_interval(self.confidence));
        let shortest = self.part(&self.table.times).iter().copied().fold(f64::MAX, f64::min);
        let unseen = UNSEEN * shortest;
        let rise = line.slope * (range.to - range.from) as f64;
        if rise.abs() <= unseen {
            let least = (range.to - range.from) as f64 * SECOND / unseen.max(rise);
            let least = least.min(SECOND / slope.high.max(0.0));
            findings.push(HockneyFinding::RateUnresolved { range, least });
        } else if line.slope <= 0.0 {
            let Interval { low, high } = slope;
            findings.push(HockneyFinding::NoRise { range, slope: line.slope, low, high });
        } else if slope.low <= 0.0 {
            let least = SECOND / slope.high;
            findings.push(HockneyFinding::RateUnresolved { range, least });
        } else {
            segment.gap_per_byte = Some(self.estimate(line.slope, slope));
            segment.r_inf = Some(self.estimate(SECOND / line.slope, reciprocal(slope)));
        }
        let zero = line.intercept.abs() <= unseen;
        if line.intercept <= 0.0 && !zero {
            let Interval { low, high } = startup;
            findings.push(HockneyFinding::NegativeStartup { range, t0: line.intercept, low, high });
            return;
        }
        let t0 = line.intercept.max(0.0);
        segment.t0 = Some(self.estimate(t0, startup));
        if startup.low <= 0.0 || zero {
            let high = startup.high.max(t0);
            findings.push(HockneyFinding::StartupUnresolved { range, t0, high });
            return;
        }
        segment.pi0 = Some(self.estimate(SECOND / line.intercept, reciprocal(startup)));
        if segment.r_inf.is_some() {
            segment.n_half = self.half_length(line, findings);
        }
    }

    fn half_length(
        &self,
        line: &Regression,
        findings: &mut Vec<HockneyFinding>,
    ) -> Option<Estimate> {
        let range = self.range();
        let measured =
            Range { from: self.table.bytes[0], to: self.table.bytes[self.table.bytes.len() - 1] };
        let n_half = line.intercept / line.slope;
        if !measured.contains(n_half) {
            findings.push(HockneyFinding::HalfLengthOutside { range, n_half, measured });
            return None;
        }
        let Some(interval) = line.ratio_interval(self.confidence) else {
            findings.push(HockneyFinding::HalfLengthUnresolved { range, n_half });
            return None;
        };
        if !range.contains(n_half) {
            findings.push(HockneyFinding::HalfLengthElsewhere { range, n_half });
        }
        Some(self.estimate(n_half, self.moved(line).ratio(n_half, interval)))
    }

    /// What steps may have done to the line.
    fn moved(&self, line: &Regression) -> Moved {
        let (x, half_steps) = (self.part(&self.table.x), self.part(&self.table.half_steps));
        Moved::of(x, half_steps, line, self.weighting)
    }

    fn estimate(&self, value: f64, interval: Interval) -> Estimate {
        Estimate {
            value,
            low: interval.low,
            high: interval.high,
            samples: self.end - self.start,
            estimator: match self.weighting {
                Weighting::Relative => "least relative squares of t(n)",
                Weighting::Ordinary => "least squares of t(n)",
            },
        }
    }
}

/// A positive interval of nanoseconds as one of rates per second.
fn reciprocal(interval: Interval) -> Interval {
    Interval { low: SECOND / interval.high, high: SECOND / interval.low }
}
