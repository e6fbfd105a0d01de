//! Reads the kernel's files about cores.

use std::collections::BTreeMap;
use std::path::Path;

use bandgap_units::Bytes;

use super::{Cache, CacheKind, Cpu, Topology};
use crate::{HostError, parse_cpu_list, system_file};

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

pub(super) fn read(root: &Path, allowed: &[usize]) -> Result<Topology, HostError> {
    let online = list(root, &format!("{CPUS}/online"))?.unwrap_or_else(|| sorted(allowed.to_vec()));
    let nodes = nodes(root)?;
    let cpu = |id: usize| {
        let folder = format!("{CPUS}/cpu{id}");
        let topology = |name: &str| format!("{folder}/topology/{name}");
        let mut siblings = match list(root, &topology("core_cpus_list"))? {
            Some(siblings) => siblings,
            // Its name before kernel 5.3.
            None => list(root, &topology("thread_siblings_list"))?.unwrap_or_default(),
        };
        if !siblings.contains(&id) {
            siblings = vec![id];
        }
        Ok(Cpu {
            id,
            allowed: allowed.contains(&id),
            core: system_file::number(root, &topology("core_id")).unwrap_or(id),
            package: system_file::number(root, &topology("physical_package_id")).unwrap_or(0),
            node: nodes.get(&id).copied().unwrap_or(0),
            siblings,
            caches: caches(root, &folder, id)?,
        })
    };
    Ok(Topology { cpus: online.into_iter().map(cpu).collect::<Result<_, HostError>>()? })
}

/// The node of each core.
fn nodes(root: &Path) -> Result<BTreeMap<usize, usize>, HostError> {
    let mut of_cpu = BTreeMap::new();
    for node in system_file::numbered(root, NODES, "node") {
        for cpu in list(root, &format!("{NODES}/node{node}/cpulist"))?.unwrap_or_default() {
            of_cpu.insert(cpu, node);
        }
    }
    Ok(of_cpu)
}

fn caches(root: &Path, folder: &str, id: usize) -> Result<Vec<Cache>, HostError> {
    let folder = format!("{folder}/cache");
    let mut caches = Vec::new();
    for index in system_file::numbered(root, &folder, "index") {
        let file = |name: &str| format!("{folder}/index{index}/{name}");
        let kind = match system_file::text(root, &file("type")).as_deref() {
            Some("Data") => CacheKind::Data,
            Some("Instruction") => CacheKind::Instruction,
            Some("Unified") => CacheKind::Unified,
            _ => continue,
        };
        let Some(level) = system_file::number(root, &file("level")) else { continue };
        let size = system_file::text(root, &file("size")).and_then(|text| size(&text));
        let cpus = list(root, &file("shared_cpu_list"))?.unwrap_or_default();
        let cpus = if cpus.contains(&id) { cpus } else { vec![id] };
        caches.push(Cache { level, kind, size, cpus });
    }
    caches.sort_by_key(|cache| (cache.level, cache.kind));
    Ok(caches)
}

/// A size in the kernel's notation: `48K`, in units of 1024.
fn size(text: &str) -> Option<Bytes> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).map(Bytes)
}

fn list(root: &Path, relative: &str) -> Result<Option<Vec<usize>>, HostError> {
    system_file::text(root, relative).map(|text| parse_cpu_list(&text).map(sorted)).transpose()
}

fn sorted(mut cpus: Vec<usize>) -> Vec<usize> {
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}
