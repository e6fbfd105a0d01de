//! What a set of rank processes is started for.

use serde::{Deserialize, Serialize};

use super::transport::Transport;
use crate::measure::floors::{EXPOSED as FLOOR_EXPOSED, FloorPlan};
use crate::measure::series::SeriesPlan;
use crate::measure::signature::SignaturePlan;
use crate::measure::surface::BulkPlan;

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
    /// Bytes that each of `ranks` ranks exposes to its peers for it over `transport`.
    pub fn exposed(&self, ranks: usize, transport: Transport) -> usize {
        match self {
            Self::Signature { .. } => 0,
            Self::Series(plan) => plan.exposed(ranks, &transport.tuning()),
            Self::Bulk(plan) => plan.exposed(ranks, &transport.tuning()),
            Self::Floors(_) => FLOOR_EXPOSED,
        }
    }

    /// Bytes that each of `ranks` ranks takes for what it moves over `transport`.
    pub fn memory(&self, ranks: usize, transport: Transport) -> usize {
        match self {
            Self::Series(plan) => plan.memory(ranks, &transport.tuning()),
            other => other.exposed(ranks, transport),
        }
    }

    /// Whether it passes messages, rather than words or bytes from memory to memory.
    pub fn passes_messages(&self) -> bool {
        matches!(self, Self::Series(plan) if plan.passes_messages())
    }
}
