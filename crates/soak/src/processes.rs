//! Processes, as listed in /proc.

use std::fs;
use std::path::PathBuf;

/// A live process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Processor time used, in hundredths of a second.
    pub used: u64,
    /// Start time, in hundredths of a second since the machine started.
    pub started: u64,
    /// Whether a signal has stopped it.
    pub stopped: bool,
}

impl Process {
    /// All live processes.
    pub fn all() -> impl Iterator<Item = Self> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Self::read(entry.file_name().to_str()?.parse().ok()?))
    }

    /// The process with this id, if it is alive.
    pub fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, may contain anything. proc(5) numbers the fields after it from 3.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let state = *fields.first()?;
        let dead = ["Z", "X"].contains(&state);
        let used = field(14)? + field(15)?;
        (!dead).then_some(Self { pid, used, started: field(22)?, stopped: state == "T" })
    }

    /// Ranks that a launcher has started, ordered by rank.
    pub fn ranks_of(launcher: u32) -> Vec<Self> {
        let listed = fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
        let children = listed.unwrap_or_default();
        let children = children.split_whitespace().filter_map(|pid| Self::read(pid.parse().ok()?));
        let mut ranks: Vec<Self> = children.filter(Self::is_rank).collect();
        ranks.sort_by_key(|process| (process.started, process.pid));
        ranks
    }

    /// Whether the process is a rank of a run.
    pub fn is_rank(&self) -> bool {
        let line = fs::read(self.file("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"rank")
    }

    /// Whether its environment contains `mark`, in the form `NAME=value`.
    pub fn carries(&self, mark: &str) -> bool {
        let environment = fs::read(self.file("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    }

    fn file(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.pid))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_child_is_found_by_its_mark_until_it_is_gone() {
        let mut child =
            Command::new("sleep").arg("60").env("BANDGAP_SOAK", "unlike").spawn().unwrap();
        let marked = || Process::all().find(|process| process.carries("BANDGAP_SOAK=unlike"));
        // Between fork and exec it has its parent's environment.
        let found = loop {
            if let Some(found) = marked() {
                break found;
            }
            std::thread::yield_now();
        };
        assert_eq!(found.pid, child.id());
        assert!(!found.is_rank());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(marked(), None);
    }
}
