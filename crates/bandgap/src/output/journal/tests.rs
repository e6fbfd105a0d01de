//! A journal that was cut short is read up to its last whole line; a damaged one gives no more than was in it.

#[path = "../../../../sim/tests/all/damaged.rs"]
mod damaged;

use std::fs;

use bandgap_campaign::Key;
use bandgap_campaign::data::{Batch, Probe};
use proptest::prelude::*;

use super::*;
use damaged::{cases, damaged};

#[test]
fn a_cut_journal_is_read_up_to_its_last_whole_line() {
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
    let batches = [1.5, 2.5].map(|sample| Batch {
        samples: vec![sample],
        probe: Some([probe; 2]),
        ..Batch::default()
    });
    let journal = Journal::to(File::create(&path).unwrap());
    journal.write(&Line::Begun(&head, &Collected::default()));
    for batch in batches.clone() {
        journal.kept(&[Kept::Batch { key: Key::new("comms1"), batch }]);
    }
    journal.write(&Line::Ended(Ended::Interrupted));
    let whole = fs::read_to_string(&path).unwrap();
    let read = || {
        let parts = Earlier::read(place.path()).map(|earlier| earlier.parts);
        let of = |part: &Collected| part.table.executed().map(|(_, of)| of.clone()).collect();
        parts.map(|parts| parts.iter().map(of).collect::<Vec<Vec<Batch>>>())
    };
    let [first, second] = batches;
    let whole_lines = [vec![vec![]], vec![vec![first.clone()]], vec![vec![first, second]]];
    for end in 0..=whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        match whole[..end].matches('\n').count() {
            0 => assert_eq!(read().unwrap_err().exit, Exit::Input),
            lines => assert_eq!(read().unwrap(), whole_lines[(lines - 1).min(2)]),
        }
    }
    let cases = cases(500);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(text in damaged(vec![whole.clone()]))| {
        fs::write(&path, text).unwrap();
        let batches = read().map_or(0, |parts| parts.iter().map(Vec::len).sum());
        prop_assert!(batches <= 2);
    });
}
