//! Which speed-ups over reductions are drawn, and their points.

use bandgap_model::breakdown::{Change, Declared, Modelled, Stack, StackError};
use bandgap_record::{ComponentTable, CurvesDeclared, Number};

use super::schema::{SpeedUpCurve, SpeedUpPoint, SpeedUps};
use crate::AssembleError;
use crate::measured::Propagated;

/// Names of the curves of a table that declares none.
const USUAL: [&str; 6] = ["cpu", "io", "network", "hlp", "llp", "hardware"];

/// Which curves are drawn: of what is changed, or else those declared, or else of each category and layer.
pub(super) fn drawn(
    table: &ComponentTable,
    changes: &[Change],
    main: &[(usize, &Declared)],
) -> Vec<CurvesDeclared> {
    if changes.is_empty() && !table.curves.is_empty() {
        return table.curves.clone();
    }
    let of: Vec<String> = match changes {
        [] => USUAL.iter().map(|name| (*name).to_owned()).collect(),
        some => some.iter().map(|change| change.what().to_owned()).collect(),
    };
    // Those that the table draws, if it does.
    let declared = |model: &Declared| {
        table.curves.is_empty() || table.curves.iter().any(|curves| curves.model == model.name)
    };
    let main = main.iter().filter(|(_, model)| declared(model));
    main.map(|(_, model)| CurvesDeclared {
        title: model.title().to_owned(),
        model: model.name.clone(),
        of: of.clone(),
    })
    .collect()
}

pub(super) fn speed_ups(
    stack: &Stack,
    before: &[Modelled],
    curves: &CurvesDeclared,
    estimate: &Propagated,
) -> Result<SpeedUps, AssembleError> {
    let at = stack.model(&curves.model).ok_or_else(|| StackError {
        subject: curves.model.clone(),
        why: format!("'{}' is no model", curves.model),
        unknown: Some(curves.model.clone()),
    })?;
    // A point at which the model divides by nothing is left out.
    let point = |of: &str, reduction: f64| -> Result<Option<SpeedUpPoint>, AssembleError> {
        let change = Change::Scale { what: of.to_owned(), factor: 1.0 - reduction };
        let after = stack.evaluated_one(at, &stack.changed(&[change])?)?;
        let saved = stack.saved(&before[at], &after);
        let ends = saved.off.and_then(|off| off.ends(saved.share, estimate.factor));
        Ok(after.is_sound().then(|| SpeedUpPoint {
            reduction: Number(reduction),
            speedup: Number(saved.share),
            low: ends.map(|(low, _)| Number(low)),
            high: ends.map(|(_, high)| Number(high)),
        }))
    };
    let mut drawn = Vec::new();
    for of in &curves.of {
        let points = (1..10_u8).filter_map(|tenth| point(of, f64::from(tenth) / 10.0).transpose());
        let points = points.collect::<Result<Vec<_>, AssembleError>>()?;
        // What the model does not hold has no curve.
        if points.iter().any(|point| point.speedup != Number(0.0)) {
            drawn.push(SpeedUpCurve { of: of.clone(), points });
        }
    }
    let (title, model) = (curves.title.clone(), curves.model.clone());
    Ok(SpeedUps { title, model, curves: drawn })
}
