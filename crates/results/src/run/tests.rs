use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bandgap_record::{RunDir, read};

use super::*;

/// The folders of the runs in the documentation.
fn stored() -> Vec<PathBuf> {
    let runs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs"));
    std::fs::read_dir(runs).unwrap().map(|folder| folder.unwrap().path()).collect()
}

/// The tables and pictures in the documentation are those of the runs stored beside them.
#[test]
fn every_stored_file_is_that_of_its_stored_run() {
    let fresh = tempfile::tempdir().unwrap();
    let mut pictures = 0;
    for folder in stored() {
        let run: Run = read(&folder).unwrap();
        let written = RunDir::create(&fresh.path().join(folder.file_name().unwrap())).unwrap();
        write_all(&written, &run, false).unwrap();
        for file in std::fs::read_dir(&folder).unwrap() {
            let name = file.unwrap().file_name();
            let [stored, drawn] = [&*folder, written.path()]
                .map(|place| std::fs::read_to_string(place.join(&name)).unwrap());
            assert!(stored == drawn, "{}/{name:?} is another file", folder.display());
            pictures += usize::from(name.to_str().unwrap().ends_with(".svg"));
        }
    }
    assert!(pictures > 0, "no stored run has a picture");
}

#[test]
fn no_two_quantities_of_a_run_have_one_name() {
    for folder in stored() {
        let run: Run = read(&folder).unwrap();
        let quantities = run.results.iter().flat_map(|result| result.as_shown().quantities());
        let names: Vec<String> = quantities.map(|(name, _)| name).collect();
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert!(!names.is_empty() && distinct.len() == names.len(), "{names:#?}");
    }
}
