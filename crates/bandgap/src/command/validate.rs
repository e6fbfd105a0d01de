//! `bandgap simulate --validate RUN`: what a run measured, simulated on the machine taken from it.

use std::collections::BTreeMap;

use bandgap_assemble::{self as assemble, AssembleError, Made, Measured, SERIES};
use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::contention::ContentionPlan;
use bandgap_campaign::fan_in::FanInPlan;
use bandgap_campaign::logp::LogpPlan;
use bandgap_campaign::overlap::OverlapPlan;
use bandgap_campaign::pairs::PairsPlan;
use bandgap_campaign::plan::Asked;
use bandgap_campaign::series::SeriesPlan;
use bandgap_campaign::{Planned, Setting, Task};
use bandgap_kernels::LIBRARY;
use bandgap_launch::{Classify, Exit, Failure, in_virtual_time, simulated};
use bandgap_record::{Column, Evidence, Labels, Place, Quantity, Row, Rows, Unit};
use bandgap_report::share;
use bandgap_results::{Outcome, Run, SUMMARY, VALIDATION, is_outside};
use bandgap_sim::Machine;
use serde::Deserialize;
use serde_json::{Value, json};

use super::simulate::Simulate;
use crate::calibrated::{Calibrated, SEED, chosen, kept};
use crate::output::Sink;

/// What was simulated of a task with each machine: the value's first, then those of the ends.
type Replayed = Vec<Vec<Outcome>>;

/// Simulates what a run has measured over a transport, and keeps both with their errors.
///
/// # Errors
/// There is no such run, it makes no machine, the machine cannot do what was measured, or the result cannot be written.
pub fn run(of: &Simulate) -> Result<Exit, Failure> {
    let (path, run) = kept(&of.schedule)?;
    let named = of.transport.as_ref().map(ToString::to_string);
    let transport = chosen(&run, named.as_deref())?;
    let path = path.display().to_string();
    let (machines, sources, notes) = match transport.strip_prefix("sim:") {
        Some(name) => (vec![simulated(name)?], Vec::new(), Vec::new()),
        None => {
            let measured = Calibrated::of(&run, &path, Some(transport), of.how)?;
            let machines = [vec![measured.machine(&mut |of| of.value)?], measured.ends()?.to_vec()];
            let Calibrated { sources, notes, .. } = measured;
            (machines.concat(), sources, notes)
        }
    };
    let mut sink = Sink::open(&of.output, "validate", SEED)?;
    let tolerance = of.tolerance.0;
    sink.plan(
        &json!({"name": "validate", "run": path, "transport": transport, "tolerance": tolerance}),
    );
    let ranks = run.conditions.iter().filter(|of| of.transport == transport);
    let ranks = ranks.map(|of| of.ranks as usize).max().unwrap_or(2);
    let mut compared = Compared { run: &run, transport, sources, tolerance, rows: Vec::new() };
    for (task, plan) in tasks(&run, transport) {
        let on = |machine: &Machine| on(machine, ranks, (&task, &plan), transport);
        let replayed: Result<Replayed, Failure> = machines.iter().map(on).collect();
        compared.add(&replayed?)?;
    }
    if compared.rows.is_empty() {
        let what =
            format!("validate {path} over {transport}: it has nothing that can be simulated");
        return Err(Failure::new(Exit::Input, what));
    }
    let strict = of.strict && compared.rows.iter().any(is_outside);
    let mut results: Vec<Outcome> = vec![compared.summary()?.into()];
    results.extend(compared.rows.into_iter().map(Outcome::from));
    sink.add(Made { results, notes }, None, None)?;
    sink.close(if strict { Exit::Doubtful } else { Exit::Fine })
}

/// The tasks of a run, each once, done as they were over a transport: by the algorithms that were chosen then, and without
/// a clock.
fn tasks(run: &Run, transport: &str) -> Vec<(Task, Value)> {
    let planned = match &run.plan {
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let mut all: Vec<(Task, Value)> = Vec::new();
    for mut value in planned {
        set(&mut value, run, transport);
        let plan = value["plan"].clone();
        let task = Task::deserialize(&value).map(|task| task.with_floors(Vec::new()));
        if let Ok(task) = task
            && !all.iter().any(|(known, of)| (&known.name, of) == (&task.name, &plan))
        {
            all.push((task, plan));
        }
    }
    all
}

/// Sets in a plan what is otherwise in virtual time.
fn set(value: &mut Value, run: &Run, transport: &str) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| set(one, run, transport)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), &mut *field) {
                    ("stamp", stamp) => *stamp = 0.0.into(),
                    ("check", check) => *check = false.into(),
                    ("steps", Value::Array(steps)) => {
                        steps.iter_mut().for_each(|step| name_variant(step, run, transport));
                        steps.retain(|step| step["variant"] != LIBRARY);
                    }
                    _ => set(field, run, transport),
                }
            }
        }
        _ => {}
    }
}

/// Names the algorithm of a step that the run chose: the first, where launches chose differently.
fn name_variant(step: &mut Value, run: &Run, transport: &str) {
    let (series, size, ranks) = (&step["series"], step["size"].as_u64(), step["ranks"].as_u64());
    let is_its = |rows: &&Rows| rows.transport == transport && *series == rows.name;
    let found = run.results.iter().filter_map(Outcome::as_rows).filter(is_its).find_map(|rows| {
        let number = |row: &Row, axis: &str| rows.place(row, axis).and_then(Place::number);
        let is_its = |row: &&Row| {
            let at = ["bytes", "elements", "dimension"].iter().find_map(|axis| number(row, axis));
            at.is_none_or(|at| Some(at) == size)
                && number(row, "ranks").is_none_or(|at| Some(at) == ranks)
        };
        let row = rows.rows.iter().find(is_its)?;
        row.labels.get("variant").or_else(|| rows.labels.get("variant")).map(Place::to_string)
    });
    if let (None, Some(variant)) = (step.get("variant"), found) {
        step["variant"] = variant.split('|').next().unwrap_or_default().into();
    }
}

/// What a task gives on a machine, as far as it sends messages.
fn on(
    machine: &Machine,
    ranks: usize,
    (task, plan): (&Task, &Value),
    transport: &str,
) -> Result<Vec<Outcome>, Failure> {
    type Assemble = fn(&Measured<'_>, &Value) -> Result<Made, AssembleError>;
    let known: [(&str, Assemble); 7] = [
        (LogpPlan::NAME, |of, plan| match LogpPlan::deserialize(plan) {
            Ok(plan) if plan.pairs => {
                Ok(assemble::logp(of, &plan.signature, None)?.and(assemble::pairs(of)?))
            }
            Ok(plan) => assemble::logp(of, &plan.signature, None),
            Err(_) => Err(AssembleError::Empty),
        }),
        (BulkPlan::NAME, |of, plan| match BulkPlan::deserialize(plan) {
            Ok(plan) => assemble::bulk(of, &plan),
            Err(_) => Err(AssembleError::Empty),
        }),
        (SeriesPlan::NAME, |of, _| assemble::series(of)),
        (ContentionPlan::NAME, |of, _| assemble::series(of)),
        (PairsPlan::NAME, |of, _| assemble::pairs(of)),
        (FanInPlan::NAME, |of, _| assemble::fan_in(of)),
        (OverlapPlan::NAME, |of, _| assemble::overlap(of)),
    ];
    let Some((_, assemble)) = known.iter().find(|(name, _)| *name == task.name) else {
        return Ok(Vec::new());
    };
    let collected = in_virtual_time(machine, ranks, task, &|| false, &mut |_, _| {})?;
    let asked = asked(plan).and_then(|asked| Asked::deserialize(asked).ok());
    let judged = asked.unwrap_or_else(crate::args::nothing_asked).judge(&collected.table);
    let setting = Setting { transport: transport.to_owned(), ranks, ..Setting::default() };
    // What was too little for a result in the run may be so here.
    Ok(assemble(&Measured { setting: &setting, judged: &judged }, plan)
        .map_or(Vec::new(), |made| made.results))
}

/// What a plan asks for, wherever that stands in it.
fn asked(plan: &Value) -> Option<&Value> {
    match plan {
        Value::Object(fields) => fields.get("asked").or_else(|| fields.values().find_map(asked)),
        _ => None,
    }
}

/// The run's times beside those simulated.
struct Compared<'a> {
    run: &'a Run,
    transport: &'a str,
    /// The names of the results that the machine was taken from.
    sources: Vec<String>,
    tolerance: f64,
    rows: Vec<Rows>,
}

impl Compared<'_> {
    /// Adds what was simulated of a task.
    fn add(&mut self, replayed: &Replayed) -> Result<(), Failure> {
        let (run, transport) = (self.run, self.transport);
        for (at, simulated) in replayed.first().into_iter().flatten().enumerate() {
            let ends = replayed.iter().filter_map(|all| all.get(at));
            match simulated {
                Outcome::Rows(rows) if rows.kind == SERIES => {
                    let is_its = |of: &&Rows| {
                        (&of.kind, &of.name) == (&rows.kind, &rows.name)
                            && of.transport == transport
                    };
                    let ends: Vec<&Rows> = ends.filter_map(Outcome::as_rows).collect();
                    let measured = run.results.iter().filter_map(Outcome::as_rows).find(is_its);
                    if let Some(measured) = measured {
                        self.series(measured, &ends)?;
                    }
                }
                Outcome::Logp(logp) => {
                    let named = |of: &Outcome| match of {
                        Outcome::Logp(of) if of.id() == logp.id() => {
                            let named = of.parameters.named().into_iter();
                            let counting = named.filter(|(.., counts)| *counts);
                            Some(counting.map(|of| (of.0, of.2.clone())).collect())
                        }
                        _ => None,
                    };
                    let ends: Vec<BTreeMap<&str, Quantity>> = ends.filter_map(named).collect();
                    let Some(measured) = run.results.iter().find_map(named) else { continue };
                    let measured: BTreeMap<&str, Quantity> = measured;
                    let axis = |axis: &str| axis.to_owned();
                    let own = logp.place();
                    let axes = own.iter().map(|(name, _)| axis(name)).chain([axis("parameter")]);
                    let mut rows = self.empty(&logp.name, axes.collect());
                    for (name, measured) in &measured {
                        let place = own.iter().map(|(_, at)| at.clone());
                        let place = place.chain([(*name).into()]).collect();
                        let ends: Vec<&Quantity> =
                            ends.iter().filter_map(|all| all.get(name)).collect();
                        self.push(&mut rows, place, measured, &ends)?;
                    }
                    self.keep(rows);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a series: each of its times that counts.
    fn series(&mut self, measured: &Rows, simulated: &[&Rows]) -> Result<(), Failure> {
        let counting = measured.columns.iter().filter(|of| of.counts && of.unit == Unit::Second);
        for column in counting {
            let name = match column.name.as_str() {
                "time" => measured.name.clone(),
                other => format!("{}_{other}", measured.name),
            };
            let mut rows = self.empty(&name, measured.axes.clone());
            for row in &measured.rows {
                let Some(time) = measured.cell(row, &column.name) else { continue };
                let its = |of: &&Rows| -> Option<Quantity> {
                    let same = |other: &&Row| {
                        measured.axes.iter().all(|axis| {
                            let own = of.place(other, axis).or_else(|| of.label(other, axis));
                            own == measured.place(row, axis)
                        })
                    };
                    of.cell(of.rows.iter().find(same)?, &column.name).cloned()
                };
                let ends: Vec<Quantity> = simulated.iter().filter_map(its).collect();
                let ends: Vec<&Quantity> = ends.iter().collect();
                self.push(&mut rows, row.place.clone(), time, &ends)?;
            }
            self.keep(rows);
        }
        Ok(())
    }

    /// No rows yet.
    fn empty(&self, name: &str, axes: Vec<String>) -> Rows {
        let group = if self.sources.iter().any(|of| of == name) { FITTED } else { PREDICTED };
        let second = |name, meaning| Column::new(name, Unit::Second, meaning);
        Rows {
            kind: VALIDATION.to_owned(),
            name: name.to_owned(),
            transport: self.transport.to_owned(),
            labels: Labels::from([("group".to_owned(), group.into())]),
            axes,
            columns: vec![
                second("measured", "as the run has it"),
                second("simulated", "on the machine taken from the run"),
                Column::new("error", Unit::One, "simulated over measured, less 1"),
            ],
            ..Rows::default()
        }
    }

    /// Adds a time, if it was simulated: the machine's value first, then its ends.
    fn push(
        &self,
        rows: &mut Rows,
        place: Vec<Place>,
        measured: &Quantity,
        simulated: &[&Quantity],
    ) -> Result<(), Failure> {
        let real = measured.value.0;
        let Some(value) = simulated.first().map(|of| of.value.0).filter(|_| real > 0.0) else {
            return Ok(());
        };
        let end =
            |pick: fn(f64, f64) -> f64| simulated.iter().map(|of| of.value.0).fold(value, pick);
        let (low, high) = (end(f64::min), end(f64::max));
        // Without an interval nothing is told.
        let interval = measured.interval().filter(|(low, _)| *low > 0.0);
        let error = interval.map(|(least, most)| (low / most - 1.0, high / least - 1.0));
        let tolerance = self.tolerance;
        let verdict = match error {
            Some((low, high)) if low >= -tolerance && high <= tolerance => "inside",
            Some((low, high)) if low > tolerance || high < -tolerance => "outside",
            _ => "undecided",
        };
        let evidence = |by| Evidence::new(by, measured.samples, measured.converged);
        let replay = Evidence::new("replay", simulated.len() as u64, true);
        let simulated = Quantity::new(value, Some((low, high)), Unit::Second, replay);
        let error = Quantity::new(
            value / real - 1.0,
            error,
            Unit::One,
            evidence("simulated / measured − 1"),
        );
        let cells = vec![
            Some(measured.clone()),
            Some(simulated.class(Exit::Defect)?),
            Some(error.class(Exit::Defect)?),
        ];
        let labels = Labels::from([("verdict".to_owned(), verdict.into())]);
        rows.rows.push(Row { place, labels, cells, spread: None });
        Ok(())
    }

    fn keep(&mut self, rows: Rows) {
        let is_new = self.rows.iter().all(|known| known.id() != rows.id());
        // Signatures of several lengths are rows of one name.
        match self.rows.iter_mut().find(|known| known.id() == rows.id() && known.axes == rows.axes)
        {
            Some(known) => {
                let new = rows.rows.into_iter();
                let new: Vec<Row> =
                    new.filter(|row| known.rows.iter().all(|of| of.place != row.place)).collect();
                known.rows.extend(new);
            }
            None if is_new && !rows.rows.is_empty() => self.rows.push(rows),
            None => {}
        }
    }

    /// A row for each group.
    ///
    /// *Formula*: RRMSE = √mean((s − m)²)/mean(m); the geometric mean is of |s/m − 1|.
    fn summary(&self) -> Result<Rows, Failure> {
        let one = |name, meaning| Column::new(name, Unit::One, meaning);
        let mut summary = Rows {
            axes: vec!["group".to_owned()],
            columns: vec![
                one("rrmse", "root of the mean square of simulated - measured, over mean measured"),
                one("geometric_mean", "of the errors' sizes"),
                one("worst", "the error of the greatest size"),
            ],
            labels: Labels::new(),
            ..self.empty(SUMMARY, Vec::new())
        };
        let count = |all: &[(String, &Rows, &Row)], verdict: &str| {
            let is_its = |(_, rows, row): &&(String, &Rows, &Row)| {
                rows.label(row, "verdict") == Some(&verdict.into())
            };
            all.iter().filter(is_its).count() as u64
        };
        let mut everything = Vec::new();
        for group in [FITTED, PREDICTED] {
            let own =
                self.rows.iter().filter(|rows| rows.labels.get("group") == Some(&group.into()));
            let all: Vec<(String, &Rows, &Row)> = own
                .flat_map(|rows| rows.rows.iter().map(move |row| (rows.row_id(row), rows, row)))
                .collect();
            let value = |at: usize, row: &Row| {
                row.cells.get(at).and_then(Option::as_ref).map_or(0.0, |of| of.value.0)
            };
            let size = |row: &Row| value(2, row).abs();
            let worst = all.iter().max_by(|a, b| size(a.2).total_cmp(&size(b.2)));
            let Some((at, _, worst)) = worst else { continue };
            let number = all.len() as f64;
            let mean = |of: &dyn Fn(&Row) -> f64| {
                all.iter().map(|(.., row)| of(row)).sum::<f64>() / number
            };
            let square = mean(&|row| (value(1, row) - value(0, row)).powi(2));
            let cells = [
                square.sqrt() / mean(&|row| value(0, row)),
                mean(&|row| size(row).ln()).exp(),
                value(2, worst),
            ];
            let by = |value: f64| {
                let evidence = Evidence::new("over all points", number as u64, true);
                Quantity::new(value, None, Unit::One, evidence).map(Some).class(Exit::Defect)
            };
            let cells: Result<Vec<_>, Failure> = cells.into_iter().map(by).collect();
            let worst_at = at.strip_prefix(&format!("{VALIDATION}/")).unwrap_or(at);
            let mut labels = Labels::from([
                ("points".to_owned(), (number as u64).into()),
                ("worst_at".to_owned(), worst_at.into()),
            ]);
            let verdicts = VERDICTS.map(|of| (of.to_owned(), count(&all, of).into()));
            labels.extend(verdicts);
            summary.rows.push(Row {
                place: vec![group.into()],
                labels,
                cells: cells?,
                spread: None,
            });
            everything.extend(all);
        }
        let of_all = VERDICTS.into_iter().find(|of| count(&everything, of) > 0);
        let tolerance = share(self.tolerance);
        summary.labels.insert("tolerance".to_owned(), tolerance.as_str().into());
        summary.labels.insert("verdict".to_owned(), of_all.unwrap_or("undecided").into());
        Ok(summary)
    }
}

/// The groups.
const FITTED: &str = "fitted";
const PREDICTED: &str = "predicted";
/// What an error may be; of all points the first that there is counts.
const VERDICTS: [&str; 3] = ["outside", "undecided", "inside"];
