//! Keeps what no fit could be made of.

use bandgap_campaign::data::Batch;
use bandgap_campaign::{Key, Setting, Table};

use super::{Batches, OfPoint};
use crate::error::AssembleError;
use crate::measured::Checked;

/// Batches that no fit could be made of, as they were measured.
pub fn unfitted(setting: &Setting, table: &Table, reason: &AssembleError) -> Batches {
    let transport = setting.transport.clone();
    Batches { transport, reason: reason.to_string(), ..batches(table.iter()) }
}

/// The same, with what was compared of them, which no other result says.
pub fn unfitted_alone(setting: &Setting, table: &Table, reason: &AssembleError) -> Batches {
    let verified = table.verified().map(|(_, verified)| verified);
    let checked = (!setting.is_virtual()).then(|| Checked::of(verified));
    Batches { checked, ..unfitted(setting, table, reason) }
}

/// Batches of floors that have no value; `None` where nothing of them was measured.
pub(crate) fn without_value(table: &Table, keys: &[Key], reasons: &[String]) -> Option<Batches> {
    let of_these = table.iter().filter(|(key, _)| keys.contains(key));
    let found = Batches { reason: reasons.join("; "), ..batches(of_these) };
    let measured = found.batches.iter().any(|of| !of.batch.samples.is_empty());
    measured.then_some(found)
}

fn batches<'a>(points: impl Iterator<Item = (&'a Key, &'a [Batch])>) -> Batches {
    let of = |key| move |batch| OfPoint { of: Clone::clone(key), batch: Clone::clone(batch) };
    Batches {
        transport: String::new(),
        reason: String::new(),
        unit: "ns".to_owned(),
        checked: None,
        batches: points.flat_map(|(key, batches)| batches.iter().map(of(key))).collect(),
    }
}
