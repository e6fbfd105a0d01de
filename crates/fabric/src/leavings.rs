//! What libfabric leaves behind.

use std::fs;
use std::path::Path;

/// The folder of shared memory with names.
const SHARED: &str = "/dev/shm";

/// Removes the shared memory of processes that have ended. libfabric's provider `shm` leaves it when its process is
/// killed. The file's name begins with the process's number, as in `4711:0:0`; later versions have `fi_shm_`, the user's
/// number and a colon before it.
pub fn remove_leavings(processes: &[u32]) {
    remove_from(Path::new(SHARED), processes);
}

fn remove_from(folder: &Path, processes: &[u32]) {
    let processes: Vec<String> = processes.iter().map(u32::to_string).collect();
    let is_its = |name: &str| {
        let (at, numbers) = match name.strip_prefix("fi_shm_") {
            Some(rest) => (1, rest),
            None => (0, name),
        };
        let parts: Vec<&str> = numbers.split(':').collect();
        let is_number = |of: &&str| of.bytes().all(|digit| digit.is_ascii_digit());
        let is_full = parts.len() > 2 && parts.iter().all(is_number);
        is_full && processes.iter().any(|process| process == parts[at])
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
            ["4711:0:0", "fi_shm_1000:4711:0:1", "4712:4711:0", "4711", "x:4711:0", "47110:0:0"];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_from(folder.path(), &[4711, 9]);
        let left = fs::read_dir(folder.path()).unwrap().map(|of| of.unwrap().file_name());
        let mut left: Vec<_> = left.map(|of| of.into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["4711", "47110:0:0", "4712:4711:0", "x:4711:0"]);
    }
}
