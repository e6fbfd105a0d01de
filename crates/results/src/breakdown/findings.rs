//! What a reader should know of how a breakdown was measured.

use bandgap_campaign::breakdown::{
    BreakdownPlan, Division, Hidden, Model, Rounds, Seen, TOLERANCE, alone,
};
use bandgap_campaign::judge::Judged;
use bandgap_stats::interval::Interval;
use bandgap_stats::quantile::mean;
use bandgap_units::{Fraction, Ns};

use super::schema::{Arrivals, Inserted, Measured, ModelRounds, Within};
use crate::measured::listed;

/// The sentences.
pub(super) fn of(
    about: &Measured,
    plan: &BreakdownPlan,
    judged: &Judged<'_>,
    found: &[(Model, Rounds)],
) -> Vec<String> {
    let mut said = vec![how(plan).to_owned()];
    said.extend(identities(found));
    said.extend(left_out(about));
    said.extend(found.iter().filter_map(|(model, rounds)| held_up(*model, rounds)));
    said.extend(found.iter().flat_map(|(_, rounds)| below_zero(rounds)));
    said.extend(found.iter().filter_map(|(model, rounds)| any_error(*model, rounds, judged)));
    said.extend(longer_alone(found));
    said.extend(found.iter().find_map(|(_, rounds)| hidden(rounds, judged.confidence())));
    said.extend(found.first().and_then(|(_, rounds)| one_launch(plan, rounds)));
    said.extend(came_back(&about.inserted));
    said.extend(about.arrivals.as_ref().and_then(arriving));
    if let Division::Lines(_) = plan.divided {
        said.extend(alone(judged).map(|ratio| undivided(ratio.value, ratio.interval)));
    }
    said
}

/// What the models can fail by.
fn how(plan: &BreakdownPlan) -> &'static str {
    match plan.divided {
        Division::Calls => {
            "Each component was timed in batches of its own, and the models are compared with batches of the same rounds \
             that had no stamps. Together the components cover the whole way. So a model can be wrong by what the stamps \
             change, by what changed between batches, and because of three batches in a round the middle one counts, of \
             each by itself."
        }
        Division::Lines(_) => {
            "The transfer is that of a plain loop over lines like the transport's, the software's part what one processor \
             needs for both sides alone, less as much of it as is hidden of a computation in that loop; the model is compared \
             with messages of the same rounds. It assumes that a message's lines take as long as the loop's, and that the \
             software stands before its stores, as the computation does."
        }
    }
}

/// Components that are parts of one timeline, and what that is.
const TIMELINES: [(&[&str], &str); 2] = [
    (&["visible", "poll"], "which together end where the last poll begins"),
    (
        &["send_calls", "receive_calls", "failing_polls", "own_code"],
        "which are all calls of the requester and all time between them",
    ),
];

/// Which components divide one timeline, so that no error can tell whether they divide it rightly.
fn identities(found: &[(Model, Rounds)]) -> Option<String> {
    let is_there =
        |name: &str| found.iter().flat_map(|(_, rounds)| &rounds.parts).any(|(of, _)| *of == name);
    let whole = TIMELINES.iter().filter_map(|(names, what)| {
        let there: Vec<&str> = names.iter().copied().filter(|name| is_there(name)).collect();
        (there.len() > 1).then(|| format!("{}, {what}", there.join(" + ")))
    });
    let whole: Vec<String> = whole.collect();
    (!whole.is_empty()).then(|| {
        format!(
            "Identities of one timeline, whose sum is the same however they are divided: {}. No error tests these divisions.",
            whole.join("; ")
        )
    })
}

/// More rounds outside their fences than this share of all are worth a word.
const MANY_OUTSIDE: f64 = 0.2;

/// That many rounds were left out.
fn left_out(about: &Measured) -> impl Iterator<Item = String> {
    let many = |of: &&ModelRounds| {
        of.outside as f64 > MANY_OUTSIDE * of.rounds.saturating_add(of.outside) as f64
    };
    about.rounds.iter().filter(many).map(|of| {
        format!(
            "Of the {} rounds of {}, {} were left out, as a value was outside its fence: the numbers are of the calmer \
             ones.",
            of.rounds.saturating_add(of.outside),
            of.model,
            of.outside
        )
    })
}

/// The middle batch of a round is held up if it takes this many times as long as the shortest.
const HELD_UP: f64 = 1.2;

/// That something else held batches up: that is in a whole message, and in a part only where it fell into it.
fn held_up(model: Model, rounds: &Rounds) -> Option<String> {
    let is_divided = !rounds.parts.is_empty();
    (is_divided && rounds.held_up > HELD_UP).then(|| {
        format!(
            "Batches of {} were held up, by other programs say: of the three without stamps in a round the middle one takes {} times \
             as long as the shortest (median over the rounds). What was observed contains that; a component does only where it \
             fell into it, so their sum may be too short.",
            model.name(),
            format_args!("{:.1}", rounds.held_up)
        )
    })
}

/// Components that came out below 0.
fn below_zero(rounds: &Rounds) -> impl Iterator<Item = String> {
    let below = rounds.parts.iter().map(|(name, values)| (name, mean(values)));
    below.filter(|(_, value)| *value < 0.0).map(|(name, value)| {
        format!(
            "'{name}' came out below 0, at {}: it counts so in the model, and stands as 0 among the components.",
            Ns(value)
        )
    })
}

/// That any error is possible, since what was observed is known so badly.
fn any_error(model: Model, rounds: &Rounds, judged: &Judged<'_>) -> Option<String> {
    let is_open = !rounds.parts.is_empty() && rounds.error(judged.confidence()).is_none();
    is_open.then(|| {
        format!(
            "The error of {} has no interval: what was observed differs so much from round to round, or from launch to \
             launch, that any error is possible.",
            model.name()
        )
    })
}

/// That the loop is no part of the message: it takes longer than the message does.
fn longer_alone(found: &[(Model, Rounds)]) -> Option<String> {
    let (_, rounds) = found.iter().find(|(model, _)| *model == Model::Latency)?;
    let (_, slot) = rounds.parts.iter().find(|(name, _)| *name == "slot")?;
    let (slot, whole) = (mean(slot), mean(&rounds.observed));
    (slot > whole).then(|| {
        format!(
            "The loop's transfer takes {}, longer than the whole half of a round trip ({}): here it is no part of a \
             message, and the division does not hold.",
            Ns(slot),
            Ns(whole)
        )
    })
}

/// How much of the software is hidden behind the transfer.
fn hidden(rounds: &Rounds, confidence: f64) -> Option<String> {
    let Hidden { values, seen } = rounds.hidden.as_ref()?;
    let (hidden, interval) = rounds.mean(values, confidence)?;
    let (_, added) = rounds.parts.iter().find(|(name, _)| *name == "software")?;
    let all = Ns(mean(added) + hidden);
    let times = format!("{} ({} to {})", Ns(hidden), Ns(interval.low), Ns(interval.high));
    let why = match seen {
        Seen::Yes => {
            return Some(format!(
                "Of the software's {all} each way, {times} are hidden behind the transfer of the line."
            ));
        }
        Seen::LongerThanItself => {
            "a computation in its place makes the loop's transfer longer by more than itself"
        }
        Seen::NoComputation => "the computation in its place took no time on one processor",
    };
    Some(format!(
        "Of the software's {all} each way nothing counts as hidden. How much is cannot be seen: {why}."
    ))
}

/// That a single launch does not show how launches differ.
fn one_launch(plan: &BreakdownPlan, rounds: &Rounds) -> Option<String> {
    let is_one = rounds.launches().len() == 1 && matches!(plan.divided, Division::Lines(_));
    is_one.then(|| {
        "The intervals are of one launch. Another one has its memory elsewhere, and its times may differ by more: \
         --launches 5 shows by how much."
            .to_owned()
    })
}

/// Which insertions came back, and by how much the others did not.
fn came_back(inserted: &[Inserted]) -> Vec<String> {
    if inserted.is_empty() {
        return Vec::new();
    }
    let told = |of: fn(&Inserted) -> Within| {
        let count = |which| inserted.iter().filter(|one| of(one) == which).count();
        let [yes, no, open] = [Within::Yes, Within::No, Within::Undecided].map(count);
        format!("{yes} yes, {no} no, {open} undecided")
    };
    let part: fn(&Inserted) -> Within = |one| one.comes_back;
    let whole: fn(&Inserted) -> Within = |one| one.whole_comes_back;
    let mut said = vec![format!(
        "Computations of known length were inserted, {} of them. Did the component that each is in become longer by it, \
         within 5 % or 5 ns? {}. Did half a round trip? {}.",
        inserted.len(),
        told(part),
        told(whole)
    )];
    let missed = |which: fn(&Inserted) -> Within, time: fn(&Inserted) -> Ns| {
        let missed = inserted.iter().filter(move |one| which(one) == Within::No);
        let told = move |one: &Inserted| {
            format!("{} for {} in {}", time(one), one.inserted.ns(), one.component)
        };
        missed.map(told).collect::<Vec<String>>()
    };
    let parts = missed(part, |one| Ns::from_secs(one.part.value.0));
    if !parts.is_empty() {
        said.push(format!(
            "Components that became longer by something else: {}. Their stamps do not see what is there, or what follows \
             changed.",
            listed(&parts)
        ));
    }
    let wholes = missed(whole, |one| Ns::from_secs(one.whole.value.0));
    if !wholes.is_empty() {
        said.push(format!(
            "Half a round trip became longer by something else: {}. There the two processors' work overlaps, or one waits \
             differently for the other: what a component takes is not what leaving it out would save.",
            listed(&wholes)
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
