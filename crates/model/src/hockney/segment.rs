//! From lines to parameters, and which of them the data support.

use std::collections::BTreeSet;

use bandgap_stats::interval::{Interval, widened as over_launches};
use bandgap_stats::regression::{self, Regression};
use bandgap_units::Ns;

use super::input::Table;
use super::rounding::{Moved, widened};
use super::{Breakpoint, Fit, Range, ResidualSummary, Segment, Weighting};
use crate::finding::Finding;
use crate::signature::Estimate;

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Relative residuals above this root mean square are a finding.
const LARGE_RESIDUAL: f64 = 0.1;

/// A startup time, or the rise over a segment, below this share of its shortest time is rounding.
const UNSEEN: f64 = 1e-6;

/// Fits every segment of all launches as one table, and notes which of several launches have no line in some segment.
pub(super) fn fit(
    (table, launches): (&Table, &[Table]),
    breakpoints: &[Breakpoint],
    (weighting, confidence): (Weighting, f64),
    lost: &mut BTreeSet<usize>,
) -> Fit {
    let mut fit = Fit { weighting, segments: Vec::new(), findings: Vec::new() };
    let ends =
        breakpoints.iter().map(|b| table.bytes.partition_point(|&size| size <= b.last_below));
    let mut start = 0;
    for end in ends.chain([table.bytes.len()]) {
        let number = fit.segments.len() + 1;
        Piece { table, launches, number, start, end, weighting, confidence }.fit(&mut fit, lost);
        start = end;
    }
    fit
}

/// The sizes of one segment.
struct Piece<'a> {
    table: &'a Table,
    launches: &'a [Table],
    number: usize,
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

    fn finding(&self, code: &'static str, values: &[(&'static str, f64)]) -> Finding {
        let from = ("from", self.range().from as f64);
        Finding::new(code, format!("segment={}", self.number), &[values, &[from]].concat())
    }

    fn range(&self) -> Range {
        Range { from: self.table.bytes[self.start], to: self.table.bytes[self.end - 1] }
    }

    /// The line of some sizes of a table.
    fn line(&self, table: &Table, part: std::ops::Range<usize>) -> Option<Regression> {
        let (x, times) = (&table.x[part.clone()], &table.times[part.clone()]);
        match self.weighting {
            Weighting::Relative => {
                let (noise, ranges) = (&table.noise[part.clone()], &table.ranges[part]);
                regression::relative(x, times, noise, ranges)
            }
            Weighting::Ordinary => regression::ordinary(x, times),
        }
    }

    /// The lines of several launches alone.
    fn of_launches(&self, lost: &mut BTreeSet<usize>) -> Vec<Option<Regression>> {
        let Range { from, to } = self.range();
        let several = self.launches.iter().enumerate().filter(|_| self.launches.len() > 1);
        let own = several.map(|(index, launch)| {
            let start = launch.bytes.partition_point(|size| *size < from);
            let end = launch.bytes.partition_point(|size| *size <= to);
            let line = self.line(launch, start..end);
            if line.is_none() {
                lost.insert(index);
            }
            line
        });
        own.collect()
    }

    fn fit(&self, fit: &mut Fit, lost: &mut BTreeSet<usize>) {
        let range = self.range();
        let line = self.line(self.table, self.start..self.end);
        let before = fit.findings.len();
        let mut segment = Segment {
            from_bytes: range.from,
            to_bytes: range.to,
            points: self.end - self.start,
            ..Segment::default()
        };
        match line {
            None => fit
                .findings
                .push(self.finding("segment_too_short", &[("sizes", segment.points as f64)])),
            Some(line) => {
                segment.residuals = Some(self.judge(&line, &mut fit.findings));
                segment.launches = self.of_launches(lost);
                self.parameters(&line, &mut segment, &mut fit.findings);
                segment.line = Some(line);
            }
        }
        segment.misfit = fit.findings[before..]
            .iter()
            .any(|finding| ["startup_below_zero", "line_missed"].contains(&finding.code));
        fit.segments.push(segment);
    }

    /// Sums up the residuals, and notes where they are large beyond what rounding explains.
    fn judge(&self, line: &Regression, findings: &mut Vec<Finding>) -> ResidualSummary {
        let (x, times) = (self.part(&self.table.x), self.part(&self.table.times));
        let ranges = &self.table.ranges[self.start..self.end];
        let summary = |time: &dyn Fn(usize, f64) -> f64| {
            let off = |at: usize| {
                let line = line.at(x[at]);
                (time(at, line) - line) / times[at]
            };
            let squares: f64 = (0..x.len()).map(|at| off(at).powi(2)).sum();
            let worst = (0..x.len()).max_by(|&a, &b| off(a).abs().total_cmp(&off(b).abs()));
            let worst = worst.expect("a fitted segment has sizes");
            ResidualSummary {
                rms_relative: (squares / x.len() as f64).sqrt(),
                worst_relative: off(worst),
                worst_bytes: self.table.bytes[self.start + worst],
            }
        };
        let beyond = summary(&|at, line| ranges[at].nearest(line));
        if beyond.rms_relative > LARGE_RESIDUAL {
            let ResidualSummary { rms_relative, worst_relative, worst_bytes } = beyond;
            let values =
                [("rms", rms_relative), ("worst", worst_relative), ("at", worst_bytes as f64)];
            findings.push(self.finding("line_missed", &values));
        }
        summary(&|at, _| times[at])
    }

    /// Fills in the parameters that make sense, and notes why others do not.
    fn parameters(&self, line: &Regression, segment: &mut Segment, findings: &mut Vec<Finding>) {
        let range = self.range();
        let ranges = &self.table.ranges[self.start..self.end];
        let moved = Moved::of(self.part(&self.table.x), ranges, line);
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
        let rise = line.slope * (range.to - range.from) as f64;
        if line.slope <= 0.0 || rise <= unseen || slope.low <= 0.0 {
            findings.push(self.finding("rate_unresolved", &[]));
        } else {
            segment.r_inf = Some(self.estimate(SECOND / line.slope, reciprocal(slope)));
        }
        let zero = line.intercept.abs() <= unseen;
        if line.intercept <= 0.0 && !zero {
            findings
                .push(self.finding("startup_below_zero", &[("t0", Ns(line.intercept).as_secs())]));
            return;
        }
        let t0 = line.intercept.max(0.0);
        segment.t0 = Some(self.estimate(t0, startup));
        if startup.low <= 0.0 || zero {
            let high = startup.high.max(t0);
            findings.push(self.finding("startup_unresolved", &[("high", Ns(high).as_secs())]));
            return;
        }
        segment.pi0 = Some(self.estimate(SECOND / line.intercept, reciprocal(startup)));
        if segment.r_inf.is_some() {
            segment.n_half = self.half_length(line, &halves, &moved, findings);
        }
    }

    fn half_length(
        &self,
        line: &Regression,
        launches: &[f64],
        moved: &Moved,
        findings: &mut Vec<Finding>,
    ) -> Option<Estimate> {
        let [first, .., last] = self.table.bytes[..] else { return None };
        let n_half = line.intercept / line.slope;
        if n_half < first as f64 || n_half > last as f64 {
            findings.push(self.finding("half_length_outside", &[("half", n_half)]));
            return None;
        }
        // The slope may be 0 after all, by the degrees of freedom of the ratio.
        let Some(interval) = line.ratio_interval(self.confidence) else {
            findings.push(self.finding("rate_unresolved", &[]));
            return None;
        };
        let interval = over_launches(n_half, interval, launches, self.confidence);
        Some(self.estimate(n_half, widened(n_half, interval, moved.ratio)))
    }

    fn estimate(&self, value: f64, interval: Interval) -> Estimate {
        Estimate {
            value,
            // That of an exact line may miss it by a rounding.
            low: interval.low.min(value),
            high: interval.high.max(value),
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
