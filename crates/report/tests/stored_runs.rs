//! The pictures in the documentation are those of the runs stored beside them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use bandgap_record::{Logp, Outcome, read};
use bandgap_report::{signature_figure, surface_figure, svg, svg_panels};

#[test]
fn every_stored_picture_is_drawn_from_its_stored_run() {
    let runs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs"));
    let mut pictures = 0;
    for folder in std::fs::read_dir(runs).unwrap() {
        let folder = folder.unwrap().path();
        let run = read(&folder).unwrap();
        let drawn = |name: &str, drawn: String| {
            let stored = std::fs::read_to_string(folder.join(name)).unwrap();
            assert!(stored == drawn, "{}/{name} is another picture", folder.display());
        };
        let signatures = run.results.iter().filter_map(|result| match result {
            Outcome::Logp(logp) => Some(&**logp),
            _ => None,
        });
        let (surface, small): (Vec<&Logp>, Vec<&Logp>) =
            signatures.partition(|logp| logp.is_of_transfers());
        for logp in small {
            drawn("signature.svg", svg(&signature_figure(logp)));
            pictures += 1;
        }
        if !surface.is_empty() {
            let panels = surface.chunk_by(|a, b| a.operation == b.operation).map(surface_figure);
            drawn("surface.svg", svg_panels(&panels.collect::<Vec<_>>()));
            pictures += 1;
        }
    }
    assert!(pictures > 0, "no stored run has a picture");
}
