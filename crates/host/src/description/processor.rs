//! The processor's model, and how its frequency is set.

use std::path::Path;

use crate::{Cpu, Topology, system_file};

const CPUS: &str = "sys/devices/system/cpu";

/// The model: named on x86, numbered on aarch64 (implementer and part).
pub(super) fn model(root: &Path) -> Option<String> {
    let all = system_file::text(root, "proc/cpuinfo")?;
    let field = |name: &str| {
        all.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    field("model name").or_else(|| field("Model")).or_else(|| {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("implementer {implementer}, part {part}"))
    })
}

/// The governors of all cores, each named once, in the cores' order.
pub(super) fn governors(root: &Path, topology: &Topology) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for Cpu { id, .. } in topology.cpus() {
        let governor = system_file::text(root, &format!("{CPUS}/cpu{id}/cpufreq/scaling_governor"));
        names.extend(governor.filter(|name| !names.contains(name)));
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// Whether boost is on. Intel's driver has the inverse switch, `no_turbo`.
pub(super) fn boost(root: &Path) -> Option<bool> {
    let flag = |name: &str| system_file::number::<u8>(root, &format!("{CPUS}/{name}"));
    match flag("intel_pstate/no_turbo") {
        Some(no_turbo) => Some(no_turbo == 0),
        None => flag("cpufreq/boost").map(|boost| boost != 0),
    }
}
