//! Tables that were never measured, for tests.

#[path = "../../campaign/src/tests/division.rs"]
pub(crate) mod division;

use std::collections::{BTreeMap, BTreeSet};

use bandgap_campaign::beside::Beside;
use bandgap_campaign::data::{Batch, Rejected, Verified};
use bandgap_campaign::judge::Judged;
use bandgap_campaign::{Described, Kept, Key, Measurements, Setting};
use bandgap_comm::{Floor, Yields};
use bandgap_kernels::Checked;
use bandgap_record::{Note, Quantity, Rows};
use bandgap_results::Outcome;

use crate::{Made, Measured, Result};

/// A table with the setting it is of.
#[derive(Default)]
pub(crate) struct Synthetic {
    pub(crate) table: Measurements,
    pub(crate) setting: Setting,
}

impl Synthetic {
    /// Over shm between two ranks on processors of their own, in two launches.
    pub(crate) fn new() -> Synthetic {
        let cpus = Some((0..16).collect());
        let transport = "shm".to_owned();
        let setting = Setting { transport, cpus, ranks: 2, launches: 2, ..Setting::default() };
        Synthetic { setting, ..Synthetic::default() }
    }

    /// Five rounds of each of two launches with this time in nanoseconds, off by a few shares of it.
    pub(crate) fn times(&mut self, key: &Key, ns: f64) {
        for launch in 0..2 {
            for (round, off) in [-0.002, -0.001, 0.0, 0.001, 0.002].into_iter().enumerate() {
                self.batch(key, ns * (1.0 + off), (launch, round as u32));
            }
        }
    }

    /// A batch of this time.
    pub(crate) fn batch(&mut self, key: &Key, ns: f64, (launch, round): (u32, u32)) {
        let batch = Batch { samples: vec![ns; 3], launch, round, ..Batch::default() };
        self.table.push(Kept::Batch { key: key.clone(), batch });
    }

    /// A batch that does not count.
    pub(crate) fn rejected(&mut self, key: &Key, why: Rejected) {
        let batch = Batch { rejected: Some(why), ..Batch::default() };
        self.table.push(Kept::Batch { key: key.clone(), batch });
    }

    /// What a point is.
    pub(crate) fn point(&mut self, key: &Key, point: Described) {
        self.table.push(Kept::Point { key: key.clone(), point });
    }

    /// A point with its times, as [`Synthetic::times`], checked.
    pub(crate) fn timed(&mut self, name: &str, point: Described, ns: f64) -> Key {
        let at =
            |key: Key, (axis, place): &(String, bandgap_record::Place)| key.at(axis, place.clone());
        let key = point.at.iter().fold(Key::new(name), at).at("part", "whole");
        self.point(&key, point);
        self.times(&key, ns);
        let verified = Verified {
            checked_batches: 1,
            checked: Checked { received: 4, compared: 4, summed: 0 },
            ..Verified::default()
        };
        self.table.push(Kept::Verified { key: key.clone(), verified });
        key
    }

    /// A floor beside, with its times.
    pub(crate) fn floor(&mut self, name: &'static str, yields: Yields, of: &str, ns: f64) {
        let floor = Floor::new(name, "what it is", yields, 10);
        self.setting.beside.push(Beside { floor, results: vec![of.to_owned()] });
        self.times(&bandgap_campaign::floors::key(name), ns);
    }

    /// What is made of it, in which every launch has what is made of it alone.
    pub(crate) fn made(&self, make: impl Fn(&Measured<'_>) -> Result<Made>) -> Result<Made> {
        let setting = &self.setting;
        let judged = &Judged::of(&self.table, 0.95, 0.05, 1);
        let made = make(&Measured { setting, judged })?;
        is_sound(&made);
        let counting = |made: &Made| -> BTreeMap<String, Quantity> {
            let all = made.results.iter().flat_map(|result| result.as_shown().quantities());
            all.filter(|(.., counts)| *counts).map(|(id, of, _)| (id, of.clone())).collect()
        };
        for launch in 0..setting.launches {
            let table = self.table.of_launch(launch);
            let alone = make(&Measured { setting, judged: &judged.in_launch(&table) });
            let alone = alone.map(|made| counting(&made)).unwrap_or_default();
            for (id, of) in counting(&made) {
                assert!(of.launches.len() >= setting.launches as usize, "{id}");
                match (of.launches[launch as usize], alone.get(&id)) {
                    (Some(own), Some(alone)) => {
                        assert!((own.0 / alone.value.0 - 1.0).abs() < 1e-9, "{id} of {launch}");
                    }
                    (own, alone) => assert_eq!((own, alone), (None, None), "{id} of {launch}"),
                }
            }
        }
        Ok(made)
    }
}

/// Ids are there once, all numbers are finite, and what is written comes back.
fn is_sound(made: &Made) {
    let mut ids = BTreeSet::new();
    for result in &made.results {
        let text = serde_json::to_string(result).unwrap();
        assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), *result, "{text}");
        for (id, quantity, _) in result.as_shown().quantities() {
            assert!(quantity.value.0.is_finite(), "{id}");
            assert!(ids.insert(id.clone()), "{id} is there twice");
        }
    }
    for Note { code, .. } in &made.notes {
        assert!(bandgap_results::template(code).is_some(), "no words for {code}");
    }
}

impl Made {
    /// The rows of a kind and name.
    pub(crate) fn rows(&self, kind: &str, name: &str) -> Option<&Rows> {
        let mut all = self.results.iter().filter_map(Outcome::as_rows);
        all.find(|rows| rows.kind == kind && rows.name == name)
    }

    /// The quantity of an id.
    pub(crate) fn quantity(&self, id: &str) -> Option<Quantity> {
        let all = self.results.iter().flat_map(|result| result.as_shown().quantities());
        all.into_iter().find(|(own, ..)| own == id).map(|(_, quantity, _)| quantity.clone())
    }

    /// Its value, to a millionth.
    pub(crate) fn value(&self, id: &str) -> Option<f64> {
        let value = self.quantity(id)?.value.0;
        let digits = 10f64.powi(6 - value.abs().max(1e-300).log10().ceil() as i32);
        Some((value * digits).round() / digits)
    }

    /// The codes of its notes.
    pub(crate) fn codes(&self) -> Vec<&str> {
        self.notes.iter().map(|note| note.code.as_str()).collect()
    }
}
