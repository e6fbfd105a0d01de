//! Control groups and containers: how much processor time this process may use.

use std::path::Path;

use crate::control_group::{Version, folders};
use crate::system_file;

/// The processor time allowed, in processors: the lowest limit among this process's control group
/// and all groups above it, version 2 or 1. `None` without a limit.
///
/// *Formula*: quota / period, both in microseconds.
pub(super) fn quota(root: &Path) -> Option<f64> {
    let quotas = folders(root, "cpu").into_iter().filter_map(|(version, group)| match version {
        Version::One => quota_1(root, &group),
        Version::Two => quota_2(root, &group),
    });
    quotas.reduce(f64::min)
}

/// Version 2: `cpu.max` holds `QUOTA PERIOD`, or `max PERIOD`.
fn quota_2(root: &Path, group: &str) -> Option<f64> {
    let text = system_file::text(root, &format!("{group}/cpu.max"))?;
    let (quota, period) = text.split_once(' ')?;
    share(quota.parse().ok()?, period.parse().ok()?)
}

/// Version 1: two files. A quota of −1 means no limit.
fn quota_1(root: &Path, group: &str) -> Option<f64> {
    let quota = system_file::number(root, &format!("{group}/cpu.cfs_quota_us"))?;
    let period = system_file::number(root, &format!("{group}/cpu.cfs_period_us"))?;
    share(quota, period)
}

fn share(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// The container runtime, recognised by the files and group names that runtimes leave.
pub(super) fn container(root: &Path) -> Option<String> {
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
