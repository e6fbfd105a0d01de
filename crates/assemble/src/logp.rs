//! A LogP signature: its parameters over launches, its curve, and where the model does not hold.

use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::floors;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::load::Load;
use bandgap_campaign::signature::{
    QUICK_RESAMPLES, SignaturePattern, SignaturePlan, judge, judge_received, of_load, rtt, verdicts,
};
use bandgap_model::hockney::Breaks;
use bandgap_model::signature::{ArmFit, IssueLine};
use bandgap_model::{Estimate, ModelError, Phase, Signature};
use bandgap_record::{Column, Form, Labels, Note, Number, Quantity, Unit};
use bandgap_results::{Arm, Line, Logp, OverFloor, Parameters, SIGNATURE, Transition};
use bandgap_stats::{Convergence, Interval, Rule};
use bandgap_units::Ns;

use crate::Result;
use crate::estimate::{Estimated, Measured};
use crate::hockney::hockney;
use crate::made::{Builder, Made, SERIES, clock_limit, note};
use crate::series::series;

/// Resamples of the bootstrap behind recorded intervals.
pub(crate) const RESAMPLES: usize = 1000;

/// The signature of a plan, in the placement state that counts. With one launch its intervals are bootstrapped over
/// rounds; with several it is the mean over launches with a t interval. If too little was measured for a signature, only
/// the round trip is given. `empty` holds the batches of transfers without bytes, from which the latency is taken. The os of
/// a get's bytes is that of a store beside it, since the peer sends them.
///
/// # Errors
/// Nothing is known, not even the round trip; or a number cannot be recorded.
pub fn logp(
    measured: &Measured<'_>,
    plan: &SignaturePlan,
    empty: Option<&Judged<'_>>,
) -> Result<Made> {
    let sender = match plan.load {
        Load::Get { bytes } => {
            let plan = &SignaturePlan { load: Load::Store { bytes }, ..plan.clone() };
            let table = of_load(measured.judged.table, plan.load);
            let measured = &Measured { judged: &measured.judged.over(&table), ..*measured };
            let of = Measurement { measured, plan, empty: None, sender: None }.signature();
            of.ok().map(|(of, _)| of.send_overhead)
        }
        Load::Words | Load::Store { .. } => None,
    };
    // The tables of bulk transfers hold the signatures of several lengths.
    let own = plan.load.is_transfer().then(|| of_load(measured.judged.table, plan.load));
    let judged = own.as_ref().map(|own| measured.judged.over(own));
    let measured = &Measured { judged: judged.as_ref().unwrap_or(measured.judged), ..*measured };
    let of = Measurement { measured, plan, empty, sender };
    let (mut logp, mut notes) = match of.signature() {
        Ok((signature, each)) => {
            let rule = measured.judged.rule();
            let (mut logp, mut notes) = recorded(of.base(), (&signature, &each), &rule, plan.load)?;
            let id = format!("{}/latency", logp.id());
            let is_unknown = plan.load.bytes() > 0 && of.reply(None).is_none();
            if is_unknown || of.sender.is_none() && logp.parameters.sent_latency.is_some() {
                logp.parameters.latency = None;
                notes.retain(|note| note.about != id);
            }
            if is_unknown {
                logp.parameters.sent_latency = None;
                notes.push(Note::new("no_empty_round_trip", id));
            }
            (logp, notes)
        }
        Err(why) => of.round_trip(&why)?,
    };
    if let Some((floor, ratio)) = of.over_floor() {
        logp.over_floor = Some(OverFloor { floor, ratio: ratio.recorded(Unit::One)? });
    }
    notes.sort_by(|a, b| a.about.cmp(&b.about));
    let curve = curve(&logp, of.points())?;
    Ok(Made { results: vec![logp.into()], notes }.and(curve))
}

/// A measured signature with its plan.
struct Measurement<'a> {
    measured: &'a Measured<'a>,
    plan: &'a SignaturePlan,
    empty: Option<&'a Judged<'a>>,
    /// Of a get, os of a store beside it, if there is one.
    sender: Option<Estimate>,
}

impl Measurement<'_> {
    fn base(&self) -> Logp {
        let (load, setting) = (self.plan.load, self.measured.setting);
        let name = match load {
            Load::Words => SIGNATURE,
            Load::Store { .. } => "bulk_store_signature",
            Load::Get { .. } => "bulk_get_signature",
        };
        let pattern = match self.plan.pattern {
            SignaturePattern::OneToOne => bandgap_results::ONE_TO_ONE,
            SignaturePattern::Pairs => "pairs",
            SignaturePattern::FanOut => "fan_out",
        };
        let bytes = load.is_transfer().then_some(load.bytes().into());
        Logp {
            pattern: pattern.to_owned(),
            ranks: setting.ranks as u64,
            ..Logp::new(name, &setting.transport, bytes)
        }
    }

    /// The signature over all launches, and that of each launch.
    fn signature(&self) -> Result<(Signature, Vec<Option<Signature>>), ModelError> {
        let (judged, launches) = (self.measured.judged, self.measured.setting.launches);
        let whole = judged.signature(RESAMPLES, self.reply(None).as_ref())?;
        let as_sent = |own: Signature| match &self.sender {
            Some(os) => Signature { latency: own.sent_latency.less(os), ..own },
            None => own,
        };
        let of_launch = |launch| {
            let part = judged.table.of_launch(launch);
            // The empty transfer is that of the same launch, or of all launches if this one measured none.
            let reply = self.reply(Some(launch)).or_else(|| self.reply(None));
            (judged.in_launch(&part).observations(), reply)
        };
        let each: Vec<Option<Signature>> = match launches {
            0 | 1 => vec![Some(whole.clone())],
            _ => {
                let own: Vec<_> = (0..launches).map(of_launch).collect();
                whole.each(&own, &judged.options(QUICK_RESAMPLES))
            }
        };
        let each: Vec<_> = each.into_iter().map(|own| own.map(as_sent)).collect();
        let whole = as_sent(whole);
        let known: Vec<Signature> = each.iter().flatten().cloned().collect();
        Ok((whole.over_launches(&known, judged.confidence), each))
    }

    /// Half the round trip of empty transfers, from one launch or from all; `None` if this plan's own messages are empty.
    fn reply(&self, launch: Option<u32>) -> Option<Estimate> {
        if self.plan.load.bytes() == 0 {
            return None;
        }
        let key = rtt(self.plan.load.with(0));
        let empty = self.empty?;
        let point = match launch {
            Some(launch) => empty.over(&empty.table.of_launch(launch)).point(&key)?,
            None => empty.point(&key)?,
        };
        let Interval { low, high } = point.interval;
        let [value, low, high] = [point.value, low, high].map(|time| time / 2.0);
        let (samples, estimator) = (point.batches, "half of the round trip without bytes");
        Some(Estimate { value, low, high, samples, estimator })
    }

    /// The round trip alone, if there is no signature.
    fn round_trip(&self, why: &ModelError) -> Result<(Logp, Vec<Note>)> {
        let time = self.measured.time(&rtt(self.plan.load));
        let (Some(time), mut logp) = (time, self.base()) else { return Err(why.clone().into()) };
        let id = logp.id();
        let mut notes = vec![Note::new("logp_unfitted", &*id).with("lacks", lacks(why))];
        notes.extend(clock_limit(&format!("{id}/rtt"), &time));
        logp.parameters.rtt = Some(time.recorded(Unit::Second)?);
        Ok((logp, notes))
    }

    /// Half the round trip over its floor. Signatures of transfers have none, their series do.
    fn over_floor(&self) -> Option<(String, Estimated)> {
        let Measured { setting, .. } = self.measured;
        if self.plan.load.is_transfer() || !self.plan.has_floors(setting.ranks) {
            return None;
        }
        setting.floors_of(SIGNATURE).find_map(|beside| {
            let name = &beside.floor.name;
            let ratio = self.measured.ratio(&rtt(self.plan.load), &floors::key(name))?;
            Some((name.to_string(), ratio.part(2.0)))
        })
    }

    /// The points of the curve.
    fn points(&self) -> Vec<BurstTime> {
        let judged = self.measured.judged;
        let mut points: Vec<BurstTime> = judged
            .table
            .iter()
            .filter_map(|(key, _)| {
                let (Phase::Issue, messages, delay) = judged.observed(key)? else { return None };
                Some(BurstTime { messages, delay, elapsed: self.measured.time(key)? })
            })
            .collect();
        points.sort_by(|a, b| a.delay.total_cmp(&b.delay).then(a.messages.cmp(&b.messages)));
        points
    }
}

/// What a signature lacked.
fn lacks(why: &ModelError) -> &'static str {
    match why {
        ModelError::NoRtt => "round trips",
        ModelError::NoZeroDelay | ModelError::TooFewSmall(..) => "bursts of few messages",
        ModelError::TooFewLarge(..) => "bursts of many messages",
        ModelError::NoDelayAboveIdle(_) => "delays above the gap",
        _ => "usable times",
    }
}

/// The time of a burst of `messages` with a delay after each; times are in nanoseconds.
pub(crate) struct BurstTime {
    pub(crate) messages: u64,
    pub(crate) delay: f64,
    pub(crate) elapsed: Estimated,
}

/// The cost of a message over M and Δ, by ascending Δ, as rows of the signature's name.
pub(crate) fn curve(logp: &Logp, points: Vec<BurstTime>) -> Result<Made> {
    let own = logp.place();
    let mut axes: Vec<&str> = own.iter().map(|(axis, _)| *axis).collect();
    axes.extend(["messages", "delay_ps"]);
    let columns = vec![
        Column::new("cost", Unit::Second, "time per message, with its delay"),
        Column::new("elapsed", Unit::Second, "time of all messages"),
    ];
    let mut rows = Builder::new(SERIES, &logp.name, &logp.transport, &axes, columns);
    rows.rows.form = Form::Details;
    let (mut last, mut place) = (0.0, 0);
    for BurstTime { messages, delay, mut elapsed } in points {
        // Two Δ that differ have two places, however little they differ.
        if delay != last {
            (last, place) = (delay, ((delay * PICOSECONDS).round() as u64).max(place + 1));
        }
        // The clock's limit is noted for parameters only.
        elapsed.convergence = Convergence::from(elapsed.convergence.is_enough());
        let cells = [Some(elapsed.clone().part(messages as f64)), Some(elapsed)];
        let own = own.iter().map(|(_, place)| place.clone());
        let place = own.chain([messages.into(), place.into()]).collect();
        rows.push(place, Labels::new(), &cells, None)?;
    }
    Ok(rows.made())
}

/// In a nanosecond.
const PICOSECONDS: f64 = 1e3;

/// Fills `logp` with a signature and its values in each launch; also returns the notes.
pub(crate) fn recorded(
    mut logp: Logp,
    (signature, each): (&Signature, &[Option<Signature>]),
    rule: &Rule,
    load: Load,
) -> Result<(Logp, Vec<Note>)> {
    let (id, verdicts) = (logp.id(), verdicts(signature, rule, load));
    let mut notes = notes(&id, signature);
    let in_regime = |own: &Option<Signature>| Some(own.as_ref()?.in_regime(signature.regime));
    let each: Vec<_> = each.iter().map(in_regime).collect();
    let mut known = |at: usize, name: &str, of: &Estimate, unit| -> Result<_> {
        let launches = each.iter().map(|own| own.and_then(|own| own[at])).collect();
        let of = Estimated::of_model(of, verdicts[at]).with_launches(launches);
        notes.extend(clock_limit(&format!("{id}/{name}"), &of));
        of.recorded(unit).map(Some)
    };
    let s = Unit::Second;
    let Signature { send_overhead, recv_overhead, gap, latency, rtt, idle, capacity, .. } =
        signature;
    logp.parameters = Parameters {
        send_overhead: known(0, "send_overhead", send_overhead, s)?,
        recv_overhead: known(1, "recv_overhead", recv_overhead, s)?,
        gap: known(2, "gap", gap, s)?,
        latency: known(3, "latency", latency, s)?,
        sent_latency: match load {
            Load::Get { .. } => known(7, "sent_latency", &signature.sent_latency, s)?,
            Load::Words | Load::Store { .. } => None,
        },
        overheads: known(8, "overheads", &signature.arm.overheads, s)?,
        rtt: known(4, "rtt", rtt, s)?,
        idle: known(5, "idle", idle, s)?,
        capacity: match capacity {
            Some(capacity) => known(6, "capacity", capacity, Unit::One)?,
            None => None,
        },
    };
    logp.regime = signature.regime;
    logp.transition = signature.transition.map(|found| Transition {
        messages: Number(found.messages),
        cause: found.cause.to_string(),
    });
    let slope = |of: &Estimate| -> Result<Quantity> {
        Estimated::of_model(of, judge(of, &rule.without_clock())).recorded(Unit::One)
    };
    let recorded_arm = |arm: &ArmFit| -> Result<Arm> {
        let received = judge_received(&arm.recv_overhead, &signature.send_overhead, rule, load);
        let received = Estimated::of_model(&arm.recv_overhead, received);
        Ok(Arm {
            from_delay: Ns(arm.from_delay).into(),
            to_delay: Ns(arm.to_delay).into(),
            recv_overhead: received.recorded(s)?,
            slope: arm.slope.as_ref().map(slope).transpose()?,
            holds: arm.holds,
        })
    };
    let arms = signature.near_arms.iter().chain([&signature.arm]);
    logp.arms = arms.map(recorded_arm).collect::<Result<_>>()?;
    let line = |name: &str, delay: f64, of: &IssueLine| Line {
        name: name.to_owned(),
        delay: Ns(delay).into(),
        intercept: Ns(of.intercept).into(),
        slope: Ns(of.slope).into(),
        from: of.from_messages,
        to: of.to_messages,
    };
    let steady = signature.steady.iter().map(|steady| line("gap", steady.delay, &steady.line));
    logp.lines =
        [line("send_overhead", 0.0, &signature.send_only)].into_iter().chain(steady).collect();
    Ok((logp, notes))
}

/// Notes on numbers of a signature that may mislead.
fn notes(id: &str, signature: &Signature) -> Vec<Note> {
    let Signature { send_overhead, recv_overhead, gap, latency, rtt, .. } = signature;
    let about = |code, name| Note::new(code, format!("{id}/{name}"));
    let s = |ns: f64| Ns(ns).as_secs();
    let within = |note: Note, of: &Estimate| note.with("low", s(of.low)).with("high", s(of.high));
    let mut notes = Vec::new();
    let named = [
        ("send_overhead", send_overhead),
        ("recv_overhead", recv_overhead),
        ("gap", gap),
        ("latency", latency),
        ("overheads", &signature.arm.overheads),
        ("sent_latency", &signature.sent_latency),
    ];
    for (name, of) in named {
        let is_negative = of.high < 0.0;
        let note = if of.high - of.low > rtt.value {
            within(about("not_known", name), of).with("rtt", s(rtt.value))
        } else if ["overheads", "sent_latency"].contains(&name) || name == "latency" && !is_negative
        {
            continue;
        } else if name == "latency" {
            within(about("latency_below_zero", name), of)
        } else if name == "recv_overhead" && is_negative {
            about("recv_overhead_below_zero", name)
        } else if of.low < -ROUNDING * rtt.value || name == "send_overhead" && of.low <= 0.0 {
            within(about("not_above_zero", name), of)
        } else {
            continue;
        };
        notes.push(note);
    }
    if rtt.high < send_overhead.low {
        let note = about("rtt_below_os", "rtt").with("rtt", s(rtt.value));
        notes.push(note.with("os", s(send_overhead.value)));
    }
    notes.extend(signature.findings.iter().map(|finding| note(id, finding)));
    notes
}

/// The share of the round trip by which rounding may push a time of 0 below 0.
const ROUNDING: f64 = 1e-9;

/// Segments of a line at most, where none are given.
const SEGMENTS: usize = 5;

/// The series of a table, each with its fits; segments end at `breaks`, or are found where there are none.
///
/// # Errors
/// Too little was measured, or the breaks do not fit.
pub fn fitted(of: &Measured<'_>, breaks: &[u64]) -> Result<Made> {
    let breaks = match breaks {
        [] => Breaks::Automatic { most: SEGMENTS },
        given => Breaks::At(given.to_vec()),
    };
    Ok(series(of)?.and(hockney(of, &breaks)?))
}

/// Stores and gets over their lengths, and their signatures at a few.
///
/// # Errors
/// As [`fitted`]; a signature that cannot be had is left out.
pub fn bulk(of: &Measured<'_>, plan: &BulkPlan) -> Result<Made> {
    let mut made = fitted(of, &[])?;
    for plan in &plan.surface {
        let empty = of_load(of.judged.table, plan.load.with(0));
        if let Ok(signature) = logp(of, plan, Some(&of.judged.over(&empty))) {
            made = made.and(signature);
        }
    }
    Ok(made)
}

#[cfg(test)]
pub(crate) mod tests;
