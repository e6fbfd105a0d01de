//! Compares the times of a run with simulated ones.

use std::collections::BTreeMap;

use bandgap_campaign::fan_in::FanInPlan;
use bandgap_campaign::pairs::PairsPlan;
use bandgap_campaign::series::Step;
use bandgap_campaign::signature::SignaturePlan;
use bandgap_campaign::{Planned, Task};
use bandgap_kernels::{Extent, LIBRARY, in_series};
use bandgap_model::breakdown::verdict;
use bandgap_record::{Column, Form, Labels, Place, Quantity, Row, Rows, Unit};
use bandgap_results::{Outcome, POINTS, Run, SIGNATURE, SUMMARY, VALIDATION};
use bandgap_stats::quantile::mean;
use serde::Deserialize;
use serde_json::Value;

use crate::contention::fan_in;
use crate::estimate::Measured;
use crate::logp::logp;
use crate::made::Made;
use crate::pairs::pairs;
use crate::replay::replayed;
use crate::series::series;
use crate::{AssembleError, Result};

/// The groups of points: those the machine was fitted to, all others, and those of a simulated run on its own machine.
const GROUPS: [&str; 3] = ["fitted", "predicted", "own"];
/// The verdicts on an error, worst first; the worst of all points is the verdict on the run.
const VERDICTS: [&str; 3] = ["outside", "undecided", "inside"];

/// Simulated times in seconds, by the run's ids.
pub type Times = BTreeMap<String, f64>;

/// The tasks of a run over a transport, for simulation, with the algorithms that the run chose; a library's algorithms
/// are left out.
pub fn tasks(run: &Run, transport: &str) -> Vec<Task> {
    let by = |step: Step| {
        let variant = step.variant.clone().or_else(|| chosen(&step, run, transport));
        (variant.as_deref() != Some(LIBRARY)).then_some(Step { variant, ..step })
    };
    let all = match &run.plan {
        Value::Array(all) => &all[..],
        one => std::slice::from_ref(one),
    };
    let tasks = all.iter().filter_map(|task| Task::deserialize(task).ok());
    // Plans that this version does not know are skipped.
    tasks.filter_map(|task| task.in_virtual_time(&by).ok().flatten()).collect()
}

/// The algorithm that a run chose for a step; if launches chose differently, the first.
fn chosen(step: &Step, run: &Run, transport: &str) -> Option<String> {
    let size = match in_series(&step.series).ok()?.1.extent {
        Extent::None => String::new(),
        extent => format!("/{}={}", extent.axis(), step.size),
    };
    let id = format!("series/{}/{transport}{size}/ranks={}", step.series, step.ranks);
    let mut all = run.results.iter().filter_map(Outcome::as_rows);
    let variant = all.find_map(|rows| {
        rows.label(rows.rows.iter().find(|row| rows.row_id(row) == id)?, "variant")
    });
    variant?.names().first().cloned()
}

/// Adds the times of a simulated task.
pub fn simulated(task: &Task, measured: &Measured<'_>, times: &mut Times) {
    let made = match task.name.as_str() {
        SignaturePlan::NAME => {
            task.plan().map_or(Ok(Made::default()), |plan| logp(measured, &plan, None))
        }
        PairsPlan::NAME => pairs(measured, None),
        FanInPlan::NAME => fan_in(measured),
        _ => series(measured),
    };
    // A task that gave no result in the run may give none here either.
    for result in made.unwrap_or_default().results {
        for (id, of, counts) in result.as_shown().quantities() {
            if counts && of.unit == Unit::Second {
                let parts = id.split('/').filter(|part| !part.starts_with("variant="));
                let chosen = parts.collect::<Vec<_>>().join("/");
                times.entry(chosen).or_insert(of.value.0);
                times.insert(id, of.value.0);
            }
        }
    }
}

/// Compares a run's times over a transport with simulated ones: all errors, and whether any exceeds the tolerance. The
/// first of several machines gives the values, the others the ends of the intervals. `sources` names the results that
/// the machine was taken from.
///
/// # Errors
/// Nothing of the run was simulated, or a number cannot be recorded.
pub fn validation(
    run: &Run,
    transport: &str,
    simulated: &[Times],
    sources: &[String],
    (tolerance, named): (f64, &str),
) -> Result<(Made, bool)> {
    let second = |name, meaning| Column::new(name, Unit::Second, meaning);
    let columns = vec![
        second("measured", "as the run has it"),
        second("simulated", "on the machine taken from the run"),
        Column::new("error", Unit::One, "simulated over measured, less 1"),
    ];
    let mut points = rows(POINTS, transport, "of", columns);
    for (id, time, _) in run.results.iter().flat_map(|result| result.as_shown().quantities()) {
        let own: Vec<f64> = simulated.iter().filter_map(|times| times.get(&id).copied()).collect();
        // The ids of signatures contain no name.
        let name = match id.split('/').nth(1) {
            Some(name) if name != transport => name.to_owned(),
            _ => SIGNATURE.to_owned(),
        };
        if own.len() == simulated.len() && time.value.0 > 0.0 {
            let is_predicted = usize::from(!sources.contains(&name));
            let group = GROUPS[if simulated.len() == 1 { 2 } else { is_predicted }];
            let (cells, verdict) = compared(time, &own, tolerance)?;
            let labels = [("group", group), ("name", &name), ("verdict", verdict)];
            let labels = labels.map(|(name, label)| (name.to_owned(), label.into()));
            let place = vec![id.as_str().into()];
            points.rows.push(Row { place, labels: labels.into(), cells, spread: None });
        }
    }
    if points.rows.is_empty() {
        return Err(AssembleError::Unmeasured);
    }
    let (summary, verdict) = summary(&points, named)?;
    let results = vec![summary.into(), points.into()];
    Ok((Made { results, notes: Vec::new() }, verdict == VERDICTS[0]))
}

fn rows(name: &str, transport: &str, axis: &str, columns: Vec<Column>) -> Rows {
    let (kind, name, transport) = (VALIDATION.to_owned(), name.to_owned(), transport.to_owned());
    let axes = vec![axis.to_owned()];
    Rows { kind, name, transport, form: Form::Errors, axes, columns, ..Rows::default() }
}

/// The measured time, the simulated one and the error as cells, and the verdict. `times` begins with the machine's own
/// value; the ends of its interval follow.
fn compared(
    measured: &Quantity,
    times: &[f64],
    tolerance: f64,
) -> Result<(Vec<Option<Quantity>>, &'static str)> {
    let simulated = replayed(times)?;
    // Without an interval nothing is decided.
    let both = measured.interval().filter(|(low, _)| *low > 0.0).zip(simulated.interval());
    let error = both.map(|(real, of)| (of.0 / real.1 - 1.0, of.1 / real.0 - 1.0));
    let verdict = match error.and_then(|error| verdict(error, tolerance)) {
        Some(false) => VERDICTS[0],
        None => VERDICTS[1],
        Some(true) => VERDICTS[2],
    };
    let evidence = ("simulated / measured − 1", measured.samples, measured.converged);
    let value = times[0] / measured.value.0 - 1.0;
    let error = Quantity::new(value, error, Unit::One, evidence)?;
    Ok((vec![Some(measured.clone()), Some(simulated), Some(error)], verdict))
}

/// A row for each group, and the verdict on all.
///
/// *Formula*: RRMSE = √mean((s − m)²)/mean(m); the geometric mean is of |s/m − 1|.
fn summary(points: &Rows, tolerance: &str) -> Result<(Rows, &'static str)> {
    let columns = [
        ("rrmse", "root of the mean square of simulated - measured, over mean measured"),
        ("geometric_mean", "of the errors' sizes"),
        ("worst", "the error of the greatest size"),
    ];
    let columns = columns.map(|(name, meaning)| Column::new(name, Unit::One, meaning));
    let mut summary = rows(SUMMARY, &points.transport, "group", columns.into());
    let is = |row: &Row, name: &str, label: &str| points.label(row, name) == Some(&label.into());
    for group in GROUPS {
        let all: Vec<&Row> = points.rows.iter().filter(|row| is(row, "group", group)).collect();
        let each = |of: &dyn Fn([f64; 3]) -> f64| -> Vec<f64> {
            let value = |row: &Row, at: usize| row.cells[at].as_ref().map_or(0.0, |of| of.value.0);
            all.iter().map(|row| of([0, 1, 2].map(|at| value(row, at)))).collect()
        };
        let errors = each(&|[.., error]| error);
        let worst = (0..all.len()).max_by(|a, b| errors[*a].abs().total_cmp(&errors[*b].abs()));
        let Some(worst) = worst else { continue };
        let square = mean(&each(&|[measured, simulated, _]| (simulated - measured).powi(2)));
        let rrmse = square.sqrt() / mean(&each(&|[measured, ..]| measured));
        let geometric = mean(&each(&|[.., error]| error.abs().ln())).exp();
        let by = |value: f64| {
            let evidence = ("over all points", all.len() as u64, true);
            Ok(Some(Quantity::new(value, None, Unit::One, evidence)?))
        };
        let cells = [rrmse, geometric, errors[worst]].map(by);
        let count = |of| all.iter().filter(|row| is(row, "verdict", of)).count() as u64;
        let mut labels: Labels = VERDICTS.map(|of| (of.to_owned(), count(of).into())).into();
        labels.insert("points".to_owned(), (all.len() as u64).into());
        labels.insert("worst_at".to_owned(), all[worst].place[0].clone());
        let (place, cells) = (vec![group.into()], cells.into_iter().collect::<Result<_>>()?);
        summary.rows.push(Row { place, labels, cells, spread: None });
    }
    let found = |of: &&str| points.rows.iter().any(|row| is(row, "verdict", of));
    let verdict = VERDICTS.into_iter().find(found).unwrap_or(VERDICTS[1]);
    summary.labels.insert("verdict".to_owned(), Place::from(verdict));
    summary.labels.insert("tolerance".to_owned(), tolerance.into());
    Ok((summary, verdict))
}
