//! From observations to the signature.

use bandgap_stats::bootstrap;

use super::shape::{SendOnly, Shape};
use super::table::Table;
use super::{Estimate, FarArm, IssueLine, Options, Regime, Signature, Steady, Transition};
use crate::arm::{Arm, SLOPE_TOLERANCE};
use crate::curve::Stretch;
use crate::error::ModelError;
use crate::finding::Finding;
use crate::linear::{Group, Linear};
use crate::observation::Observation;

/// An idle time below this share of the gap is none.
const IDLE_TOLERANCE: f64 = 0.02;

/// Extracts the LogP signature.
///
/// *Formula*: os = slope of elapsed(M) at Δ = 0 where M·os < RTT; g'(Δ) = slope of elapsed(M) at
/// large M, g = g'(0); or = mean of g'(Δ) − os − Δ over the far arm, the delays where g' rises with
/// slope 1 within 5 %; L = RTT/2 − os − or. All lines are least squares weighted by the points'
/// errors, which are smoothed along each curve. Intervals by bootstrap over batches within each
/// observation, with the same regimes. Where the points of a line scatter more than their batches, the
/// deviations are stretched by the ratio.
/// *Units*: nanoseconds.
/// *Assumes* independent batches of one machine state, and that a Δ is the same number at all M.
/// Batch values outside the fence of their observation are left out. Several observations of one
/// point are joined.
/// *Source*: the LogP paper, "Microbenchmark signature"; Davison and Hinkley, "Bootstrap Methods
/// and their Application" (1997), section 3.2, for resampling several samples.
///
/// Where the first reply is back before a second message is issued (RTT < 2·os), os is the issue
/// time of a single message, the paper's own first point.
///
/// # Errors
/// What is missing, named: see [`ModelError`].
pub fn extract(observations: &[Observation], options: &Options) -> Result<Signature, ModelError> {
    extract_with(observations, options, None)
}

/// Extracts the signature of transfers of one length n.
///
/// *Formula*: as [`extract`], but L(n) = T(n) − os(n) − or(n) − `reply`. T(n) is the time of a request
/// and its reply. One of them carries n bytes and the other none, so neither takes half of T(n).
/// `reply` is the time of the one without bytes, RTT(0)/2. With n = 0 this is [`extract`]'s L.
/// *Units*: nanoseconds.
/// *Assumes* as [`extract`], and that `reply` is independent of these observations: its interval is
/// added in quadrature.
/// *Source*: the LogP paper, "Bulk-transfer microbenchmark", for overhead and gap as functions of
/// n; L(n) in the sense of Alexandrov et al., "LogGP" (1995), where it is L + n·G.
///
/// # Errors
/// As [`extract`].
pub fn extract_transfers(
    observations: &[Observation],
    options: &Options,
    reply: &Estimate,
) -> Result<Signature, ModelError> {
    extract_with(observations, options, Some(reply))
}

fn extract_with(
    observations: &[Observation],
    options: &Options,
    reply: Option<&Estimate>,
) -> Result<Signature, ModelError> {
    let usable = options.confidence > 0.0 && options.confidence < 1.0 && options.resamples >= 100;
    if !usable {
        let Options { confidence, resamples, .. } = *options;
        return Err(ModelError::BadOptions { confidence, resamples });
    }
    let mut table = Table::of(observations)?;
    let shape = Shape::of(&table)?;
    shape.widen(&mut table.groups);
    Ok(Estimation::new(&table, &shape, options, reply).signature())
}

/// The parameters as combinations of the groups' means, with the bootstrap's replicates.
struct Estimation<'a> {
    table: &'a Table,
    shape: &'a Shape,
    confidence: f64,
    regime: Regime,
    arm: Arm<'a>,
    send_overhead: Linear,
    recv_overhead: Linear,
    gap: Linear,
    latency: Linear,
    /// The time of the message without bytes, where it is not half of RTT.
    reply: Option<&'a Estimate>,
    idle: Linear,
    intercept: Linear,
    resampled: Resampled,
}

/// The resampled means of the groups that count.
struct Resampled {
    chosen: Vec<usize>,
    means: Vec<Vec<f64>>,
}

impl Resampled {
    fn of(groups: &[Group], used: &[&Linear], options: &Options) -> Resampled {
        let chosen: Vec<usize> =
            (0..groups.len()).filter(|&g| used.iter().any(|terms| terms.uses(g))).collect();
        let batches: Vec<&[f64]> = chosen.iter().map(|&g| groups[g].batches.as_slice()).collect();
        let means = bootstrap::group_means(&batches, options.resamples, options.seed);
        Resampled { chosen, means }
    }

    fn replicates(&self, terms: &Linear) -> Vec<f64> {
        let narrowed = terms.narrowed(&self.chosen);
        self.means.iter().map(|means| narrowed.at(means.iter().copied())).collect()
    }
}

impl<'a> Estimation<'a> {
    fn new(
        table: &'a Table,
        shape: &'a Shape,
        options: &Options,
        reply: Option<&'a Estimate>,
    ) -> Estimation<'a> {
        let groups = table.groups.len();
        let slope = &shape.costs[0];
        let far = Arm::far(&shape.costs, slope.value).expect("the shape has a raised delay");
        let (idle, spread) = far.idle(&slope.terms, &table.groups);
        let none = f64::max(IDLE_TOLERANCE * slope.value, 2.0 * spread.sqrt());
        let whole = Arm::whole(&shape.costs).filter(|arm| arm.costs[0].delay == 0.0);
        let (regime, arm) = match whole {
            Some(whole) if idle.abs() <= none => (Regime::ProcessorBound, whole),
            _ => (Regime::NetworkBound, far),
        };
        let send_overhead = shape.send_only.slope_terms(groups);
        let overheads = arm.overheads(groups);
        let recv_overhead = Linear::sum([(1.0, &overheads), (-1.0, &send_overhead)], groups);
        let gap = match regime {
            Regime::NetworkBound => slope.terms.clone(),
            Regime::ProcessorBound => overheads.clone(),
        };
        let idle = Linear::sum([(1.0, &slope.terms), (-1.0, &overheads)], groups);
        let ways = if reply.is_some() { 1.0 } else { 0.5 };
        let latency = Linear::sum([(ways, &table.rtt), (-1.0, &overheads)], groups)
            .shifted(reply.map_or(0.0, |reply| -reply.value));
        let intercept = shape.steady[0].1.run.intercept_terms(groups);
        let mut used = vec![&send_overhead, &overheads, &intercept, &table.rtt];
        used.extend(shape.costs.iter().map(|c| &c.terms));
        let resampled = Resampled::of(&table.groups, &used, options);
        Estimation {
            table,
            shape,
            confidence: options.confidence,
            regime,
            arm,
            send_overhead,
            recv_overhead,
            gap,
            latency,
            reply,
            idle,
            intercept,
            resampled,
        }
    }

    fn signature(&self) -> Signature {
        let slope_estimator = "weighted slope of elapsed(M)";
        let send_overhead = match self.shape.send_only {
            SendOnly::Line(_) => self.estimate(&self.send_overhead, slope_estimator),
            SendOnly::First(_) => self.estimate(&self.send_overhead, "issue of a single message"),
        };
        let gap = match self.regime {
            Regime::NetworkBound => self.estimate(&self.gap, slope_estimator),
            Regime::ProcessorBound => self.estimate(&self.gap, "os + or"),
        };
        let latency = self.latency();
        let rtt = self.estimate(&self.table.rtt, "mean of fenced batches");
        let idle = self.idle();
        let capacity = self.capacity();
        let signature = Signature {
            send_overhead,
            recv_overhead: self.estimate(&self.recv_overhead, "mean of g'(Δ) − os − Δ"),
            gap,
            latency,
            rtt,
            idle,
            capacity,
            regime: self.regime,
            transition: Transition::of(&send_overhead, &rtt, capacity.as_ref()),
            arm: self.far_arm(),
            send_only: self.send_only_line(),
            steady: self.steady(slope_estimator),
            findings: Vec::new(),
        };
        let findings = self.findings(&signature);
        Signature { findings, ..signature }.with_consequences()
    }

    fn estimate(&self, terms: &Linear, estimator: &'static str) -> Estimate {
        let value = terms.value(&self.table.groups);
        self.bounded(value, &self.resampled.replicates(terms), terms, estimator)
    }

    /// An estimate from its replicates; `terms` are the data behind it.
    fn bounded(
        &self,
        value: f64,
        replicates: &[f64],
        terms: &Linear,
        estimator: &'static str,
    ) -> Estimate {
        let groups = &self.table.groups;
        let degrees = terms.degrees(groups);
        let interval = bootstrap::interval(value, replicates, degrees, self.confidence);
        let samples = terms.samples(groups);
        let rounded = |number| terms.rounded(number, groups);
        let [value, low, high] = [value, interval.low, interval.high].map(rounded);
        Estimate { value, low, high, samples, estimator }
    }

    fn latency(&self) -> Estimate {
        let Some(reply) = self.reply else {
            return self.estimate(&self.latency, "RTT/2 − os − or");
        };
        let own = self.estimate(&self.latency, "RTT − os − or − RTT(0)/2");
        // Both intervals may be asymmetric: their lower and upper parts are added separately.
        let low = own.value - (own.value - own.low).hypot(reply.high - reply.value);
        let high = own.value + (own.high - own.value).hypot(reply.value - reply.low);
        Estimate { low, high, ..own }
    }

    fn idle(&self) -> Estimate {
        match self.regime {
            Regime::NetworkBound => self.estimate(&self.idle, "g − os − or"),
            Regime::ProcessorBound => self.estimate(&self.idle, "0: processor-bound").as_none(),
        }
    }

    fn capacity(&self) -> Option<Estimate> {
        if self.regime == Regime::ProcessorBound {
            return None;
        }
        let groups = &self.table.groups;
        let above = [(1.0, &self.table.rtt), (1.0, &self.send_overhead), (-1.0, &self.intercept)];
        let above = Linear::sum(above, groups.len());
        let gap = self.gap.value(groups);
        let value = above.value(groups) / gap - 1.0;
        if !value.is_finite() || value < 0.5 {
            return None;
        }
        let replicates: Vec<f64> = self
            .resampled
            .replicates(&above)
            .iter()
            .zip(self.resampled.replicates(&self.gap))
            .map(|(above, gap)| above / gap - 1.0)
            .collect();
        // d(above/g) = d(above)/g − (above/g)·dg/g.
        let parts = [(1.0 / gap, &above), (-(value + 1.0) / gap, &self.gap)];
        let linearised = Linear::sum(parts, groups.len());
        Some(self.bounded(value, &replicates, &linearised, "(RTT + os − a)/g − 1"))
    }

    fn far_arm(&self) -> FarArm {
        let slope = self.arm.slope(self.table.groups.len());
        let slope = slope.map(|terms| self.estimate(&terms, "weighted slope of g'(Δ)"));
        let near_one = |slope: Estimate| {
            slope.low <= 1.0 + SLOPE_TOLERANCE && slope.high >= 1.0 - SLOPE_TOLERANCE
        };
        FarArm {
            slope,
            from_delay: self.arm.costs[0].delay,
            delays: self.arm.costs.len(),
            holds: self.arm.costs.len() >= 2 && slope.is_some_and(near_one),
        }
    }

    fn steady(&self, estimator: &'static str) -> Vec<Steady> {
        self.shape
            .steady
            .iter()
            .zip(&self.shape.costs)
            .map(|((delay, line), cost)| Steady {
                delay: *delay,
                cost: self.estimate(&cost.terms, estimator),
                line: issue_line(&line.run),
                settled: line.settled,
            })
            .collect()
    }

    fn send_only_line(&self) -> IssueLine {
        match &self.shape.send_only {
            SendOnly::Line(line) => issue_line(line),
            SendOnly::First(point) => IssueLine {
                slope: point.mean,
                intercept: 0.0,
                from_messages: point.messages as u64,
                to_messages: point.messages as u64,
            },
        }
    }

    /// The findings of the arm and the lines.
    fn findings(&self, signature: &Signature) -> Vec<Finding> {
        let Signature { gap, idle, arm, rtt, .. } = signature;
        let from_delay = arm.from_delay;
        let of_arm = match arm.slope {
            None => Some(Finding::ArmUnchecked { delay: from_delay }),
            Some(slope) if !arm.holds => Some(Finding::ArmSlope { slope: slope.value, from_delay }),
            Some(_) => self.arm.left_out.map(|_| Finding::ArmBeginsLate {
                knee: idle.value.max(0.0),
                from_delay,
                gap: gap.value,
            }),
        };
        let of_send_only = match &self.shape.send_only {
            SendOnly::Line(line) => {
                let points = line.points.len();
                (points < 3).then_some(Finding::FewSendOnly { points })
            }
            SendOnly::First(_) => Some(Finding::SendOnlyUnseen { rtt: rtt.value }),
        };
        let resting = signature.steady.iter().filter(|s| self.arm.rests_on(s.delay));
        let unsettled = resting.filter(|steady| !steady.settled).map(|steady| {
            let IssueLine { from_messages, to_messages, .. } = steady.line;
            if steady.delay == 0.0 {
                Finding::GapUnsettled { from_messages, to_messages }
            } else {
                Finding::Unsettled { delay: steady.delay }
            }
        });
        let too_short = self.shape.too_short.iter().map(|&delay| Finding::CurveTooShort { delay });
        of_arm.into_iter().chain(of_send_only).chain(unsettled).chain(too_short).collect()
    }
}

fn issue_line(run: &Stretch) -> IssueLine {
    IssueLine {
        slope: run.slope(),
        intercept: run.intercept(),
        from_messages: run.points[0].messages as u64,
        to_messages: run.points[run.points.len() - 1].messages as u64,
    }
}
