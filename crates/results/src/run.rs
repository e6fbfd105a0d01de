//! All results of a run together.

use bandgap_record::{RecordError, RunDir};
use bandgap_report::Layout;

use crate::Outcome;
use crate::batches::Batches;
use crate::kind::{Among, Verdict};
use crate::{logp, series};

/// A run with results of all kinds.
pub type Run = bandgap_record::Run<Outcome>;

/// Results that belong together, as one text.
pub fn text(results: &[Outcome], layout: &Layout) -> String {
    let among = among(results);
    among.results.iter().map(|result| result.text(&among, layout)).collect()
}

/// The parameters of several signatures of small messages side by side, and several kernels below one
/// another; nothing of fewer than two.
pub fn summary(results: &[Outcome], layout: &Layout) -> String {
    let among = among(results);
    let signatures = match &logp::small_messages(&among)[..] {
        [] | [_] => String::new(),
        several => logp::summary(several, &without_signature(&among), layout),
    };
    signatures + &series::summary(&among, layout)
}

/// The transports of which too little was measured for a signature of small messages, each with the reason.
fn without_signature<'a>(among: &Among<'a>) -> Vec<(&'a str, &'a str)> {
    let unfitted = among.of::<Batches>().filter(|of| of.is_of_small_messages());
    unfitted.map(|of| (&*of.transport, &*of.reason)).collect()
}

/// The worst of the verdicts on results, with all that is doubtful.
pub fn verdict(results: &[Outcome]) -> Verdict {
    let mut doubtful = Vec::new();
    for result in results {
        match result.as_shown().verdict() {
            Verdict::Good => {}
            Verdict::Doubtful(names) => doubtful.extend(names),
            Verdict::Missing => return Verdict::Missing,
        }
    }
    Verdict::doubtful(doubtful)
}

/// Writes the run file, and the tables and pictures of its results. `more`: results of further
/// transports or kernels are to come, so that each file is named after its own.
///
/// # Errors
/// A file cannot be written.
pub fn write_all(directory: &RunDir, run: &Run, more: bool) -> Result<(), RecordError> {
    let among = Among { more_to_come: more, ..among(&run.results) };
    directory.write_run(run)?;
    for result in &among.results {
        for file in result.files(&among)? {
            directory.write(&file.name, &file.contents)?;
        }
    }
    Ok(())
}

fn among(results: &[Outcome]) -> Among<'_> {
    Among::new(results.iter().map(Outcome::as_shown))
}

#[cfg(test)]
mod tests;
