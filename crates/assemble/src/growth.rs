//! How times grow: with the dimension of a matrix, and with the number of ranks.

use bandgap_campaign::signature::judge;
use bandgap_model::growth::{self as sizes, Law};
use bandgap_record::{Column, Labels, Place, Unit};

use crate::AssembleError;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};
use crate::points::{Curve, Points};
use crate::series::places;

/// The kind of rows that say how times grow.
pub const GROWTH: &str = "growth";

/// Places that a curve has at least.
const LEAST: usize = 3;
/// Sizes at which the growth with the ranks is told, at most.
const FEW: usize = 6;

/// How a series over dimensions, or over several numbers of ranks, grows with them.
///
/// # Errors
/// A number cannot be recorded.
pub(crate) fn growth(of: &Measured<'_>, points: &Points<'_>) -> Result<Made, AssembleError> {
    let axes = points.axes();
    let known = [
        ("dimension", &[Law::Linear, Law::Quadratic][..]),
        ("ranks", &[Law::Logarithmic, Law::Linear]),
    ];
    match known.into_iter().find(|(axis, _)| axes.contains(axis)) {
        Some((along, laws)) => over(of, points, along, laws),
        None => Ok(Made::default()),
    }
}

fn over(
    of: &Measured<'_>,
    points: &Points<'_>,
    along: &str,
    laws: &[Law],
) -> Result<Made, AssembleError> {
    let column =
        Column::new("slope", Unit::Second, "b of t = a + b·f(x), f by the law: x, x² or ⌈log₂ x⌉");
    let axes: Vec<&str> = points.axes().into_iter().filter(|axis| *axis != along).collect();
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    let transport = of.setting.transport.as_str();
    let mut rows = Builder::new(GROWTH, points.name, transport, &sorted, vec![column]);
    let mut curves = points.along(&[along]);
    if along == "ranks" {
        curves = few(curves);
    }
    for curve in curves {
        let timed =
            curve.points.iter().filter_map(|(at, (key, _))| Some((*at, of.time(key)?.value)));
        let timed: Vec<(u64, f64)> = timed.collect();
        if timed.len() < LEAST {
            continue;
        }
        let float = |times: &[(u64, f64)]| -> Vec<(f64, f64)> {
            times.iter().map(|(at, ns)| (*at as f64, *ns)).collect()
        };
        let launches: Vec<_> = of.launches(&curve).iter().map(|launch| float(launch)).collect();
        let found = sizes::growth(&float(&timed), &launches, laws, of.judged.confidence());
        let law = match found.map(|found| found.law) {
            Some(Law::Logarithmic) => "logarithmic",
            Some(Law::Linear) => "linear",
            Some(Law::Quadratic) => "quadratic",
            None => "undecided",
        };
        let slope = found.map(|found| {
            let judged = judge(&found.slope, &of.judged.rule().without_clock());
            Estimated::of_model(&found.slope, of.virtual_or(judged))
        });
        let mut labels = Labels::from([("law".to_owned(), Place::from(law))]);
        labels.insert("from".to_owned(), timed[0].0.into());
        labels.insert("to".to_owned(), timed[timed.len() - 1].0.into());
        rows.push(places(&curve.which), labels, &[slope], None)?;
    }
    Ok(rows.made())
}

/// The curves of a few sizes: the least, the greatest, and some between.
fn few(curves: Vec<Curve<'_>>) -> Vec<Curve<'_>> {
    let size = |curve: &Curve<'_>| {
        let of = &curve.which;
        of.get("bytes").or_else(|| of.get("elements")).and_then(Place::number)
    };
    let mut all: Vec<u64> = curves.iter().filter_map(size).collect();
    all.sort_unstable();
    all.dedup();
    let ends = [all.first().copied(), all.last().copied()];
    all.retain(|of| of.is_power_of_two() || ends.contains(&Some(*of)));
    if all.len() > FEW {
        let last = all.len() - 1;
        all = (0..FEW).map(|at| all[at * last / (FEW - 1)]).collect();
    }
    curves.into_iter().filter(|curve| size(curve).is_none_or(|of| all.contains(&of))).collect()
}

#[cfg(test)]
mod tests;
