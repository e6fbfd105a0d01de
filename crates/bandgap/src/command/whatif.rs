//! `bandgap whatif`: what faster or slower components would bring.

use std::str::FromStr;

use bandgap_launch::{Exit, Failure};
use bandgap_model::breakdown::bounds::LONGEST;
use bandgap_model::breakdown::{Category, Change, Layer, Side, Stack};
use bandgap_record::{Case, ComponentTable, component_preset, component_presets};
use bandgap_results::AssembleError;
use bandgap_results::whatif::assemble::whatif;
use bandgap_stats::Rule;
use bandgap_units::{Fraction, Ns, UnitError};
use clap::Args;

use super::components::{Source, load_with_breakdown};
use crate::args::{Measure, Output};
use crate::output::Sink;

/// Names that a hint lists, at most.
const NAMED: usize = 40;

/// What is changed. All changes are made together; without any, what each component would bring is shown.
#[derive(Debug, Args)]
pub struct WhatIf {
    #[command(flatten)]
    pub source: Source,
    /// Make it so much shorter, as pio=84%: a component, a model, a category (cpu, io, network), a layer (hlp,
    /// llp, hardware) or a side (initiator, target)
    #[arg(long, value_name = "NAME=SHARE", value_parser = share)]
    pub reduce: Vec<(String, Fraction)>,
    /// Make it so much longer, by at most 100 %
    #[arg(long, value_name = "NAME=SHARE", value_parser = share)]
    pub increase: Vec<(String, Fraction)>,
    /// Give it this time, as switch=30ns; what has several components keeps their proportions
    #[arg(long, value_name = "NAME=TIME", value_parser = time)]
    pub set: Vec<(String, Ns)>,
    /// A case of the table, by its name
    #[arg(long, value_name = "NAME")]
    pub case: Vec<String>,
}

/// A name and a value with `=` between them.
fn pair<T: FromStr<Err = UnitError>>(text: &str, example: &str) -> Result<(String, T), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("there is no '=' in it (write for example {example})"))?;
    match name.trim() {
        "" => Err(format!("there is no name before '=' (write for example {example})")),
        name => Ok((name.to_owned(), value.parse().map_err(|error: UnitError| error.to_string())?)),
    }
}

fn share(text: &str) -> Result<(String, Fraction), String> {
    pair(text, "pio=84%")
}

/// A name and a time.
pub(super) fn time(text: &str) -> Result<(String, Ns), String> {
    let (name, time): (String, Ns) = pair(text, "switch=30ns")?;
    match time.0 {
        ns if ns < 0.0 => Err("a time must not be negative".to_owned()),
        ns if ns > LONGEST => Err("a time must not be above 1e9 s".to_owned()),
        _ => Ok((name, time)),
    }
}

/// The cases of the tables that are built in, and examples.
pub(super) fn help() -> String {
    let mut text = String::new();
    for name in component_presets() {
        let cases = component_preset(name).map(|table| table.cases).unwrap_or_default();
        text += &format!("Cases of {name}:\n");
        for Case { name, about, .. } in cases {
            text += &format!("  {name:<16} {about}\n");
        }
    }
    text + "
Examples:
  bandgap whatif --from thunderx2-connectx4
  bandgap whatif --from thunderx2-connectx4 --reduce pio=84% --set switch=30ns
  bandgap whatif --from thunderx2-connectx4 --case integrated-nic
  bandgap whatif --from mine.toml --reduce llp=20% --increase wire=5%
  bandgap whatif --from bandgap-runs/… --reduce os=50%          a run with a LogP signature
  bandgap whatif --from bandgap-runs/… --signature tcp --set L=5us"
}

/// Prints what changes bring, a ranking and curves; keeps files only where `--out` says so.
///
/// # Errors
/// The table cannot be read or is wrong, a name means nothing, or the result cannot be written.
pub(super) fn run(of: &WhatIf, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let (table, recorded) = load_with_breakdown(&of.source)?;
    let breakdown = recorded.as_ref().map(|recorded| &*recorded.breakdown);
    let changes = changes(of, &table)?;
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let result = whatif(&table, &changes, breakdown, rule, measure.confidence.0);
    let result = result.map_err(|error| unmade(&error, of, &table.stack))?;
    let mut sink = Sink::open(&output.only_asked(), "whatif", measure)?;
    table.warnings.iter().for_each(|warning| sink.warn_once(warning));
    let exit = sink.add(vec![result.into()])?;
    sink.close(output.judged(exit))
}

/// The changes that were asked for.
fn changes(of: &WhatIf, table: &ComponentTable) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for wanted in &of.case {
        let Some(case) = table.cases.iter().find(|case| case.name == *wanted) else {
            let known: Vec<&str> = table.cases.iter().map(|case| case.name.as_str()).collect();
            let failure =
                Failure::new(Exit::Usage, format!("find the case {wanted}: there is none"));
            return Err(match known.is_empty() {
                true => failure.hint("the table has no cases"),
                false => failure.hint(format!("the table has {}", known.join(", "))),
            });
        };
        changes.extend(case.changes.iter().cloned());
    }
    for (what, Fraction(share)) in &of.reduce {
        changes.push(Change::Scale { what: what.clone(), factor: 1.0 - share });
    }
    for (what, Fraction(share)) in &of.increase {
        changes.push(Change::Scale { what: what.clone(), factor: 1.0 + share });
    }
    for (what, Ns(ns)) in &of.set {
        changes.push(Change::Set { what: what.clone(), ns: *ns });
    }
    Ok(changes)
}

/// Why nothing came of the changes: what was asked for, or the table.
fn unmade(error: &AssembleError, of: &WhatIf, stack: &Stack) -> Failure {
    let AssembleError::Stack(wrong) = error else {
        return Failure::new(Exit::Defect, error.to_string());
    };
    if wrong.subject.is_empty() {
        return Failure::new(Exit::Input, format!("use {}: {error}", of.source.from.display()));
    }
    let failure = Failure::new(Exit::Usage, format!("change the components: {error}"));
    if wrong.unknown.is_none() {
        return failure;
    }
    let few = |names: Vec<&str>| {
        let more = if names.len() > NAMED { ", …" } else { "" };
        names[..names.len().min(NAMED)].join(", ") + more
    };
    // A model that is no time cannot be changed.
    let times = |name: &&str| stack.meant(name).is_ok();
    let components = stack.components().iter().map(|one| one.name.as_str()).collect();
    let models = stack.models().map(|model| model.name.as_str()).filter(times).collect();
    failure.hint(format!(
        "the components are {}; the models {}; the categories {}; the layers {}; the sides {}",
        few(components),
        few(models),
        words(Category::ALL),
        words(Layer::ALL),
        words(Side::ALL)
    ))
}

/// All words of a property.
fn words<T: ToString>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
