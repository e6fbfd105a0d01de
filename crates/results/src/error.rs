//! Why no result could be made of what was measured.

use bandgap_record::RecordError;

/// Why nothing could be assembled.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// What was measured does not hold what the model needs.
    #[error(transparent)]
    Model(#[from] bandgap_model::ModelError),
    /// A table of components does not hold what is asked of it.
    #[error("{0}")]
    Components(String),
    /// What is to be changed is not there, or cannot be changed so.
    #[error("{0}")]
    Change(String),
    /// A number cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The plan names a kernel that this build does not have.
    #[error(transparent)]
    Kernel(#[from] bandgap_kernels::Refused),
    /// What was measured has no point.
    #[error("no point of {0} has batches enough that count")]
    NoPoint(String),
    /// The run has no signature.
    #[error("the run has no signature")]
    NoSignature,
    /// The run has signatures, but none that is called so.
    #[error("no signature of the run is called '{wanted}'; it has {known}")]
    NoSuchSignature {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: String,
    },
    /// A signature lacks what models are made of.
    #[error("{0} has not the parameters for a model: os, or and L, or g")]
    NoComponents(String),
    /// No round has all that is compared within it.
    #[error("no two rounds in which everything was timed; more time (--time-budget) brings more")]
    NoRounds,
    /// Nothing was measured.
    #[error("no batch was measured")]
    Empty,
}
