//! What a set of rank processes is started for.

use serde::{Deserialize, Serialize};

use crate::floors::{EXPOSED as FLOOR_EXPOSED, FloorPlan};
use crate::series::SeriesPlan;
use crate::signature::SignaturePlan;
use crate::surface::BulkPlan;
use bandgap_comm::passing::Tuning;

/// The procedures that rank processes carry out, the leader (rank 0) deciding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// The LogP signature, then what goes with it.
    Signature {
        /// The signature itself.
        plan: SignaturePlan,
        /// Also the round trips of all pairs.
        pairs: bool,
        /// Also K requesters to one, up to this K; then instead of the signature.
        fan_in: Option<usize>,
    },
    /// Message passing over many message sizes.
    Series(SeriesPlan),
    /// Bulk transfers: over many sizes, and the signature at a few.
    Bulk(BulkPlan),
    /// The floors of this machine.
    Floors(FloorPlan),
}

impl Task {
    /// Bytes that each of `ranks` ranks exposes to its peers for it where messages are cut so.
    pub fn exposed(&self, ranks: usize, tuning: &Tuning) -> usize {
        match self {
            Self::Signature { .. } => 0,
            Self::Series(plan) => plan.exposed(ranks, tuning),
            Self::Bulk(plan) => plan.exposed(ranks, tuning),
            Self::Floors(_) => FLOOR_EXPOSED,
        }
    }

    /// Bytes that each of `ranks` ranks takes for what it moves where messages are cut so.
    pub fn memory(&self, ranks: usize, tuning: &Tuning) -> usize {
        match self {
            Self::Series(plan) => plan.memory(ranks, tuning),
            other => other.exposed(ranks, tuning),
        }
    }

    /// Whether it passes messages, rather than words or bytes from memory to memory.
    pub fn passes_messages(&self) -> bool {
        matches!(self, Self::Series(plan) if plan.passes_messages())
    }
}
