//! `bandgap simulate --validate RUN`: what a run measured, simulated on the machine taken from it.

use std::collections::BTreeMap;

use bandgap_assemble::{self as assemble, Made, Measured};
use bandgap_campaign::fan_in::FanInPlan;
use bandgap_campaign::pairs::PairsPlan;
use bandgap_campaign::signature::SignaturePlan;
use bandgap_campaign::{Planned, Setting, Task};
use bandgap_kernels::{Extent, LIBRARY, in_series};
use bandgap_launch::{Classify, Exit, Result, Target, in_virtual_time, input, simulated};
use bandgap_model::breakdown::verdict;
use bandgap_record::{Column, Labels, Place, Quantity, Row, Rows, Unit};
use bandgap_report::share;
use bandgap_results::{POINTS, Run, SIGNATURE, SUMMARY, VALIDATION};
use bandgap_sim::Machine;
use bandgap_stats::quantile::mean;
use serde::Deserialize;
use serde_json::{Value, json};

use super::replays::replayed;
use super::show::kept;
use super::simulate::Simulate;
use crate::args::nothing_asked;
use crate::calibrated::{Calibrated, SEED, chosen};
use crate::output::Sink;

/// The groups of points: what the machine was taken from, the others, and those of a simulated run on its own machine.
const GROUPS: [&str; 3] = ["fitted", "predicted", "own"];
/// What an error may be; of all points the first that there is counts.
const VERDICTS: [&str; 3] = ["outside", "undecided", "inside"];
/// Experiments of more than messages: nobody has measured how fast the machine computes.
const NOT_SIMULATED: [&str; 3] = ["floors", "breakdown", "overlap"];
/// Where a plan says how precisely, in a run of one or of several.
const ASKED: [&str; 4] =
    ["/plan/asked", "/plan/signature/asked", "/0/plan/asked", "/0/plan/signature/asked"];

/// Simulates what a run has measured over a transport, and keeps both with their errors.
///
/// # Errors
/// There is no such run, it makes no machine, the machine cannot do what was measured, or the result cannot be written.
pub fn run(of: &Simulate) -> Result<Exit> {
    let (path, run) = kept(&of.schedule)?;
    let named = of.points.transport.as_ref().map(Target::name);
    let transport = chosen(&run, named.as_deref())?;
    let path = path.display().to_string();
    let (machines, sources, notes) = match (transport.strip_prefix("sim:"), &of.points.transport) {
        // A run has the name of its machine, and not the place of its file.
        (Some(_), Some(Target::Simulated(file))) => {
            (vec![simulated(file)?], Vec::new(), Vec::new())
        }
        (Some(name), _) => (vec![simulated(name)?], Vec::new(), Vec::new()),
        (None, _) => {
            let measured = Calibrated::of(&run, &path, Some(transport), of.how)?;
            let value = measured.machine(&mut |of| of.value)?;
            let [low, high] = measured.ends()?;
            (vec![value, low, high], measured.sources, measured.notes)
        }
    };
    let mut sink = Sink::open(&of.output.only_asked(), "validate", SEED)?;
    let asked = ASKED.iter().find_map(|at| run.plan.pointer(at));
    let tolerance = of.tolerance.0;
    sink.plan(&json!({"name": "validate", "run": path, "tolerance": tolerance, "asked": asked}));
    let times = machines.iter().map(|machine| times(machine, &run, transport));
    let times: Vec<BTreeMap<String, f64>> = times.collect::<Result<_, _>>()?;
    let second = |name, meaning| Column::new(name, Unit::Second, meaning);
    let columns = vec![
        second("measured", "as the run has it"),
        second("simulated", "on the machine taken from the run"),
        Column::new("error", Unit::One, "simulated over measured, less 1"),
    ];
    let mut points = rows(POINTS, transport, "of", columns);
    for (id, time, _) in run.results.iter().flat_map(|result| result.as_shown().quantities()) {
        let own: Vec<f64> = times.iter().filter_map(|times| times.get(&id).copied()).collect();
        // Signatures have no name in their ids.
        let name = match id.split('/').nth(1) {
            Some(name) if name != transport => name.to_owned(),
            _ => SIGNATURE.to_owned(),
        };
        if own.len() == times.len() && time.value.0 > 0.0 {
            let is_predicted = usize::from(!sources.contains(&name));
            let group = GROUPS[if times.len() == 1 { 2 } else { is_predicted }];
            let (cells, verdict) = compared(time, &own, tolerance)?;
            let labels = [("group", group), ("name", &name), ("verdict", verdict)];
            let labels = labels.map(|(name, label)| (name.to_owned(), label.into()));
            let place = vec![id.as_str().into()];
            points.rows.push(Row { place, labels: labels.into(), cells, spread: None });
        }
    }
    if points.rows.is_empty() {
        return Err(input!("validate {path} over {transport}: nothing in it can be simulated"));
    }
    let summary = summary(&points, &share(tolerance))?;
    let is_outside = summary.labels.get("verdict") == Some(&VERDICTS[0].into());
    sink.add(Made { results: vec![summary.into(), points.into()], notes }, None, None)?;
    sink.close(if of.strict && is_outside { Exit::Doubtful } else { Exit::Fine })
}

fn rows(name: &str, transport: &str, axis: &str, columns: Vec<Column>) -> Rows {
    let (kind, name, transport) = (VALIDATION.to_owned(), name.to_owned(), transport.to_owned());
    Rows { kind, name, transport, axes: vec![axis.to_owned()], columns, ..Rows::default() }
}

/// The times that the tasks of a run take on a machine, in seconds, by the ids of the run.
fn times(machine: &Machine, run: &Run, transport: &str) -> Result<BTreeMap<String, f64>> {
    let ranks = run.conditions.iter().filter(|of| of.transport == transport);
    let ranks = ranks.map(|of| of.ranks as usize).max().unwrap_or(2);
    if ranks > machine.ranks {
        let most = machine.ranks;
        return Err(input!("validate {ranks} ranks over {transport}: its machine has {most}"));
    }
    let setting = Setting { transport: transport.to_owned(), ranks, ..Setting::default() };
    let planned = match &run.plan {
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let mut times = BTreeMap::new();
    for mut task in planned {
        set(&mut task, run, transport);
        let plan = SignaturePlan::deserialize(&task["plan"]);
        let Ok(task) = Task::deserialize(task).map(|task| task.with_floors(Vec::new())) else {
            continue;
        };
        if NOT_SIMULATED.contains(&task.name.as_str()) {
            continue;
        }
        let collected = in_virtual_time(machine, ranks, &task, &|| false, &mut |_, _| {})?;
        let judged = nothing_asked().judge(&collected.table);
        let measured = Measured { setting: &setting, judged: &judged };
        let made = match (task.name.as_str(), plan) {
            (SignaturePlan::NAME, Ok(plan)) => assemble::logp(&measured, &plan, None),
            (PairsPlan::NAME, _) => assemble::pairs(&measured),
            (FanInPlan::NAME, _) => assemble::fan_in(&measured),
            _ => assemble::series(&measured),
        };
        // What was too little for a result in the run may be so here.
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
    Ok(times)
}

/// Sets in a plan what is otherwise here: no clock, the algorithms that the run chose, and none of a library's.
fn set(value: &mut Value, run: &Run, transport: &str) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| set(one, run, transport)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), &mut *field) {
                    ("stamp", stamp) => *stamp = 0.0.into(),
                    ("check", check) => *check = false.into(),
                    ("steps", Value::Array(steps)) => {
                        for step in steps.iter_mut().filter(|step| step["variant"].is_null()) {
                            if let Some(variant) = variant(step, run, transport) {
                                step["variant"] = variant.into();
                            }
                        }
                        steps.retain(|step| step["variant"] != LIBRARY);
                    }
                    _ => set(field, run, transport),
                }
            }
        }
        _ => {}
    }
}

/// The algorithm that a run chose for a step: the first, where launches chose differently.
fn variant(step: &Value, run: &Run, transport: &str) -> Option<String> {
    let series = step["series"].as_str()?;
    let size = match in_series(series).ok()?.1.extent {
        Extent::None => String::new(),
        extent => format!("/{}={}", extent.axis(), step["size"]),
    };
    let id = format!("series/{series}/{transport}{size}/ranks={}", step["ranks"]);
    let mut all = run.results.iter().filter_map(|result| result.as_rows());
    let variant = all.find_map(|rows| {
        rows.label(rows.rows.iter().find(|row| rows.row_id(row) == id)?, "variant")
    });
    variant?.names().first().cloned()
}

/// A measured time, the simulated one, of which the machine's value comes first and then its ends, and the error; and what
/// the tolerance says of it.
fn compared(
    measured: &Quantity,
    times: &[f64],
    tolerance: f64,
) -> Result<(Vec<Option<Quantity>>, &'static str)> {
    let simulated = replayed(times)?;
    // Without an interval nothing is told.
    let both = measured.interval().filter(|(low, _)| *low > 0.0).zip(simulated.interval());
    let error = both.map(|(real, of)| (of.0 / real.1 - 1.0, of.1 / real.0 - 1.0));
    let verdict = match error.and_then(|error| verdict(error, tolerance)) {
        Some(false) => VERDICTS[0],
        None => VERDICTS[1],
        Some(true) => VERDICTS[2],
    };
    let evidence = ("simulated / measured − 1", measured.samples, measured.converged);
    let value = times[0] / measured.value.0 - 1.0;
    let error = Quantity::new(value, error, Unit::One, evidence).class(Exit::Defect)?;
    Ok((vec![Some(measured.clone()), Some(simulated), Some(error)], verdict))
}

/// A row for each group.
///
/// *Formula*: RRMSE = √mean((s − m)²)/mean(m); the geometric mean is of |s/m − 1|.
fn summary(points: &Rows, tolerance: &str) -> Result<Rows> {
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
            Quantity::new(value, None, Unit::One, evidence).map(Some).class(Exit::Defect)
        };
        let cells = [rrmse, geometric, errors[worst]].map(by);
        let count = |of| all.iter().filter(|row| is(row, "verdict", of)).count() as u64;
        let mut labels: Labels = VERDICTS.map(|of| (of.to_owned(), count(of).into())).into();
        labels.insert("points".to_owned(), (all.len() as u64).into());
        labels.insert("worst_at".to_owned(), all[worst].place[0].clone());
        let (place, cells) = (vec![group.into()], cells.into_iter().collect::<Result<_, _>>()?);
        summary.rows.push(Row { place, labels, cells, spread: None });
    }
    let found = |of: &&str| points.rows.iter().any(|row| is(row, "verdict", of));
    let verdict: Place = VERDICTS.into_iter().find(found).unwrap_or(VERDICTS[1]).into();
    summary.labels.insert("verdict".to_owned(), verdict);
    summary.labels.insert("tolerance".to_owned(), tolerance.into());
    Ok(summary)
}
