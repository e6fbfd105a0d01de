//! Why no result could be made of what was measured.

use bandgap_record::RecordError;

/// Why nothing could be assembled. Texts are fragments that follow "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// What was measured does not hold what the model needs.
    #[error(transparent)]
    Model(#[from] bandgap_model::ModelError),
    /// A number cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The plan names a kernel that this build does not have.
    #[error(transparent)]
    Kernel(#[from] bandgap_kernels::Refused),
    /// No point has a value.
    #[error("estimate {0}: no batch counts (more --time-budget brings more)")]
    NoPoint(String),
    /// Nothing was measured.
    #[error("estimate anything: no batch was measured")]
    Empty,
}
