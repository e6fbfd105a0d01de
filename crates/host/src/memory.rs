//! How much memory is left.

use std::path::Path;

use bandgap_units::Bytes;

use crate::system_file;

/// Memory that can still be used without swapping: what the kernel counts as available, or what is
/// left below a container's limit if that is less. `None` if the kernel does not say.
#[must_use]
pub fn available_memory() -> Option<Bytes> {
    available(Path::new("/"))
}

fn available(root: &Path) -> Option<Bytes> {
    let Bytes(of_machine) = meminfo(root, "MemAvailable:")?;
    // Control groups version 2, as a container sees its own group. `max` means no limit.
    let group = |name| system_file::number::<u64>(root, &format!("sys/fs/cgroup/memory.{name}"));
    let of_group = group("max").zip(group("current"));
    let left = of_group.map_or(of_machine, |(max, current)| max.saturating_sub(current));
    Some(Bytes(left.min(of_machine)))
}

/// A field of the kernel's table of memory: `MemTotal: … kB`, in units of 1024.
pub(crate) fn meminfo(root: &Path, field: &str) -> Option<Bytes> {
    let all = system_file::text(root, "proc/meminfo")?;
    let line = all.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::Tree;

    #[test]
    fn the_smaller_of_machine_and_container_counts() {
        let tree = Tree::new();
        assert_eq!(available(tree.root()), None);
        tree.file("proc/meminfo", "MemTotal: 4096 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB");
        assert_eq!(available(tree.root()), Some(Bytes(2 << 20)));
        tree.file("sys/fs/cgroup/memory.max", "max");
        tree.file("sys/fs/cgroup/memory.current", "1000");
        assert_eq!(available(tree.root()), Some(Bytes(2 << 20)));
        tree.file("sys/fs/cgroup/memory.max", "5096");
        assert_eq!(available(tree.root()), Some(Bytes(4096)));
        tree.file("sys/fs/cgroup/memory.current", "6000");
        assert_eq!(available(tree.root()), Some(Bytes(0)));
    }
}
