//! Checks what must hold after a trial, whatever the fault.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::faults::{Does, Whom};
use crate::plan::Plan;

/// Observations of a trial.
pub struct Seen {
    /// How the launcher ended; `None` if it had to be killed.
    pub status: Option<ExitStatus>,
    /// Whether any rank ever ran.
    pub measured: bool,
    /// Whether the fault came while ranks were running.
    pub struck: bool,
    /// Whether any rank that ran at the fault was still running a second later.
    pub lasted: bool,
    /// Time from the fault, or from the end of the pause, to the end of the run.
    pub took: Duration,
    /// Longest time allowed.
    pub bound: Duration,
    /// What the run left behind: processes and files.
    pub left: Vec<String>,
    /// What the run file holds; `None` if there is none.
    pub kept: Result<Option<Kept>, String>,
}

/// What a run file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Number of results.
    pub results: usize,
    /// Whether the run ended early.
    pub interrupted: bool,
}

/// Reads the run file in a directory.
///
/// # Errors
/// The run file cannot be read.
pub fn kept(directory: &Path) -> Result<Option<Kept>, String> {
    let path = directory.join("run.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read(&path).map_err(|error| error.to_string())?;
    let run: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let results = run["results"].as_array().ok_or("it has no results")?.len();
    let interrupted =
        run["interrupted"].as_bool().ok_or("it does not say whether the run was interrupted")?;
    Ok(Some(Kept { results, interrupted }))
}

/// Whether the fault had no effect: it came when the run was over, or the disk had enough room.
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

/// All checks that failed in a trial.
pub fn broken(plan: &Plan, seen: &Seen) -> Vec<String> {
    let mut all: Vec<String> =
        seen.left.iter().map(|left| format!("left behind: {left}")).collect();
    if seen.took > seen.bound || seen.status.is_none() {
        let seconds = [seen.took, seen.bound].map(|time| time.as_secs_f64());
        all.push(format!("hangs: took {:.1} s (limit {:.1} s)", seconds[0], seconds[1]));
    }
    if let Some(status) = seen.status.filter(|status| !fits(plan, seen, *status)) {
        all.push(format!("unexpected exit: {status}"));
    }
    all.extend(lost(plan, seen).map(|what| format!("lost: {what}")));
    all
}

/// Whether the run may end with this status.
fn fits(plan: &Plan, seen: &Seen, status: ExitStatus) -> bool {
    let launcher = matches!(plan.fault.does, Does::Signal { to: Whom::Launcher, .. });
    match status.code() {
        // A run that is nearly over when the fault comes may end as usual.
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

/// What was measured but is missing.
fn lost(plan: &Plan, seen: &Seen) -> Option<String> {
    let kept = match &seen.kept {
        Ok(kept) => *kept,
        Err(error) => return Some(format!("the run cannot be read: {error}")),
    };
    // A launcher that is killed by a signal loses what it had not yet written.
    let code = code(seen)?;
    let Some(kept) = kept else {
        return (code == 0 || seen.measured).then(|| "no run was kept".to_owned());
    };
    // The run uses its whole time budget, so a fault in the first half of it finds the run
    // unfinished.
    let early = seen.struck && plan.after < plan.budget / 2;
    match code {
        0 if kept.results == 0 => Some("no result was kept".to_owned()),
        0 if kept.interrupted => Some("a complete run is marked as interrupted".to_owned()),
        5 | 6 | 130 if early && !kept.interrupted => {
            Some("the run is not marked as interrupted".to_owned())
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
