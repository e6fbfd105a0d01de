//! How much memory is left.

use std::path::Path;

use bandgap_units::Bytes;

use crate::system_file;

/// Memory that programs may yet take without others being pushed out: what the kernel counts as
/// available, or what is left below the limit of a container if that is less. `None` where the
/// kernel does not say.
#[must_use]
pub fn available_memory() -> Option<Bytes> {
    available(Path::new("/"))
}

fn available(root: &Path) -> Option<Bytes> {
    let all = system_file::text(root, "proc/meminfo")?;
    let line = all.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    let of_machine = kib.checked_mul(1024)?;
    // Version 2, as a container sees its own group. Without a limit the file says `max`.
    let group = |name| system_file::number::<u64>(root, &format!("sys/fs/cgroup/memory.{name}"));
    let of_group = group("max").zip(group("current"));
    let left = of_group.map_or(of_machine, |(max, current)| max.saturating_sub(current));
    Some(Bytes(left.min(of_machine)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_less_of_machine_and_container_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(available(root.path()), None);
        write("proc/meminfo", "MemTotal: 4096 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n");
        assert_eq!(available(root.path()), Some(Bytes(2 << 20)));
        write("sys/fs/cgroup/memory.max", "max\n");
        write("sys/fs/cgroup/memory.current", "1000\n");
        assert_eq!(available(root.path()), Some(Bytes(2 << 20)));
        write("sys/fs/cgroup/memory.max", "5096\n");
        assert_eq!(available(root.path()), Some(Bytes(4096)));
        write("sys/fs/cgroup/memory.current", "6000\n");
        assert_eq!(available(root.path()), Some(Bytes(0)));
    }
}
