//! What users ask of values beyond their precision: limits, and that nothing is in doubt.

use bandgap_launch::{Exit, Failure, Result, told, usage};
use bandgap_results::{LIMIT, Limit, LimitError, Run, Verdict};
use clap::Args;

/// The verdicts that a user asks for.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Verdict")]
pub struct Limits {
    /// End with exit code 1 where a value that counts has not converged (*), a model does not hold, or a limit cannot be
    /// told
    #[arg(long)]
    pub strict: bool,
    /// End with exit code 1 where the whole interval of a value is beyond a limit, as in 'logp/shm/rtt < 2.5us'; several
    /// may be given
    #[arg(long, value_name = "ID < VALUE")]
    pub limit: Vec<Limit>,
}

impl Limits {
    /// Adds the verdicts on the limits to a run, in place of those that it has.
    ///
    /// # Errors
    /// A limit is of no value that the run has, or has the wrong unit.
    pub fn judge(&self, run: &mut Run, ended_early: bool) -> Result<Exit> {
        if !self.limit.is_empty() && !run.results.is_empty() {
            run.results.retain(|of| of.as_rows().is_none_or(|of| of.kind != LIMIT));
            let judged = self.limit.iter().map(|limit| limit.judge(run, ended_early));
            let judged = judged.collect::<Result<Vec<_>, _>>().map_err(unjudged)?;
            run.results.extend(judged.into_iter().map(Into::into));
        }
        let verdict = Verdict::of(run);
        let broken = !self.limit.is_empty() && !verdict.beyond.is_empty();
        let good = !broken && (!self.strict || verdict.is_good());
        Ok(if good { Exit::Fine } else { Exit::Doubtful })
    }
}

/// A failure to find or judge a value.
pub fn unjudged(error: LimitError) -> Failure {
    let failure = usage!("{}", told(&error));
    match error {
        LimitError::Unknown(_, near) => failure.hint(format!("the nearest: {}", near.join(", "))),
        LimitError::Several(_, ids) => failure.hint(format!("name one: {}", ids.join(", "))),
        _ => failure,
    }
}
