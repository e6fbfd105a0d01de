//! Why no result could be made of what was measured.

use bandgap_record::RecordError;

/// Why nothing could be assembled.
#[derive(Debug, thiserror::Error)]
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
    /// A series has no point.
    #[error("{0} has no batch that counts")]
    NoPoint(String),
    /// Nothing was measured.
    #[error("no batch was measured")]
    Empty,
}
