//! All results of a run together.

use bandgap_report::Precision;

use crate::list::Outcome;
use crate::shown::{Context, counted};

/// A run with results of all kinds.
pub type Run = bandgap_record::Run<Outcome>;

/// The context in which a run's results are shown.
pub fn context(run: &Run) -> Context<'_> {
    Context::of_results(run.results.iter().map(Outcome::as_shown).collect(), &run.notes)
}

/// Whether a run gave what was requested.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Verdict {
    /// Number of quantities that count.
    pub counted: usize,
    /// The ids of quantities that have not converged or are missing.
    pub doubtful: Vec<String>,
    /// The ids of quantities that the clock limits.
    pub limited: Vec<String>,
    /// What is negative: a model that does not hold, a value beyond its limit, the ids of what is slow.
    pub negative: Vec<String>,
}

impl Verdict {
    /// The verdict on a run.
    pub fn of(run: &Run) -> Verdict {
        let context = context(run);
        let mut verdict = Verdict::default();
        let slow = run.notes.iter().filter(|note| note.code.starts_with("slow_"));
        verdict.negative.extend(slow.map(|note| note.about.clone()));
        for result in &run.results {
            let shown = result.as_shown();
            verdict.negative.extend(shown.negative());
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

    /// How many values are in doubt, and of how many: those that count, in the same words wherever it is said.
    pub(crate) fn words(&self) -> String {
        let of = counted(self.counted, "value");
        let count = if self.counted == 1 { "counts" } else { "count" };
        let limited = match self.limited.len() {
            0 => String::new(),
            some => format!(", at the clock's limit (~): {some}"),
        };
        format!("in doubt (*) or not known: {} of {of} that {count}{limited}", self.doubtful.len())
    }

    /// Whether everything that counts has converged and no result is negative.
    pub fn is_good(&self) -> bool {
        self.doubtful.is_empty() && self.negative.is_empty()
    }
}
