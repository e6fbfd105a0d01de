//! What must hold of a run, whatever is done to it.

use std::fmt;
use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use crate::faults::{Does, Group, Whom};
use crate::kept::Kept;
use crate::plan::{Moment, Plan};
use crate::screen::results_printed;
use crate::trial::Seen;

/// The codes of docs/exit-codes.md.
pub const DOCUMENTED: [i32; 11] = [0, 1, 8, 2, 3, 4, 5, 6, 7, 70, 130];

/// Per cent that a measurement shows at least before it ends: the last batches are not shown one by one.
const WHOLE: u64 = 90;

/// What did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// It ends.
    Hang,
    /// Nothing of it is left.
    Leftover,
    /// What was measured is there.
    Lost,
    /// The exit code is documented.
    Undocumented,
    /// The exit code is that of what happened.
    Unfitting,
    /// The message says what happened.
    Message,
}

impl Rule {
    /// All of them, as in the table.
    pub const ALL: [Self; 6] = [
        Self::Hang,
        Self::Leftover,
        Self::Lost,
        Self::Undocumented,
        Self::Unfitting,
        Self::Message,
    ];
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Hang => "hangs",
            Self::Leftover => "leftovers",
            Self::Lost => "lost",
            Self::Undocumented => "undocumented",
            Self::Unfitting => "unfitting",
            Self::Message => "message",
        })
    }
}

/// One thing that did not hold, with what was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// Which rule.
    pub rule: Rule,
    /// What was seen.
    pub what: String,
}

/// What did not hold in a trial in which the driver itself was held up: what may come of lost time does not count.
pub fn broken_whatever_the_time(plan: &Plan, seen: &Seen) -> Vec<Broken> {
    // A deadline passes, and ranks seem to stay for longer.
    let of_time = matches!(code(seen), None | Some(0 | 6 | 8));
    let mut all = broken(plan, seen);
    all.retain(|broken| match broken.rule {
        Rule::Hang => false,
        Rule::Unfitting => !of_time,
        _ => true,
    });
    all
}

/// Everything that did not hold in a trial.
pub fn broken(plan: &Plan, seen: &Seen) -> Vec<Broken> {
    let mut all = Vec::new();
    let mut no = |rule, what: String| all.push(Broken { rule, what });
    let too_late = seen.took > seen.bound;
    if too_late || seen.status.is_none() {
        let seconds = seen.took.as_secs_f64();
        let bound = seen.bound.as_secs_f64();
        no(Rule::Hang, format!("took {seconds:.1} s, and {bound:.1} s is the most"));
    }
    for left in &seen.left {
        no(Rule::Leftover, left.clone());
    }
    if let Some(what) = lost(plan, seen) {
        no(Rule::Lost, what);
    }
    if let Some((rule, what)) = ended_wrongly(plan, seen) {
        no(rule, what);
    }
    if let Some(what) = unnamed(plan, seen) {
        no(Rule::Message, what);
    }
    all
}

/// Whether the fault came while the run was there.
fn struck(plan: &Plan, seen: &Seen) -> bool {
    !plan.waits() || seen.struck.is_some()
}

/// The code, where it is one.
fn code(seen: &Seen) -> Option<i32> {
    seen.status.and_then(|status| status.code())
}

fn ended_wrongly(plan: &Plan, seen: &Seen) -> Option<(Rule, String)> {
    let status = seen.status?;
    if let Some(signal) = status.signal() {
        let fits = plan.fault.dies.is_some_and(|dies| dies.as_raw() == signal);
        return (!fits && !before_it_began(plan, seen, signal))
            .then(|| (Rule::Undocumented, format!("died of signal {signal}")));
    }
    let code = status.code()?;
    if !DOCUMENTED.contains(&code) {
        return Some((Rule::Undocumented, format!("exit code {code}")));
    }
    let fits = match code {
        0 | 8 => ended_as_if_nothing_had_happened(plan, seen),
        _ => struck(plan, seen) && plan.fault.codes.contains(&code),
    };
    let when = match seen.struck {
        Some(struck) => format!(" (there were {} ranks)", struck.ranks),
        None => String::new(),
    };
    if !fits {
        return Some((Rule::Unfitting, format!("exit code {code}{when}")));
    }
    let share = [0, 8].contains(&code).then(|| seen.progress.filter(|share| *share < WHOLE))?;
    share.map(|share| (Rule::Unfitting, format!("exit code {code} at {share} %{when}")))
}

/// Whether a run may end with 0 or 8.
fn ended_as_if_nothing_had_happened(plan: &Plan, seen: &Seen) -> bool {
    // A rank may take no notice of a signal. One that dies of it takes its launch with it.
    let swallowed = seen.struck.is_some_and(|struck| struck.outlived);
    if plan.fault.does == Does::Nothing {
        return code(seen) == Some(0);
    }
    let goes_on = plan.fault.survives && !(to_a_rank(plan) && swallowed);
    goes_on || !struck(plan, seen) || at_the_end(plan, seen)
}

/// Whether it is a signal to one rank.
fn to_a_rank(plan: &Plan) -> bool {
    matches!(plan.fault.does, Does::Signal { to: Whom::Rank, .. })
}

/// Whether a trial says nothing of the program: the fault met no run that was still under way, or a limit sufficed.
pub fn was_late(plan: &Plan, seen: &Seen) -> bool {
    let as_usual = matches!(code(seen), Some(0 | 8));
    if plan.waits() {
        return seen.struck.is_none() || (as_usual && !plan.fault.survives);
    }
    as_usual && plan.fault.limits()
}

/// A signal that came before the program could arrange for any.
fn before_it_began(plan: &Plan, seen: &Seen, signal: i32) -> bool {
    let Does::Signal { signal: sent, to: Whom::Launcher, .. } = plan.fault.does else {
        return false;
    };
    let early = matches!(plan.moment, Moment::Started(_));
    sent.as_raw() == signal && early && seen.struck.is_some_and(|s| s.ranks == 0) && seen.shown == 0
}

/// Whether the fault came when all was measured, so that nothing is wrong with results that are as if nothing had
/// happened: of a rank when those that there were ended with it, and did not need long; of the launcher when there was
/// none before, and it ended at once. A process that has ended, and that nobody has waited for, takes signals too.
fn at_the_end(plan: &Plan, seen: &Seen) -> bool {
    let (Some(struck), Does::Signal { to, .. }) = (seen.struck, plan.fault.does) else {
        return false;
    };
    match to {
        Whom::Launcher => {
            let at_once = seen.took.as_secs_f64() < 0.5;
            !struck.went_on && struck.ranks == 0 && at_once
        }
        Whom::Rank | Whom::Ranks => !struck.lasted && !struck.outlived,
    }
}

fn unnamed(plan: &Plan, seen: &Seen) -> Option<String> {
    if seen.message.contains("panicked") {
        return Some(format!("it panicked: {}", last_lines(&seen.message)));
    }
    let invisible = matches!(
        plan.fault.does,
        Does::Stream(crate::faults::Streams::Error | crate::faults::Streams::Both, _)
    );
    let code = code(seen)?;
    if [0, 8].contains(&code) || invisible || !plan.fault.codes.contains(&code) {
        return None;
    }
    let rank = format!("rank {}:", plan.rank);
    let named = |word: &str| word.replace("{rank}", &rank).replace("{run}", &seen.run);
    let says = |word: &str| seen.message.contains(&named(word));
    // A signal is acknowledged at once. What there is of a run that is not whole is said at its end.
    let early = code == 130 && matches!(&seen.kept, Ok(Some(kept)) if kept.interrupted);
    let words = plan.fault.words.iter().chain(early.then_some(&"ended early"));
    let missing = words.into_iter().find(|words| !words.split('|').any(says))?;
    Some(format!("does not say “{}”: {}", named(missing), last_lines(&seen.message)))
}

/// The end of what it said, in one line.
fn last_lines(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = lines.iter().filter(|line| !line.contains(" batches"));
    let said: Vec<&str> = said.copied().collect();
    let from = said.len().saturating_sub(4);
    said[from..].join(" / ")
}

/// What a run is said to be that is not whole and does not say so.
const UNMARKED: &str = "something is missing, and the run is not marked as interrupted";

/// Whether something is missing from a run that says of itself that it is whole.
fn unmarked(seen: &Seen, kept: Option<Kept>) -> bool {
    let missing = seen.progress.is_none_or(|share| share < WHOLE);
    missing && kept.is_some_and(|kept| !kept.interrupted)
}

/// What was measured and is not there.
fn lost(plan: &Plan, seen: &Seen) -> Option<String> {
    // A limit on the length of files holds everywhere, and one on descriptors may leave none for any file.
    let everywhere = matches!(plan.fault.does, Does::ShortFiles | Does::DescriptorsLater);
    if everywhere && seen.message.contains("nothing is kept: ") {
        return None;
    }
    let kept = match &seen.kept {
        Err(error) => return Some(format!("the run cannot be read: {error}")),
        Ok(kept) => *kept,
    };
    let found = kept.unwrap_or_default();
    if found.lacking > 0 || (plan.subject.counted && found.lacks_points) {
        return Some("the run file does not list the batches that it says it is of".to_owned());
    }
    let died = seen.status.is_some_and(|status| status.signal() == Some(Signal::KILL.as_raw()));
    if died && plan.fault.dies == Some(Signal::KILL) {
        // What was only in its memory is gone with it; what it had printed is kept before.
        let printed = results_printed(&seen.output);
        if found.results < printed {
            return Some(format!("{printed} results were printed, {} are kept", found.results));
        }
        return unmarked(seen, kept).then(|| UNMARKED.to_owned());
    }
    if plan.subject.counted && found.batches < seen.shown {
        let Kept { batches, .. } = found;
        return Some(format!("{} batches were shown, {batches} are kept", seen.shown));
    }
    if seen.shown > 0 && found.results == 0 {
        return Some(format!("{} batches were shown, and no result is kept", seen.shown));
    }
    if code(seen) == Some(8) && kept.is_none() {
        return Some("too little was measured, and nothing of it is kept".to_owned());
    }
    if matches!(code(seen), Some(5 | 6 | 7 | 130)) && unmarked(seen, kept) {
        return Some(UNMARKED.to_owned());
    }
    let ended_well = code(seen) == Some(0) || matches!(plan.fault.does, Does::Stream(..));
    if ended_well && found.results == 0 {
        return Some("no result is kept".to_owned());
    }
    uncompared(plan, seen, found)
}

/// What should have been compared with what was sent, and was not. A signal may stop a rank until the time is spent, before
/// anything is compared.
fn uncompared(plan: &Plan, seen: &Seen, found: Kept) -> Option<String> {
    if found.unchecked > 0 {
        return Some(format!("{} messages were not compared", found.unchecked));
    }
    let whole = matches!(code(seen), Some(0 | 8)) && plan.fault.group() == Group::Others;
    let nothing = plan.subject.compares() && found.results > 0 && found.compared == 0;
    (whole && nothing).then(|| "nothing was compared".to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::faults::named;
    use crate::plan::Plan;
    use crate::struck::Struck;

    const KEPT: Kept = Kept {
        results: 1,
        batches: 12,
        lacking: 0,
        lacks_points: false,
        unchecked: 0,
        compared: 5,
        left_out: 0,
        interrupted: true,
    };

    /// A trial of a fault on a command whose batches are counted, and what is seen of it if rank 1 was killed and all
    /// was done right.
    fn of(fault: &str) -> (Plan, Seen) {
        let fault = named(fault).unwrap();
        let counted = |plan: &Plan| plan.subject.counted && plan.subject.words == ["signature"];
        let plan = (0..).map(|number| Plan::draw(1, fault, number)).find(counted).unwrap();
        let plan = Plan { rank: 1, ..plan };
        let seen = Seen {
            status: Some(ended(5)),
            output: String::new(),
            message: "bandgap: rank 1: its process 77 was killed by signal 9 (SIGKILL)".to_owned(),
            run: "/disk/run".to_owned(),
            shown: 12,
            struck: Some(struck_then(2)),
            progress: Some(50),
            took: Duration::from_secs(1),
            bound: Duration::from_secs(7),
            left: Vec::new(),
            kept: Ok(Some(KEPT)),
            held_up: false,
        };
        (plan, seen)
    }

    /// Of so many ranks one was struck, and they ended soon.
    fn struck_then(ranks: usize) -> Struck {
        Struck { at: Instant::now(), ranks, went_on: true, lasted: false, outlived: false }
    }

    fn ended(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    /// The rules that do not hold once `spoil` has changed what was seen.
    fn rules(fault: &str, spoil: impl FnOnce(&mut Seen)) -> Vec<Rule> {
        let (plan, mut seen) = of(fault);
        spoil(&mut seen);
        broken(&plan, &seen).into_iter().map(|broken| broken.rule).collect()
    }

    #[test]
    fn the_documented_codes_are_those_of_the_document() {
        let rows = include_str!("../../../docs/exit-codes.md").lines();
        let codes = rows.filter_map(|row| row.strip_prefix("| ")?.split(' ').next()?.parse().ok());
        assert_eq!(codes.collect::<Vec<i32>>(), DOCUMENTED);
    }

    #[test]
    fn a_killed_rank_that_is_named_breaks_no_rule_and_each_lapse_breaks_its_own() {
        let rules = |spoil: fn(&mut Seen)| rules("kill-rank", spoil);
        assert_eq!(rules(|_| ()), []);
        assert_eq!(rules(|seen| seen.took = Duration::from_secs(8)), [Rule::Hang]);
        assert_eq!(rules(|seen| seen.status = None), [Rule::Hang]);
        assert_eq!(rules(|seen| seen.left.push("rank 9".to_owned())), [Rule::Leftover]);
        assert_eq!(rules(|seen| seen.kept = Ok(None)), [Rule::Lost]);
        assert_eq!(rules(|seen| seen.kept = Err("cut".to_owned())), [Rule::Lost]);
        assert_eq!(rules(|seen| seen.shown = 13), [Rule::Lost]);
        assert_eq!(rules(|seen| seen.status = Some(ended(77))), [Rule::Undocumented]);
        assert_eq!(
            rules(|seen| seen.status = Some(ExitStatus::from_raw(11))),
            [Rule::Undocumented]
        );
        assert_eq!(rules(|seen| seen.status = Some(ended(70))), [Rule::Unfitting]);
        assert_eq!(rules(|seen| seen.status = Some(ended(6))), [Rule::Unfitting]);
        assert_eq!(rules(|seen| seen.status = Some(ended(0))), [Rule::Unfitting]);
        assert_eq!(rules(|seen| seen.message = "rank 0: SIGKILL".to_owned()), [Rule::Message]);
        assert_eq!(rules(|seen| seen.message = "rank 1: it ended".to_owned()), [Rule::Message]);
        assert_eq!(rules(|seen| seen.message.push_str(" panicked")), [Rule::Message]);
    }

    #[test]
    fn a_run_that_is_not_whole_after_a_signal_must_say_so_at_its_end() {
        let said = |interrupted, message: &'static str| {
            rules("int-launcher", move |seen| {
                (seen.status, seen.kept) =
                    (Some(ended(130)), Ok(Some(Kept { interrupted, ..KEPT })));
                (seen.progress, seen.message) = (Some(99), message.to_owned());
            })
        };
        let acknowledged = "interrupted: finishing what was measured";
        assert_eq!(said(true, "interrupted: finishing\nended early: the results"), []);
        assert_eq!(said(true, acknowledged), [Rule::Message]);
        assert_eq!(said(false, acknowledged), []);
        assert_eq!(said(false, ""), [Rule::Message]);
    }

    #[test]
    fn a_stopped_rank_must_be_the_one_that_is_named_and_a_fall_back_must_be_taken() {
        let stopped = |said: &'static str| {
            rules("stop-rank", move |seen| {
                seen.status = Some(ended(6));
                seen.message = said.to_owned();
            })
        };
        assert_eq!(stopped("rank 1: its process 7 is stopped; nothing came"), []);
        assert_eq!(stopped("rank 0: its process 7 is stopped; nothing came"), [Rule::Message]);
        let refused = |seen: &mut Seen| {
            (seen.status, seen.shown, seen.kept) = (Some(ended(7)), 0, Ok(None));
            seen.message = "create shared memory".to_owned();
        };
        assert_eq!(rules("no-memfd", refused), [Rule::Unfitting]);
    }

    #[test]
    fn what_is_refused_in_the_middle_is_named_and_loses_nothing() {
        for (fault, said) in [
            ("processes-later", "start a thread: Resource temporarily unavailable"),
            ("descriptors-later", "read /proc/cpuinfo: Too many open files"),
        ] {
            let refused = |kept, code, said: &str| {
                rules(fault, |seen| {
                    (seen.status, seen.kept) = (Some(ended(code)), kept);
                    seen.message = said.to_owned();
                })
            };
            assert_eq!(refused(Ok(Some(KEPT)), 7, said), [], "{fault}");
            assert_eq!(refused(Ok(Some(KEPT)), 7, "no"), [Rule::Message], "{fault}");
            assert_eq!(refused(Ok(None), 7, said), [Rule::Lost], "{fault}");
            let whole = Kept { interrupted: false, ..KEPT };
            assert_eq!(refused(Ok(Some(whole)), 7, said), [Rule::Lost], "{fault}");
            // Without a descriptor no file can be opened; that must be said.
            let nothing = refused(Ok(None), 4, &format!("{said}; nothing is kept: nowhere"));
            match fault {
                "descriptors-later" => assert_eq!(nothing, []),
                _ => assert_eq!(nothing, [Rule::Lost, Rule::Unfitting]),
            }
            let panicked = refused(Ok(Some(KEPT)), 70, "panicked");
            assert_eq!(panicked, [Rule::Unfitting, Rule::Message], "{fault}");
        }
    }

    /// Its message cannot be read; what it has measured can.
    #[test]
    fn a_stream_that_nobody_reads_keeps_nobody_from_its_end() {
        let unread = |status, kept| {
            rules("error-unread", move |seen| {
                (seen.status, seen.kept) = (status, kept);
                (seen.struck, seen.shown, seen.progress) = (None, 0, None);
                seen.message = String::new();
            })
        };
        let kept = || Ok(Some(Kept { interrupted: false, ..KEPT }));
        assert_eq!(unread(Some(ended(0)), kept()), []);
        assert_eq!(unread(None, kept()), [Rule::Hang]);
        assert_eq!(unread(Some(ended(0)), Ok(None)), [Rule::Lost]);
        assert_eq!(unread(Some(ended(4)), kept()), [Rule::Unfitting]);
    }

    #[test]
    fn a_fault_that_came_after_the_end_changes_nothing() {
        let late = |code| {
            rules("kill-rank", move |seen| {
                (seen.struck, seen.status) = (None, Some(ended(code)));
                seen.progress = Some(99);
            })
        };
        assert_eq!(late(0), []);
        assert_eq!(late(8), []);
        // Nothing was done to it, so it must not have failed.
        assert_eq!(late(5), [Rule::Unfitting]);
    }

    #[test]
    fn a_signal_that_is_swallowed_is_noticed() {
        for fault in ["int-launcher", "kill-launcher"] {
            let after = |ranks, went_on, took| {
                rules(fault, move |seen| {
                    seen.status = Some(ended(0));
                    seen.progress = Some(99);
                    seen.took = Duration::from_millis(took);
                    seen.struck = Some(Struck { went_on, ..struck_then(ranks) });
                })
            };
            assert_eq!(after(2, false, 100), [Rule::Unfitting], "{fault}");
            assert_eq!(after(0, true, 100), [Rule::Unfitting], "{fault}");
            assert_eq!(after(0, false, 900), [Rule::Unfitting], "{fault}");
            // It ended as the signal came.
            assert_eq!(after(0, false, 100), [], "{fault}");
        }
    }

    /// A rank that is killed takes its launch with it, unless all ranks had finished.
    #[test]
    fn a_death_that_is_swallowed_is_noticed() {
        let ended_well = |fault, outlived, progress| {
            rules(fault, move |seen| {
                (seen.status, seen.progress) = (Some(ended(0)), progress);
                seen.struck = Some(Struck { outlived, ..struck_then(2) });
            })
        };
        for fault in ["kill-rank", "hup-rank", "int-rank", "term-rank"] {
            assert_eq!(ended_well(fault, false, Some(100)), [], "{fault}");
            assert_eq!(ended_well(fault, true, Some(100)), [Rule::Unfitting], "{fault}");
            // All ranks were ended, and nobody says why so little was measured.
            assert_eq!(ended_well(fault, false, Some(50)), [Rule::Unfitting], "{fault}");
        }
        let lasted = |lasted| {
            rules("stop-ranks", move |seen| {
                (seen.status, seen.progress) = (Some(ended(0)), Some(100));
                seen.struck = Some(Struck { lasted, ..struck_then(2) });
            })
        };
        assert_eq!(lasted(false), []);
        assert_eq!(lasted(true), [Rule::Unfitting]);
    }

    #[test]
    fn what_is_not_whole_must_say_so() {
        let of = |code, interrupted, progress| {
            rules("kill-rank", move |seen| {
                (seen.status, seen.progress) = (Some(ended(code)), progress);
                seen.kept = Ok(Some(Kept { interrupted, ..KEPT }));
            })
        };
        assert_eq!(of(5, true, Some(50)), []);
        assert_eq!(of(5, false, Some(50)), [Rule::Lost]);
        assert_eq!(of(5, false, None), [Rule::Lost]);
        assert_eq!(of(5, false, Some(99)), []);
    }

    #[test]
    fn a_held_up_driver_forgives_only_what_time_explains() {
        let of = |spoil: fn(&mut Seen)| {
            let (plan, mut seen) = of("kill-rank");
            spoil(&mut seen);
            let all = broken_whatever_the_time(&plan, &seen).into_iter().map(|broken| broken.rule);
            all.collect::<Vec<_>>()
        };
        assert_eq!(of(|seen| seen.took = Duration::from_secs(8)), []);
        assert_eq!(of(|seen| seen.status = Some(ended(6))), []);
        assert_eq!(of(|seen| seen.status = Some(ended(70))), [Rule::Unfitting]);
        assert_eq!(of(|seen| seen.kept = Ok(None)), [Rule::Lost]);
        assert_eq!(of(|seen| seen.left.push("rank 9".to_owned())), [Rule::Leftover]);
    }

    #[test]
    fn a_trial_without_a_fault_must_end_well_and_too_little_keeps_what_there_is() {
        let control = |code, kept| {
            rules("control", move |seen| {
                (seen.status, seen.kept) = (Some(ended(code)), kept);
                (seen.struck, seen.progress, seen.shown) = (None, Some(100), 0);
            })
        };
        assert_eq!(control(0, Ok(Some(KEPT))), []);
        assert_eq!(control(0, Ok(None)), [Rule::Lost]);
        assert_eq!(control(8, Ok(Some(KEPT))), [Rule::Unfitting]);
        assert_eq!(control(8, Ok(None)), [Rule::Lost, Rule::Unfitting]);
        let goes_on = |kept| {
            rules("one-processor", move |seen| {
                (seen.status, seen.kept) = (Some(ended(8)), kept);
                (seen.struck, seen.progress, seen.shown) = (None, Some(100), 0);
            })
        };
        assert_eq!(goes_on(Ok(Some(KEPT))), []);
        assert_eq!(goes_on(Ok(None)), [Rule::Lost]);
    }

    #[test]
    fn a_limit_that_suffices_tells_nothing() {
        let late = |fault, code, struck| {
            let (plan, mut seen) = of(fault);
            (seen.status, seen.struck) = (Some(ended(code)), struck);
            was_late(&plan, &seen)
        };
        let there = Some(struck_then(2));
        assert!(late("small-disk", 0, None) && !late("small-disk", 4, None));
        assert!(!late("one-processor", 0, None));
        assert!(late("kill-rank", 0, there) && !late("kill-rank", 5, there));
        assert!(late("kill-rank", 0, None) && !late("tstp-rank", 0, there));
    }

    #[test]
    fn a_signal_kills_only_what_had_not_begun() {
        let died = |ranks, shown| {
            let (plan, mut seen) = of("hup-launcher");
            let plan = Plan { moment: Moment::Started(Duration::ZERO), ..plan };
            seen.status = Some(ExitStatus::from_raw(1));
            (seen.shown, seen.kept) = (shown, Ok(None));
            seen.struck = Some(Struck { went_on: false, ..struck_then(ranks) });
            broken(&plan, &seen).into_iter().map(|broken| broken.rule).collect::<Vec<_>>()
        };
        assert_eq!(died(0, 0), []);
        assert_eq!(died(2, 0), [Rule::Undocumented]);
        assert_eq!(died(0, 3), [Rule::Lost, Rule::Undocumented]);
    }

    #[test]
    fn of_a_killed_launcher_only_what_was_printed_must_be_kept() {
        let killed = |output: &'static str, kept| {
            rules("kill-launcher", move |seen| {
                seen.status = Some(ExitStatus::from_raw(9));
                (seen.output, seen.kept) = (output.to_owned(), kept);
            })
        };
        assert_eq!(killed("", Ok(None)), []);
        assert_eq!(killed("LogP signature over shm", Ok(Some(KEPT))), []);
        assert_eq!(killed("LogP signature over shm", Ok(None)), [Rule::Lost]);
        let two = "LogP signature over shm: 2 ranks\nsignature over shm: Contents compared";
        assert_eq!(killed(two, Ok(Some(KEPT))), [Rule::Lost]);
        assert_eq!(killed("", Ok(Some(Kept { interrupted: false, ..KEPT }))), [Rule::Lost]);
        assert_eq!(killed("", Err("cut".to_owned())), [Rule::Lost]);
    }

    /// The place where the run is rescued is named too, and is no name of what could not be written.
    #[test]
    fn a_file_that_cannot_be_written_must_be_named() {
        let said = |fault, code, message: &'static str| {
            rules(fault, move |seen| {
                (seen.status, seen.struck) = (Some(ended(code)), Some(struck_then(2)));
                seen.message = format!("{message}\n  the run is kept in /tmp/2026-run");
            })
        };
        let no_space = "failed to write /disk/run/run.json: No space left on device";
        assert_eq!(said("small-disk", 4, no_space), []);
        assert_eq!(said("small-disk", 4, "failed to write: no space"), [Rule::Message]);
        assert_eq!(said("small-disk", 4, "failed to write /tmp/x: no space"), [Rule::Message]);
        let gone = "failed to write /disk/run/gnuplot/a.gp: No such file or directory";
        assert_eq!(said("directory-removed", 4, gone), []);
        assert_eq!(said("directory-removed", 4, "failed to write: no such file"), [Rule::Message]);
        let large = "failed to write /disk/run/run.json: File too large";
        let memory = "failed to size shared memory: File too large";
        assert_eq!([said("short-files", 4, large), said("short-files", 7, memory)], [[], []]);
        assert_eq!(said("short-files", 4, "failed to write: File too large"), [Rule::Message]);
    }

    #[test]
    fn a_run_that_lists_no_batches_has_lost_them_whatever_their_number() {
        let of = |fault, status, kept| {
            rules(fault, move |seen| {
                (seen.status, seen.kept) = (Some(status), Ok(Some(kept)));
            })
        };
        let killed = ExitStatus::from_raw(9);
        for kept in [Kept { lacking: 1, ..KEPT }, Kept { lacks_points: true, ..KEPT }] {
            assert_eq!(of("kill-rank", ended(5), kept), [Rule::Lost]);
            assert_eq!(of("kill-launcher", killed, kept), [Rule::Lost]);
        }
        // Of transfers not all that count are listed.
        let bulk = (0..).map(|number| Plan::draw(1, named("kill-rank").unwrap(), number));
        let bulk = bulk.into_iter().find(|plan| plan.subject.words[0] == "bulk").unwrap();
        let (_, seen) = self::of("kill-rank");
        let kept = Ok(Some(Kept { lacks_points: true, ..KEPT }));
        assert_eq!(broken(&Plan { rank: 1, ..bulk }, &Seen { kept, ..seen }), []);
    }

    #[test]
    fn a_run_with_results_has_compared_something_and_all_of_what_it_checked() {
        let of = |fault, code, kept| {
            rules(fault, move |seen| {
                (seen.status, seen.kept) = (Some(ended(code)), Ok(Some(kept)));
                (seen.struck, seen.progress, seen.message) = (None, Some(100), String::new());
            })
        };
        let some = Kept { unchecked: 1, ..KEPT };
        let none = Kept { compared: 0, ..KEPT };
        for (fault, code) in [("control", 0), ("one-processor", 0), ("one-processor", 8)] {
            assert_eq!(of(fault, code, KEPT), [], "{fault}");
            assert_eq!(of(fault, code, some), [Rule::Lost], "{fault}");
            assert_eq!(of(fault, code, none), [Rule::Lost], "{fault}");
        }
        // It may have been stopped for as long as there was time.
        assert_eq!(of("stop-rank-briefly", 8, none), []);
        assert_eq!(of("stop-rank-briefly", 8, some), [Rule::Lost]);
    }

    #[test]
    fn a_stream_that_fails_loses_nothing() {
        let full = |kept| {
            rules("output-full", move |seen| {
                seen.status = Some(ended(4));
                seen.message = "failed to write to standard output: No space left".to_owned();
                (seen.struck, seen.shown, seen.kept) = (None, 0, kept);
            })
        };
        assert_eq!(full(Ok(Some(KEPT))), []);
        assert_eq!(full(Ok(None)), [Rule::Lost]);
    }
}
