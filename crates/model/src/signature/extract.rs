//! From observations to the signature.

use bandgap_stats::bootstrap::{self, Bootstrap};

use super::shape::{SendOnly, Shape};
use super::table::Table;
use super::{Cause, Estimate, FarArm, IssueLine, Options, Regime, Signature, Steady, Transition};
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
/// observation, the regimes kept; where the points of a line scatter beyond their batches' noise,
/// the deviations are stretched by as much.
/// *Units*: nanoseconds.
/// *Assumes* independent batches, of one state of the machine; one Δ is the same number at all M.
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
/// *Formula*: as [`extract`], but for L(n) = T(n) − os(n) − or(n) − `reply`: of a request that
/// carries n bytes and a reply that carries none (or the other way round) neither is half of T(n),
/// the time of the two. `reply` is the way of the one without bytes, RTT(0)/2; with n = 0 this is
/// [`extract`]'s L.
/// *Units*: nanoseconds.
/// *Assumes* as [`extract`]; and an interval of `reply` that is independent of these observations,
/// which is added in quadrature.
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
    /// The way without bytes, where it is not half of RTT.
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
        let mut means = Vec::with_capacity(options.resamples);
        let bootstrap = Bootstrap { resamples: options.resamples, seed: options.seed };
        bootstrap.group_means(&batches, |resample| means.push(resample.to_vec()));
        Resampled { chosen, means }
    }

    fn replicates(&self, terms: &Linear) -> Vec<f64> {
        let narrowed = terms.narrowed(&self.chosen);
        self.means.iter().map(|means| narrowed.at(means)).collect()
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
        let recv_overhead = overheads.clone().plus(-1.0, &send_overhead);
        let gap = match regime {
            Regime::NetworkBound => slope.terms.clone(),
            Regime::ProcessorBound => overheads.clone(),
        };
        let idle = slope.terms.clone().plus(-1.0, &overheads);
        let zero = Linear::constant(0.0, groups);
        let ways = match reply {
            Some(reply) => zero.shifted(-reply.value).plus(1.0, &table.rtt),
            None => zero.plus(0.5, &table.rtt),
        };
        let latency = ways.plus(-1.0, &overheads);
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
        let arm = self.far_arm();
        let mut signature = Signature {
            send_overhead,
            recv_overhead: self.estimate(&self.recv_overhead, "mean of g'(Δ) − os − Δ"),
            gap,
            latency,
            rtt,
            idle,
            capacity,
            regime: self.regime,
            transition: self.transition(&send_overhead, &rtt, capacity.as_ref()),
            arm,
            send_only: self.send_only_line(),
            steady: self.steady(slope_estimator),
            findings: Vec::new(),
        };
        signature.findings = self.findings(&signature);
        signature
    }

    fn estimate(&self, terms: &Linear, estimator: &'static str) -> Estimate {
        let value = terms.value(&self.table.groups);
        self.bounded(value, &self.resampled.replicates(terms), terms, estimator)
    }

    /// An estimate whose replicates are given; `terms` tells the data behind it.
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
        // Both intervals may be lopsided: their lower and upper parts are added apart.
        let low = own.value - (own.value - own.low).hypot(reply.high - reply.value);
        let high = own.value + (own.high - own.value).hypot(reply.value - reply.low);
        Estimate { low, high, ..own }
    }

    fn idle(&self) -> Estimate {
        match self.regime {
            Regime::NetworkBound => self.estimate(&self.idle, "g − os − or"),
            Regime::ProcessorBound => {
                let seen = self.estimate(&self.idle, "0: processor-bound");
                Estimate { value: 0.0, low: 0.0, high: seen.high.max(0.0), ..seen }
            }
        }
    }

    fn capacity(&self) -> Option<Estimate> {
        if self.regime == Regime::ProcessorBound {
            return None;
        }
        let groups = &self.table.groups;
        let above =
            self.table.rtt.clone().plus(1.0, &self.send_overhead).plus(-1.0, &self.intercept);
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
        let zero = Linear::constant(0.0, groups.len());
        let linearised = zero.plus(1.0 / gap, &above).plus(-(value + 1.0) / gap, &self.gap);
        Some(self.bounded(value, &replicates, &linearised, "(RTT + os − a)/g − 1"))
    }

    fn transition(
        &self,
        send_overhead: &Estimate,
        rtt: &Estimate,
        capacity: Option<&Estimate>,
    ) -> Transition {
        let mut round_trip = rtt.value / send_overhead.value;
        if send_overhead.value <= 0.0 {
            round_trip = f64::INFINITY;
        }
        match capacity {
            Some(capacity) if capacity.value < round_trip => {
                Transition { messages: capacity.value, cause: Cause::Capacity }
            }
            _ => Transition { messages: round_trip, cause: Cause::RoundTrip },
        }
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

    fn findings(&self, signature: &Signature) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut note = |holds: bool, finding: Finding| {
            if holds {
                findings.push(finding);
            }
        };
        let Signature { latency, send_overhead, gap, idle, arm, .. } = signature;
        let processor_bound = self.regime == Regime::ProcessorBound;
        note(processor_bound, Finding::ProcessorBound { gap: gap.value });
        note(
            latency.value < 0.0,
            Finding::NegativeLatency {
                latency: latency.value,
                low: latency.low,
                high: latency.high,
            },
        );
        note(!processor_bound && idle.high < 0.0, Finding::OverheadsOverlap { idle: idle.value });
        let from_delay = arm.from_delay;
        match arm.slope {
            None => note(true, Finding::ArmUnchecked { delay: from_delay }),
            Some(slope) if !arm.holds => {
                note(true, Finding::ArmSlope { slope: slope.value, from_delay });
            }
            Some(_) => note(
                self.arm.left_out.is_some(),
                Finding::ArmBeginsLate { knee: idle.value.max(0.0), from_delay, gap: gap.value },
            ),
        }
        match &self.shape.send_only {
            SendOnly::Line(line) => {
                let points = line.points.len();
                note(points < 3, Finding::FewSendOnly { points });
            }
            SendOnly::First(_) => note(true, Finding::SendOnlyUnseen { rtt: signature.rtt.value }),
        }
        note(
            send_overhead.low <= 0.0,
            Finding::SendOverheadUnresolved { send_overhead: send_overhead.value },
        );
        for steady in signature.steady.iter().filter(|s| self.arm.rests_on(s.delay)) {
            let IssueLine { from_messages, to_messages, .. } = steady.line;
            let finding = if steady.delay == 0.0 {
                Finding::GapUnsettled { from_messages, to_messages }
            } else {
                Finding::Unsettled { delay: steady.delay }
            };
            note(!steady.settled, finding);
        }
        for &delay in &self.shape.too_short {
            note(true, Finding::CurveTooShort { delay });
        }
        note(signature.capacity.is_none(), Finding::CapacityUnseen);
        findings
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
