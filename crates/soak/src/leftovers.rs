//! What is left of a run that has ended.

use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::processes::Process;
use crate::sockets;

/// Time in which what is left goes away by itself: ranks die with a launcher that was killed, and the kernel takes down
/// their sockets.
const SOON: Duration = Duration::from_secs(2);

/// The processes that carry a mark.
pub fn marked(mark: &str) -> Vec<Process> {
    Process::all().filter(|process| process.carries(mark)).collect()
}

/// Ends every process that carries a mark.
pub fn end_marked(mark: &str) {
    for process in marked(mark) {
        if let Some(pid) = Pid::from_raw(process.pid.cast_signed()) {
            // One that has ended meanwhile is what is wanted.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The names in /dev/shm.
pub fn segments() -> BTreeSet<String> {
    let entries = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits until nothing is left of a run, and says what is left nevertheless: processes with its mark, sockets that it
/// held, and segments of its name. `before`: segments that were there before.
pub fn left(mark: &str, held: &BTreeSet<u64>, before: &BTreeSet<String>) -> Vec<String> {
    let until = Instant::now() + SOON;
    loop {
        let found = now(mark, held, before);
        if found.is_empty() || Instant::now() >= until {
            return found;
        }
        sleep(Duration::from_millis(5));
    }
}

fn now(mark: &str, held: &BTreeSet<u64>, before: &BTreeSet<String>) -> Vec<String> {
    let process = |process: Process| {
        let kind = if process.is_rank() { "rank" } else { "process" };
        format!("{kind} {}", process.pid)
    };
    let mut found: Vec<String> = marked(mark).into_iter().map(process).collect();
    let listed = sockets::listed();
    found.extend(held.intersection(&listed).map(|inode| format!("socket {inode}")));
    let ours = |name: &&String| name.contains("bandgap") && !before.contains(*name);
    found.extend(segments().iter().filter(ours).map(|name| format!("/dev/shm/{name}")));
    found
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn sockets_and_segments_that_stay_are_named_and_older_segments_are_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let held = sockets::held_by(std::process::id());
        let nobody = "BANDGAP_SOAK=nobody";
        let found = now(nobody, &held, &segments());
        assert!(
            !found.is_empty() && found.iter().all(|left| left.starts_with("socket ")),
            "{found:?}"
        );
        drop(listener);
        let segment = format!("/dev/shm/bandgap-soak-test-{}", std::process::id());
        fs::write(&segment, "").unwrap();
        let [new, old] =
            [BTreeSet::new(), segments()].map(|before| now(nobody, &BTreeSet::new(), &before));
        fs::remove_file(&segment).unwrap();
        assert!(new.contains(&segment) && !old.contains(&segment), "{new:?} {old:?}");
    }
}
