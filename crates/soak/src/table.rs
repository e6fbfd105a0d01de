//! The table of trials by fault.

use std::collections::BTreeMap;
use std::fmt;

use crate::checks::{Broken, Rule};
use crate::faults::{Does, Group, named};

/// What is counted of a trial beside what did not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The fault met nothing: it came when all was measured, or a limit sufficed.
    pub late: bool,
    /// Too little was measured for a result.
    pub too_little: bool,
}

/// Trials of a fault of which a share says something.
const ENOUGH: u64 = 40;
/// More of them than this share that met nothing: the fault is not tried. Limits are drawn from a wide range.
const LATE: f64 = 0.9;
/// The same of signals, whose moments are drawn from a little more than the time of a measurement.
const LATE_SIGNALS: f64 = 0.5;

/// What became of the trials of one fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    trials: u64,
    skipped: u64,
    /// Trials in which the fault met nothing.
    late: u64,
    /// Trials without a result.
    too_little: u64,
    well: u64,
    /// Trials in which a rule did not hold.
    broken: BTreeMap<Rule, u64>,
}

/// All trials, by fault, in the order of the list of faults.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<(&'static str, Row)>,
}

impl Table {
    /// An empty one, for these faults.
    pub fn new(faults: impl Iterator<Item = &'static str>) -> Self {
        Self { rows: faults.map(|name| (name, Row::default())).collect() }
    }

    /// Adds a trial that was carried out.
    pub fn add(&mut self, fault: &str, tally: Tally, broken: &[Broken]) {
        let Some(row) = self.row(fault) else { return };
        row.trials += 1;
        row.late += u64::from(tally.late);
        row.too_little += u64::from(tally.too_little);
        row.well += u64::from(broken.is_empty());
        let mut rules: Vec<Rule> = broken.iter().map(|broken| broken.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        for rule in rules {
            *row.broken.entry(rule).or_default() += 1;
        }
    }

    /// Adds a trial that this machine could not do.
    pub fn skip(&mut self, fault: &str) {
        if let Some(row) = self.row(fault) {
            row.skipped += 1;
        }
    }

    /// Trials carried out in which something did not hold.
    pub fn failed(&self) -> u64 {
        self.rows.iter().map(|(_, row)| row.trials - row.well).sum()
    }

    /// Trials that this machine could not do.
    pub fn skipped(&self) -> u64 {
        self.rows.iter().map(|(_, row)| row.skipped).sum()
    }

    /// The faults of which too many trials say nothing.
    pub fn weak(&self) -> Vec<String> {
        let mut weak = Vec::new();
        for (name, row) in self.rows.iter().filter(|(_, row)| row.trials >= ENOUGH) {
            let Row { trials, late, too_little, .. } = row;
            let is_signal = named(name).is_ok_and(|fault| fault.group() == Group::Kills);
            let most_late = if is_signal { LATE_SIGNALS } else { LATE };
            // On a busy machine most trials are too short for a result, but not all.
            if too_little == trials && !starves(name) {
                weak.push(format!("{name}: all of {trials} trials had too little for a result"));
            }
            if *late as f64 > most_late * *trials as f64 {
                let most = most_late * 100.0;
                weak.push(format!(
                    "{name}: {late} of {trials} trials met nothing, more than {most} %"
                ));
            }
        }
        weak
    }

    fn row(&mut self, fault: &str) -> Option<&mut Row> {
        self.rows.iter_mut().find(|(name, _)| *name == fault).map(|(_, row)| row)
    }

    fn sum(&self) -> Row {
        let mut sum = Row::default();
        for (_, row) in &self.rows {
            sum.trials += row.trials;
            sum.skipped += row.skipped;
            sum.late += row.late;
            sum.too_little += row.too_little;
            sum.well += row.well;
            for (rule, count) in &row.broken {
                *sum.broken.entry(*rule).or_default() += count;
            }
        }
        sum
    }
}

/// Whether a fault leaves so little time to measure that all its trials may have too little.
fn starves(fault: &str) -> bool {
    let starving = [Does::Crowd, Does::Datagrams, Does::OneProcessor];
    named(fault).is_ok_and(|fault| starving.contains(&fault.does))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<22}{:>8}{:>6}{:>9}{:>6}{:>6}",
            "fault", "trials", "well", "skipped", "late", "8"
        )?;
        for rule in Rule::ALL {
            write!(f, "  {rule}")?;
        }
        writeln!(f)?;
        let sum = self.sum();
        let tried = self.rows.iter().filter(|(_, row)| row.trials + row.skipped > 0);
        for (name, row) in tried.map(|(name, row)| (*name, row)).chain([("all", &sum)]) {
            let Row { trials, skipped, late, too_little, well, broken } = row;
            write!(f, "{name:<22}{trials:>8}{well:>6}{skipped:>9}{late:>6}{too_little:>6}")?;
            for rule in Rule::ALL {
                let width = rule.to_string().len() + 2;
                write!(f, "{:>width$}", broken.get(&rule).copied().unwrap_or(0))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_counts_once_for_each_rule_that_it_breaks() {
        let mut table = Table::new(["kill-rank", "crowd", "datagrams"].into_iter());
        let broken = |rule| Broken { rule, what: String::new() };
        table.add("kill-rank", Tally { late: true, too_little: true }, &[]);
        table.add(
            "kill-rank",
            Tally::default(),
            &[broken(Rule::Leftover), broken(Rule::Leftover), broken(Rule::Lost)],
        );
        table.skip("crowd");
        assert_eq!((table.failed(), table.skipped()), (1, 1));
        let text = table.to_string();
        let row = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect::<Vec<u64>>()
        };
        assert_eq!(row("kill-rank"), [2, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0]);
        assert_eq!(row("crowd"), [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(row("all"), [2, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0]);
        assert!(!text.contains("datagrams"), "what was not tried has no row");
    }

    #[test]
    fn a_fault_of_which_nearly_all_trials_say_nothing_is_named() {
        let weak = |fault: &'static str, trials: u64, too_little: u64, late: u64| {
            let mut table = Table::new([fault].into_iter());
            for at in 0..trials {
                table.add(fault, Tally { late: at < late, too_little: at < too_little }, &[]);
            }
            table.weak()
        };
        for fault in ["strangers", "tstp-rank", "crowd"] {
            assert!(weak(fault, 40, 39, 20).is_empty() && weak(fault, 39, 39, 39).is_empty());
        }
        let all = "strangers: all of 40 trials had too little for a result";
        assert_eq!(weak("strangers", 40, 40, 0), [all]);
        assert!(weak("crowd", 40, 40, 0).is_empty());
        let late = |fault, late| weak(fault, 40, 0, late);
        let none = "strangers: 37 of 40 trials met nothing, more than 90 %";
        assert!(late("strangers", 36).is_empty() && late("kill-rank", 20).is_empty());
        assert_eq!(late("strangers", 37), [none]);
        assert_eq!(
            late("kill-rank", 21),
            ["kill-rank: 21 of 40 trials met nothing, more than 50 %"]
        );
    }
}
