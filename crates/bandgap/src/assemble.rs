//! From batches to what is recorded: states, parameters, points, tables.

use bandgap_model::signature::{Cause as ModelCause, FarArm, IssueLine, Regime as ModelRegime};
use bandgap_model::{Estimate, Kind, Observation, Signature};
use bandgap_record::{
    Arm, Batch as RecordedBatch, Cause, Contention, ContentionRow, Evidence, FloorRatio, Line,
    Logp, Measure, Number, OtherState, Outcome, Pair, Parameters, Pattern, Point, Quantity,
    RecordError, Regime, RttPairs, Seconds, State, Summary, Transition,
};
use bandgap_stats::Interval;
use bandgap_units::Ns;

use crate::collect::{Collected, Stage};
use crate::command::signature::recorded;
use crate::launch::{Task, Transport};
use crate::measure::data::{Batch, Key, Table};
use crate::measure::judge::{Judged, QUICK_RESAMPLES, within};
use crate::measure::signature::SignaturePlan;
use crate::target::Target;

/// Resamples of the bootstrap behind recorded intervals.
const RESAMPLES: usize = 1000;
/// How points are estimated.
const POINT_ESTIMATOR: &str = "mean of batch means inside the MAD fence, t interval";

/// Why nothing could be assembled.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// What was measured does not hold what the model needs.
    #[error(transparent)]
    Model(#[from] bandgap_model::ModelError),
    /// A number cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Nothing was measured.
    #[error("find a measured batch")]
    Empty,
}

/// The results of a signature task.
///
/// # Errors
/// Too little was measured.
pub fn results(
    stage: &Stage,
    target: &Target,
    ranks: usize,
    task: &Task,
    collected: &Collected,
) -> Result<Vec<Outcome>, AssembleError> {
    let Task::Signature { plan, fan_in, .. } = task else { return Ok(Vec::new()) };
    if collected.table.is_empty() {
        return Err(AssembleError::Empty);
    }
    let judged = plan.judge(&collected.table);
    let mut results = Vec::new();
    if fan_in.is_some() {
        results.push(Outcome::Contention(contention(&judged, target, &collected.table)?));
        return Ok(results);
    }
    let logp = Assembly { stage, target, ranks, plan, collected, judged: &judged }.logp()?;
    results.push(Outcome::Logp(Box::new(logp)));
    if let Some(pairs) = rtt_pairs(stage, &judged, target, collected)? {
        results.push(Outcome::RttPairs(pairs));
    }
    Ok(results)
}

/// Batches that no fit could be made of, as they were measured: kind `batches`.
pub fn unfitted(target: &Target, table: &Table, reason: &AssembleError) -> Outcome {
    let batches: Vec<serde_json::Value> = table
        .iter()
        .flat_map(|(key, batches)| {
            batches.iter().map(move |batch| serde_json::json!({ "of": key, "batch": batch }))
        })
        .collect();
    Outcome::Other(serde_json::json!({
        "kind": "batches",
        "transport": target.to_string(),
        "reason": reason.to_string(),
        "unit": "ns",
        "batches": batches,
    }))
}

struct Assembly<'a> {
    stage: &'a Stage,
    target: &'a Target,
    ranks: usize,
    plan: &'a SignaturePlan,
    collected: &'a Collected,
    judged: &'a Judged<'a>,
}

impl Assembly<'_> {
    fn logp(&self) -> Result<Logp, AssembleError> {
        let signature = self.signature(self.judged)?;
        let cpus = self.collected.placement.as_ref().map(|placement| placement.cpus.as_slice());
        let pair = match self.plan.pattern {
            crate::measure::signature::SignaturePattern::Pairs => [0, self.ranks as u32 / 2],
            _ => [0, 1],
        };
        let cores = cpus.map(|cpus| pair.map(|rank| cpus[rank as usize]));
        let states = self.states();
        let other_states = states
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != self.judged.seen())
            .filter_map(|(index, state)| {
                // A state seen too briefly for a fit is left to the points' batches.
                let signature = self.signature(&self.judged.seen_from(index)).ok()?;
                Some(parameters(&signature, self.plan.precision).map(|parameters| OtherState {
                    state: state.clone(),
                    parameters,
                    regime: regime(&signature),
                }))
            })
            .collect::<Result<_, _>>()?;
        let state = self
            .judged
            .seen()
            .and_then(|seen| states.get(seen).cloned())
            .unwrap_or_else(only_state);
        Ok(Logp {
            name: "signature".to_owned(),
            transport: self.target.to_string(),
            ranks: self.ranks as u32,
            pattern: recorded(self.plan.pattern),
            pair: Some(pair),
            cores: cores.map(|cores| cores.map(|core| core as u32)),
            distance: cores.and_then(|[a, b]| {
                self.stage.topology.distance(a, b).map(|distance| distance.to_string())
            }),
            launches: self.collected.launches,
            floor_ratios: self.floor_ratios(&signature, &state),
            state,
            parameters: parameters(&signature, self.plan.precision)?,
            regime: regime(&signature),
            transition: Some(transition(&signature)),
            arm: arm(&signature.arm)?,
            points: self.points()?,
            lines: lines(&signature)?,
            other_states,
            findings: findings(&signature),
        })
    }

    /// The signature of one state: of one launch by bootstrap over batches; of several launches
    /// the mean of theirs, with the t interval over launches, which holds both variances.
    fn signature(&self, judged: &Judged<'_>) -> Result<Signature, AssembleError> {
        let whole = judged.signature(RESAMPLES)?;
        if self.collected.launches < 2 {
            return Ok(whole);
        }
        let each: Vec<Signature> = (0..self.collected.launches)
            .filter_map(|launch| {
                let part = self.collected.table.of_launch(launch);
                judged.over(&part).signature(QUICK_RESAMPLES).ok()
            })
            .collect();
        if each.len() < 2 {
            return Ok(whole);
        }
        Ok(whole.over_launches(&each, self.plan.confidence))
    }

    fn states(&self) -> Vec<State> {
        let found = self.judged.states().states();
        let probed: usize = found.iter().map(|state| state.probes).sum();
        found
            .iter()
            .enumerate()
            .map(|(index, state)| State {
                label: self.judged.name(Some(index)).unwrap_or_default(),
                probe: Quantity::time(
                    Ns(state.centre),
                    Some((Ns(state.low), Ns(state.high))),
                    Evidence::new("median of probes, with their range", state.probes as u64, true),
                )
                .ok(),
                share: Number(state.probes as f64 / probed.max(1) as f64),
            })
            .collect()
    }

    fn floor_ratios(&self, signature: &Signature, state: &State) -> Vec<FloorRatio> {
        let (Target::Real(Transport::Shm), Some(probe)) = (self.target, &state.probe) else {
            return Vec::new();
        };
        let floor = probe.value.0 * 1e9;
        vec![FloorRatio {
            name: Transport::Shm.floor().to_owned(),
            ratio: Number(signature.rtt.value / 2.0 / floor),
        }]
    }

    fn points(&self) -> Result<Vec<Point>, AssembleError> {
        let mut points = Vec::new();
        for (key, batches) in self.collected.table.iter() {
            let (measure, messages, delay) = match *key {
                Key::Issue { messages, delay_ps } => {
                    (Measure::Issue, u64::from(messages), self.judged.delay(delay_ps))
                }
                Key::Rtt => (Measure::Rtt, 1, 0.0),
                _ => continue,
            };
            let values = self.judged.values(key);
            let Some(&first) = values.first() else { continue };
            let estimated = self.judged.point(key);
            let (value, interval, count) = estimated
                .as_ref()
                .map_or((first, Interval { low: first, high: first }, 1), |point| {
                    (point.value, point.interval, point.batches)
                });
            let converged = self.virtual_time() || self.judged.converged(key);
            let evidence = || Evidence::new(POINT_ESTIMATOR, count as u64, converged);
            let per = |share: f64| {
                Quantity::time(
                    Ns(value / share),
                    Some((Ns(interval.low / share), Ns(interval.high / share))),
                    evidence(),
                )
            };
            let counted: Vec<f64> = batches
                .iter()
                .filter(|batch| self.judged.counts(batch))
                .flat_map(|batch| batch.samples.iter().copied())
                .collect();
            points.push(Point {
                measure,
                messages,
                delay: Ns(delay).into(),
                cost: per(messages as f64)?,
                elapsed: per(1.0)?,
                batches: batches.iter().map(|batch| self.batch(batch)).collect(),
                converged,
                summary: summary(&counted, self.plan.confidence)?,
            });
        }
        Ok(points)
    }

    fn virtual_time(&self) -> bool {
        self.collected.placement.is_none()
    }

    fn batch(&self, batch: &Batch) -> RecordedBatch {
        let label = if self.virtual_time() || self.judged.states().states().is_empty() {
            only_state().label
        } else {
            self.judged.name(self.judged.state(batch)).unwrap_or_else(|| "unknown".to_owned())
        };
        RecordedBatch {
            samples: batch.samples.iter().map(|ns| round(*ns)).collect(),
            state: label,
            probe: batch.probe.map(|probe| probe.map(round)),
            delay: batch.delay.map(round),
            launch: batch.launch,
            rejected: batch.rejected.clone(),
        }
    }
}

/// The state of a machine that shows but one.
fn only_state() -> State {
    State { label: "only".to_owned(), probe: None, share: Number(1.0) }
}

/// What there is to say about a signature, as sentences.
fn findings(signature: &Signature) -> Vec<String> {
    let mut findings: Vec<String> = signature.findings.iter().map(ToString::to_string).collect();
    if signature.recv_overhead.high < 0.0 {
        findings.push(
            "or is negative: with a delay between them requests cost less than os + Δ; the processor \
             probably handles replies while it computes."
                .to_owned(),
        );
    }
    findings
}

/// A time to the picosecond: the clock tells no more.
fn round(ns: f64) -> Seconds {
    Seconds::from(Ns((ns * 1e3).round() / 1e3))
}

/// A signature fitted to a table that somebody else measured.
///
/// # Errors
/// A number cannot be recorded.
pub fn fitted(
    observations: &[Observation],
    signature: &Signature,
    precision: f64,
    confidence: f64,
) -> Result<Outcome, AssembleError> {
    let mut points = Vec::new();
    for observation in observations {
        let estimated = bandgap_stats::Point::of(&observation.batches, confidence);
        let Some(point) = estimated else { continue };
        let converged = point.converged(precision);
        let per = |share: f64| {
            Quantity::time(
                Ns(point.value / share),
                Some((Ns(point.interval.low / share), Ns(point.interval.high / share))),
                Evidence::new(POINT_ESTIMATOR, point.batches as u64, converged),
            )
        };
        points.push(Point {
            measure: match observation.kind {
                Kind::Issue => Measure::Issue,
                Kind::Rtt => Measure::Rtt,
            },
            messages: observation.messages,
            delay: Ns(observation.delay).into(),
            cost: per(observation.messages as f64)?,
            elapsed: per(1.0)?,
            batches: Vec::new(),
            converged,
            summary: summary(&observation.batches, confidence)?,
        });
    }
    Ok(Outcome::Logp(Box::new(Logp {
        name: "signature".to_owned(),
        transport: "table".to_owned(),
        ranks: 2,
        pattern: Pattern::OneToOne,
        pair: None,
        cores: None,
        distance: None,
        launches: 1,
        state: only_state(),
        parameters: parameters(signature, precision)?,
        regime: regime(signature),
        transition: Some(transition(signature)),
        arm: arm(&signature.arm)?,
        floor_ratios: Vec::new(),
        points,
        lines: lines(signature)?,
        other_states: Vec::new(),
        findings: findings(signature),
    })))
}

fn time(estimate: &Estimate, converged: bool) -> Result<Quantity, RecordError> {
    Quantity::time(
        Ns(estimate.value),
        Some((Ns(estimate.low), Ns(estimate.high))),
        Evidence::new(estimate.estimator, estimate.samples as u64, converged),
    )
}

fn number(estimate: &Estimate, converged: bool) -> Result<Quantity, RecordError> {
    Quantity::number(
        estimate.value,
        Some((estimate.low, estimate.high)),
        Evidence::new(estimate.estimator, estimate.samples as u64, converged),
    )
}

/// The parameters with their verdicts. L and the idle time may be near zero, so their interval is
/// judged against what they are a part of: half the round trip, and the gap.
fn parameters(signature: &Signature, precision: f64) -> Result<Parameters, RecordError> {
    let direct = |estimate: &Estimate| time(estimate, within(estimate, precision)).map(Some);
    let part = |estimate: &Estimate, whole: f64| {
        let converged = (estimate.high - estimate.low) / 2.0 <= precision * whole.abs();
        time(estimate, converged).map(Some)
    };
    Ok(Parameters {
        send_overhead: direct(&signature.send_overhead)?,
        recv_overhead: direct(&signature.recv_overhead)?,
        gap: direct(&signature.gap)?,
        latency: part(&signature.latency, signature.rtt.value / 2.0)?,
        rtt: direct(&signature.rtt)?,
        idle: part(&signature.idle, signature.gap.value)?,
        capacity: signature
            .capacity
            .as_ref()
            .map(|capacity| number(capacity, within(capacity, precision)))
            .transpose()?,
    })
}

fn regime(signature: &Signature) -> Regime {
    match signature.regime {
        ModelRegime::NetworkBound => Regime::NetworkBound,
        ModelRegime::ProcessorBound => Regime::ProcessorBound,
    }
}

fn transition(signature: &Signature) -> Transition {
    Transition {
        messages: Number(signature.transition.messages),
        cause: match signature.transition.cause {
            ModelCause::RoundTrip => Cause::FirstReplies,
            ModelCause::Capacity => Cause::Capacity,
        },
    }
}

fn arm(arm: &FarArm) -> Result<Option<Arm>, RecordError> {
    let Some(slope) = &arm.slope else { return Ok(None) };
    Ok(Some(Arm {
        slope: number(slope, arm.holds)?,
        from_delay: Ns(arm.from_delay).into(),
        holds: arm.holds,
    }))
}

/// The fitted lines of elapsed time over messages.
fn lines(signature: &Signature) -> Result<Vec<Line>, RecordError> {
    let line = |name: &str, delay: f64, line: &IssueLine| {
        let plain =
            |value: f64| Quantity::time(Ns(value), None, Evidence::new("least squares", 0, true));
        Ok(Line {
            name: name.to_owned(),
            delay: Ns(delay).into(),
            intercept: plain(line.intercept)?,
            slope: plain(line.slope)?,
            from: line.from_messages,
            to: line.to_messages,
        })
    };
    let steady = signature.steady.iter().map(|steady| line("gap", steady.delay, &steady.line));
    std::iter::once(line("send_overhead", 0.0, &signature.send_only)).chain(steady).collect()
}

fn summary(samples: &[f64], confidence: f64) -> Result<Summary, AssembleError> {
    let summary = bandgap_stats::Summary::of(samples, confidence).ok_or(AssembleError::Empty)?;
    let median = summary.median_interval.map(|i| (Ns(i.low), Ns(i.high)));
    Ok(Summary {
        mean: Ns(summary.mean).into(),
        median: Quantity::time(
            Ns(summary.median),
            median,
            Evidence::new(
                "median, order-statistic interval over samples",
                summary.samples as u64,
                true,
            ),
        )?,
        min: Ns(summary.min).into(),
        p90: Ns(summary.p90).into(),
        p99: Ns(summary.p99).into(),
        p999: Ns(summary.p99_9).into(),
        max: Ns(summary.max).into(),
        samples: summary.samples as u64,
    })
}

fn estimated(judged: &Judged<'_>, key: &Key, virtual_time: bool) -> Option<Quantity> {
    let point = judged.point(key)?;
    let converged = virtual_time || judged.converged(key);
    Quantity::time(
        Ns(point.value),
        Some((Ns(point.interval.low), Ns(point.interval.high))),
        Evidence::new(POINT_ESTIMATOR, point.batches as u64, converged),
    )
    .ok()
}

fn rtt_pairs(
    stage: &Stage,
    judged: &Judged<'_>,
    target: &Target,
    collected: &Collected,
) -> Result<Option<RttPairs>, AssembleError> {
    let cpus = collected.placement.as_ref().map(|placement| placement.cpus.as_slice());
    let pairs: Vec<Pair> = collected
        .table
        .iter()
        .filter_map(|(key, _)| {
            let Key::PairRtt { requester, replier } = *key else { return None };
            let distance = cpus.and_then(|cpus| {
                stage.topology.distance(cpus[requester], cpus[replier]).map(|d| d.to_string())
            });
            Some(Pair {
                requester: requester as u32,
                replier: replier as u32,
                distance,
                rtt: estimated(judged, key, cpus.is_none())?,
            })
        })
        .collect();
    let by_time = |a: &&Pair, b: &&Pair| a.rtt.value.0.total_cmp(&b.rtt.value.0);
    let (Some(minimum), Some(maximum)) =
        (pairs.iter().min_by(by_time), pairs.iter().max_by(by_time))
    else {
        return Ok(None);
    };
    let (minimum, maximum) = (minimum.rtt.clone(), maximum.rtt.clone());
    Ok(Some(RttPairs { transport: target.to_string(), pairs, minimum, maximum }))
}

fn contention(
    judged: &Judged<'_>,
    target: &Target,
    table: &Table,
) -> Result<Contention, AssembleError> {
    let alone = judged.values(&Key::Contended { requesters: 1 });
    let alone = bandgap_stats::Point::of(&alone, 0.95).ok_or(AssembleError::Empty)?;
    let virtual_time = matches!(target, Target::Simulated(_));
    let mut rows = Vec::new();
    for (key, _) in table.iter() {
        let Key::Contended { requesters } = *key else { continue };
        let Some(gap) = estimated(judged, key, virtual_time) else { continue };
        let ratio = gap.value.0 * 1e9 / alone.value;
        // Relative widths of numerator and denominator add in quadrature.
        let relative =
            |q: &Quantity| q.low.zip(q.high).map_or(0.0, |(l, h)| (h.0 - l.0) / 2.0 / q.value.0);
        let own = if requesters == 1 { 0.0 } else { 1.0 };
        let half = own * ratio * relative(&gap).hypot(alone.interval.half_width() / alone.value);
        rows.push(ContentionRow {
            requesters: requesters as u32,
            ratio: Quantity::number(
                ratio,
                Some((ratio - half, ratio + half)),
                Evidence::new(
                    "ratio of gaps, relative widths in quadrature",
                    gap.samples,
                    gap.converged,
                ),
            )?,
            gap,
        });
    }
    let transport = target.to_string();
    Ok(Contention { pattern: Pattern::FanIn, transport, rows })
}
