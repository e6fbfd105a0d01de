//! Failures from the errors of lower crates.

use bandgap_assemble::AssembleError;
use bandgap_campaign::series::NoSteps;
use bandgap_launch::{Exit, Failure, input, told, usage};

/// Failure to make results of a run or an input.
pub fn unmade(error: AssembleError) -> Failure {
    match error {
        AssembleError::Unfit { what, hint } => input!("{what}").hint(hint),
        AssembleError::Ambiguous { what, hint } => usage!("{what}").hint(hint),
        AssembleError::Sim(_) => input!("{}", told(&error)),
        error => Failure::new(Exit::Defect, told(&error)),
    }
}

/// Failure to plan series.
pub fn no_steps(error: impl Into<NoSteps>) -> Failure {
    let error = error.into();
    let failure = usage!("{error}");
    error.hint.into_iter().fold(failure, Failure::hint)
}
