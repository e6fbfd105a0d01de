//! Keeps what no fit could be made of.

use bandgap_campaign::{Setting, Table};

use super::{Batches, OfPoint};
use crate::error::AssembleError;

/// Batches that no fit could be made of, as they were measured.
pub fn unfitted(setting: &Setting, table: &Table, reason: &AssembleError) -> Batches {
    let of = |key| move |batch| OfPoint { of: Clone::clone(key), batch: Clone::clone(batch) };
    Batches {
        transport: setting.transport.clone(),
        reason: reason.to_string(),
        unit: "ns".to_owned(),
        batches: table.iter().flat_map(|(key, batches)| batches.iter().map(of(key))).collect(),
    }
}
