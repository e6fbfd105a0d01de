//! From observations to the signature.

use bandgap_units::Ns;

use super::arms::{self, Overheads};
use super::estimator::Estimator;
use super::shape::Shape;
use super::table::FencedObservations;
use super::{
    Estimate, IssueLine, LEAST_CAPACITY, Options, Regime, SEND_ONLY_UNSEEN, Share, Signature,
    Steady,
};
use crate::arm::{Among, Arm};
use crate::curve::Stretch;
use crate::error::{ModelError, Result};
use crate::finding::Finding;
use crate::linear::Linear;
use crate::observation::{Observation, Phase};
use crate::regime::bends;

/// Extracts the LogP signature of small messages, or of transfers of one length.
///
/// *Formula*: os = slope of elapsed(M) at Δ = 0 where M·os < RTT; g'(Δ) = slope of elapsed(M) at
/// large M, g = g'(0); or = mean of g'(Δ) − os − Δ over the far arm, the delays where g' rises with
/// slope 1 within 5 %; L = RTT/2 − os − or. All lines are least squares weighted by the points'
/// errors, which are smoothed along each curve. Intervals are by bootstrap over rounds, drawn for
/// all observations alike, or over batches within each observation if rounds are unknown; the
/// regimes stay fixed. If the points of a line scatter more than their batches, the deviations are
/// stretched by the ratio.
/// *Units*: nanoseconds.
/// *Assumes* independent batches of one machine state, and that a Δ is the same number at all M.
/// Batch values outside the fence of their observation are excluded. Several observations of one
/// point are joined.
/// *Source*: the LogP paper, "Microbenchmark signature"; Davison and Hinkley, "Bootstrap Methods
/// and their Application" (1997), section 3.2, for resampling several samples.
///
/// If the first reply returns before a second message is issued (RTT < 2·os), os is the issue time
/// of a single message, the paper's own first point.
///
/// For transfers of one length n, `reply` is the time of a message without bytes, RTT(0)/2, and
/// L(n) = T(n) − os(n) − or(n) − `reply`, where T(n) is the time of a request and its reply. One of
/// them carries n bytes and the other none, so neither takes half of T(n). With n = 0 this is the L
/// above. The bytes of a get are sent by the replier, whose os(n) is not among these observations:
/// os + L = T(n) − or(n) − `reply`. `reply` must be independent of these observations: its interval is added in quadrature.
/// *Source*: the LogP paper, "Bulk-transfer microbenchmark", for overhead and gap as functions of
/// n; L(n) in the sense of Alexandrov et al., "LogGP" (1995), where it is L + n·G.
///
/// # Errors
/// If data is missing or unusable: see [`ModelError`].
pub fn extract(
    observations: &[Observation],
    options: &Options,
    reply: Option<&Estimate>,
) -> Result<Signature> {
    ModelError::unless_confidence(options.confidence)?;
    let mut table = FencedObservations::of(observations)?;
    let shape = Shape::of(&table)?;
    shape.widen(&mut table.groups);
    signature(&table, &shape, options, reply)
}

/// The parameters as combinations of the groups' means, with intervals. `reply` is the time of the
/// message without bytes, if that is not half of RTT.
fn signature(
    table: &FencedObservations,
    shape: &Shape,
    options: &Options,
    reply: Option<&Estimate>,
) -> Result<Signature> {
    let slope = &shape.costs[0];
    let far = Arm::far(&shape.costs, Among::Raised);
    let far = far.ok_or(ModelError::NoDelayAboveIdle(slope.value))?;
    let send_overhead = shape.send_only.slope_terms();
    let intercept = slope.run.intercept_terms();
    let mut used: Vec<&Linear> = vec![&send_overhead, &intercept, &table.rtt];
    used.extend(shape.costs.iter().map(|cost| &cost.terms));
    let of_rivals: Vec<Linear> = shape.rivals.iter().map(Stretch::slope_terms).collect();
    used.extend(&of_rivals);
    let estimator = Estimator::of(&table.groups, table.rounds, &used, options);
    let estimate = |terms: &Linear, how| estimator.estimate(terms, how);

    let of_line = "weighted slope of elapsed(M)";
    let of_issue = if shape.send_only.is_single() { "issue of a single message" } else { of_line };
    let overheads_of = |arm: &Arm, among| Overheads::of(&estimator, arm, &shape.costs, among);
    let overheads = overheads_of(&far, Among::Raised);
    let idle = overheads.estimate(&estimator, -1.0, &slope.terms, "g − os − or");
    let whole = Arm::far(&shape.costs, Among::All).filter(|arm| arm.costs[0].delay == 0.0);
    let regime = Regime::of(&idle, slope.value, whole.is_some());
    let (arm, overheads) = match whole.filter(|_| regime == Regime::ProcessorBound) {
        Some(whole) => (whole.clone(), overheads_of(&whole, Among::All)),
        None => (far, overheads),
    };
    let both = overheads.estimate(&estimator, 1.0, &Linear::default(), "os + or");
    let (gap, capacity) = match regime {
        Regime::ProcessorBound => (both, None),
        Regime::NetworkBound | Regime::Overlapped | Regime::Undecided => {
            let above = Linear::sum([(1.0, &table.rtt), (1.0, &send_overhead), (-1.0, &intercept)]);
            (estimate(&slope.terms, of_line), capacity(&estimator, &above, &slope.terms))
        }
    };
    let rtt = estimate(&table.rtt, "mean of fenced batches");
    // If the points do not determine a line, the interval includes what each candidate would give.
    let of_lines = |of: &dyn Fn(&Linear) -> Estimate| {
        let others = shape.rivals.iter().map(|line| of(&line.slope_terms()));
        others.fold(of(&send_overhead), |chosen, Estimate { low, high, .. }| Estimate {
            low: chosen.low.min(low),
            high: chosen.high.max(high),
            ..chosen
        })
    };
    let received = "mean of g'(Δ) − os − Δ";
    let recv_overhead = of_lines(&|sent| {
        overheads.estimate(&estimator, 1.0, &Linear::sum([(-1.0, sent)]), received)
    });
    let near_arms = arm.nearer(&shape.costs).into_iter().map(|near| {
        let own = near.overheads();
        let less_sent =
            of_lines(&|sent| estimate(&Linear::sum([(1.0, &own), (-1.0, sent)]), received));
        arms::fitted(&estimator, &near, estimate(&own, ""), less_sent)
    });
    // Without slope 1, it is not an arm.
    let near_arms = near_arms.filter(|near| near.holds != Some(false)).collect();
    let received_terms = Linear::sum([(1.0, &arm.overheads()), (-1.0, &send_overhead)]);
    // Lines at different Δ have no points in common.
    let slopes = Linear::sum(shape.costs.iter().map(|cost| (1.0, &cost.terms)));
    let of_all = |group| {
        [&send_overhead, &received_terms, &table.rtt, &intercept, &slopes]
            .map(|terms: &Linear| terms.coefficient(group))
    };
    let share = |(group, &(kind, messages, delay)): (usize, &(Phase, u64, f64))| Share {
        kind,
        messages,
        delay,
        batches: table.groups[group].batches.len(),
        mean: table.groups[group].mean,
        inside: table.fences[group],
        variance: table.groups[group].variance,
        coefficients: of_all(group),
    };
    let shares = table.places.iter().enumerate().map(share).collect();
    let way = |os| latency(&estimator, (&table.rtt, os), &overheads, reply);
    let [latency, sent_latency] = [way(None), way(Some(&send_overhead))];
    let send_overhead = of_lines(&|sent| estimate(sent, of_issue));
    let mut signature = Signature {
        send_overhead,
        recv_overhead,
        gap,
        latency,
        sent_latency,
        rtt,
        idle,
        capacity,
        regime,
        transition: None,
        arm: arms::fitted(&estimator, &arm, both, recv_overhead),
        near_arms,
        send_only: issue_line(&shape.send_only),
        steady: shape
            .costs
            .iter()
            .map(|cost| Steady {
                delay: cost.delay,
                cost: estimate(&cost.terms, of_line),
                line: issue_line(&cost.run),
                settled: cost.settled,
            })
            .collect(),
        findings: Vec::new(),
        shares,
    };
    signature.findings = findings(&signature, shape);
    signature.findings.extend(bend(table, shape, &signature));
    Ok(signature.with_consequences())
}

/// L; or os + L, with the terms of `os`.
fn latency(
    estimator: &Estimator,
    (rtt, os): (&Linear, Option<&Linear>),
    overheads: &Overheads,
    reply: Option<&Estimate>,
) -> Estimate {
    let ways = |share| Linear::sum([(share, rtt)].into_iter().chain(os.map(|os| (1.0, os))));
    let [half, whole] = match os {
        None => ["RTT/2 − os − or", "RTT − os − or − RTT(0)/2"],
        Some(_) => ["RTT/2 − or", "RTT − or − RTT(0)/2"],
    };
    let Some(reply) = reply else {
        return overheads.estimate(estimator, -1.0, &ways(0.5), half);
    };
    let rest = ways(1.0).shifted(-reply.value);
    overheads.estimate(estimator, -1.0, &rest, whole).widened(reply)
}

/// above/g − 1, where `above` is RTT + os − a; `None` if it is not visible.
fn capacity(estimator: &Estimator, above: &Linear, gap: &Linear) -> Option<Estimate> {
    let g = estimator.value(gap);
    let value = estimator.value(above) / g - 1.0;
    if !value.is_finite() || value < LEAST_CAPACITY {
        return None;
    }
    let replicates: Vec<f64> = estimator
        .replicates(above)
        .zip(estimator.replicates(gap))
        .map(|(above, gap)| above / gap - 1.0)
        .collect();
    // d(above/g) = d(above)/g − (above/g)·dg/g.
    let linearised = Linear::sum([(1.0 / g, above), (-(value + 1.0) / g, gap)]);
    Some(estimator.bounded(value, &replicates, &linearised, "(RTT + os − a)/g − 1"))
}

/// The findings of the arm and the lines.
fn findings(signature: &Signature, shape: &Shape) -> Vec<Finding> {
    let unseen = || Finding::new(SEND_ONLY_UNSEEN, "send_overhead", &[]);
    let of_send_only = shape.send_only.is_single().then(unseen);
    let without_delay = signature.steady.first().filter(|steady| !steady.settled);
    let unsettled = without_delay.map(|steady| {
        let IssueLine { from_messages, to_messages, .. } = steady.line;
        let values = [("from", from_messages as f64), ("to", to_messages as f64)];
        Finding::new("gap_unsettled", "gap", &values)
    });
    [arms::finding(&signature.arm), of_send_only, unsettled].into_iter().flatten().collect()
}

/// Finds messages that cost more or less than os while no reply is due and the network has room.
fn bend(table: &FencedObservations, shape: &Shape, signature: &Signature) -> Option<Finding> {
    let rtt = signature.rtt.value;
    let limit = rtt - signature.recv_overhead.value.clamp(0.0, rtt / 2.0);
    let most = signature.capacity.map_or(f64::INFINITY, |capacity| capacity.value);
    let run = &shape.send_only;
    let (next, last, cost) = bends(&table.curves[0], run, limit, most)?;
    let IssueLine { to_messages: to, .. } = issue_line(run);
    let (to, next, cost) = (to as f64, next as f64, Ns(cost).as_secs());
    let values = [("to", to), ("next", next), ("last", last.messages), ("cost", cost)];
    Some(Finding::new("send_only_bends", "send_overhead", &values))
}

fn issue_line(run: &Stretch) -> IssueLine {
    IssueLine {
        slope: run.slope(),
        intercept: run.intercept(),
        from_messages: run.points[0].messages as u64,
        to_messages: run.points[run.points.len() - 1].messages as u64,
    }
}
