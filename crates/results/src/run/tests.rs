use std::path::Path;

use bandgap_record::{RunDir, read};

use super::*;

/// The tables and pictures in the documentation are those of the runs stored beside them.
#[test]
fn every_stored_file_is_that_of_its_stored_run() {
    let runs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs"));
    let fresh = tempfile::tempdir().unwrap();
    let mut pictures = 0;
    for folder in std::fs::read_dir(runs).unwrap() {
        let folder = folder.unwrap();
        let run: Run = read(&folder.path()).unwrap();
        let written = RunDir::create(&fresh.path().join(folder.file_name())).unwrap();
        write_all(&written, &run, false).unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let name = file.unwrap().file_name();
            let [stored, drawn] = [&folder.path(), written.path()]
                .map(|place| std::fs::read_to_string(place.join(&name)).unwrap());
            assert!(stored == drawn, "{}/{name:?} is another file", folder.path().display());
            pictures += usize::from(name.to_str().unwrap().ends_with(".svg"));
        }
    }
    assert!(pictures > 0, "no stored run has a picture");
}
