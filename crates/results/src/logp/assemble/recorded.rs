//! What a signature says by itself, as it is recorded.

use bandgap_campaign::load::Load;
use bandgap_campaign::signature::{Verdicts, judge, judge_received};
use bandgap_model::signature::{ArmFit, IssueLine};
use bandgap_model::{Estimate, Signature};
use bandgap_record::{Convergence, Evidence, Number, Quantity, RecordError, Unit};
use bandgap_stats::Rule;
use bandgap_units::Ns;

use super::findings::{self, Source};
use crate::logp::schema::{Arm, ArmLevel, Line, Logp, Parameters, Transition};
use crate::measured::{Pattern, State, TABLE, recorded};

/// The record of a signature without its points, as of a table that somebody else measured.
pub(super) fn signature(
    signature: &Signature,
    rule: &Rule,
    load: Load,
) -> Result<Logp, RecordError> {
    Ok(Logp {
        name: "signature".to_owned(),
        operation: None,
        bytes: None,
        transport: TABLE.to_owned(),
        ranks: 2,
        pattern: Pattern::OneToOne,
        pair: None,
        cores: None,
        distance: None,
        launches: 1,
        lost_launches: Vec::new(),
        state: State::only(),
        parameters: parameters(signature, rule, load)?,
        regime: signature.regime,
        transition: signature
            .transition
            .map(|found| Transition { messages: Number(found.messages), cause: found.cause }),
        arm: arm(&signature.arm, rule)?,
        arms: arms(signature, rule, load)?,
        floor_ratios: Vec::new(),
        points: Vec::new(),
        lines: lines(signature)?,
        other_states: Vec::new(),
        findings: findings::of_signature(signature, Source::Table),
    })
}

/// The parameters with their verdicts.
pub(super) fn parameters(
    signature: &Signature,
    rule: &Rule,
    load: Load,
) -> Result<Parameters, RecordError> {
    let verdicts = Verdicts::of(signature, rule, load);
    let time =
        |estimate: &Estimate, known: Convergence| recorded(estimate, Unit::Second, known).map(Some);
    let capacity = signature.capacity.as_ref();
    Ok(Parameters {
        send_overhead: time(&signature.send_overhead, verdicts.send_overhead)?,
        recv_overhead: time(&signature.recv_overhead, verdicts.recv_overhead)?,
        gap: time(&signature.gap, verdicts.gap)?,
        latency: time(&signature.latency, verdicts.latency)?,
        rtt: time(&signature.rtt, verdicts.rtt)?,
        idle: time(&signature.idle, verdicts.idle)?,
        capacity: capacity
            .map(|capacity| recorded(capacity, Unit::One, verdicts.capacity))
            .transpose()?,
    })
}

fn arm(arm: &ArmFit, rule: &Rule) -> Result<Option<Arm>, RecordError> {
    let Some(slope) = &arm.slope else { return Ok(None) };
    Ok(Some(Arm {
        slope: recorded(slope, Unit::One, judge(slope, &rule.without_clock()))?,
        from_delay: Ns(arm.from_delay).into(),
        holds: arm.holds,
    }))
}

/// All arms, Δ ascending.
fn arms(signature: &Signature, rule: &Rule, load: Load) -> Result<Vec<ArmLevel>, RecordError> {
    let slopes = rule.without_clock();
    let level = |arm: &ArmFit| {
        let slope = arm.slope.as_ref();
        Ok(ArmLevel {
            from_delay: Ns(arm.from_delay).into(),
            to_delay: Ns(arm.to_delay).into(),
            delays: arm.delays as u64,
            overheads: recorded(&arm.overheads, Unit::Second, judge(&arm.overheads, &slopes))?,
            recv_overhead: recorded(
                &arm.recv_overhead,
                Unit::Second,
                judge_received(&arm.recv_overhead, &signature.send_overhead, rule, load),
            )?,
            slope: slope.map(|it| recorded(it, Unit::One, judge(it, &slopes))).transpose()?,
            holds: arm.holds,
        })
    };
    signature.near_arms.iter().chain([&signature.arm]).map(level).collect()
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
