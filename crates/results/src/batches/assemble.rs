//! Keeps what no fit could be made of.

use bandgap_campaign::data::Batch;
use bandgap_campaign::{Key, Setting, Table};

use super::{Batches, OfPoint};
use crate::error::AssembleError;

/// Batches that no fit could be made of, as they were measured.
pub fn unfitted(setting: &Setting, table: &Table, reason: &AssembleError) -> Batches {
    let transport = setting.transport.clone();
    Batches { transport, reason: reason.to_string(), ..batches(table.iter()) }
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
        batches: points.flat_map(|(key, batches)| batches.iter().map(of(key))).collect(),
    }
}
