//! The pictures in the documentation are those of the runs stored beside them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use bandgap_record::{Outcome, read};
use bandgap_report::{signature_figure, svg};

#[test]
fn every_stored_picture_is_drawn_from_its_stored_run() {
    let runs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs"));
    let mut pictures = 0;
    for folder in std::fs::read_dir(runs).unwrap() {
        let folder = folder.unwrap().path();
        let run = read(&folder).unwrap();
        for result in &run.results {
            let Outcome::Logp(logp) = result else { continue };
            let stored = std::fs::read_to_string(folder.join("signature.svg")).unwrap();
            assert!(
                stored == svg(&signature_figure(logp)),
                "{} is another picture",
                folder.display()
            );
            pictures += 1;
        }
    }
    assert!(pictures > 0, "no stored run has a picture");
}
