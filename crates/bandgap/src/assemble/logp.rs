//! The record of a measured signature, of the state seen from and of the others.

use bandgap_model::Signature;
use bandgap_record::{FloorRatio, Logp, Number, OtherState, State};

use super::{AssembleError, findings, launches, parameters, points, shape, states};
use crate::collect::{Collected, Stage};
use crate::command::signature::recorded;
use crate::launch::Transport;
use crate::measure::judge::Judged;
use crate::measure::signature::{SignaturePattern, SignaturePlan};
use crate::target::Target;

/// What a signature task brought, and what it was measured on.
pub(super) struct Measured<'a> {
    pub(super) stage: &'a Stage,
    pub(super) target: &'a Target,
    pub(super) ranks: usize,
    pub(super) plan: &'a SignaturePlan,
    pub(super) collected: &'a Collected,
    pub(super) judged: &'a Judged<'a>,
}

impl Measured<'_> {
    pub(super) fn logp(&self) -> Result<Logp, AssembleError> {
        let signature = self.signature(self.judged)?;
        let cpus = self.collected.placement.as_ref().map(|placement| placement.cpus.as_slice());
        let pair = match self.plan.pattern {
            SignaturePattern::Pairs => [0, self.ranks as u32 / 2],
            _ => [0, 1],
        };
        let cores = cpus.map(|cpus| pair.map(|rank| cpus[rank as usize]));
        let states = states::states(self.judged);
        let state = self
            .judged
            .seen()
            .and_then(|seen| states.get(seen).cloned())
            .unwrap_or_else(states::only);
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
            parameters: parameters::parameters(&signature, self.plan.precision)?,
            regime: shape::regime(&signature),
            transition: Some(shape::transition(&signature)),
            arm: shape::arm(&signature.arm)?,
            points: points::points(self.judged, self.collected, self.plan.confidence)?,
            lines: shape::lines(&signature)?,
            other_states: self.other_states(&states)?,
            findings: findings::of_signature(&signature)
                .into_iter()
                .chain(findings::slowed(self.judged.states(), self.judged.seen()))
                .collect(),
        })
    }

    fn signature(&self, judged: &Judged<'_>) -> Result<Signature, AssembleError> {
        launches::signature(judged, self.collected, self.plan.confidence)
    }

    /// The signatures of the states not seen from, as far as there are batches enough.
    fn other_states(&self, states: &[State]) -> Result<Vec<OtherState>, AssembleError> {
        let mut others = Vec::new();
        for (index, state) in states.iter().enumerate() {
            if Some(index) == self.judged.seen() {
                continue;
            }
            // A state seen too briefly for a fit is left to the points' batches.
            let Ok(signature) = self.signature(&self.judged.seen_from(index)) else { continue };
            others.push(OtherState {
                state: state.clone(),
                parameters: parameters::parameters(&signature, self.plan.precision)?,
                regime: shape::regime(&signature),
            });
        }
        Ok(others)
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
}
