//! What the user asked for of a signature.

use bandgap_kernels::{Asking, Pair};
use serde::{Deserialize, Serialize};

use crate::load::Load;
use crate::plan::Asked;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignaturePlan {
    /// How precisely, and in which time.
    pub asked: Asked,
    /// Samples of a batch.
    pub samples: u32,
    /// Who asks whom.
    pub pattern: SignaturePattern,
    /// What each request carries.
    pub load: Load,
}

#[cfg(test)]
impl SignaturePlan {
    /// A short one.
    pub fn short(asked: &Asked, load: Load) -> Self {
        Self { asked: asked.clone(), samples: 50, pattern: SignaturePattern::OneToOne, load }
    }
}

/// Who asks whom in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignaturePattern {
    /// Rank 0 asks rank 1.
    OneToOne,
    /// Half of the ranks ask the other half.
    Pairs,
    /// Rank 0 asks all others in turn.
    FanOut,
}

impl SignaturePattern {
    /// The kernel's parameter.
    pub(super) fn asking(self) -> Asking {
        match self {
            Self::OneToOne => Asking::OneToOne(Pair::FIRST),
            Self::Pairs => Asking::Pairs,
            Self::FanOut => Asking::FanOut,
        }
    }
}
