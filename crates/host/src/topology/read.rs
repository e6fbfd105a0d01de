//! Reads the kernel's files about cores.

use std::collections::BTreeMap;
use std::path::Path;

use bandgap_units::Bytes;

use super::{Cache, CacheKind, Cpu, Topology};
use crate::{Result, allowed_cpus, parse_cpu_list, system_file};

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

impl Topology {
    /// Reads the topology of this machine. The allowed cores are those of the calling thread, so
    /// call it before pinning.
    ///
    /// # Errors
    /// The kernel's lists cannot be parsed, or the kernel does not say which cores are allowed.
    pub fn read() -> Result<Self> {
        Self::read_from(Path::new("/"), &allowed_cpus()?)
    }

    /// Reads the topology under `root`, with these cores allowed.
    ///
    /// What the kernel does not describe gets a default: package 0, node 0, a physical core for
    /// each logical processor, no caches. Without a list of online cores, the allowed ones are
    /// online.
    pub(crate) fn read_from(root: &Path, allowed: &[usize]) -> Result<Self> {
        let mut online = list(root, &format!("{CPUS}/online"))?;
        if online.is_empty() {
            online = sorted(allowed.to_vec());
        }
        let nodes = nodes(root)?;
        let cpu = |id| cpu(root, id, allowed.contains(&id), nodes.get(&id).copied().unwrap_or(0));
        Ok(Self { cpus: online.into_iter().map(cpu).collect::<Result<_>>()? })
    }
}

fn cpu(root: &Path, id: usize, allowed: bool, node: usize) -> Result<Cpu> {
    let folder = format!("{CPUS}/cpu{id}");
    let topology = |name: &str| format!("{folder}/topology/{name}");
    // The second is the name before kernel 5.3.
    let siblings = ["core_cpus_list", "thread_siblings_list"].map(topology);
    Ok(Cpu {
        id,
        allowed,
        core: system_file::number(root, &topology("core_id")).unwrap_or(id),
        package: system_file::number(root, &topology("physical_package_id")).unwrap_or(0),
        node,
        siblings: sharing(root, id, &siblings)?,
        caches: caches(root, &folder, id)?,
    })
}

/// The node of each core.
fn nodes(root: &Path) -> Result<BTreeMap<usize, usize>> {
    let mut of_cpu = BTreeMap::new();
    for node in system_file::numbered(root, NODES, "node") {
        for cpu in list(root, &format!("{NODES}/node{node}/cpulist"))? {
            of_cpu.insert(cpu, node);
        }
    }
    Ok(of_cpu)
}

fn caches(root: &Path, folder: &str, id: usize) -> Result<Vec<Cache>> {
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
        let cpus = sharing(root, id, &[file("shared_cpu_list")])?;
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

/// The list that contains this core, from the first of these files that has one; otherwise only
/// this core.
fn sharing(root: &Path, id: usize, files: &[String]) -> Result<Vec<usize>> {
    for file in files {
        let cpus = list(root, file)?;
        if cpus.contains(&id) {
            return Ok(cpus);
        }
    }
    Ok(vec![id])
}

/// The cores in the file, in ascending order; none if there is no file.
fn list(root: &Path, relative: &str) -> Result<Vec<usize>> {
    parse_cpu_list(&system_file::text(root, relative).unwrap_or_default()).map(sorted)
}

fn sorted(mut cpus: Vec<usize>) -> Vec<usize> {
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}
