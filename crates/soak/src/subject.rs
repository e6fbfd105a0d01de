//! The commands that are run.

use std::path::Path;
use std::process::Command;

use crate::SoakError;
use crate::error::Doing;

/// A command that measures for a short time.
#[derive(Debug, PartialEq)]
pub struct Subject {
    /// Its words.
    pub words: &'static [&'static str],
    /// Transports that it can run over; none where it takes none.
    pub over: &'static [&'static str],
    /// Numbers of ranks to choose from.
    pub ranks: &'static [usize],
    /// Whether the run file says how many batches there are in all.
    pub counted: bool,
}

impl Subject {
    /// Whether its messages have contents, and the run file says how many were compared. A barrier sends none, and nobody
    /// counts what bare floors send.
    pub fn compares(&self) -> bool {
        !["synch1", "floor"].contains(&self.words[0])
    }
}

const ALL: &[&str] = &["shm", "tcp", "unix", "udp"];
const SOCKETS: &[&str] = &["tcp", "unix", "udp"];

/// Commands on few ranks.
pub const FEW: &[Subject] = &[
    Subject { words: &["signature"], over: ALL, ranks: &[2], counted: true },
    Subject { words: &["signature", "--wait", "block"], over: SOCKETS, ranks: &[2], counted: true },
    Subject { words: &["signature", "--launches", "2"], over: ALL, ranks: &[2], counted: true },
    Subject { words: &["signature", "--pairs"], over: ALL, ranks: &[4], counted: false },
    Subject { words: &["signature", "--fan-in", "2"], over: ALL, ranks: &[3], counted: false },
    Subject { words: &["signature", "--fan-out"], over: ALL, ranks: &[3], counted: false },
    Subject { words: &["run"], over: &[], ranks: &[2], counted: true },
    Subject { words: &["pairs"], over: ALL, ranks: &[3], counted: false },
    Subject { words: &["comms1", "--sizes", "0:256KiB"], over: ALL, ranks: &[2], counted: true },
    Subject { words: &["comms2", "--sizes", "0:256KiB"], over: ALL, ranks: &[2], counted: true },
    Subject { words: &["comms3", "--sizes", "0:4KiB"], over: ALL, ranks: &[3], counted: true },
    Subject { words: &["synch1"], over: ALL, ranks: &[2, 4], counted: true },
    Subject {
        words: &["comet", "broadcast", "global_sum", "--sizes", "0:4KiB"],
        over: ALL,
        ranks: &[3],
        counted: false,
    },
    Subject { words: &["comet", "overlap"], over: ALL, ranks: &[2], counted: true },
    Subject {
        words: &["comet", "contention", "--sizes", "0:4KiB"],
        over: ALL,
        ranks: &[4],
        counted: true,
    },
    Subject { words: &["bulk", "--sizes", "8:16KiB"], over: ALL, ranks: &[2], counted: false },
    Subject {
        words: &["bulk", "--sizes", "8:16KiB", "--no-surface"],
        over: ALL,
        ranks: &[2],
        counted: false,
    },
    Subject { words: &["breakdown"], over: ALL, ranks: &[2], counted: false },
    Subject { words: &["floor", "cache_line", "tcp"], over: &[], ranks: &[2], counted: false },
];

/// Commands on many more ranks than there are processors.
pub const MANY: &[Subject] = &[
    Subject { words: &["synch1"], over: ALL, ranks: &[64], counted: true },
    Subject { words: &["comms3", "--sizes", "8"], over: ALL, ranks: &[64], counted: true },
];

/// Commands that are not run: they measure nothing, or, as `doctor`, take no time budget and end by what the machine is fit for.
const OTHERS: &[&str] = &["doctor", "topology", "fit", "whatif", "completions", "man", "help"];

/// Demands that every command of the program is run, or known to measure nothing.
///
/// # Errors
/// One is neither, or the program does not say which it has.
pub fn demand_all(binary: &Path) -> Result<(), SoakError> {
    let help = Command::new(binary).arg("--help").output();
    let help = help.doing(|| format!("ask {} for its commands", binary.display()))?;
    let help = String::from_utf8_lossy(&help.stdout);
    let untried = untried(&help);
    if untried.is_empty() {
        return Ok(());
    }
    Err(SoakError::Untried { commands: untried.join(", ") })
}

/// The commands in the program's help that are not run. A line of one begins with two spaces and its name.
fn untried(help: &str) -> Vec<&str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| {
        let line = line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?;
        line.split_whitespace().next()
    });
    let run = |name: &str| FEW.iter().any(|subject| subject.words[0] == name);
    names.filter(|name| !run(name) && !OTHERS.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_is_among_them() {
        let over = |name| FEW.iter().any(|subject| subject.over.contains(&name));
        assert!(ALL.iter().all(|name| over(name)));
    }

    #[test]
    fn a_command_that_is_not_run_is_found_in_the_help() {
        let help = "Measures.\n\nCommands:\n  signature  LogP\n             of small messages\n  \
            comms4     COMMS4\n  whatif     Changed\n\nOptions:\n  -h  Help\n";
        assert_eq!(untried(help), ["comms4"]);
        assert_eq!(untried(&help.replace("comms4", "comms2")), [""; 0]);
    }

    /// Each way that a signature's messages go, and each experiment of the commands that have several.
    #[test]
    fn every_pattern_and_experiment_is_among_them() {
        let words = |some: &[&str]| FEW.iter().any(|subject| subject.words.starts_with(some));
        for option in ["--pairs", "--fan-in", "--fan-out"] {
            assert!(words(&["signature", option]), "{option}");
        }
        for kernel in ["broadcast", "overlap", "contention"] {
            assert!(words(&["comet", kernel]), "{kernel}");
        }
        let surface = |subject: &&Subject| {
            subject.words[0] == "bulk" && !subject.words.contains(&"--no-surface")
        };
        assert_eq!(FEW.iter().filter(surface).count(), 1);
    }

    #[test]
    fn those_that_are_not_counted_or_compare_nothing_are_the_ones_that_are_named() {
        let of = |fits: fn(&Subject) -> bool| {
            let fitting = FEW.iter().filter(move |subject| fits(subject));
            fitting.map(|subject| subject.words[..subject.words.len().min(2)].join(" "))
        };
        let uncounted: Vec<String> = of(|subject| !subject.counted).collect();
        let named = [
            "signature --pairs",
            "signature --fan-in",
            "signature --fan-out",
            "pairs",
            "comet broadcast",
            "bulk --sizes",
            "bulk --sizes",
            "breakdown",
            "floor cache_line",
        ];
        assert_eq!(uncounted, named);
        let empty: Vec<String> = of(|subject| !subject.compares()).collect();
        assert_eq!(empty, ["synch1", "floor cache_line"]);
    }
}
