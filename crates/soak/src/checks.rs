//! What must hold of a run, whatever is done to it.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::faults::{Does, Whom};
use crate::plan::Plan;

/// What was seen of a trial.
pub struct Seen {
    /// How the launcher ended; `None` if it had to be ended.
    pub status: Option<ExitStatus>,
    /// Whether there were ranks at any time.
    pub measured: bool,
    /// Whether the fault came while there were ranks.
    pub struck: bool,
    /// Whether ranks that there were went on for a second after the fault.
    pub lasted: bool,
    /// From the fault, or the end of the pause, to the end.
    pub took: Duration,
    /// The most that may be.
    pub bound: Duration,
    /// What is left of it: processes and files.
    pub left: Vec<String>,
    /// What is kept of it; `None` if there is no run file.
    pub kept: Result<Option<Kept>, String>,
}

/// What a run file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// How many results it has.
    pub results: usize,
    /// Whether the run ended early.
    pub interrupted: bool,
}

/// What a run directory has.
///
/// # Errors
/// Its run file cannot be read.
pub fn kept(directory: &Path) -> Result<Option<Kept>, String> {
    let path = directory.join("run.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read(&path).map_err(|error| error.to_string())?;
    let run: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let results = run["results"].as_array().ok_or("it has no results")?.len();
    let interrupted = run["interrupted"].as_bool().ok_or("it does not say whether it is whole")?;
    Ok(Some(Kept { results, interrupted }))
}

/// Whether the fault met nothing: it came when the run was over, or there was room enough.
pub fn was_late(plan: &Plan, seen: &Seen) -> bool {
    let as_usual = matches!(code(seen), Some(0 | 8));
    match plan.fault.does {
        Does::SmallDisk => as_usual,
        _ => plan.fault.waits() && (!seen.struck || (as_usual && !plan.fault.goes_on)),
    }
}

fn code(seen: &Seen) -> Option<i32> {
    seen.status.and_then(|status| status.code())
}

/// Everything that did not hold in a trial.
pub fn broken(plan: &Plan, seen: &Seen) -> Vec<String> {
    let mut all: Vec<String> =
        seen.left.iter().map(|left| format!("left behind: {left}")).collect();
    if seen.took > seen.bound || seen.status.is_none() {
        let seconds = [seen.took, seen.bound].map(|time| time.as_secs_f64());
        all.push(format!("hangs: took {:.1} s of at most {:.1} s", seconds[0], seconds[1]));
    }
    if let Some(status) = seen.status.filter(|status| !fits(plan, seen, *status)) {
        all.push(format!("ended wrongly: {status}"));
    }
    all.extend(lost(plan, seen).map(|what| format!("lost: {what}")));
    all
}

/// Whether it may end so.
fn fits(plan: &Plan, seen: &Seen, status: ExitStatus) -> bool {
    let launcher = matches!(plan.fault.does, Does::Signal { to: Whom::Launcher, .. });
    match status.code() {
        // Whoever is struck at the end may be done.
        Some(0 | 8) if !plan.fault.waits() => plan.fault.goes_on,
        Some(0 | 8) => {
            let was_done = if launcher { seen.took < Duration::from_secs(1) } else { !seen.lasted };
            plan.fault.goes_on || !seen.struck || was_done
        }
        Some(code) => (seen.struck || !plan.fault.waits()) && plan.fault.codes.contains(&code),
        None => {
            let killed = status.signal() == Some(Signal::KILL.as_raw());
            killed && seen.struck && plan.fault.name == "kill-launcher"
        }
    }
}

/// What was measured and is not there.
fn lost(plan: &Plan, seen: &Seen) -> Option<String> {
    let kept = match &seen.kept {
        Ok(kept) => *kept,
        Err(error) => return Some(format!("the run cannot be read: {error}")),
    };
    // What a launcher that is killed has not kept yet is gone with it.
    let code = code(seen)?;
    let Some(kept) = kept else {
        return (code == 0 || seen.measured).then(|| "nothing is kept".to_owned());
    };
    // The whole time budget is spent, so that what is struck in its first half is not done.
    let early = seen.struck && plan.after < plan.budget / 2;
    match code {
        0 if kept.results == 0 => Some("no result is kept".to_owned()),
        0 if kept.interrupted => Some("a whole run is marked as interrupted".to_owned()),
        5 | 6 | 130 if early && !kept.interrupted => {
            Some("it is not marked as interrupted".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::ALL;

    /// What did not hold of a trial of a fault that struck early and that was seen to end so, once `spoil` has changed it.
    fn holds(fault: &str, raw: i32, spoil: impl FnOnce(&mut Seen)) -> bool {
        let fault = ALL.iter().find(|known| known.name == fault).unwrap();
        let plan = Plan { after: Duration::ZERO, ..Plan::draw(1, fault, 0) };
        let mut seen = Seen {
            status: Some(ExitStatus::from_raw(raw)),
            measured: true,
            struck: true,
            lasted: true,
            took: Duration::from_secs(2),
            bound: Duration::from_secs(7),
            left: Vec::new(),
            kept: Ok(Some(Kept { results: 1, interrupted: raw != 0 })),
        };
        spoil(&mut seen);
        broken(&plan, &seen).is_empty()
    }

    const DIED: i32 = 5 << 8;

    #[test]
    fn a_killed_rank_breaks_no_rule_and_each_lapse_does() {
        let holds = |spoil: fn(&mut Seen)| holds("kill-rank", DIED, spoil);
        assert!(holds(|_| ()));
        assert!(!holds(|seen| seen.took = Duration::from_secs(8)));
        assert!(!holds(|seen| seen.status = None));
        assert!(!holds(|seen| seen.left.push("rank 9".to_owned())));
        assert!(!holds(|seen| seen.kept = Ok(None)));
        assert!(!holds(|seen| seen.kept = Err("cut".to_owned())));
        assert!(!holds(|seen| seen.kept = Ok(Some(Kept { results: 1, interrupted: false }))));
        assert!(!holds(|seen| seen.struck = false));
        for raw in [0, 6 << 8, 70 << 8, 101 << 8, 9, 11] {
            assert!(!super::tests::holds("kill-rank", raw, |_| ()), "{raw}");
        }
        // It was done.
        assert!(super::tests::holds("kill-rank", 0, |seen| seen.lasted = false));
    }

    #[test]
    fn each_fault_has_its_codes() {
        for (fault, raw, fits) in [
            ("kill-launcher", 9, true),
            ("kill-launcher", 15, false),
            ("int-launcher", 130 << 8, true),
            ("int-launcher", 0, false),
            ("stop-ranks", 6 << 8, true),
            ("stop-rank-briefly", 6 << 8, false),
            ("stop-rank-briefly", 0, true),
            ("small-disk", 4 << 8, true),
            ("nothing", 0, true),
            ("nothing", 4 << 8, false),
        ] {
            assert_eq!(holds(fault, raw, |_| ()), fits, "{fault}, {raw}");
        }
    }

    #[test]
    fn half_a_run_file_is_an_error_and_none_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(kept(folder.path()), Ok(None));
        let write = |text: &str| fs::write(folder.path().join("run.json"), text).unwrap();
        write("{\"format\": \"bandgap-r");
        assert!(kept(folder.path()).is_err());
        write(r#"{"results": [1, 2], "interrupted": true}"#);
        assert_eq!(kept(folder.path()), Ok(Some(Kept { results: 2, interrupted: true })));
    }
}
