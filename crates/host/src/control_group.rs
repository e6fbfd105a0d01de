//! Control groups and containers: the groups that limit this process, its own and all above it, and
//! their limits.

use std::path::Path;

use crate::system_file;

/// The two versions of control groups, whose files have different names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// Folders of this process's groups for a controller, from the root down, at the usual mount
/// points. Some of them may not exist.
pub(crate) fn folders(root: &Path, controller: &str) -> Vec<(Version, String)> {
    let groups = system_file::text(root, "proc/self/cgroup").unwrap_or_default();
    let mut folders = Vec::new();
    for line in groups.lines() {
        // The hierarchy's number, its controllers, and the path in it.
        let Ok([_, controllers, path]) =
            <[&str; 3]>::try_from(line.splitn(3, ':').collect::<Vec<_>>())
        else {
            continue;
        };
        let (version, mounts) = match controllers {
            "" => (Version::Two, ["", "unified"]),
            some if some.split(',').any(|one| one == controller) => {
                (Version::One, [some, controller])
            }
            _ => continue,
        };
        // Inside a container the path may contain `..` and lead out of the mounted tree.
        let path: Vec<&str> =
            path.split('/').filter(|name| !["", ".", ".."].contains(name)).collect();
        for depth in 0..=path.len() {
            let group = path[..depth].join("/");
            folders.extend(mounts.map(|at| (version, format!("sys/fs/cgroup/{at}/{group}"))));
        }
    }
    folders
}

/// Processor time allowed, in processors: the lowest limit of this process's control group and of
/// all groups above it, in version 2 or 1. `None` without a limit.
///
/// *Formula*: quota / period, both in microseconds.
pub(crate) fn quota(root: &Path) -> Option<f64> {
    let quotas = folders(root, "cpu").into_iter().filter_map(|(version, group)| {
        let text = |name: &str| system_file::text(root, &format!("{group}/cpu.{name}"));
        // Version 1 has two files, with a quota of −1 if there is no limit; version 2 has `QUOTA
        // PERIOD` or `max PERIOD`.
        let (quota, period) = match version {
            Version::One => (text("cfs_quota_us")?, text("cfs_period_us")?),
            Version::Two => text("max")?.split_once(' ').map(|(a, b)| (a.into(), b.into()))?,
        };
        let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
        (quota > 0.0 && period > 0.0).then(|| quota / period)
    });
    quotas.reduce(f64::min)
}

/// The container runtime, recognised by the files and group names that runtimes leave.
pub(crate) fn container(root: &Path) -> Option<String> {
    let marks = [
        (".dockerenv", "Docker"),
        ("run/.containerenv", "Podman"),
        (".singularity.d", "Apptainer"),
    ];
    if let Some((_, name)) = marks.iter().find(|(file, _)| root.join(file).exists()) {
        return Some((*name).to_owned());
    }
    let groups = system_file::text(root, "proc/self/cgroup")?;
    let names =
        [("kubepods", "Kubernetes"), ("docker", "Docker"), ("libpod", "Podman"), ("lxc", "LXC")];
    names.iter().find(|(mark, _)| groups.contains(mark)).map(|(_, name)| (*name).to_owned())
}
