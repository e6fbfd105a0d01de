use super::*;
use crate::topology::tests::Tree;

#[test]
fn an_empty_tree_gives_no_fact_and_no_error() {
    let tree = Tree::new();
    let expected =
        Description { architecture: std::env::consts::ARCH.to_owned(), ..Description::default() };
    assert_eq!(Description::of_files(tree.root(), &Topology::default()), expected);
}

#[test]
fn each_fact_is_read_from_its_file() {
    let tree = Tree::two_packages();
    let cpus = "sys/devices/system/cpu";
    for (file, text) in [
        ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 12\""),
        ("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 3GHz"),
        ("sys/hypervisor/type", "xen"),
        (&format!("{cpus}/cpu0/cpufreq/scaling_governor"), "powersave"),
        (&format!("{cpus}/cpu1/cpufreq/scaling_governor"), "performance"),
        (&format!("{cpus}/cpu2/cpufreq/scaling_governor"), "powersave"),
        (&format!("{cpus}/cpu0/cpufreq/scaling_driver"), "intel_pstate"),
        (&format!("{cpus}/intel_pstate/no_turbo"), "1"),
        (&format!("{cpus}/smt/active"), "1"),
        (&format!("{cpus}/isolated"), "4-7"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
        ("proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 5 kB"),
        ("proc/loadavg", "0.50 1.25 2.00 1/100 1234"),
    ] {
        tree.file(file, text);
    }
    let topology = Topology::read_from(tree.root(), &[]).unwrap();
    let read = Description::of_files(tree.root(), &topology);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(read.os, some("Some Linux 12"));
    assert_eq!(read.cpu_model, some("Fast CPU @ 3GHz"));
    assert_eq!(read.governor, some("powersave, performance"));
    assert_eq!(read.frequency_driver, some("intel_pstate"));
    assert_eq!(read.boost, Some(false));
    assert_eq!(read.smt, Some(true));
    assert_eq!(read.virtual_machine, Some(VirtualMachine { hypervisor: some("xen") }));
    assert_eq!(read.clocksource, some("tsc"));
    assert_eq!(read.transparent_hugepages, some("madvise"));
    assert_eq!(read.memory, Some(Bytes(1 << 30)));
    assert_eq!(read.isolated_cpus, some("4-7"));
    assert_eq!(read.load_average, Some([0.5, 1.25, 2.0]));
}

#[test]
fn garbled_files_are_missing_facts() {
    let tree = Tree::new();
    for file in [
        "proc/loadavg",
        "proc/meminfo",
        "proc/self/cgroup",
        "proc/cpuinfo",
        "etc/os-release",
        "sys/kernel/mm/transparent_hugepage/enabled",
    ] {
        tree.file(file, "MemTotal: many [");
    }
    let read = Description::of_files(tree.root(), &Topology::default());
    assert_eq!((read.load_average, read.memory, read.cpu_quota), (None, None, None));
    assert_eq!((read.cpu_model, read.os, read.transparent_hugepages), (None, None, None));
}

#[test]
fn the_tightest_quota_counts() {
    // Version 2: 4 processors at the top, 1.5 in this process's group.
    let tree = Tree::new();
    tree.file("proc/self/cgroup", "0::/job/../job/step");
    tree.file("sys/fs/cgroup/job/cpu.max", "400000 100000");
    tree.file("sys/fs/cgroup/job/job/step/cpu.max", "150000 100000");
    tree.file("sys/fs/cgroup/cpu.max", "max 100000");
    assert_eq!(control_group::quota(tree.root()), Some(1.5));
    // Version 1: unlimited at the top, 2 below.
    let tree = Tree::new();
    tree.file("proc/self/cgroup", "3:cpuset:/x\n2:cpu,cpuacct:/job\n1:memory:/y");
    for (group, quota) in [("", "-1"), ("/job", "200000")] {
        tree.file(&format!("sys/fs/cgroup/cpu,cpuacct{group}/cpu.cfs_quota_us"), quota);
        tree.file(&format!("sys/fs/cgroup/cpu,cpuacct{group}/cpu.cfs_period_us"), "100000");
    }
    assert_eq!(control_group::quota(tree.root()), Some(2.0));
}

#[test]
fn containers_show_by_file_or_group() {
    let tree = Tree::new();
    assert_eq!(control_group::container(tree.root()), None);
    tree.file("proc/self/cgroup", "0::/kubepods/pod1");
    assert_eq!(control_group::container(tree.root()).as_deref(), Some("Kubernetes"));
    tree.file("run/.containerenv", "");
    assert_eq!(control_group::container(tree.root()).as_deref(), Some("Podman"));
}

#[test]
fn hypervisors_are_named() {
    assert_eq!(hypervisor::product(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVM"));
    assert_eq!(hypervisor::product(b"NewHypervisr").as_deref(), Some("NewHypervisr"));
    assert_eq!(hypervisor::product(&[0; 12]), None);
    let tree = Tree::new();
    tree.file("sys/class/dmi/id/product_name", "PowerEdge R650");
    assert_eq!(hypervisor::read(tree.root()), None);
    tree.file("sys/class/dmi/id/product_name", "Standard PC (Q35 + ICH9), QEMU");
    assert!(hypervisor::read(tree.root()).is_some());
}

#[test]
fn this_machine_is_described() {
    let topology = Topology::read().unwrap();
    let read = Description::read(&topology);
    assert_eq!(read.topology, Some(topology.summary()));
    assert!(read.page_size.is_some());
    // The same facts from the kernel's files.
    let file = |name| system_file::text(Path::new("/proc"), name).unwrap();
    assert_eq!(read.host_name, Some(file("sys/kernel/hostname")));
    let kernel = format!("{} {}", file("sys/kernel/ostype"), file("sys/kernel/osrelease"));
    assert_eq!(read.kernel, Some(kernel));
}
