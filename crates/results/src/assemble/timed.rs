//! Series, each before its fits.

use crate::Outcome;
use crate::error::AssembleError;
use crate::series::assemble::Measured;

/// The series that were measured, and their fits.
pub(super) fn outcomes(measured: &Measured<'_>) -> Result<Vec<Outcome>, AssembleError> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (series, fits) in measured.results()? {
        outcomes.push(series.into());
        outcomes.extend(fits.into_iter().map(Outcome::from));
    }
    Ok(outcomes)
}
