//! Available memory.

use std::path::Path;

use bandgap_units::Bytes;
use rustix::process::{Resource, getrlimit};

use crate::control_group::{Version, folders};
use crate::system_file;

/// Memory that can still be used without swapping: what the kernel counts as available, or what is
/// left below the limits of this process's control group and of those above it, whichever is least.
/// `None` if the kernel does not say.
pub fn available_memory() -> Option<Bytes> {
    available(Path::new("/"))
}

/// Memory that this process may still take: what is available, or what its limit of addresses
/// (`ulimit -v`) leaves of them.
pub fn own_memory() -> Option<Bytes> {
    let taken = kibibytes(Path::new("/"), "proc/self/status", "VmSize:")?;
    let most = getrlimit(Resource::As).current.unwrap_or(u64::MAX);
    Some(available_memory()?.min(Bytes(most.saturating_sub(taken.0))))
}

fn available(root: &Path) -> Option<Bytes> {
    let Bytes(of_machine) = kibibytes(root, "proc/meminfo", "MemAvailable:")?;
    let groups = folders(root, "memory");
    let left = groups.iter().filter_map(|(version, group)| left(root, *version, group));
    Some(Bytes(left.fold(of_machine, u64::min)))
}

/// What is left below the limit of a group; `None` if it has no limit. Cached files count as left,
/// since the kernel drops them when it needs their memory.
fn left(root: &Path, version: Version, group: &str) -> Option<u64> {
    let number = |name| system_file::number::<u64>(root, &format!("{group}/memory.{name}"));
    // Without a limit version 2 says `max`, and version 1 a number above all memory.
    let (limit, used, cached) = match version {
        Version::One => (
            number("limit_in_bytes")?,
            number("usage_in_bytes")?,
            ["total_inactive_file", "total_active_file"],
        ),
        Version::Two => (number("max")?, number("current")?, ["inactive_file", "active_file"]),
    };
    let of_group = system_file::text(root, &format!("{group}/memory.stat")).unwrap_or_default();
    let cached = cached.iter().filter_map(|name| {
        let mut lines = of_group.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(field, _)| field == name)?.1.parse::<u64>().ok()
    });
    let used = used.saturating_sub(cached.fold(0, u64::saturating_add));
    Some(limit.saturating_sub(used))
}

/// A field of a table of the kernel, e.g. `MemTotal: … kB`, in units of 1024.
pub(crate) fn kibibytes(root: &Path, file: &str, field: &str) -> Option<Bytes> {
    let all = system_file::text(root, file)?;
    let line = all.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::Tree;

    /// A machine with 2 MiB available, and a process in these groups.
    fn machine(groups: &str) -> Tree {
        let tree = Tree::new();
        tree.file("proc/meminfo", "MemTotal: 4096 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB");
        tree.file("proc/self/cgroup", groups);
        tree
    }

    fn left(tree: &Tree) -> u64 {
        available(tree.root()).unwrap().0
    }

    #[test]
    fn without_groups_the_machine_counts() {
        assert_eq!(available(Tree::new().root()), None);
        let tree = Tree::new();
        tree.file("proc/meminfo", "MemAvailable:    2048 kB");
        assert_eq!(left(&tree), 2 << 20);
        // A process in no group that has memory, as in most containers of version 2.
        assert_eq!(left(&machine("0::/")), 2 << 20);
    }

    #[test]
    fn the_group_of_version_2_with_the_least_left_counts() {
        let tree = machine("0::/outer/inner");
        let group = |group: &str, max: &str, current: &str| {
            tree.file(&format!("sys/fs/cgroup/{group}memory.max"), max);
            tree.file(&format!("sys/fs/cgroup/{group}memory.current"), current);
        };
        group("outer/inner/", "max", "1000");
        assert_eq!(left(&tree), 2 << 20);
        group("outer/inner/", "9000", "1000");
        assert_eq!(left(&tree), 8000);
        // Its neighbours use what the one above it allows.
        group("outer/", "10000", "9000");
        assert_eq!(left(&tree), 1000);
        // Of that, 3000 are files that need not stay in memory; what is shared does.
        tree.file(
            "sys/fs/cgroup/outer/memory.stat",
            "anon 1000\nfile 7000\nshmem 4000\ninactive_file 2000\nactive_file 1000\nslab 1",
        );
        assert_eq!(left(&tree), 4000);
        group("outer/", "5000", "9000");
        assert_eq!(left(&tree), 0);
        // Inside a container the own group is at the root.
        let tree = machine("0::/");
        tree.file("sys/fs/cgroup/memory.max", "700");
        tree.file("sys/fs/cgroup/memory.current", "300");
        assert_eq!(left(&tree), 400);
    }

    #[test]
    fn the_group_of_version_1_with_the_least_left_counts() {
        let tree = machine("5:cpu,cpuacct:/a\n4:memory:/outer/inner\n0::/elsewhere");
        let group = |group: &str, limit: u64, used: u64| {
            let group = format!("sys/fs/cgroup/memory/{group}memory.");
            tree.file(&format!("{group}limit_in_bytes"), &limit.to_string());
            tree.file(&format!("{group}usage_in_bytes"), &used.to_string());
        };
        // No limit is a number of pages that no machine has.
        group("", 0x7fff_ffff_ffff_f000, 1 << 20);
        group("outer/", 0x7fff_ffff_ffff_f000, 1 << 20);
        assert_eq!(left(&tree), 2 << 20);
        group("outer/inner/", 6000, 5000);
        assert_eq!(left(&tree), 1000);
        // The totals are those of the group with all below it, as its use is.
        tree.file(
            "sys/fs/cgroup/memory/outer/inner/memory.stat",
            "cache 9\nrss 9\ninactive_file 1\ntotal_inactive_file 300\ntotal_active_file 200",
        );
        assert_eq!(left(&tree), 1500);
        group("outer/", 100, 50);
        assert_eq!(left(&tree), 50);
    }
}
