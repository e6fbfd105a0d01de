//! The findings of a look at the machine, as a table.

use crate::{Layout, Listing};

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// As it should be.
    Good,
    /// Neither good nor bad: for the reader to know.
    Note,
    /// Measurements will suffer.
    Warning,
    /// Measurements are not possible.
    Bad,
}

/// One check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check<'a> {
    /// What was looked at.
    pub name: &'a str,
    /// How it came out.
    pub grade: Grade,
    /// What was found.
    pub found: &'a str,
    /// What to do about it; empty when there is nothing to do.
    pub advice: &'a str,
}

impl Grade {
    fn word(self) -> &'static str {
        match self {
            Grade::Good => "good",
            Grade::Note => "note",
            Grade::Warning => "warning",
            Grade::Bad => "bad",
        }
    }
}

/// A table of checks in the order given, and a line that counts those with advice.
pub fn checks(checks: &[Check<'_>], layout: &Layout) -> String {
    let found = |check: &Check<'_>| {
        let lines = [check.found, check.advice];
        lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let rows = Listing::new(checks, layout)
        .text("check", |check| check.name.to_owned())
        .text("", |check| check.grade.word().to_owned())
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
