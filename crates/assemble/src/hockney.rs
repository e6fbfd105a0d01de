//! Fits of t(n) = t0 + n/r∞ to the times of a series.

use bandgap_campaign::signature::judge;
use bandgap_model::hockney::{
    self as model, Breakpoint as Found, Breaks, Fit, HockneyFit, HockneyOptions, Segment as Fitted,
    SizedTimes, Weighting,
};
use bandgap_model::{Estimate, ModelError};
use bandgap_record::{Note, Number, Unit};
use bandgap_results::{Breakpoint, Hockney, Segment};
use bandgap_stats::{Convergence, Rule};
use bandgap_units::Ns;

use crate::estimate::{Estimated, Measured};
use crate::made::{Made, SERIES, note};
use crate::series::{CurveTimes, curve_times};
use crate::{AssembleError, Result};

/// The fits of all series over message lengths; series with fewer than three lengths have none.
///
/// # Errors
/// The breakpoints that were given do not fit, or a number cannot be recorded.
pub fn hockney(of: &Measured<'_>, breaks: &Breaks) -> Result<Made> {
    let (transport, confidence) = (&of.setting.transport, of.judged.confidence);
    let options =
        HockneyOptions { breaks: breaks.clone(), confidence, ..HockneyOptions::default() };
    let mut made = Made::default();
    for curve in curve_times(of) {
        match fit(&curve, transport, &options, of.judged.rule()) {
            Ok(fits) => made = made.and(fits),
            Err(AssembleError::Model(ModelError::TooFewSizes(_))) => {}
            // The times themselves are kept.
            Err(AssembleError::Model(ModelError::BadTime(bytes, value))) => {
                let about = format!("{SERIES}/{}/{transport}", curve.name);
                let note = Note::new("series_unfitted", about).with("bytes", bytes as f64);
                made.notes.push(note.with("time", Ns(value).as_secs()));
            }
            Err(other) => return Err(other),
        }
    }
    Ok(made)
}

/// The two fits of a curve, first that of least relative errors, then ordinary least squares; with notes on the first.
///
/// # Errors
/// The times cannot be fitted, or a number cannot be recorded.
pub(crate) fn fit(
    curve: &CurveTimes,
    transport: &str,
    options: &HockneyOptions,
    rule: Rule,
) -> Result<Made> {
    let launches: Vec<&[SizedTimes]> = curve.launches.iter().map(Vec::as_slice).collect();
    let both = model::fit(&launches, options)?;
    let relative = recorded((curve, transport), &both, &both.relative, rule)?;
    let id = relative.id();
    let found = both.findings.iter().chain(&both.relative.findings);
    let notes = found.map(|finding| note(&id, finding)).collect();
    let ordinary = recorded((curve, transport), &both, &both.ordinary, rule)?;
    Ok(Made { results: vec![relative.into(), ordinary.into()], notes })
}

fn recorded(
    (curve, transport): (&CurveTimes, &str),
    both: &HockneyFit,
    fit: &Fit,
    rule: Rule,
) -> Result<Hockney> {
    // Only the fit of relative errors counts.
    let is_each = fit.weighting == Weighting::Relative;
    let segment = |of: &Fitted| segment((of, is_each), curve.messages as f64, rule.without_clock());
    Ok(Hockney {
        name: curve.name.clone(),
        transport: transport.to_owned(),
        curve: curve.which.clone(),
        messages: curve.messages,
        weighting: fit.weighting.to_string(),
        segments: fit.segments.iter().map(segment).collect::<Result<_>>()?,
        breakpoints: both.breakpoints.iter().map(breakpoint).collect(),
    })
}

fn segment((of, is_each): (&Fitted, bool), messages: f64, rule: Rule) -> Result<Segment> {
    let each = of.launches.iter().filter(|_| is_each);
    let each: Vec<_> = each.map(|own| own.as_ref().map(model::parameters)).collect();
    let parameter = |at: usize, estimate: &Option<Estimate>, unit: Unit| -> Result<_> {
        let Some(estimate) = estimate else { return Ok(None) };
        // A rate counts all messages that an operation moves.
        let times = match unit {
            Unit::BytePerSecond | Unit::PerSecond => messages,
            _ => 1.0,
        };
        // The interval means nothing if the times do not follow the line.
        let convergence = if of.misfit { Convergence::No } else { judge(estimate, &rule) };
        let launches = each.iter().map(|own| own.and_then(|own| own[at])).collect();
        let found = Estimated::of_model(estimate, convergence).with_launches(launches);
        let found = found.part(1.0 / times);
        found.recorded(unit).map(Some)
    };
    let residuals = of.residuals.as_ref();
    Ok(Segment {
        from_bytes: of.from_bytes,
        to_bytes: of.to_bytes,
        points: of.points as u64,
        r_inf: parameter(0, &of.r_inf, Unit::BytePerSecond)?,
        n_half: parameter(1, &of.n_half, Unit::Byte)?,
        t0: parameter(2, &of.t0, Unit::Second)?,
        pi0: parameter(3, &of.pi0, Unit::PerSecond)?,
        r_squared: of.line.as_ref().map(|line| Number(line.r_squared)),
        worst_residual: residuals.map(|of| Number(of.worst_relative)),
        worst_bytes: residuals.map(|of| of.worst_bytes),
        rms_residual: residuals.map(|of| Number(of.rms_relative)),
        intercept: of.line.as_ref().map(|line| Ns(line.intercept).into()),
        per_byte: of.line.as_ref().map(|line| Ns(line.slope).into()),
    })
}

/// A breakpoint, at the geometric mean of the two sizes that it separates; a given one as given, without an interval.
fn breakpoint(found: &Found) -> Breakpoint {
    let Found { last_below, first_above, low, high, given } = *found;
    let between = (last_below.max(1) as f64 * first_above as f64).sqrt().round();
    let bound = |bytes: u64| (!given).then_some(Number(bytes as f64));
    let bytes = if given { low as f64 } else { between };
    Breakpoint { bytes: Number(bytes), low: bound(low), high: bound(high) }
}

#[cfg(test)]
mod tests;
