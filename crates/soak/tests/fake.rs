//! The driver on a program that looks like bandgap from outside, and that breaks one rule at a time.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bandgap_soak::checks::broken;
use bandgap_soak::faults::ALL;
use bandgap_soak::plan::Plan;
use bandgap_soak::trial::{Tried, carry_out};

/// It has ranks, keeps a run, and ends when one of its ranks does. What it does then comes in the place of `DOES`.
const PROGRAM: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
  --out) out=$2 ;;
  -n) n=$2 ;;
  esac
  shift
done
keep() { printf '{"results": [1], "interrupted": %s}' "$1" > "$out/run.json"; }
place=$(mktemp -d /tmp/fake-XXXXXX)
mkfifo "$place/rank"
mkdir -p "$out"
i=0 ranks=
while [ $i -lt "$n" ]; do
  (cd "$place" && exec cat rank) &
  ranks="$ranks $!"
  i=$((i + 1))
done
died() {
  while kill -0 $ranks 2>/dev/null; do sleep 0.05; done
}
finish() {
  kill -9 $ranks 2>/dev/null
  rm -r "$place"
  exit "$1"
}
DOES
"#;

/// What did not hold of a trial of this fault on a program that does this.
fn found(fault: &str, does: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("fake");
    fs::write(&program, PROGRAM.replace("DOES", does)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let fault = ALL.iter().find(|known| known.name == fault).unwrap();
    // A trial in which something is done early.
    let early = |plan: &Plan| plan.after < plan.budget / 2;
    let plan = (0..).map(|number| Plan::draw(1, fault, number)).find(early).unwrap();
    match carry_out(&plan, Path::new(&program), |_| false).unwrap() {
        Tried::Seen(seen, _) => broken(&plan, &seen),
        Tried::Skipped(why) => panic!("{why}"),
    }
}

#[test]
fn a_program_that_does_right_breaks_no_rule() {
    assert_eq!(found("nothing", "sleep 0.3; keep false; finish 0"), [""; 0]);
    assert_eq!(found("kill-rank", "died; keep true; finish 5"), [""; 0]);
}

#[test]
fn each_lapse_is_found() {
    for does in [
        "died; keep true; finish 6",
        "died; keep true; finish 70",
        "died; finish 5",
        "died; printf '{' > $out/run.json; finish 5",
        "died; keep false; finish 5",
        "died; keep true; sleep 60 & finish 5",
        "died; keep true; : > core; finish 5",
        "died; keep true; : > $TMPDIR/left; finish 5",
        "died; keep true; : > $out/.unfinished; finish 5",
        // The others go on without it, and it ends as if nothing had happened.
        "died; sleep 2; keep false; finish 0",
    ] {
        assert_eq!(found("kill-rank", does).len(), 1, "{does}");
    }
    assert_eq!(found("nothing", "sleep 0.3; keep false; finish 8").len(), 0);
    assert_eq!(found("nothing", "sleep 0.3; finish 0").len(), 1);
}
