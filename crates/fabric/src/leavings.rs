//! What libfabric leaves behind.

use std::fs;
use std::path::Path;

/// The folder of shared memory with names.
const SHARED: &str = "/dev/shm";

/// Removes the shared memory of processes that have ended. libfabric's provider `shm` leaves it when its process is
/// killed. The file's name has the process's number between colons, as in `4711:0:0`.
pub fn remove_leavings(processes: &[u32]) {
    remove_from(Path::new(SHARED), processes);
}

fn remove_from(folder: &Path, processes: &[u32]) {
    let processes: Vec<String> = processes.iter().map(u32::to_string).collect();
    let is_its = |name: &str| {
        let parts: Vec<&str> = name.strip_prefix("fi_shm_").unwrap_or(name).split(':').collect();
        let all = parts.len() > 2
            && parts.iter().all(|of| of.bytes().all(|digit| digit.is_ascii_digit()));
        all && parts.iter().any(|of| processes.iter().any(|process| process == of))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_its) {
            // Whoever removed it before, or may not, has no more to do.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ended_processes_alone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let names =
            ["4711:0:0", "fi_shm_1000:4711:0:1", "4712:0:0", "4711", "x:4711:0", "47110:0:0"];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_from(folder.path(), &[4711, 9]);
        let left = fs::read_dir(folder.path()).unwrap().map(|of| of.unwrap().file_name());
        let mut left: Vec<_> = left.map(|of| of.into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["4711", "47110:0:0", "4712:0:0", "x:4711:0"]);
    }
}
