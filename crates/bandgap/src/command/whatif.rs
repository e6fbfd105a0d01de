//! `bandgap whatif`: the effect of faster or slower components.

use std::str::FromStr;

use bandgap_assemble::{AssembleError, Divided, whatif};
use bandgap_launch::{Exit, Result, input, usage};
use bandgap_model::breakdown::{Becomes, Change, Stack};
use bandgap_units::{Fraction, Ns};
use clap::Args;

use super::components::{Source, load, rule};
use super::fit::How;
use crate::refused::unmade;

/// Examples.
pub const HELP: &str = "Examples:
  bandgap whatif --from thunderx2-connectx4
  bandgap whatif --from thunderx2-connectx4 --set pio=15ns --reduce hlp=20%
  bandgap whatif --from thunderx2-connectx4 --set c=1     a completion for each operation
  bandgap whatif --from LAST --id logp/tcp --reduce or=50%";

/// What is changed. All changes are made together; without any, what each component would bring is shown.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("from", |from| from.required(true)))]
pub struct WhatIf {
    #[command(flatten)]
    pub source: Source,
    /// Make it so much shorter, as pio=84%: a component, a model, a category (cpu, io, network), a layer (hlp,
    /// llp, hardware) or a side (initiator, target)
    #[arg(long, value_name = "NAME=SHARE", value_parser = share)]
    pub reduce: Vec<(String, Fraction)>,
    /// Give it this time, as switch=30ns, or a parameter this number, as p=4; a model's components keep their proportions
    #[arg(long, value_name = "NAME=TIME", value_parser = text)]
    pub set: Vec<(String, String)>,
    #[command(flatten)]
    pub how: How,
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

fn text(text: &str) -> Result<(String, String), String> {
    pair(text, "switch=30ns")
}

/// A name and a time.
pub fn time(text: &str) -> Result<(String, Ns), String> {
    pair(text, "llp_post=175.42ns")
}

/// Prints the effect of changes, a ranking and curves.
///
/// # Errors
/// The table cannot be read or is wrong, a name is unknown, or the result cannot be written.
pub fn run(of: &WhatIf) -> Result<Exit> {
    let Some(from) = &of.source.from else {
        return Err(usage!("change components: name some with --from"));
    };
    let Divided { table, breakdown, .. } = load(from, of.source.id.as_deref())?;
    let changes = changes(of, &table.stack)?;
    let precision = &of.how.precision;
    let (rule, confidence) = (rule(precision), precision.confidence.0);
    let made = whatif(&table, &changes, breakdown.as_ref(), rule, confidence);
    let made = made.map_err(|error| match error {
        AssembleError::Components(why) => input!("use {}: {why}", from.display()),
        error => unmade(error),
    })?;
    of.how.close("whatif", made)
}

/// The requested changes.
fn changes(of: &WhatIf, stack: &Stack) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for (what, Fraction(share)) in &of.reduce {
        changes.push(Change { what: what.clone(), becomes: Becomes::Shorter(*share) });
    }
    for (what, value) in &of.set {
        let wrong = |why: String| usage!("set {what}: {why}");
        let value = match stack.parameters.contains_key(what) {
            true => value.trim().parse().map_err(|_| wrong("it is a plain number".to_owned()))?,
            false => value.parse::<Ns>().map_err(|error| wrong(error.to_string()))?.0,
        };
        changes.push(Change { what: what.clone(), becomes: Becomes::Value(value) });
    }
    Ok(changes)
}
