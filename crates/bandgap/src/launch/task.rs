//! What a set of rank processes is started for.

use serde::{Deserialize, Serialize};

use crate::measure::floors::FloorPlan;
use crate::measure::series::SeriesPlan;
use crate::measure::signature::SignaturePlan;

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
    /// One or several operations over many message sizes.
    Series(SeriesPlan),
    /// The floors of this machine.
    Floors(FloorPlan),
}
