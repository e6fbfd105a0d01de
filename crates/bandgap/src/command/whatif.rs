//! `bandgap whatif`: what faster or slower components would bring.

use std::str::FromStr;

use bandgap_launch::{Exit, Failure};
use bandgap_model::breakdown::{Category, Change, Layer, Stack};
use bandgap_results::AssembleError;
use bandgap_results::whatif::assemble::whatif;
use bandgap_stats::Rule;
use bandgap_units::{Fraction, Ns};
use clap::Args;

use super::components::{Loaded, Source, load};
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
    /// Give it this time, as switch=30ns, or a parameter this number, as p=4; a model's components keep their proportions
    #[arg(long, value_name = "NAME=TIME", value_parser = value)]
    pub set: Vec<(String, Value)>,
}

/// A time, or a plain number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A time.
    Time(Ns),
    /// A number.
    Number(f64),
}

impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Value, String> {
        match text.trim().parse::<f64>() {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => text
                .parse()
                .map(Value::Time)
                .map_err(|error: bandgap_units::UnitError| error.to_string()),
        }
    }
}

/// A name and a value with `=` between them.
fn pair<T: FromStr<Err: ToString>>(text: &str, example: &str) -> Result<(String, T), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            let value = value.parse::<T>().map_err(|error| error.to_string())?;
            Ok((name.trim().to_owned(), value))
        }
        _ => Err(format!("it must be a name, '=' and a value, as {example}")),
    }
}

fn share(text: &str) -> Result<(String, Fraction), String> {
    pair(text, "pio=84%")
}

fn value(text: &str) -> Result<(String, Value), String> {
    pair(text, "switch=30ns")
}

/// A name and a time.
pub(super) fn time(text: &str) -> Result<(String, Ns), String> {
    pair(text, "llp_post=175.42ns")
}

/// Prints what changes bring, a ranking and curves; keeps files only where `--out` says so.
///
/// # Errors
/// The table cannot be read or is wrong, a name means nothing, or the result cannot be written.
pub(super) fn run(of: &WhatIf, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let Loaded { table, breakdown, .. } = load(&of.source)?;
    let changes = changes(of, &table.stack)?;
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let result = whatif(&table, &changes, breakdown.as_deref(), rule, measure.confidence.0);
    let result = result.map_err(|error| match error {
        AssembleError::Change(_) => {
            let failure = Failure::new(Exit::Usage, format!("change the components: {error}"));
            failure.hint(known(&table.stack))
        }
        AssembleError::Components(_) => {
            Failure::new(Exit::Input, format!("use {}: {error}", of.source.from.display()))
        }
        error => Failure::new(Exit::Defect, error.to_string()),
    })?;
    let mut sink = Sink::open(&output.only_asked(), "whatif", measure)?;
    let exit = sink.add(vec![result.into()])?;
    sink.close(output.judged(exit))
}

/// The changes that were asked for.
fn changes(of: &WhatIf, stack: &Stack) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for (what, Fraction(share)) in &of.reduce {
        changes.push(Change::Reduce { what: what.clone(), share: *share });
    }
    for (what, value) in &of.set {
        let wrong = |why: &str| Failure::new(Exit::Usage, format!("set {what}: {why}"));
        let value = match (value, stack.parameters.contains_key(what)) {
            (Value::Number(number), true) => *number,
            (Value::Time(Ns(ns)), false) => *ns,
            (Value::Number(_), false) => return Err(wrong("the unit is missing, as in 15ns")),
            (Value::Time(_), true) => return Err(wrong("it is a plain number")),
        };
        changes.push(Change::Set { what: what.clone(), value });
    }
    Ok(changes)
}

/// What can be changed.
fn known(stack: &Stack) -> String {
    let few = |names: Vec<&str>| {
        let more = if names.len() > NAMED { ", …" } else { "" };
        names[..names.len().min(NAMED)].join(", ") + more
    };
    let words = |words: Vec<String>| words.join(", ");
    format!(
        "components: {}; models: {}; parameters: {}; categories: {}; layers: {}",
        few(stack.components.iter().map(|one| &*one.name).collect()),
        few(stack.models.iter().map(|model| &*model.name).collect()),
        few(stack.parameters.keys().map(|name| &**name).collect()),
        words(Category::ALL.iter().map(Category::to_string).collect()),
        words(Layer::ALL.iter().map(Layer::to_string).collect()),
    )
}
