//! What a reader should know of how a breakdown was measured.

use bandgap_campaign::breakdown::{BreakdownPlan, Division, Model, Rounds, alone};
use bandgap_campaign::judge::Judged;
use bandgap_stats::interval::Interval;
use bandgap_units::{Fraction, Ns};

use super::assemble::TOLERANCE;
use super::schema::{Arrivals, Inserted, Measured, Within};
use crate::measured::listed;

/// The sentences.
pub(super) fn of(
    about: &Measured,
    plan: &BreakdownPlan,
    judged: &Judged<'_>,
    found: &[(Model, Rounds)],
) -> Vec<String> {
    let mut said = vec![how(plan, found)];
    said.extend(came_back(&about.inserted));
    said.extend(about.arrivals.as_ref().and_then(arriving));
    if let Division::Lines(_) = plan.divided {
        said.extend(alone(judged).map(|ratio| undivided(ratio.value, ratio.interval)));
    }
    said
}

/// What the models can fail by.
fn how(plan: &BreakdownPlan, found: &[(Model, Rounds)]) -> String {
    let rounds: Vec<usize> = found.iter().map(|(_, rounds)| rounds.rounds.len()).collect();
    let (least, most) = (rounds.iter().min().unwrap_or(&0), rounds.iter().max().unwrap_or(&0));
    let rounds = if least == most { least.to_string() } else { format!("{least} and {most}") };
    match plan.divided {
        Division::Calls => format!(
            "Each component was timed in batches of its own, in {rounds} rounds, and the models are compared with \
             batches of the same rounds that had no stamps. Together the components cover the whole way, so a model \
             can only be wrong by what the stamps change, and what changed between batches."
        ),
        Division::Lines(_) => format!(
            "The transfer is that of a plain loop over lines like the transport's, the software's part what one processor \
             needs for both sides alone; the model is compared with messages of the same {rounds} rounds. It assumes \
             that none of the software is hidden behind the transfer."
        ),
    }
}

/// Which insertions came back, and by how much the others did not.
fn came_back(inserted: &[Inserted]) -> Vec<String> {
    let of = |which: Within| inserted.iter().filter(move |one| one.comes_back == which);
    let mut said = Vec::new();
    if inserted.is_empty() {
        return said;
    }
    let (yes, all) = (of(Within::Yes).count(), inserted.len());
    said.push(format!(
        "Of {all} computations of known length that were inserted, {yes} came back in the component that they are in, \
         within 5 % or 5 ns; {} did not, and of {} it is undecided.",
        of(Within::No).count(),
        of(Within::Undecided).count()
    ));
    let missed: Vec<String> = of(Within::No)
        .map(|one| {
            let (of, part) = (one.inserted.ns(), Ns::from_secs(one.part.value.0));
            let whole = Ns::from_secs(one.whole.value.0);
            format!("{of} in {}: {part}, and half a round trip {whole}", one.component)
        })
        .collect();
    if !missed.is_empty() {
        said.push(format!(
            "What does not come back in its component is hidden, or makes another one longer or shorter: then the \
             component's time is not what leaving it out would save. Inserted, and what became longer: {}.",
            listed(&missed)
        ));
    }
    said
}

/// How requests arrive.
fn arriving(arrivals: &Arrivals) -> Option<String> {
    let at =
        |share: f64| arrivals.quantiles.iter().find(|(of, _)| of.0 == share).map(|(_, at)| at.ns());
    let (low, middle, high) = (at(0.05)?, at(0.5)?, at(0.95)?);
    Some(format!(
        "Requests that are sent as fast as possible arrive every {middle} (median; 90 % of the intervals are between {low} and \
         {high})."
    ))
}

/// Why injection is not divided, or that it could be.
fn undivided(value: f64, Interval { low, high }: Interval) -> String {
    let [value, low, high] = [value, low, high].map(|of| (Fraction(of), of));
    let by = format!("{} ({} to {})", value.0, low.0, high.0);
    let tried = "Injection is not divided: over memory that both processors touch no stamps tell its parts. Tried: what \
                 the requester does of a message on one processor alone";
    if high.1 < -TOLERANCE || low.1 > TOLERANCE {
        format!(
            "{tried} differs from the time between two requests by {by}, so it is not what a stream takes."
        )
    } else if low.1 >= -TOLERANCE && high.1 <= TOLERANCE {
        format!("{tried} agrees with the time between two requests here, to {by}.")
    } else {
        format!(
            "{tried} differs from the time between two requests by {by}, which decides nothing."
        )
    }
}
