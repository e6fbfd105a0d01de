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
    /// No two rounds have everything that a breakdown is made of.
    #[error(
        "divide the time of a message: fewer than two rounds were whole (more --time-budget brings more)"
    )]
    NoRounds,
    /// A change of components that means nothing.
    #[error("{0}")]
    Change(String),
    /// Components or models that mean nothing.
    #[error("{0}")]
    Components(String),
    /// Nothing was measured.
    #[error("estimate anything: no batch was measured")]
    Unmeasured,
    /// Nothing has a value.
    #[error("estimate anything: too few of the batches count (more --time-budget brings more)")]
    Empty,
}
