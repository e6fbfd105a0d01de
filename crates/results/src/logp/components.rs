//! The parameters of a signature as a table of components, so that it can be asked what shorter ones would
//! bring.
//!
//! - `made`: components and models of them, with their spreads.
//! - `way`: half a round trip, or the way of a transfer.
//! - `rate`: a message at full rate.

mod made;
mod rate;
mod way;

use bandgap_model::Regime;
use bandgap_model::breakdown::Stack;
use bandgap_record::ComponentTable;

use self::made::Made;
use super::schema::{Logp, Operation, Parameters};
use crate::AssembleError;
use crate::Outcome;
use crate::measured::State;

/// The level that the intervals of a run are taken to have if it does not say.
const USUAL: f64 = 0.95;

/// Signatures that a sentence names, at most.
const NAMED: usize = 6;

/// The parameters of a signature in one state of the machine.
#[derive(Clone, Copy)]
struct Found<'a> {
    logp: &'a Logp,
    parameters: &'a Parameters,
    regime: Regime,
    state: &'a State,
}

impl<'a> Found<'a> {
    fn main(logp: &'a Logp) -> Self {
        Self { logp, parameters: &logp.parameters, regime: logp.regime, state: &logp.state }
    }

    /// Those in the other states.
    fn others(logp: &'a Logp) -> impl Iterator<Item = Self> {
        logp.other_states.iter().map(move |other| Self {
            logp,
            parameters: &other.parameters,
            regime: other.regime,
            state: &other.state,
        })
    }

    /// What a reader calls it: `signature over shm, cache line 52.1 ns`.
    fn name(&self) -> String {
        let state = match self.state.probe {
            Some(_) => format!(", {}", self.state.label),
            None => String::new(),
        };
        self.logp.subject() + &state
    }

    /// What is moved; `None` of small messages, and of transfers without bytes, which are the same.
    fn moved(&self) -> Option<(Operation, u64)> {
        self.logp.operation.zip(self.logp.bytes).filter(|(_, bytes)| *bytes > 0)
    }

    /// The same of transfers without bytes, in the same state of the machine.
    fn without_bytes(&self, all: &[Self]) -> Option<Self> {
        let like = |other: &&Self| {
            other.logp.bytes == Some(0)
                && (&other.logp.name, &other.logp.transport)
                    == (&self.logp.name, &self.logp.transport)
                && other.state.label == self.state.label
        };
        all.iter().find(like).copied()
    }
}

/// The components of a run's signature: of the first of small messages, else of the longest transfer, in
/// the machine's main state; or of the first whose name holds `wanted`. `confidence`: of its intervals.
///
/// # Errors
/// There is no signature, none with such a name, or it lacks what models are made of.
pub fn components(
    results: &[Outcome],
    wanted: Option<&str>,
    confidence: Option<f64>,
) -> Result<ComponentTable, AssembleError> {
    let all = found(results);
    let names = || all.iter().map(Found::name);
    let chosen = match wanted {
        None => all.first(),
        Some(wanted) => all.iter().find(|one| holds(&one.name(), wanted)),
    };
    let Some(chosen) = chosen else {
        return Err(match wanted {
            Some(wanted) if !all.is_empty() => {
                AssembleError::NoSuchSignature { wanted: wanted.to_owned(), known: few(names()) }
            }
            _ => AssembleError::NoSignature,
        });
    };
    let mut made = Made::new(confidence.unwrap_or(USUAL));
    let others = names().filter(|name| *name != chosen.name());
    let others = if all.len() > 1 {
        format!(" The run has others, which --signature chooses: {}.", few(others))
    } else {
        String::new()
    };
    made.notes.push(format!("The parameters: {}.{others}", chosen.name()));
    if confidence.is_none() {
        let taken = "The run does not say at which level its intervals are: 95 % is assumed.";
        made.notes.push(taken.to_owned());
    }
    let noted = made.notes.len();
    made.way(chosen, chosen.without_bytes(&all));
    made.message(chosen);
    if made.models.is_empty() {
        let why = made.notes.split_off(noted).join(" ");
        return Err(AssembleError::NoComponents { of: chosen.name(), why });
    }
    made.overheads(chosen);
    let Made { components, models, curves, notes, lacking, .. } = made;
    let mut stack = Stack::new(components, models)?;
    for (name, why) in lacking {
        stack = stack.lacking(name, &why);
    }
    let description = format!("{}, {}", chosen.name(), chosen.logp.participants("→"));
    let plain = ComponentTable::plain(&chosen.logp.transport, description, stack);
    Ok(ComponentTable { curves, notes, ..plain })
}

/// The signatures of a run, that which is chosen first of all first.
fn found(results: &[Outcome]) -> Vec<Found<'_>> {
    let all = results.iter().filter_map(|outcome| match outcome {
        Outcome::Logp(logp) => Some(&**logp),
        _ => None,
    });
    let mut all: Vec<&Logp> = all.collect();
    all.sort_by_key(|logp| (logp.is_of_transfers(), std::cmp::Reverse(logp.bytes)));
    let main = all.iter().map(|logp| Found::main(logp));
    main.chain(all.iter().flat_map(|logp| Found::others(logp))).collect()
}

/// Whether a name holds these words, whatever the case of letters and the blanks between.
fn holds(name: &str, wanted: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<String>();
    plain(name).contains(&plain(wanted))
}

fn few(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let more = if names.len() > NAMED { "; …" } else { "" };
    names[..names.len().min(NAMED)].join("; ") + more
}

#[cfg(test)]
mod tests;
