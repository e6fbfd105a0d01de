//! What must hold of a run, whatever is done to it.

use std::fmt;
use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use crate::faults::{Does, Whom};
use crate::kept::Kept;
use crate::plan::{Moment, Plan};
use crate::trial::Seen;

/// The codes of docs/exit-codes.md.
pub const DOCUMENTED: [i32; 11] = [0, 1, 8, 2, 3, 4, 5, 6, 7, 70, 130];

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
        0 | 8 => plan.fault.survives || !struck(plan, seen) || at_the_end(plan, seen),
        _ => struck(plan, seen) && plan.fault.codes.contains(&code),
    };
    let when = match seen.struck {
        Some(struck) => format!(" (there were {} ranks)", struck.ranks),
        None => String::new(),
    };
    (!fits).then(|| (Rule::Unfitting, format!("exit code {code}{when}")))
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
/// happened: of a rank when no rank was at work any more afterwards; of the launcher when there was none before, and it ended at once.
fn at_the_end(plan: &Plan, seen: &Seen) -> bool {
    let (Some(struck), Does::Signal { signal, to, .. }) = (seen.struck, plan.fault.does) else {
        return false;
    };
    let quiet = !struck.went_on;
    match to {
        Whom::Launcher => {
            let at_once = seen.took.as_secs_f64() < 0.5;
            signal != Signal::KILL && quiet && struck.ranks == 0 && at_once
        }
        // With launches or transports to come, ranks are at work again.
        Whom::Rank | Whom::Ranks => {
            quiet || plan.subject.words.contains(&"--launches") || plan.subject.words == ["run"]
        }
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
    let says = |word: &str| seen.message.contains(if word == "{rank}" { &rank } else { word });
    let missing = plan.fault.words.iter().find(|words| !words.split('|').any(says))?;
    let missing = missing.replace("{rank}", &rank);
    Some(format!("does not say “{missing}”: {}", last_lines(&seen.message)))
}

/// The end of what it said, in one line.
fn last_lines(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = lines.iter().filter(|line| !line.contains(" batches"));
    let said: Vec<&str> = said.copied().collect();
    let from = said.len().saturating_sub(4);
    said[from..].join(" / ")
}

/// What was measured and is not there.
fn lost(plan: &Plan, seen: &Seen) -> Option<String> {
    let kept = match &seen.kept {
        Err(error) => return Some(format!("the run cannot be read: {error}")),
        Ok(kept) => *kept,
    };
    let found = kept.unwrap_or_default();
    let died = seen.status.is_some_and(|status| status.signal() == Some(Signal::KILL.as_raw()));
    if died && plan.fault.dies == Some(Signal::KILL) {
        // What was only in its memory is gone with it; what it had printed is kept before.
        let printed = seen.output.contains(" over ") && found.results == 0;
        return printed.then(|| "printed, and not kept".to_owned());
    }
    if plan.subject.counted && found.batches < seen.shown {
        let Kept { batches, .. } = found;
        return Some(format!("{} batches were shown, {batches} are kept", seen.shown));
    }
    if seen.shown > 0 && found.results == 0 {
        return Some(format!("{} batches were shown, and no result is kept", seen.shown));
    }
    let ended_well = code(seen) == Some(0) || matches!(plan.fault.does, Does::Stream(..));
    if ended_well && found.results == 0 {
        return Some("no result is kept".to_owned());
    }
    if plan.fault.does == Does::Datagrams && found.unchecked > 0 {
        return Some(format!("{} messages were not compared", found.unchecked));
    }
    None
}
