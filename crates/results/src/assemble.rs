//! From batches to results, whatever the task.

mod bulk;

use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::fan_in::FanInPlan;
use bandgap_campaign::floors::{FloorPlan, key};
use bandgap_campaign::logp::LogpPlan;
use bandgap_campaign::series::SeriesPlan;
use bandgap_campaign::{Planned, Setting, Table};

use crate::Outcome;
use crate::contention::assemble::contention;
use crate::error::AssembleError;
use crate::floor::assemble::floor;
use crate::logp;
use crate::ratio::assemble::ratio;
use crate::rtt_pairs::assemble::rtt_pairs;
use crate::series;
use crate::verification::assemble::verification;

pub use crate::batches::assemble::unfitted;
pub use crate::hockney::assemble::Fitting;
pub use crate::logp::assemble::fitted;
pub use crate::measured::TABLE;
pub use crate::series::tabled;

/// The results of a plan, and warnings on what is missing among them.
pub type Assembled = Result<(Vec<Outcome>, Vec<String>), AssembleError>;

/// A plan whose batches become results.
pub trait Assemble: Planned {
    /// The results of a table that is not empty.
    ///
    /// # Errors
    /// Too little was measured.
    fn assemble(&self, setting: &Setting, table: &Table) -> Assembled;
}

/// The results of what was measured.
///
/// # Errors
/// Too little was measured.
pub fn results<P: Assemble>(setting: &Setting, plan: &P, table: &Table) -> Assembled {
    if table.is_empty() { Err(AssembleError::Empty) } else { plan.assemble(setting, table) }
}

impl Assemble for LogpPlan {
    fn assemble(&self, setting: &Setting, table: &Table) -> Assembled {
        let judged = &self.judge(table);
        let plan = &self.signature;
        let measured = logp::assemble::Measured { setting, plan, judged, empty: None };
        let mut results: Vec<Outcome> = vec![measured.logp()?.into()];
        results.extend(rtt_pairs(setting, judged).map(Outcome::from));
        results.extend(verification("signature", setting, table).map(Outcome::from));
        Ok((results, Vec::new()))
    }
}

impl Assemble for FanInPlan {
    fn assemble(&self, setting: &Setting, table: &Table) -> Assembled {
        let mut results: Vec<Outcome> = vec![contention(&self.judge(table), setting)?.into()];
        results.extend(verification("contention", setting, table).map(Outcome::from));
        Ok((results, Vec::new()))
    }
}

impl Assemble for SeriesPlan {
    fn assemble(&self, setting: &Setting, table: &Table) -> Assembled {
        let judged = &self.judge(table);
        let measured = series::assemble::Measured { setting, plan: self, judged };
        Ok((measured.outcomes()?, Vec::new()))
    }
}

impl Assemble for BulkPlan {
    fn assemble(&self, setting: &Setting, table: &Table) -> Assembled {
        bulk::results(setting, self, table)
    }
}

/// Floors, then layers over floors; and which of them this machine does not let be measured, with the
/// reason.
///
/// # Errors
/// A number cannot be recorded.
pub fn floors(table: &Table, plan: &FloorPlan) -> Assembled {
    let judged = plan.judge(table);
    let measured = || plan.floors.iter().filter(|of| !table.batches(&key(&of.name)).is_empty());
    let (mut results, mut unavailable) = (Vec::new(), Vec::new());
    for of in measured() {
        match floor(of, &judged)? {
            Ok(floor) => results.push(floor.into()),
            Err(reason) => unavailable.push(reason),
        }
    }
    for layer in measured() {
        for over in &*layer.over {
            results.extend(ratio(layer, over, &judged)?.map(Outcome::from));
        }
    }
    Ok((results, unavailable))
}
