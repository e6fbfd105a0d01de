//! What every kind of result can do, and all results of a run together.

use std::collections::BTreeSet;

use bandgap_record::{Note, Quantity};
use bandgap_report::{Block, Cell, Precision, Shown as Drawn};

use crate::Outcome;

/// A run with results of all kinds.
pub type Run = bandgap_record::Run<Outcome>;

/// A result of any kind, for a reader.
pub trait Shown {
    /// Its quantities by id, each with whether `--strict` asks for its convergence. The same quantity has the same
    /// id in every run, whatever else was measured.
    fn quantities(&self) -> Vec<(String, &Quantity, bool)>;

    /// All there is of it: tables with all rows, and figures.
    fn detail(&self, context: &Context<'_>) -> Vec<Block>;

    /// What of it stands on a screen: all but figures, where it does not say less.
    fn short(&self, context: &Context<'_>) -> Vec<Block> {
        let mut blocks = self.detail(context);
        blocks.retain(|block| !matches!(block, Block::Figure(_)));
        blocks
    }

    /// Whether it says no to what was asked: a model that does not hold.
    fn is_negative(&self) -> bool {
        false
    }
}

/// What a result is shown among.
pub struct Context<'a> {
    /// All results of the run.
    pub results: &'a [Outcome],
    /// The notes of the run.
    pub notes: &'a [Note],
    limited: BTreeSet<&'a str>,
}

/// The note about a value whose interval is as narrow as the clock allows.
pub const CLOCK_LIMIT: &str = "clock_limit";

impl<'a> Context<'a> {
    /// Of a run.
    pub fn new(run: &'a Run) -> Context<'a> {
        let limited = run.notes.iter().filter(|note| note.code == CLOCK_LIMIT);
        let limited = limited.map(|note| note.about.as_str()).collect();
        Context { results: &run.results, notes: &run.notes, limited }
    }

    /// How well the quantity of this id is known.
    pub fn precision(&self, id: &str, quantity: &Quantity) -> Precision {
        match quantity.converged {
            _ if self.limited.contains(id) => Precision::ClockLimited,
            true => Precision::Converged,
            false => Precision::No,
        }
    }

    /// A quantity as a cell, with its mark.
    pub fn cell(&self, id: &str, quantity: &Quantity) -> Cell {
        Drawn::new(quantity, self.precision(id, quantity)).into()
    }

    /// The notes about a quantity or a result.
    pub fn about(&self, id: &str) -> impl Iterator<Item = &'a Note> {
        self.notes.iter().filter(move |note| !note.about.is_empty() && note.is_about(id))
    }
}

/// Whether a run is what was asked for.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Verdict {
    /// The quantities that count.
    pub counted: usize,
    /// The ids of those that have not converged.
    pub doubtful: Vec<String>,
    /// The ids of those that the clock limits.
    pub limited: Vec<String>,
    /// Whether a result says no.
    pub negative: bool,
}

impl Verdict {
    /// Of a run.
    pub fn of(run: &Run) -> Verdict {
        let context = Context::new(run);
        let mut verdict = Verdict::default();
        for result in &run.results {
            let shown = result.as_shown();
            verdict.negative |= shown.is_negative();
            for (id, quantity, counts) in shown.quantities() {
                if !counts {
                    continue;
                }
                verdict.counted += 1;
                match context.precision(&id, quantity) {
                    Precision::Converged => {}
                    Precision::ClockLimited => verdict.limited.push(id),
                    Precision::No => verdict.doubtful.push(id),
                }
            }
        }
        verdict
    }

    /// Whether all that counts has converged, and nothing says no.
    pub fn is_good(&self) -> bool {
        self.doubtful.is_empty() && !self.negative
    }
}
