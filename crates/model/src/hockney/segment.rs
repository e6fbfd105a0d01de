//! Parameters from lines, as far as the data support them.

use std::ops;

use bandgap_stats::interval::{Interval, widened as over_launches};
use bandgap_stats::regression::{self, Regression};
use bandgap_units::Ns;

use super::input::SizeSamples;
use super::rounding::{Moved, widened};
use super::{Breakpoint, Fit, ResidualSummary, Segment, Weighting, off_the_line};
use crate::finding::Finding;
use crate::signature::Estimate;

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// From this root mean square on, relative residuals are a finding.
const LARGE_RESIDUAL: f64 = 0.1;

/// A startup time, or a rise over a segment, below this share of the segment's shortest time is
/// rounding.
const UNSEEN: f64 = 1e-6;

/// Fits every segment of all launches as one table, and of each launch alone.
pub(super) fn fit(
    (table, launches): (&SizeSamples, &[SizeSamples]),
    breakpoints: &[Breakpoint],
    (weighting, confidence): (Weighting, f64),
) -> Fit {
    let mut fit = Fit { weighting, segments: Vec::new(), findings: Vec::new() };
    let ends =
        breakpoints.iter().map(|b| table.bytes.partition_point(|&size| size <= b.last_below));
    let (mut start, mut lower) = (0, 0);
    for end in ends.chain([table.bytes.len()]) {
        let (part, findings) = (start..end, &mut fit.findings);
        let mut piece = Piece { table, launches, lower, part, weighting, confidence, findings };
        let segment = piece.fit();
        (start, lower) = (end, segment.to_bytes);
        fit.segments.push(segment);
    }
    fit
}

/// The sizes of one segment.
struct Piece<'a> {
    table: &'a SizeSamples,
    launches: &'a [SizeSamples],
    /// The last size below it; 0 of the first.
    lower: u64,
    part: ops::Range<usize>,
    weighting: Weighting,
    confidence: f64,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Piece<'a> {
    /// This segment's part of a column of the table.
    fn part<T>(&self, column: &'a [T]) -> &'a [T] {
        &column[self.part.clone()]
    }

    fn note(&mut self, code: &'static str, values: &[(&'static str, f64)]) {
        let values = [values, &[("from", self.ends()[0] as f64)]].concat();
        self.findings.push(Finding::new(code, format!("from={}", self.lower), &values));
    }

    /// The shortest and the longest message.
    fn ends(&self) -> [u64; 2] {
        [self.part.start, self.part.end - 1].map(|at| self.table.bytes[at])
    }

    /// The line through these sizes of a table.
    fn line(&self, table: &SizeSamples, part: ops::Range<usize>) -> Option<Regression> {
        let (x, times) = (&table.x[part.clone()], &table.times[part.clone()]);
        match self.weighting {
            Weighting::Relative => {
                let (noise, ranges) = (&table.noise[part.clone()], &table.ranges[part]);
                regression::relative(x, times, noise, ranges)
            }
            Weighting::Ordinary => regression::ordinary(x, times),
        }
    }

    /// The line of each launch alone, on its sizes of this part, if it gives one.
    fn of_launches(&self) -> Vec<Option<Regression>> {
        let [from, to] = self.ends();
        let own = |launch: &SizeSamples| {
            let start = launch.bytes.partition_point(|size| *size < from);
            let end = launch.bytes.partition_point(|size| *size <= to);
            self.line(launch, start..end)
        };
        self.launches.iter().map(own).collect()
    }

    fn fit(&mut self) -> Segment {
        let [from, to] = self.ends();
        let (points, before) = (self.part.len(), self.findings.len());
        let mut segment = Segment { from_bytes: from, to_bytes: to, points, ..Segment::default() };
        match self.line(self.table, self.part.clone()) {
            None => self.note("segment_too_short", &[("sizes", points as f64)]),
            Some(line) => {
                segment.residuals = self.judge(&line);
                segment.launches = self.of_launches();
                self.parameters(&line, &mut segment);
                segment.line = Some(line);
            }
        }
        let is_misfit = |of: &Finding| ["startup_below_zero", "line_missed"].contains(&of.code);
        segment.misfit = self.findings[before..].iter().any(is_misfit);
        segment
    }

    /// Summarises the residuals, and adds a finding if they are large beyond rounding.
    fn judge(&mut self, line: &Regression) -> Option<ResidualSummary> {
        let SizeSamples { x, times, ranges, bytes, .. } = self.table;
        let residuals = |time: &dyn Fn(usize, f64) -> f64| -> Vec<(f64, u64)> {
            let off = |at: usize| {
                let line = line.at(x[at]);
                Some((off_the_line(time(at, line), line)?, bytes[at]))
            };
            self.part.clone().filter_map(off).collect()
        };
        let rms = |all: &[(f64, u64)]| {
            (all.iter().map(|(off, _)| off.powi(2)).sum::<f64>() / all.len() as f64).sqrt()
        };
        let all = residuals(&|at, _| times[at]);
        let beyond = residuals(&|at, line| ranges[at].nearest(line));
        let worst = all.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        let &(worst_relative, worst_bytes) = worst?;
        let summary = ResidualSummary { rms_relative: rms(&all), worst_relative, worst_bytes };
        if rms(&beyond) > LARGE_RESIDUAL {
            let at = worst_bytes as f64;
            let values = [("rms", summary.rms_relative), ("worst", worst_relative), ("at", at)];
            self.note("line_missed", &values);
        }
        Some(summary)
    }

    /// Sets the parameters that the data support, and adds findings about the others.
    fn parameters(&mut self, line: &Regression, segment: &mut Segment) {
        let [from, to] = self.ends();
        let moved = Moved::of(self.part(&self.table.x), self.part(&self.table.ranges), line);
        let own = |of: fn(&Regression) -> f64| -> Vec<f64> {
            segment.launches.iter().flatten().map(of).filter(|value| value.is_finite()).collect()
        };
        let [startups, slopes] = [own(|line| line.intercept), own(|line| line.slope)];
        let halves = own(|line| line.intercept / line.slope);
        let startup = line.intercept_interval(self.confidence);
        let startup = over_launches(line.intercept, startup, &startups, self.confidence);
        let startup = widened(line.intercept, startup, moved.intercept);
        let slope = line.slope_interval(self.confidence);
        let slope = over_launches(line.slope, slope, &slopes, self.confidence);
        let slope = widened(line.slope, slope, moved.slope);
        let shortest = self.part(&self.table.times).iter().copied().fold(f64::MAX, f64::min);
        let unseen = UNSEEN * shortest;
        let rise = line.slope * (to - from) as f64;
        if line.slope <= 0.0 || rise <= unseen || slope.low <= 0.0 {
            self.note("rate_unresolved", &[]);
        } else {
            segment.r_inf = Some(self.estimate(SECOND / line.slope, reciprocal(slope)));
        }
        let zero = line.intercept.abs() <= unseen;
        if line.intercept <= 0.0 && !zero {
            return self.note("startup_below_zero", &[("t0", Ns(line.intercept).as_secs())]);
        }
        let t0 = line.intercept.max(0.0);
        segment.t0 = Some(self.estimate(t0, startup));
        if startup.low <= 0.0 || zero {
            let high = startup.high.max(t0);
            return self.note("startup_unresolved", &[("high", Ns(high).as_secs())]);
        }
        segment.pi0 = Some(self.estimate(SECOND / line.intercept, reciprocal(startup)));
        if segment.r_inf.is_some() {
            segment.n_half = self.half_length(line, &halves, &moved);
        }
    }

    fn half_length(&mut self, line: &Regression, own: &[f64], moved: &Moved) -> Option<Estimate> {
        let [first, .., last] = self.table.bytes[..] else { return None };
        let n_half = line.intercept / line.slope;
        if n_half < first as f64 || n_half > last as f64 {
            self.note("half_length_outside", &[("half", n_half)]);
            return None;
        }
        // The slope may be 0 after all, for the degrees of freedom of the ratio.
        let Some(interval) = line.ratio_interval(self.confidence) else {
            self.note("rate_unresolved", &[]);
            return None;
        };
        let interval = over_launches(n_half, interval, own, self.confidence);
        Some(self.estimate(n_half, widened(n_half, interval, moved.ratio)))
    }

    fn estimate(&self, value: f64, interval: Interval) -> Estimate {
        Estimate {
            value,
            // The interval of an exact line may miss the value by rounding.
            low: interval.low.min(value),
            high: interval.high.max(value),
            samples: self.part.len(),
            estimator: match self.weighting {
                Weighting::Relative => "least relative squares of t(n)",
                Weighting::Ordinary => "least squares of t(n)",
            },
        }
    }
}

/// Converts a positive interval of nanoseconds to one of rates per second.
fn reciprocal(interval: Interval) -> Interval {
    Interval { low: SECOND / interval.high, high: SECOND / interval.low }
}

/// What a line says of [`Segment`]'s r∞, n½, t0 and π0, as far as it rises and meets n = 0 above zero.
pub fn parameters(line: &Regression) -> [Option<f64>; 4] {
    let t0 = line.intercept.max(0.0);
    let [rate, empty] = [line.slope, t0].map(|ns| (ns > 0.0).then(|| SECOND / ns));
    let half = rate.and(empty).map(|_| line.intercept / line.slope);
    [rate, half, Some(t0), empty]
}
