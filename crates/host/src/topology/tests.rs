use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::*;

/// A made-up machine as files.
pub(crate) struct Tree(pub TempDir);

impl Tree {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, relative: &str, text: &str) {
        let path = self.root().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    fn cpu(&self, id: usize, name: &str, text: &str) {
        self.file(&format!("sys/devices/system/cpu/cpu{id}/{name}"), text);
    }

    fn cache(&self, id: usize, index: usize, level: u8, kind: &str, size: &str, shared: &str) {
        for (name, text) in [
            ("level", level.to_string()),
            ("type", kind.to_owned()),
            ("size", size.to_owned()),
            ("shared_cpu_list", shared.to_owned()),
        ] {
            self.cpu(id, &format!("cache/index{index}/{name}"), &text);
        }
    }

    /// Two packages of two nodes each; in a node, two pairs of physical cores, each pair with an
    /// L3 of its own; two hardware threads a core, numbered as kernels do on x86: threads of
    /// core c are c and c + 16. Package 0: cores 0-7, node 0: 0-3, node 1: 4-7.
    pub(crate) fn two_packages() -> Self {
        let tree = Self::new();
        tree.file("sys/devices/system/cpu/online", "0-31");
        for id in 0..32 {
            let core = id % 16;
            let pair = core / 2 * 2;
            tree.cpu(id, "topology/core_id", &(core % 8).to_string());
            tree.cpu(id, "topology/physical_package_id", &(core / 8).to_string());
            let threads = format!("{core},{}", core + 16);
            tree.cpu(id, "topology/core_cpus_list", &threads);
            tree.cache(id, 0, 1, "Data", "48K", &threads);
            tree.cache(id, 1, 1, "Instruction", "32K", "0-31");
            tree.cache(id, 2, 2, "Unified", "2048K", &threads);
            let shared = format!("{pair}-{},{}-{}", pair + 1, pair + 16, pair + 17);
            tree.cache(id, 3, 3, "Unified", "32M", &shared);
        }
        for node in 0..4 {
            let first = node * 4;
            tree.file(
                &format!("sys/devices/system/node/node{node}/cpulist"),
                &format!("{first}-{},{}-{}", first + 3, first + 16, first + 19),
            );
        }
        tree.file("sys/devices/system/node/node4/cpulist", "");
        tree
    }
}

/// [`Tree::two_packages`] with these cores allowed; its files are written and read once.
pub(crate) fn two_packages(allowed: &[usize]) -> Topology {
    static READ: OnceLock<Topology> = OnceLock::new();
    let read = READ.get_or_init(|| Topology::read_from(Tree::two_packages().root(), &[]).unwrap());
    let mut topology = read.clone();
    for cpu in &mut topology.cpus {
        cpu.allowed = allowed.contains(&cpu.id);
    }
    topology
}

#[test]
fn distances_follow_the_tree() {
    let topology = two_packages(&(0..32).collect::<Vec<_>>());
    // Core 0's instruction cache is shared by all in this tree: it must not count.
    for (a, b, expected) in [
        (0, 0, Distance::SameCpu),
        (0, 16, Distance::SmtSibling),
        (0, 1, Distance::SharedCache { level: 3 }),
        (16, 1, Distance::SharedCache { level: 3 }),
        (0, 2, Distance::SameNode),
        (0, 4, Distance::SamePackage),
        (0, 23, Distance::SamePackage),
        (0, 8, Distance::SameHost),
    ] {
        assert_eq!(topology.distance(a, b), Some(expected), "{a} {b}");
        assert_eq!(topology.distance(b, a), Some(expected), "{b} {a}");
    }
    assert_eq!(topology.distance(0, 32), None);
}

#[test]
fn one_pair_stands_for_each_class() {
    let topology = two_packages(&(0..32).collect::<Vec<_>>());
    assert_eq!(
        topology.pairs_by_distance(),
        [
            (Distance::SmtSibling, (0, 16)),
            (Distance::SharedCache { level: 3 }, (0, 1)),
            (Distance::SameNode, (0, 2)),
            (Distance::SamePackage, (0, 4)),
            (Distance::SameHost, (0, 8)),
        ]
    );
}

#[test]
fn only_allowed_cores_make_pairs() {
    let topology = two_packages(&[3, 6]);
    assert_eq!(topology.pairs_by_distance(), [(Distance::SamePackage, (3, 6))]);
    assert_eq!(two_packages(&[5]).pairs_by_distance(), []);
}

#[test]
fn classes_are_ordered_and_named() {
    let classes = [
        Distance::SameCpu,
        Distance::SmtSibling,
        Distance::SharedCache { level: 2 },
        Distance::SharedCache { level: 3 },
        Distance::SameNode,
        Distance::SamePackage,
        Distance::SameHost,
    ];
    assert!(classes.is_sorted());
    assert_eq!(Distance::SharedCache { level: 3 }.to_string(), "shared L3");
    assert_eq!(format!("{:>14}|", Distance::SameNode), "same NUMA node|");
}

#[test]
fn the_summary_counts_each_thing_once() {
    let summary = two_packages(&[0, 1, 2, 9]).summary();
    assert_eq!(summary.online, "0-31");
    assert_eq!(summary.allowed, "0-2,9");
    assert_eq!((summary.cores, summary.packages, summary.nodes), (16, 2, 4));
    assert_eq!(summary.threads_per_core, 2);
    let unified = CacheKind::Unified;
    assert_eq!(
        summary.caches[2..],
        [
            CacheSummary {
                level: 2,
                kind: unified,
                size: Some(Bytes(2 << 20)),
                count: 16,
                shared_by: 2
            },
            CacheSummary {
                level: 3,
                kind: unified,
                size: Some(Bytes(32 << 20)),
                count: 8,
                shared_by: 4
            },
        ]
    );
}

#[test]
fn a_bare_tree_is_read_plainly() {
    let tree = Tree::new();
    let topology = Topology::read_from(tree.root(), &[4, 2]).unwrap();
    assert_eq!(topology.allowed_ids(), [2, 4]);
    assert_eq!(topology.distance(2, 4), Some(Distance::SameNode));
    assert_eq!(topology.summary().cores, 2);
}

#[test]
fn a_garbled_list_is_an_error_that_names_it() {
    let tree = Tree::new();
    tree.file("sys/devices/system/cpu/online", "0-3,oops");
    let error = Topology::read_from(tree.root(), &[0]).unwrap_err();
    assert!(error.to_string().contains("\"oops\""), "{error}");
}

#[test]
fn this_machine_has_an_allowed_core() {
    assert!(Topology::read().unwrap().allowed().count() > 0);
}
