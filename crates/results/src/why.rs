//! Why values are in doubt: a line for each cause, the largest effect first.

use bandgap_record::{Conditions, Note, Quantity};
use bandgap_report::{Block, Precision};

use crate::limit::LIMIT;
use crate::notes::{template, words};
use crate::run::{Run, Verdict, context};
use crate::shown::{CLOCK_LIMIT, Context, by_key, grouped};

/// With fewer values than this, their number is the cause of a wide interval.
const FEW: u64 = 8;
/// If more than this share of the batches was rejected, that is the cause.
const MANY: f64 = 0.1;

/// A cause of doubt, with the quantities affected.
struct Cause {
    result: String,
    quantities: Vec<String>,
    width: [f64; 2],
    /// Its code and values.
    note: Note,
}

/// What two notes have in common that are the same except for their subject.
pub(crate) fn values(note: &Note) -> impl PartialEq + use<'_> {
    (&note.code, &note.values)
}

/// A note in words, with what would help.
pub(crate) fn with_hint(note: &Note, run: &Run) -> String {
    match template(&note.code).map_or("", |template| template.hint.of(run)) {
        "" => words(note),
        hint => format!("{} ({hint})", words(note)),
    }
}

/// The doubtful values of a run, each with its cause and a remedy.
pub fn why(run: &Run) -> Vec<Block> {
    let causes = causes(run);
    let mut blocks = vec![Block::Text(Verdict::of(run).words())];
    blocks.extend(causes.iter().map(|Cause { result, quantities, width, note, .. }| {
        let (all, width, words) =
            (quantities.join(", "), self::width(*width), with_hint(note, run));
        Block::Text(format!("{result} {all} {width}: {words}"))
    }));
    let is_cause = |note: &Note| {
        causes
            .iter()
            .any(|of| note.about.starts_with(&of.result) && values(&of.note) == values(note))
    };
    let said = run.notes.iter().filter(|note| note.code != CLOCK_LIMIT && !is_cause(note));
    for (_, notes) in by_key(said.map(|note| (values(note), note))) {
        let about = notes.iter().map(|note| &note.about).filter(|about| !about.is_empty());
        let about = match about.collect::<Vec<_>>()[..] {
            [] => String::new(),
            [one] => format!("{one}: "),
            [first, ref more @ ..] => format!("{first} and {} more: ", more.len()),
        };
        blocks.push(Block::Text(format!("{about}{}", with_hint(notes[0], run))));
    }
    for of in &run.conditions {
        blocks.extend(batches(of).map(Block::Text));
    }
    blocks
}

/// What became of the batches over a transport.
fn batches(of: &Conditions) -> Option<String> {
    let rejected = of.batches.all_rejected();
    let all = grouped((of.batches.used + rejected) as f64);
    let reasons: Vec<String> = of
        .batches
        .rejected
        .iter()
        .map(|(reason, count)| format!("{} {}", grouped(*count as f64), reason_words(reason)))
        .collect();
    let over = match &*of.transport {
        "" => "all transports",
        of => of,
    };
    (rejected > 0).then(|| format!("{over}: of {all} batches {}", reasons.join(", ")))
}

/// The causes, the largest effect first. Rows of one result are grouped by cause.
fn causes(run: &Run) -> Vec<Cause> {
    let among = context(run);
    let all = run.results.iter().flat_map(|result| result.as_shown().quantities());
    let all = by_key(all.filter(|(id, _, counts)| *counts && !id.starts_with(LIMIT)).filter_map(
        |(id, quantity, _)| {
            let note = match among.precision(&id, quantity) {
                Precision::Converged => return None,
                Precision::ClockLimited => Note::new("clock_step", ""),
                Precision::No => Note { about: String::new(), ..cause(run, &among, &id, quantity) },
            };
            let of = id.rsplit_once('/').map_or("", |(of, _)| of).split('/');
            let of = of.filter(|part| !part.contains('=')).collect::<Vec<_>>().join("/");
            Some(((of, note), (id, quantity.relative_width().unwrap_or(f64::INFINITY))))
        },
    ));
    let cause = |((result, note), all): ((String, Note), Vec<(String, f64)>)| {
        let name = |id: &str| id.rsplit('/').next().unwrap_or(id).to_owned();
        let names = by_key(all.iter().map(|(id, _)| (name(id), ())));
        let end = |pick: fn(f64, f64) -> f64| all.iter().map(|of| of.1).reduce(pick);
        let width = [end(f64::min), end(f64::max)].map(|end| end.unwrap_or(f64::INFINITY));
        let quantities = names.into_iter().map(|(name, _)| name).collect();
        Cause { result, quantities, width, note }
    };
    let mut all: Vec<Cause> = all.into_iter().map(cause).collect();
    all.sort_by(|a, b| b.width[1].total_cmp(&a.width[1]));
    all
}

/// The cause of a quantity's wide interval.
fn cause(run: &Run, context: &Context<'_>, id: &str, quantity: &Quantity) -> Note {
    let known = |code: &str| Note::new(code, "");
    if id.starts_with("hockney/") {
        return known("sizes_scatter");
    }
    if let Some(note) = context.about(id).find(|note| note.about == id) {
        return note.clone();
    }
    let of = run.conditions.iter().find(|of| id.split('/').any(|part| part == of.transport));
    if quantity.samples < FEW {
        return known("few_batches");
    }
    if let Some(of) = of {
        let rejected = of.batches.all_rejected();
        let all = of.batches.used + rejected;
        if let Some(reason) = of.batches.mostly()
            && rejected as f64 > MANY * all as f64
        {
            let note = known("batches_rejected").with("some", rejected as f64);
            return note.with("all", all as f64).with("reason", reason_words(reason));
        }
        if of.launches > 1 {
            return known("launches_differ");
        }
    }
    known("batches_scatter")
}

/// Why a batch does not count, in words.
fn reason_words(reason: &str) -> &str {
    match reason {
        "placement_changed" => "placement changed mid-batch",
        "pace_changed" => "speed changed mid-batch",
        "slowed" => "a core was slowed",
        "other_state" => "in another placement",
        "between_states" => "between placements",
        "not_warm" => "warm-up did not converge",
        "load_ended" => "the load ended early",
        "no_samples" => "no samples",
        "unavailable" => "not available here",
        other => other,
    }
}

/// `±6 %`, or `±6 to 20 %`.
fn width([least, most]: [f64; 2]) -> String {
    if !most.is_finite() {
        return "no interval".to_owned();
    }
    let [least, most] = [least, most].map(|of| format!("{:.0}", 100.0 * of));
    if least == most { format!("±{most} %") } else { format!("±{least} to {most} %") }
}
