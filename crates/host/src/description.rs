//! Description of the machine. A fact that the machine does not reveal is `None`, never an error.

mod hypervisor;
mod processor;

use std::ffi::CStr;
use std::path::Path;

use bandgap_units::Bytes;
use serde::Serialize;

use crate::memory::kibibytes;
use crate::{Topology, TopologySummary, control_group, system_file};

pub use hypervisor::VirtualMachine;

/// Facts about the machine and its operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Description {
    /// The host's name.
    pub host_name: Option<String>,
    /// The distribution's own name for itself.
    pub os: Option<String>,
    /// The kernel's name and release.
    pub kernel: Option<String>,
    /// The architecture for which bandgap was built.
    pub architecture: String,
    /// The processor's model.
    pub cpu_model: Option<String>,
    /// The frequency governors in use, each named once.
    pub governor: Option<String>,
    /// The driver that sets the frequency.
    pub frequency_driver: Option<String>,
    /// Whether frequencies above the nominal one are allowed (turbo, boost).
    pub boost: Option<bool>,
    /// Whether cores run several hardware threads, according to the kernel.
    pub smt: Option<bool>,
    /// The hypervisor of a virtual machine. `None` on bare metal, and where nothing reveals it.
    pub virtual_machine: Option<VirtualMachine>,
    /// The container runtime, if it can be recognised.
    pub container: Option<String>,
    /// Processor time that control groups allow this process, in processors.
    pub cpu_quota: Option<f64>,
    /// The kernel's clock source.
    pub clocksource: Option<String>,
    /// The setting of transparent huge pages: always, madvise or never.
    pub transparent_hugepages: Option<String>,
    /// Installed memory.
    pub memory: Option<Bytes>,
    /// Size of a memory page.
    pub page_size: Option<Bytes>,
    /// Cores isolated from the scheduler, as a list.
    pub isolated_cpus: Option<String>,
    /// Number of runnable tasks, averaged over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// Numbers of cores, caches and memory nodes.
    pub topology: Option<TopologySummary>,
}

impl Description {
    /// Describes this machine, whose topology is known.
    pub fn read(topology: &Topology) -> Self {
        let system = rustix::system::uname();
        let text = |field: &CStr| field.to_string_lossy().into_owned();
        let files = Self::of_files(Path::new("/"), topology);
        Self {
            host_name: Some(text(system.nodename())),
            kernel: Some(format!("{} {}", text(system.sysname()), text(system.release()))),
            virtual_machine: hypervisor::ask_processor().or(files.virtual_machine),
            page_size: u64::try_from(rustix::param::page_size()).ok().map(Bytes),
            topology: Some(topology.summary()),
            ..files
        }
    }

    /// What the files under `root` say about a machine with this topology.
    fn of_files(root: &Path, topology: &Topology) -> Self {
        let text = |relative: &str| system_file::text(root, relative);
        Self {
            os: text("etc/os-release").and_then(|all| pretty_name(&all)),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu_model: processor::model(root),
            governor: processor::governors(root, topology),
            frequency_driver: text("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
            boost: processor::boost(root),
            smt: text("sys/devices/system/cpu/smt/active").map(|active| active == "1"),
            virtual_machine: hypervisor::read(root),
            container: control_group::container(root),
            cpu_quota: control_group::quota(root),
            clocksource: text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            transparent_hugepages: text("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|all| bracketed(&all)),
            memory: kibibytes(root, "proc/meminfo", "MemTotal:"),
            isolated_cpus: text("sys/devices/system/cpu/isolated"),
            load_average: text("proc/loadavg").and_then(|all| load(&all)),
            ..Self::default()
        }
    }
}

/// The value of `PRETTY_NAME="…"` in os-release.
fn pretty_name(all: &str) -> Option<String> {
    let name = all.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches(['"', '\'']).to_owned())
}

/// The choice in brackets, e.g. `madvise` in `always [madvise] never`.
fn bracketed(all: &str) -> Option<String> {
    let (_, from) = all.split_once('[')?;
    Some(from.split_once(']')?.0.to_owned())
}

fn load(all: &str) -> Option<[f64; 3]> {
    let mut numbers = all.split_whitespace().map(str::parse::<f64>);
    let mut next = || numbers.next()?.ok().filter(|load| load.is_finite());
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests;
