//! The findings of a look at the machine, as a table.

use bandgap_host::doctor::{Check, Grade};
use bandgap_report::{Layout, Listing};

/// A text with a capital at its begin.
fn begun(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// A table of checks in the order given, and a line that says whether the machine is fit.
pub(super) fn table(checks: &[Check], layout: &Layout) -> String {
    let found = |check: &Check| {
        let found = format!("{}. {}", check.found, begun(&check.matters));
        [Some(found), check.advice.clone()].into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    let rows = Listing::new(checks, layout)
        .text("check", |check| check.name.clone())
        .text("", |check| word(check.grade).to_owned())
        .text("found", found)
        .finish();
    let count = |grade| checks.iter().filter(|check| check.grade == grade).count();
    let verdict = match (count(Grade::Bad), count(Grade::Warning)) {
        (0, 0) => "This machine is fit to measure on.".to_owned(),
        (0, warnings) => {
            format!("Measurements will work, but {warnings} of {} checks warn.", checks.len())
        }
        (bad, _) => format!("Not fit to measure on: {bad} of {} checks are bad.", checks.len()),
    };
    rows + &layout.paragraph(&verdict)
}

fn word(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "good",
        Grade::Note => "note",
        Grade::Warning => "warning",
        Grade::Bad => "bad",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_end_with_a_verdict() {
        let check = |name: &str, grade, found: &str, matters: &str, advice: Option<&str>| Check {
            name: name.into(),
            grade,
            found: found.into(),
            matters: matters.into(),
            advice: advice.map(str::to_owned),
        };
        let good = check("clock", Grade::Good, "invariant TSC, 2.596 GHz", "steps are 10 ns", None);
        let warned = check(
            "frequency governor",
            Grade::Warning,
            "powersave on cores 0-1",
            "the first samples are slow",
            Some("choose the performance governor: cpupower frequency-set -g performance"),
        );
        let bad = check(
            "cores",
            Grade::Bad,
            "one core only",
            "two ranks share it",
            Some("give the machine a second core"),
        );
        let note = check("MPI", Grade::Note, "none found", "it is not needed", None);
        let layout = Layout::default();
        insta::assert_snapshot!(table(&[good.clone(), warned.clone(), note], &layout));
        assert!(table(&[good], &layout).ends_with("This machine is fit to measure on.\n"));
        assert!(
            table(&[warned, bad], &layout)
                .ends_with("Not fit to measure on: 1 of 2 checks are bad.\n")
        );
    }
}
