//! What a series task brought: its steps, kernel by kernel, and how each is seen.

use bandgap_campaign::Setting;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::series::{Part, SeriesPlan, Step, key};
use bandgap_kernels::{Over, Series as Measure};
use bandgap_stats::Rule;

use crate::error::AssembleError;

/// What a series task brought, and what it was measured on.
pub(crate) struct Measured<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) plan: &'a SeriesPlan,
    pub(crate) judged: &'a Judged<'a>,
}

impl Measured<'_> {
    /// Confidence, and how narrow intervals are to be of what follows from the times of several points of a series, t0
    /// say: as of the time of which a sample holds most, that of the shortest messages.
    pub(super) fn wanted(&self, series: &str) -> (f64, Rule) {
        let steps = self.plan.steps.iter().filter(|step| step.series == series);
        let rules = steps.map(|step| self.judged.rule_of(&key(step, Part::Whole)));
        let least = rules.min_by(|a, b| a.stamp.total_cmp(&b.stamp));
        (self.judged.confidence(), least.unwrap_or_else(|| self.judged.rule()))
    }

    /// What was measured, in the order of the plan.
    pub(super) fn kinds(&self) -> Result<Vec<Kind>, AssembleError> {
        let mut kinds: Vec<Kind> = Vec::new();
        for step in &self.plan.steps {
            let (fact, measure) = step.kernel()?;
            if !kinds.iter().any(|kind| kind.measure.name == measure.name) {
                kinds.push(Kind { measure, is_transfer: fact.over == Over::Transfer });
            }
        }
        Ok(kinds)
    }

    /// The steps of a kind, as planned.
    pub(super) fn planned(&self, kind: &Kind) -> Vec<Step> {
        let of_kind = self.plan.steps.iter().filter(|step| step.series == kind.measure.name);
        of_kind.cloned().collect()
    }

    /// The steps whose time is that of one operation, as planned.
    pub(super) fn singles(&self, kind: &Kind) -> Vec<Step> {
        let mut planned = self.planned(kind);
        planned.retain(|step| step.messages == 1 || !kind.is_transfer);
        planned
    }

    /// What was measured, as it is seen for a step: from the commonest state, or where pairs of ranks
    /// are at several distances, from that of the step's own.
    pub(super) fn view(&self, step: &Step) -> Judged<'_> {
        match self.plan.steps.iter().all(|other| other.pair == step.pair) {
            true => self.judged.clone(),
            false => self.judged.seen_by(&key(step, Part::Whole)),
        }
    }
}

/// A kernel that was measured over sizes.
pub(super) struct Kind {
    pub(super) measure: Measure,
    /// Whether bytes are moved from memory to memory.
    pub(super) is_transfer: bool,
}

impl Kind {
    /// Number of ranks that take part.
    pub(super) fn taking_part(&self, step: &Step) -> u32 {
        if self.measure.of_all { step.ranks as u32 } else { 2 }
    }
}
