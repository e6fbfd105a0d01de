//! A damaged journal is read up to its damage, or refused.

#[path = "../../../../sim/tests/all/damaged.rs"]
mod damaged;

use std::fs;

use bandgap_campaign::Key;
use bandgap_campaign::data::{Batch, Probe};
use proptest::prelude::*;

use super::*;
use damaged::{cases, damaged};

#[test]
fn a_damaged_journal_is_read_or_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join(JOURNAL);
    let head = Head {
        command: vec!["bandgap".to_owned(), "comms1".to_owned()],
        started: "2026-11-28T12:00:00Z".to_owned(),
        machine: MachineSetup::default(),
        host: Value::Null,
        hosts: Vec::new(),
        stamp: 2.5e-8,
        adopted: None,
        native: Some("tcp".to_owned()),
    };
    let probe = Probe { cache_line: 50.0, pace: 9.0 };
    let batch = Batch { samples: vec![1.5, 2.5], probe: Some([probe; 2]), ..Batch::default() };
    let kept = Kept::Batch { key: Key::new("comms1").at("bytes", 64_u32), batch };
    let journal = Journal::to(File::create(&path).unwrap());
    journal.write(&Line::Begun(&head, &Collected::default()));
    journal.kept(&[kept]);
    journal.write(&Line::Ended(Ended::Interrupted));
    let whole = fs::read_to_string(&path).unwrap();
    assert_eq!(Earlier::read(place.path()).unwrap().parts[0].launches, 1);
    let cases = cases(500);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(text in damaged(vec![whole.clone()]))| {
        fs::write(&path, text).unwrap();
        let _ = Earlier::read(place.path());
    });
}
