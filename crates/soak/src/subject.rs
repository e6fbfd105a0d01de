//! The commands that are run.

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
    Subject { words: &["run"], over: &[], ranks: &[2], counted: true },
    Subject { words: &["pairs"], over: ALL, ranks: &[3], counted: false },
    Subject { words: &["comms1", "--sizes", "0:256KiB"], over: ALL, ranks: &[2], counted: true },
    Subject {
        words: &["comms1", "--sizes", "0:256KiB", "--memory", "registered"],
        over: &["shm"],
        ranks: &[2],
        counted: true,
    },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_and_every_command_that_measures_is_among_them() {
        let over = |name| FEW.iter().any(|subject| subject.over.contains(&name));
        assert!(ALL.iter().all(|name| over(name)));
        let commands = [
            "signature",
            "run",
            "pairs",
            "bulk",
            "comms1",
            "comms3",
            "synch1",
            "comet",
            "floor",
            "breakdown",
        ];
        for command in commands {
            assert!(FEW.iter().any(|subject| subject.words[0] == command), "{command}");
        }
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
            "pairs",
            "comet broadcast",
            "bulk --sizes",
            "breakdown",
            "floor cache_line",
        ];
        assert_eq!(uncounted, named);
        let empty: Vec<String> = of(|subject| !subject.compares()).collect();
        assert_eq!(empty, ["synch1", "floor cache_line"]);
    }
}
