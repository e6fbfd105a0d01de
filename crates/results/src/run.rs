//! All results of a run together.

use bandgap_report::Precision;

use crate::list::Outcome;
use crate::shown::Context;

/// A run with results of all kinds.
pub type Run = bandgap_record::Run<Outcome>;

/// What the results of a run are shown among.
pub fn context(run: &Run) -> Context<'_> {
    Context::of_results(run.results.iter().map(Outcome::as_shown).collect(), &run.notes)
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
        let context = context(run);
        let mut verdict = Verdict::default();
        for result in &run.results {
            let shown = result.as_shown();
            verdict.negative |= shown.is_negative();
            let missing = shown.missing();
            verdict.counted += missing.len();
            verdict.doubtful.extend(missing);
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
