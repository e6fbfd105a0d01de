//! How times grow: with the dimension of a matrix, and with the number of ranks.

use bandgap_campaign::signature::judge;
use bandgap_model::growth::{self as model, Law};
use bandgap_record::{Column, Form, Labels, Place, Unit};

use crate::Result;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};
use crate::points::{Curve, Points};

/// The kind of rows that hold laws of growth.
pub const GROWTH: &str = "growth";

/// Fewest points of a curve over dimensions: some of the smallest may be left out.
const FEWEST: usize = 4;

/// The law that each curve of a series follows, over matrix dimensions or else over numbers of ranks.
///
/// # Errors
/// A number cannot be recorded.
pub(crate) fn growth(of: &Measured<'_>, points: &Points<'_>) -> Result<Made> {
    let axes = points.axes();
    let (along, laws) = match () {
        () if axes.contains(&"dimension") => ("dimension", [Law::Linear, Law::Quadratic]),
        () if axes.contains(&"ranks") => ("ranks", [Law::Logarithmic, Law::Linear]),
        () => return Ok(Made::default()),
    };
    let mut others: Vec<&str> = axes.into_iter().filter(|axis| *axis != along).collect();
    others.sort_unstable();
    let slope =
        Column::new("slope", Unit::Second, "b of t = a + b·f, f = ⌈log₂ P⌉, P, N or N² by the law");
    let intercept = Column::new("intercept", Unit::Second, "a of the same");
    let columns = vec![slope, intercept];
    let mut rows = Builder::new(GROWTH, points.name, &of.setting.transport, &others, columns);
    rows.rows.form = Form::Law;
    for curve in points.along(&[along]) {
        let Some((law, [from, to], cells)) = followed(of, &curve, along, &laws) else { continue };
        let labels = [("law", Place::from(law)), ("from", from.into()), ("to", to.into())];
        let labels: Labels = labels.into_iter().map(|(name, of)| (name.to_owned(), of)).collect();
        rows.push(curve.which.values().cloned().collect(), labels, &cells.map(Some), None)?;
    }
    Ok(rows.made())
}

/// The law that a curve follows, from where to where, the slope and the intercept: over dimensions that of all points, or of the
/// greatest that follow one, since the shortest messages may go by another protocol.
fn followed(
    of: &Measured<'_>,
    curve: &Curve<'_>,
    along: &str,
    laws: &[Law],
) -> Option<(String, [u64; 2], [Estimated; 2])> {
    let timed = curve.points.iter().filter_map(|(at, (key, _))| Some((*at, of.time(key)?.value)));
    let timed: Vec<(u64, f64)> = timed.collect();
    let launches = of.launches(curve);
    let most = if along == "ranks" { 0 } else { timed.len().saturating_sub(FEWEST) };
    let (from, found) = (0..=most).find_map(|first| {
        let (from, _) = *timed.get(first)?;
        let beyond = |points: &[(u64, f64)]| -> Vec<(f64, f64)> {
            let kept = points.iter().filter(|(at, _)| *at >= from);
            kept.map(|(at, ns)| (*at as f64, *ns)).collect()
        };
        let each: Vec<Vec<(f64, f64)>> = launches.iter().map(|of| beyond(of)).collect();
        Some((from, model::growth(&beyond(&timed), &each, laws, of.judged.confidence)?))
    })?;
    let judged = judge(&found.slope, &of.judged.rule().without_clock());
    let slope = Estimated::of_model(&found.slope, of.virtual_or(judged));
    let intercept = Estimated { value: found.intercept, interval: None, ..slope.clone() };
    Some((found.law.to_string(), [from, timed.last()?.0], [slope, intercept]))
}

#[cfg(test)]
mod tests;
