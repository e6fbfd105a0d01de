//! Hockney fits of tables with known truths.

mod ipsc860;
mod launches;
mod outliers;
mod refusals;
mod truth;
mod truths;

use bandgap_model::ModelError;
use bandgap_model::hockney::{self, HockneyFit, HockneyOptions, SizedTimes};

/// Fits the times of one launch.
fn fit(data: &[SizedTimes], options: &HockneyOptions) -> Result<HockneyFit, ModelError> {
    hockney::fit(&[data], options)
}
