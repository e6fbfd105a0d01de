//! The drawing in ARCHITECTURE.md against the crates' real dependencies, and files against circles.

mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The project's crates that each crate's manifest names under `[dependencies]`.
fn real() -> Arrows {
    let mut arrows = Arrows::new();
    for folder in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let dependencies = manifest["dependencies"].as_table().unwrap();
        let own = dependencies.keys().filter_map(|key| key.strip_prefix("bandgap-"));
        arrows.insert(name, own.map(str::to_owned).collect());
    }
    arrows
}

fn drawn() -> Arrows {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = text.split_once("<!-- dependencies: begin -->").unwrap();
    let (block, _) = rest.split_once("<!-- dependencies: end -->").unwrap();
    block
        .lines()
        .filter_map(|line| line.split_once('→'))
        .map(|(from, to)| {
            let to = to.split(',').map(|name| name.trim().to_owned());
            (from.trim().to_owned(), to.filter(|name| !name.is_empty()).collect())
        })
        .collect()
}

/// As the README's first command does.
#[test]
fn cargo_run_needs_no_name_of_a_program() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let usual = metadata["workspace_default_members"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let programs: Vec<_> = packages
        .iter()
        .filter(|package| usual.contains(&package["id"]))
        .flat_map(|package| package["targets"].as_array().unwrap())
        .filter(|target| target["kind"] == serde_json::json!(["bin"]))
        .map(|target| &target["name"])
        .collect();
    assert_eq!(programs, ["bandgap"]);
}

#[test]
fn the_drawing_shows_the_real_dependencies() {
    let (real, drawn) = (real(), drawn());
    let lines = |arrows: &Arrows| {
        let line = |(from, to): (&String, &BTreeSet<String>)| {
            format!("{from} → {}", to.iter().cloned().collect::<Vec<_>>().join(", "))
        };
        arrows.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    assert!(real.len() >= 12, "the crates were not found");
    assert_eq!(lines(&drawn), lines(&real), "left: ARCHITECTURE.md, right: the manifests");
}

#[test]
fn no_transport_knows_a_kernel_and_only_launch_knows_all_transports() {
    let real = real();
    for transport in ["shm", "socket", "mpi", "fabric"] {
        assert!(!real[transport].contains("kernels"), "{transport} knows the kernels");
        let others = real.iter().filter(|(name, _)| *name != "launch");
        for (crate_, arrows) in others {
            assert!(!arrows.contains(transport), "{crate_} knows the transport {transport}");
        }
        assert!(real["launch"].contains(transport));
    }
}

/// What is to be known of a transport stands in its row: elsewhere a comparison with its name would be a second list.
#[test]
fn no_code_outside_the_list_names_a_transport() {
    let list = ["transports", "mpi", "fabrics"].map(|file| format!("crates/launch/src/{file}.rs"));
    let named = ["shm", "tcp", "unix", "mpi", "ucx", "ofi"].map(|name| format!("{name:?}"));
    for crate_ in ["launch", "bandgap", "campaign", "assemble"] {
        let files = circles::files(&root().join("crates").join(crate_).join("src/lib.rs"));
        assert!(files.len() > 5, "{crate_}: {files:?}");
        for file in files.iter().filter(|file| !list.iter().any(|of| file.ends_with(of))) {
            let text = std::fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let found = named.iter().find(|name| code.contains(*name));
            assert_eq!(found, None, "{}", file.display());
        }
    }
}

#[test]
fn unsafe_code_is_forbidden_everywhere_else() {
    let with = ["host", "shm", "loader", "mpi", "fabric", "probe"];
    for name in real().keys().filter(|name| !with.contains(&name.as_str())) {
        let source = root().join("crates").join(name).join("src");
        let main = ["lib.rs", "main.rs"].map(|file| source.join(file));
        let text = main.iter().find_map(|path| std::fs::read_to_string(path).ok()).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{name} does not forbid unsafe code");
    }
}
