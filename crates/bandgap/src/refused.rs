//! Refusals: of options, and for the errors of lower crates.

use bandgap_assemble::AssembleError;
use bandgap_campaign::series::NoSteps;
use bandgap_launch::{Exit, Failure, Result, input, told, usage};

/// Failure to make results of a run or an input.
pub fn unmade(error: AssembleError) -> Failure {
    match error {
        AssembleError::Unfit { what, hint } => input!("{what}").hint(hint),
        AssembleError::Ambiguous { what, hint } => usage!("{what}").hint(hint),
        AssembleError::Sim(_) => input!("{}", told(&error)),
        error => Failure::new(Exit::Defect, format!("make results: {}", told(&error))),
    }
}

/// Failure to plan series.
pub fn no_steps(error: impl Into<NoSteps>) -> Failure {
    let error = error.into();
    let failure = usage!("{error}");
    error.hint.into_iter().fold(failure, Failure::hint)
}

/// Refuses the first given option in a list of (given, option, hint).
///
/// # Errors
/// An option is given.
pub fn refuse(what: &str, all: &[(bool, &str, &str)]) -> Result<()> {
    let Some((_, option, hint)) = all.iter().find(|(given, ..)| *given) else { return Ok(()) };
    Err(usage!("{what} with {option}").hint(*hint))
}

/// Refuses the first option in a list of (option, given, applicable) that is given and does not apply.
///
/// # Errors
/// There is one.
pub fn applicable(all: &[(&str, bool, bool)], to: &str, hint: &str) -> Result<()> {
    let refused = all.iter().find(|(_, given, applies)| *given && !applies);
    refused.map_or(Ok(()), |(option, ..)| {
        Err(usage!("use {option}: it does not apply to {to}").hint(hint))
    })
}
