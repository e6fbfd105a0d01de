//! The words of notes: the one table of codes.

use crate::shown::grouped;
use bandgap_record::{Note, Number, Unit, Value};
use bandgap_report::{scaled, share, signed_share};
use bandgap_units::significant_short;

use crate::run::Run;

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Shown last: what the command was asked.
    Answer,
    /// Shown with the details.
    Detail,
    /// Shown on the screen, since it changes the meaning of a number.
    Doubt,
    /// Shown first: results are missing.
    Missing,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The code.
    pub code: &'static str,
    /// How much it matters.
    pub level: Level,
    /// Its text. `{name}` is a value of the note; with a unit after a colon it is written in that unit:
    /// `{low:s}`, `{size:B}`, `{rate:B/s}`, `{share:%}`, `{off:±}`, `{count:n}`; `{about}` is the quantity.
    pub text: &'static str,
    /// What would help.
    pub hint: Hint,
}

/// What would help: an option or a command; empty where nothing does.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// For measured numbers.
    pub measured: &'static str,
    /// For a fit to another tool's table.
    pub fitted: &'static str,
}

impl Hint {
    /// The hint for this run.
    pub fn of(self, run: &Run) -> &'static str {
        if run.conditions.is_empty() { self.fitted } else { self.measured }
    }
}

pub(crate) const NONE: Hint = both("");
pub(crate) const LONGER: Hint =
    Hint { measured: "--time-budget", fitted: "more rows in the table" };
pub(crate) const SIZES: Hint = Hint { measured: "--sizes", fitted: "more sizes in the table" };

/// One that helps in either case.
const fn both(hint: &'static str) -> Hint {
    Hint { measured: hint, fitted: hint }
}

/// One that helps only where something is measured.
pub(crate) const fn measuring(hint: &'static str) -> Hint {
    Hint { measured: hint, fitted: "" }
}

const fn note(code: &'static str, level: Level, text: &'static str, hint: Hint) -> Template {
    Template { code, level, text, hint }
}

/// All notes, in the order of their codes.
#[rustfmt::skip]
pub const TEMPLATES: &[Template] = &[
    note("arm_slope", Level::Doubt, "from Δ = {from:s} on the cost rises with slope {slope}, not 1: or is not constant", NONE),
    note("arm_undecided", Level::Detail, "from Δ = {from:s} on the cost rises with slope {slope} ({low} to {high}), which may be 1", LONGER),
    note("batches_rejected", Level::Detail, "{some:n} of {all:n} batches rejected ({reason})", measuring("a quieter machine")),
    note("batches_scatter", Level::Detail, "batches scatter", LONGER),
    note("clock_limit", Level::Detail, "one step of the clock: ±{half:s}", NONE),
    note("clock_step", Level::Detail, "the step of the clock allows no narrower interval", NONE),
    note("collective_unavailable", Level::Missing, "not measured: {reason}", NONE),
    note("contention_left_out", Level::Doubt, "not simulated: contention in the network, and noise", NONE),
    note("counts_off", Level::Missing, "{model} is left out: a message passed {component} {count} times; seen: {passes}", NONE),
    note("default_size", Level::Detail, "the command line names no size: {bytes:B}, the tool's default, is assumed", NONE),
    note("distances_left_out", Level::Doubt, "distances between ranks are ignored: all are as far apart as ranks 0 and 1", NONE),
    note("either_line", Level::Detail, "between {from:B} and {to:B} the line below or that above may hold: times of such messages are from one to the other", NONE),
    note("failed", Level::Missing, "ended early: {what}", NONE),
    note("few_batches", Level::Detail, "few batches count", LONGER),
    note("floor_unavailable", Level::Doubt, "not measured: {reason}", NONE),
    note("floor_without_batches", Level::Doubt, "none of {batches:n} batches counts", LONGER),
    note("gap_guessed", Level::Doubt, "g is not known: from 0 to a round trip, half of one is taken", LONGER),
    note("gap_unseen", Level::Detail, "the overheads limit the rate and hide g, which is between max(os, or), the value used, and os + or", NONE),
    note("gap_unsettled", Level::Doubt, "the slope from M = {from:n} to {to:n} is not confirmed by further points", LONGER),
    note("half_length_outside", Level::Doubt, "from {from:B} on n½ would be {half:B}, outside the measured sizes", SIZES),
    note("has_threads", Level::Doubt, "{transport} has threads of its own: ranks sleep while they wait", measuring("--wait spin")),
    note("held_up", Level::Detail, "half of the batches of {model} took {times} times as long as the shortest of their round: messages are held up", measuring("a quieter machine")),
    note("hidden_undecided", Level::Detail, "the hidden share is undecided at {points:n} of {of:n} points: its interval is too wide, or the hideable time too short", measuring("--vectors")),
    note("hidden_unseen", Level::Detail, "how much of the software the transfer hides could not be measured: all of it counts", LONGER),
    note("hops_misfit", Level::Doubt, "the times do not follow t_startup + n·t_byte + (k − 1)·h", NONE),
    note("hops_unfitted", Level::Detail, "the times over distances are too few for t_byte and h", SIZES),
    note("insertion_lost", Level::Doubt, "{inserted:s} inserted in {component} made it {part:s}, half a round trip {whole:s} longer: it overlaps", NONE),
    note("interval_below_zero", Level::Detail, "the intervals of {count:n} parameters begin below 0: lower ends of times use 0 instead", LONGER),
    note("journal_failed", Level::Detail, "no journal, so a kill would have lost the run: {what}", NONE),
    note("latency_below_zero", Level::Doubt, "L < 0 ({low:s} to {high:s}): the overheads contain the transfer", NONE),
    note("launches_differ", Level::Detail, "launches differ", measuring("more --launches")),
    note("launches_of_kinds", Level::Doubt, "at {bytes:B} launches are of {kinds:n} kinds, from {low:s} to {high:s}: a mean describes none", measuring("more --launches")),
    note("left_out", Level::Doubt, "left out: {name}: {why}", NONE),
    note("library_untried", Level::Detail, "{library} is used, but bandgap was tried with versions {tried}", NONE),
    note("line_missed", Level::Doubt, "from {from:B} on the times deviate from the line by {rms:%} (rms), {worst:±} at {at:B}", Hint { measured: "--breaks", fitted: "--segments" }),
    note("logp_unfitted", Level::Missing, "only the round trip is known: too few {lacks}", LONGER),
    note("maybe_slow", Level::Answer, "slow: not known of {pairs:n} of {of:n} pairs, which are outside the tolerance and were not repeated alone", LONGER),
    note("model_lacks", Level::Doubt, "{model} is not modelled: no {components}", NONE),
    note("no_empty_round_trip", Level::Detail, "L is not known: no round trip without bytes was measured in this state", LONGER),
    note("noise_even", Level::Doubt, "of its noise the run has frequency and amount only: detours are evenly spaced, equally long", NONE),
    note("noise_left_out", Level::Doubt, "not simulated: noise", NONE),
    note("none_slow", Level::Answer, "slow: none of {pairs:n} pairs", NONE),
    note("not_above_zero", Level::Doubt, "{about} may be 0 ({low:s} to {high:s})", LONGER),
    note("not_known", Level::Detail, "not known: {low:s} to {high:s} is wider than the round trip of {rtt:s}", LONGER),
    note("not_probed", Level::Detail, "ranks sleep while they wait: placement is not probed", measuring("--wait spin")),
    note("one_latency", Level::Doubt, "os + or + L are taken as one latency: who is busy is not modelled", NONE),
    note("one_run_read", Level::Detail, "run {run:n} of {of:n} is read", NONE),
    note("oversubscribed", Level::Doubt, "{ranks:n} ranks share {processors:n} processors: times include scheduling", measuring("fewer --ranks")),
    note("pcie_negative", Level::Doubt, "a time would be below 0: traces are exchanged, or the software's times are too long", both("other --set")),
    note("pcie_no_acknowledgements", Level::Doubt, "no acknowledgement (ACK down) belongs to a single completion: PCIe is not known", NONE),
    note("pcie_no_addresses", Level::Doubt, "more writes of 64 B go up than posts down: answers cannot be told from completions", both("a trace with addresses")),
    note("pcie_no_completions", Level::Detail, "no completion (MWr of 64 B up) in the trace", NONE),
    note("pcie_no_direct_trace", Level::Detail, "wire and switch are told apart by a trace without a switch", both("--without-switch")),
    note("pcie_no_ping_pong", Level::Detail, "no ping-pong in the trace: network and RC-to-MEM are not known", both("a trace of a ping-pong")),
    note("pcie_no_posts", Level::Doubt, "fewer than 2 posts (MWr of 64 B down) in the trace", NONE),
    note("pcie_no_software", Level::Doubt, "RC-to-MEM is not known without LLP_post and LLP_prog, which no trace has", both("--set, or --from")),
    note("pcie_ping_pong", Level::Detail, "payloads come between posts: no injection overhead follows", both("a trace of injection")),
    note("points_left_out", Level::Detail, "{count:n} of {points:n} points have a single batch and are left out", NONE),
    note("points_missing", Level::Doubt, "{points:n} of {of:n} points have no value", LONGER),
    note("rate_unresolved", Level::Doubt, "from {from:B} on the time may not rise with the length: r∞ is not given there", SIZES),
    note("read_as", Level::Detail, "read as {tool}: {rows:n} rows, {timing}", NONE),
    note("receive_ambiguous", Level::Doubt, "{count:n} receives from any rank could match another message; the first: {operation:n} of rank {rank:n}", NONE),
    note("recv_overhead_below_zero", Level::Doubt, "or < 0: a message costs less than os + Δ when it comes alone", NONE),
    note("rounds_outside", Level::Detail, "{outside:n} of {rounds:n} rounds are left out: each has a value far from the others", LONGER),
    note("rtt_below_os", Level::Doubt, "the round trip of {rtt:s} is shorter than os, {os:s}: single messages beat bursts", NONE),
    note("runs_repeated", Level::Detail, "{runs:n} runs are read as repetitions", NONE),
    note("segment_too_short", Level::Doubt, "from {from:B} on {sizes:n} sizes are too few for a line", SIZES),
    note("send_only_bends", Level::Detail, "os is that of the first {to:n} messages; from M = {next:n} to {last:n} a message costs {cost:s}", NONE),
    note("send_only_unseen", Level::Detail, "the first reply returns before a second message is issued: os is that of a single message", NONE),
    note("series_unfitted", Level::Doubt, "no line is fitted: the time of {bytes:B} is {time:s}", LONGER),
    note("single_copy_refused", Level::Doubt, "messages go in pieces, not with a single copy: the system refuses to {reason}", NONE),
    note("size_left_out", Level::Doubt, "{bytes:B} takes {time:s}, {line:s} by the line: it is left out", NONE),
    note("sizes_left_out", Level::Doubt, "{count:n} of {of:n} sizes are left out: they are no whole number of doubles", NONE),
    note("sizes_scatter", Level::Detail, "sizes scatter about their line", SIZES),
    note("slow_host_bandwidth", Level::Answer, "slow: {who} (bandwidth {value:B/s} in all {pairs:n} pairs, others {others:B/s})", NONE),
    note("slow_host_rtt", Level::Answer, "slow: {who} (round trip {value:s} in all {pairs:n} pairs, others {others:s})", NONE),
    note("slow_link_bandwidth", Level::Answer, "slow: {who} (bandwidth {value:B/s}, others {others:B/s})", NONE),
    note("slow_link_rtt", Level::Answer, "slow: {who} (round trip {value:s}, others {others:s})", NONE),
    note("startup_below_zero", Level::Doubt, "from {from:B} on the line meets n = 0 at {t0:s}: t0, n½ and π0 are not given there", NONE),
    note("startup_short", Level::Doubt, "from {from:B} on the line starts below os + or: sizes there cost their measured times alone", NONE),
    note("startup_unresolved", Level::Doubt, "from {from:B} on t0 may be 0 (at most {high:s}): n½ and π0 are not given there", SIZES),
    note("test_assumed", Level::Doubt, "the file does not name its test: {test} is assumed", NONE),
    note("tests_left_out", Level::Doubt, "other tests in the file are left out: {tests}", NONE),
    note("tests_to_choose", Level::Detail, "other tests in the file, for --test: {tests}", NONE),
    note("time_short", Level::Doubt, "time was short: {launches:n} of {of:n} launches, {points:%} of the points, {rounds:%} of the rounds", LONGER),
    note("times_are", Level::Detail, "{condition}", NONE),
    note("times_rounded", Level::Detail, "the table rounds times by up to {share:%} (at {bytes:B}); the intervals allow for it", NONE),
    note("too_little", Level::Missing, "too little was measured: {what}", LONGER),
    note("usual_algorithm", Level::Detail, "the default algorithm is used at {points:n} of {of:n} points: no time was left to find the fastest", LONGER),
    note("variant_left_out", Level::Detail, "{name} does not fit {sizes:n} of {of:n} sizes", NONE),
];

/// The row of a code.
pub fn template(code: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.code == code)
}

/// A note in words; the code itself where this version does not know it.
pub fn words(note: &Note) -> String {
    let Some(template) = template(&note.code) else { return note.code.clone() };
    let about = note.about.rsplit('/').next().unwrap_or_default().replace('_', " ");
    let mut out = String::new();
    let mut rest = template.text;
    while let Some((before, from)) = rest.split_once('{') {
        let (field, after) = from.split_once('}').unwrap_or((from, ""));
        let (name, unit) = field.split_once(':').unwrap_or((field, ""));
        out += before;
        match note.values.get(name) {
            Some(Value::Number(Number(number))) => out += &in_unit(*number, unit),
            Some(Value::Text(text)) => out += text,
            None if name == "about" => out += &about,
            None => out.push('?'),
        }
        rest = after;
    }
    out + rest
}

fn in_unit(number: f64, unit: &str) -> String {
    match unit {
        "s" => scaled(number, Unit::Second),
        "B" => scaled(number, Unit::Byte),
        "B/s" => scaled(number, Unit::BytePerSecond),
        "%" => share(number),
        "±" => signed_share(number),
        "n" => grouped(number),
        _ => significant_short(number, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_there_once_and_in_order() {
        assert!(TEMPLATES.windows(2).all(|two| two[0].code < two[1].code));
    }

    #[test]
    fn hints_for_a_table_name_no_option_that_measures() {
        let hints = TEMPLATES.iter().map(|template| template.hint.fitted);
        let options: Vec<&str> = hints.filter(|hint| hint.contains("--")).collect();
        // Those of `fit` itself, and of traces, which are not fitted.
        let known = ["--segments", "--set", "--from", "--without-switch"];
        assert!(options.iter().all(|hint| known.iter().any(|known| hint.contains(known))));
    }

    #[test]
    fn every_template_renders_with_the_values_that_it_names() {
        for template in TEMPLATES {
            let mut note = Note::new(template.code, "");
            let fields = template.text.split('{').skip(1);
            for field in fields.map(|field| field.split('}').next().unwrap()) {
                let (name, unit) = field.split_once(':').unwrap_or((field, ""));
                assert!(["", "s", "B", "B/s", "%", "±", "n"].contains(&unit), "{field}");
                note = note.with(name, 0.5);
            }
            let words = words(&note);
            assert!(!words.contains(['{', '}', '?']), "{words}");
            assert!(words.len() < 160, "{words}");
        }
    }

    #[test]
    fn numbers_are_written_in_the_unit_that_the_template_names() {
        assert_eq!(in_unit(1e-8, "s"), "10.0 ns".replace(".0", ""));
        assert_eq!([in_unit(0.25, "%"), in_unit(8483.0, "n")], ["25 %", "8\u{a0}483"]);
        assert_eq!(words(&Note::new("of_a_later_version", "")), "of_a_later_version");
    }
}
