//! The data of a campaign: batches as they were measured, and what was verified.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use bandgap_kernels::Checked;
use bandgap_units::{Library, Place};
use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::key::Key;

/// The distance and the pace of two ranks' processors at one moment, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Half a round trip of the bare cache-line ping-pong between them.
    pub cache_line: f64,
    /// Time of a fixed amount of independent arithmetic on the slower one.
    pub pace: f64,
}

/// The samples of one timed batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Samples in nanoseconds, without the clock's cost.
    pub samples: Vec<f64>,
    /// Placement probes before and after, if ranks have processors of their own.
    pub probe: Option<[Probe; 2]>,
    /// Mean of Δ just before and just after the batch, in nanoseconds.
    pub delay: Option<f64>,
    /// The launch that measured it.
    pub launch: u32,
    /// The round of the campaign, from 0. Batches of one round and launch are neighbours in time.
    pub round: u32,
    /// Why the batch does not count; `None` if it does.
    pub rejected: Option<Rejected>,
    /// Whether these are further times of a batch that is counted under another key.
    pub again: bool,
}

/// Why a batch does not count.
#[derive(Clone, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum Rejected {
    /// The placement of the processors changed during the batch.
    PlacementChanged,
    /// The pace of a processor changed during the batch.
    PaceChanged,
    /// The warm-up of its point did not converge.
    NotWarm,
    /// The load ended before what it was to load.
    LoadEnded,
    /// It has no samples.
    NoSamples,
    /// This machine does not allow the batch, for this reason.
    #[display("unavailable")]
    Unavailable(String),
}

/// What was verified in the batches of one point. Wrong content ends a run, so everything that was
/// compared was right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Checked batches, in which each message is compared and nothing is timed.
    pub checked_batches: u64,
    /// Messages in them.
    pub checked: Checked,
    /// Messages in timed ones.
    pub timed: Checked,
}

/// Data that the leader sends to the launcher to keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// A timed batch.
    Batch {
        /// What it is a batch of.
        key: Key,
        /// The batch.
        batch: Batch,
    },
    /// A point that is measured, or was planned.
    Point {
        /// The key of its times.
        key: Key,
        /// Its description.
        point: Described,
    },
    /// What another batch verified.
    Verified {
        /// The first key of the point.
        key: Key,
        /// To be added to what was verified before.
        verified: Verified,
    },
    /// The library that carries the messages.
    Library(Library),
    /// There was too little time for the whole plan.
    Cut {
        /// What was reduced.
        what: Scarce,
        /// The share that there was time for.
        share: f64,
    },
    /// The machine refuses single copies of messages, which the transport supports.
    Refused {
        /// The reason.
        reason: String,
    },
}

/// What a campaign reduces if time is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scarce {
    /// Points: sizes, or Δ.
    Points,
    /// The least rounds.
    Rounds,
}

/// The description of a point, from which results are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// Its coordinates, by the names of the axes in run files.
    pub at: Vec<(String, Place)>,
    /// Its labels: how it was done, between which ranks.
    pub labels: BTreeMap<String, Place>,
    /// Bytes of one of its messages.
    pub bytes: u64,
    /// Bytes that one operation moves between all its ranks.
    pub moved: u64,
    /// Number of equal parts of one operation. Its time is that of one part.
    pub parts: u32,
    /// Number of such parts in one sample.
    pub timed: f64,
    /// The two ranks, if no others take part.
    pub pair: Option<[usize; 2]>,
}

impl Default for Described {
    /// One operation without messages and coordinates.
    fn default() -> Self {
        let (at, labels, pair) = Default::default();
        Self { at, labels, bytes: 0, moved: 0, parts: 1, timed: 1.0, pair }
    }
}

impl Described {
    /// The same point with one more coordinate.
    pub fn at(mut self, axis: &str, place: impl Into<Place>) -> Self {
        self.at.push((axis.to_owned(), place.into()));
        self
    }

    /// The same point with one more label.
    pub fn with(mut self, name: &str, label: impl Into<Place>) -> Self {
        self.labels.insert(name.to_owned(), label.into());
        self
    }

    /// Its coordinate on an axis.
    pub fn place(&self, axis: &str) -> Option<&Place> {
        self.at.iter().find(|(name, _)| name == axis).map(|(_, place)| place)
    }

    /// Adds the labels of another launch: where they differ, a label holds both.
    fn merge(&mut self, other: Self) {
        for (name, label) in other.labels {
            let own = self.labels.entry(name).or_insert_with(|| label.clone());
            let known = own.names();
            let new: Vec<String> =
                label.names().iter().filter(|name| !known.contains(name)).cloned().collect();
            if !new.is_empty() {
                *own = Place::List([known, &new].concat());
            }
        }
    }
}

/// All measurements of a run: batches, descriptions of points, and what was verified.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    batches: BTreeMap<Key, Vec<Batch>>,
    /// Each with its index in the order of arrival.
    points: BTreeMap<Key, (usize, Described)>,
    verified: BTreeMap<Key, Verified>,
    /// Why the machine refused single copies of messages, if it did.
    pub refused: Option<String>,
    /// The library that carried the messages, if a rank has named it.
    pub library: Option<Library>,
    cut: BTreeMap<Scarce, f64>,
}

impl Measurements {
    /// Adds one item.
    pub fn push(&mut self, kept: Kept) {
        match kept {
            Kept::Batch { key, batch } => self.batches.entry(key).or_default().push(batch),
            Kept::Point { key, point } => {
                let number = self.points.len();
                match self.points.entry(key) {
                    Entry::Vacant(new) => drop(new.insert((number, point))),
                    Entry::Occupied(mut known) => known.get_mut().1.merge(point),
                }
            }
            Kept::Verified { key, verified } => {
                let so_far = self.verified.entry(key).or_default();
                so_far.checked_batches += verified.checked_batches;
                so_far.checked = so_far.checked.and(verified.checked);
                so_far.timed = so_far.timed.and(verified.timed);
            }
            Kept::Library(library) => self.library = Some(library),
            Kept::Refused { reason } => self.refused = Some(reason),
            Kept::Cut { what, share } => {
                let least = self.cut.entry(what).or_insert(share);
                *least = least.min(share);
            }
        }
    }

    /// Adds everything that a later launch measured.
    pub fn append(&mut self, later: Self) {
        for (key, point) in later.points() {
            self.push(Kept::Point { key: key.clone(), point: point.clone() });
        }
        for (key, verified) in later.verified {
            self.push(Kept::Verified { key, verified });
        }
        for (key, batches) in later.batches {
            self.batches.entry(key).or_default().extend(batches);
        }
        self.refused = later.refused.or(self.refused.take());
        self.library = later.library.or(self.library.take());
        for (what, share) in later.cut {
            self.push(Kept::Cut { what, share });
        }
    }

    /// All keys with their batches, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &[Batch])> {
        self.batches.iter().map(|(key, batches)| (key, batches.as_slice()))
    }

    /// Each batch once, with the key under which it is counted.
    pub fn executed(&self) -> impl Iterator<Item = (&Key, &Batch)> {
        let each = self.iter().flat_map(|(key, batches)| batches.iter().map(move |b| (key, b)));
        each.filter(|(_, batch)| !batch.again)
    }

    /// The keys with this name and their batches, found without a search through all keys.
    pub fn of(&self, what: &str) -> impl Iterator<Item = (&Key, &[Batch])> {
        // The key without axes is the smallest of its name.
        let from = self.batches.range(Key::new(what)..);
        let of_name = from.take_while(move |(key, _)| key.what() == what);
        of_name.map(|(key, batches)| (key, batches.as_slice()))
    }

    /// The batches of `key`.
    pub fn batches(&self, key: &Key) -> &[Batch] {
        self.batches.get(key).map_or(&[], Vec::as_slice)
    }

    /// What was verified for each point, by its first key.
    pub fn verified(&self) -> impl Iterator<Item = (&Key, &Verified)> {
        self.verified.iter()
    }

    /// The description of a key's point, if there is one.
    pub fn point(&self, key: &Key) -> Option<&Described> {
        self.points.get(key).map(|(_, point)| point)
    }

    /// All points with a description, in the order of the plan.
    pub fn points(&self) -> Vec<(&Key, &Described)> {
        let mut all: Vec<_> = self.points.iter().collect();
        all.sort_by_key(|(_, (number, _))| *number);
        all.into_iter().map(|(key, (_, point))| (key, point)).collect()
    }

    /// The share of the plan that was measured: the smallest of all launches.
    pub fn share(&self, what: Scarce) -> f64 {
        self.cut.get(&what).copied().unwrap_or(1.0)
    }

    /// Whether there is no batch.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// The measurements of one launch, without what was verified, which is counted over all
    /// launches.
    pub fn of_launch(&self, launch: u32) -> Self {
        let of = |batches: &[Batch]| -> Vec<Batch> {
            batches.iter().filter(|batch| batch.launch == launch).cloned().collect()
        };
        let batches = self.iter().map(|(key, batches)| (key.clone(), of(batches)));
        let batches = batches.filter(|(_, batches)| !batches.is_empty()).collect();
        Self { batches, verified: BTreeMap::new(), ..self.clone() }
    }

    /// The measurements whose keys belong.
    pub fn part(&self, belongs: impl Fn(&Key) -> bool) -> Self {
        let mut part = self.clone();
        part.batches.retain(|key, _| belongs(key));
        part.points.retain(|key, _| belongs(key));
        part.verified.retain(|key, _| belongs(key));
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(received: u64) -> Checked {
        Checked { received, compared: received, summed: 0 }
    }

    #[test]
    fn parts_are_by_key_or_by_launch_and_what_was_verified_adds_up() {
        let mut table = Measurements::default();
        for (what, launch) in [("a", 0), ("a", 1), ("b", 1)] {
            let batch = Batch { samples: vec![1.0], launch, ..Batch::default() };
            table.push(Kept::Batch { key: Key::new(what), batch });
            let verified = Verified { timed: checked(5), ..Verified::default() };
            table.push(Kept::Verified { key: Key::new(what), verified });
        }
        let verified = Verified { checked_batches: 1, checked: checked(2), ..Verified::default() };
        table.push(Kept::Verified { key: Key::new("a"), verified });
        let keys = |table: &Measurements| -> Vec<(String, usize)> {
            table.iter().map(|(key, batches)| (key.what().to_owned(), batches.len())).collect()
        };
        assert_eq!(keys(&table.of_launch(0)), [("a".to_owned(), 1)]);
        assert_eq!(keys(&table.of_launch(1)), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
        let part = table.part(|key| key.what() == "a");
        assert_eq!(keys(&part), [("a".to_owned(), 2)]);
        let of = |what| table.of(what).map(|(key, batches)| (key.what(), batches.len())).collect();
        let found: [Vec<(&str, usize)>; 4] = ["a", "b", "", "aa"].map(of);
        assert_eq!(found, [vec![("a", 2)], vec![("b", 1)], Vec::new(), Vec::new()]);
        let all = Verified { checked_batches: 1, checked: checked(2), timed: checked(10) };
        assert_eq!(part.verified().collect::<Vec<_>>(), [(&Key::new("a"), &all)]);
    }

    #[test]
    fn points_keep_their_order_and_what_launches_chose_differently() {
        let mut table = Measurements::default();
        for (key, way) in [("b", "pieces"), ("a", "pieces"), ("b", "copy"), ("b", "pieces")] {
            let point = Described::default().with("way", way);
            table.push(Kept::Point { key: Key::new(key), point });
        }
        let points = table.points().into_iter();
        let found = points.map(|(key, of)| (key.what(), of.labels["way"].names().join("|")));
        let expected = [("b", "pieces|copy".to_owned()), ("a", "pieces".to_owned())];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_kept_survives_the_way_to_the_launcher() {
        let batch = Batch { samples: vec![1.5], round: 3, ..Batch::default() };
        let verified = Verified { checked_batches: 1, checked: checked(2), ..Verified::default() };
        let point = Described::default().at("bytes", 8_u32).with("way", "pieces");
        for kept in [
            Kept::Batch { key: Key::new("a").at("bytes", 8_u32), batch },
            Kept::Point { key: Key::new("a"), point },
            Kept::Verified { key: Key::new("a"), verified },
        ] {
            let line = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<Kept>(&line).unwrap(), kept);
        }
    }
}
