//! The record of a signature: measured, of the state seen from and of the others; or fitted to a
//! table.

mod findings;
mod points;
mod recorded;

use bandgap_campaign::Setting;
use bandgap_campaign::judge::{Judged, delayed};
use bandgap_campaign::load::Load;
use bandgap_campaign::signature::{
    ISSUE, QUICK_RESAMPLES, RTT, SignaturePattern, SignaturePlan, rtt,
};
use bandgap_model::{Estimate, Observation, Signature};
use bandgap_record::RecordError;
use bandgap_stats::{Interval, Rule};

use self::findings::Source;
use super::schema::{Logp, Operation, OtherState, Parameters};
use crate::error::AssembleError;
use crate::measured::{
    FloorRatio, Launches, LostLaunch, Pattern, State, conditions, lost_in_words, slowed, wake_up,
};

/// Resamples of the bootstrap behind recorded intervals.
const RESAMPLES: usize = 1000;
/// The name of the signature of small messages.
const SIGNATURE: &str = "signature";

/// A signature fitted to a table that somebody else measured.
///
/// # Errors
/// A number cannot be recorded.
pub fn fitted(
    observations: &[Observation],
    signature: &Signature,
    rule: Rule,
    confidence: f64,
) -> Result<Logp, AssembleError> {
    let points = points::tabled(observations, rule, confidence)?;
    Ok(Logp { points, ..recorded::signature(signature, &rule, Load::Words)? })
}

/// What a signature brought, and what it was measured on.
pub(crate) struct Measured<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) plan: &'a SignaturePlan,
    pub(crate) judged: &'a Judged<'a>,
    /// The batches of transfers without bytes, whose round trip tells the way without them.
    pub(crate) empty: Option<&'a Judged<'a>>,
}

impl Measured<'_> {
    pub(crate) fn logp(&self) -> Result<Logp, AssembleError> {
        let (load, setting) = (self.plan.load, self.setting);
        let (signature, lost) = self.signature(self.judged)?;
        let other_states = self.other_states()?;
        let launches = self.launches(lost, &other_states);
        let pattern = match self.plan.pattern {
            SignaturePattern::OneToOne => Pattern::OneToOne,
            SignaturePattern::Pairs => Pattern::Pairs,
            SignaturePattern::FanOut => Pattern::FanOut,
        };
        let pair = self.plan.pair(setting.ranks);
        // Those of its own load: of transfers the table has no others.
        let table = self.judged.table();
        let keys = table.of(ISSUE).chain(table.of(RTT));
        let state = State::seen(self.judged, keys);
        let (name, operation) = match load {
            Load::Words => (SIGNATURE, None),
            Load::Store { .. } => ("bulk_store_signature", Some(Operation::Store)),
            Load::Get { .. } => ("bulk_get_signature", Some(Operation::Get)),
        };
        let parameters = self.parameters(self.judged, &signature)?;
        let (floor_ratios, without) = self.floor_ratios()?;
        Ok(Logp {
            name: name.to_owned(),
            operation,
            bytes: operation.map(|_| u64::from(load.bytes())),
            transport: setting.transport.clone(),
            ranks: setting.ranks as u32,
            pattern,
            pair: Some(pair.map(|rank| rank as u32)),
            cores: setting.cores(pair).map(|cores| cores.map(|core| core as u32)),
            distance: setting.distance(pair),
            launches: setting.launches,
            lost_launches: launches.lost,
            floor_ratios,
            state,
            points: points::measured(self.judged, setting.is_virtual())?,
            other_states,
            findings: launches
                .findings
                .into_iter()
                .chain(self.findings(&signature, parameters.latency.is_some()))
                .chain(without)
                .collect(),
            parameters,
            ..recorded::signature(&signature, &self.judged.rule(), load)?
        })
    }

    /// The signature of one state: of one launch by bootstrap over batches; of several launches the
    /// mean of theirs, with the t interval over launches, which holds both variances. And the launches
    /// that have none.
    fn signature(
        &self,
        judged: &Judged<'_>,
    ) -> Result<(Signature, Vec<LostLaunch>), AssembleError> {
        let whole = judged.signature(RESAMPLES, self.reply(judged).as_ref())?;
        let (mut each, mut lost) = (Vec::new(), Vec::new());
        for launch in (0..self.setting.launches).filter(|_| self.setting.launches > 1) {
            let part = judged.table().of_launch(launch);
            let own = judged.over(&part);
            // The way without bytes is the launch's own too; of all where it measured none.
            let reply = self.reply_of(&own, Some(launch)).or_else(|| self.reply(judged));
            match own.signature(QUICK_RESAMPLES, reply.as_ref()) {
                Ok(signature) => each.push(signature),
                Err(reason) => {
                    let reason = match own.counted() {
                        0 if part.is_empty() => "it has no batch".to_owned(),
                        0 => "none of its batches counts here".to_owned(),
                        _ => reason.to_string(),
                    };
                    lost.push(LostLaunch { launch, reason });
                }
            }
        }
        Ok((whole.over_launches(&each, judged.confidence()), lost))
    }

    /// These launches have no signature, and which have none in other states.
    fn launches(&self, lost: Vec<LostLaunch>, others: &[OtherState]) -> Launches {
        let begun = self.setting.launches;
        let mut findings: Vec<String> =
            lost_in_words(begun, &lost, "no signature").into_iter().collect();
        findings.extend(others.iter().filter_map(|other| {
            let what = format!("no signature in the state {}", other.state.label);
            lost_in_words(begun, &other.lost_launches, &what)
        }));
        Launches { lost, findings }
    }

    /// The way without bytes in the state that `judged` sees, where this is about transfers that
    /// have some: half the round trip of those that have none.
    fn reply(&self, judged: &Judged<'_>) -> Option<Estimate> {
        self.reply_of(judged, None)
    }

    /// The same of one launch, or of all.
    fn reply_of(&self, judged: &Judged<'_>, launch: Option<u32>) -> Option<Estimate> {
        if self.plan.load.bytes() == 0 {
            return None;
        }
        let key = rtt(self.plan.load.with(0));
        let empty = self.empty?.viewed(judged.seen());
        let rtt = match launch {
            Some(launch) => empty.over(&empty.table().of_launch(launch)).point(&key)?,
            None => empty.point(&key)?,
        };
        let Interval { low, high } = rtt.interval;
        let estimator = "half of the round trip without bytes";
        let [value, low, high] = [rtt.value, low, high].map(|time| time / 2.0);
        Some(Estimate { value, low, high, samples: rtt.batches, estimator })
    }

    /// The parameters; without L where it takes the way without bytes and that is not known.
    fn parameters(
        &self,
        judged: &Judged<'_>,
        signature: &Signature,
    ) -> Result<Parameters, RecordError> {
        let load = self.plan.load;
        let all = recorded::parameters(signature, &judged.rule(), load)?;
        let known = load.bytes() == 0 || self.reply(judged).is_some();
        Ok(Parameters { latency: all.latency.filter(|_| known), ..all })
    }

    fn source(&self) -> Source {
        let interrupted = self.setting.interrupted;
        match self.setting.is_virtual() {
            true => Source::Virtual,
            false => Source::Measured { stamp: self.judged.rule().stamp, interrupted },
        }
    }

    /// What there is to say about the signature; `latency`: whether its L is known.
    fn findings(&self, signature: &Signature, latency: bool) -> Vec<String> {
        let load = self.plan.load;
        if !load.is_transfer() {
            let found = findings::of_signature(signature, self.source());
            return found
                .into_iter()
                .chain(slowed(self.judged, self.setting.interrupted))
                .collect();
        }
        // What slowed the ranks is said once, with the times over all sizes.
        let mut findings = findings::of_transfers(signature, latency, self.source());
        if !self.setting.is_virtual() {
            findings.extend(findings::of_memory(load, self.longest_burst()));
        }
        findings
    }

    /// Most transfers that were under way together.
    fn longest_burst(&self) -> u32 {
        let points = self.judged.table().iter().filter_map(|(key, _)| delayed(key));
        points.map(|(messages, _)| messages as u32).max().unwrap_or(0)
    }

    /// The signatures of the states not seen from, as far as there are batches enough.
    fn other_states(&self) -> Result<Vec<OtherState>, AssembleError> {
        let mut others = Vec::new();
        for (index, state) in State::all(self.judged).into_iter().enumerate() {
            if Some(index) == self.judged.seen() {
                continue;
            }
            // A state seen too briefly for a fit is left to the points' batches.
            let judged = self.judged.seen_from(index);
            let Ok((signature, lost)) = self.signature(&judged) else { continue };
            others.push(OtherState {
                state,
                parameters: self.parameters(&judged, &signature)?,
                regime: signature.regime,
                lost_launches: lost,
            });
        }
        Ok(others)
    }

    /// Half the round trip over the floors beside it, and why there is none; signatures of transfers have none, their series do.
    fn floor_ratios(&self) -> Result<(Vec<FloorRatio>, Vec<String>), RecordError> {
        let (load, judged) = (self.plan.load, self.judged);
        if load.is_transfer() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (mut ratios, mut without) = (Vec::new(), Vec::new());
        for floor in self.setting.floors_of(SIGNATURE) {
            if !self.plan.has_floors(self.setting.ranks) {
                let ([a, b], floor) = (self.plan.pair(self.setting.ranks), &floor.floor.name);
                without.push(format!(
                    "Half the round trip between ranks {a} and {b} is not compared with the floor {floor}: \
                     floors are between ranks 0 and 1."
                ));
                continue;
            }
            match FloorRatio::of(&rtt(load), 2.0, None, floor, judged)? {
                Ok(ratio) => ratios.push(ratio),
                Err(reason) => without.push(format!("Half the round trip is {reason}.")),
            }
        }
        without.extend(conditions(self.setting, SIGNATURE));
        without.extend(wake_up(self.setting).filter(|_| !ratios.is_empty()));
        Ok((ratios, without))
    }
}
