//! What plain loops reach on the machine, and layers over them.

use bandgap_campaign::data::Rejected;
use bandgap_campaign::floors::key;
use bandgap_comm::Floor;
use bandgap_record::{Column, Labels, Note, Unit};

use crate::Result;
use crate::estimate::Measured;
use crate::made::{Builder, Made};

/// The kind of rows that are of one floor or layer.
pub const FLOOR: &str = "floor";

/// A row for each floor and layer that was measured, layers with their ratios to what they are over.
///
/// # Errors
/// A number cannot be recorded.
pub fn floors(of: &Measured<'_>, planned: &[Floor]) -> Result<Made> {
    let mut made = Made::default();
    for floor in planned {
        if !of.judged.table.batches(&key(&floor.name)).is_empty() {
            made = made.and(one(of, floor, planned)?);
        }
    }
    Ok(made)
}

fn one(of: &Measured<'_>, floor: &Floor, planned: &[Floor]) -> Result<Made> {
    let own = key(&floor.name);
    let column = match floor.yields.bytes() {
        None => Column::new("time", Unit::Second, "of one operation, or half a round trip"),
        Some(_) => Column::new("rate", Unit::BytePerSecond, "bytes moved over the time"),
    };
    let mut columns = vec![column.counting()];
    let Some(time) = of.time(&own) else {
        let batches = of.judged.table.batches(&own);
        let reason = batches.iter().find_map(|batch| match &batch.rejected {
            Some(Rejected::Unavailable(reason)) => Some(reason.clone()),
            _ => None,
        });
        let about = format!("{FLOOR}/{}", floor.name);
        let note = match reason {
            Some(reason) => Note::new("floor_unavailable", about).with("reason", reason),
            None => Note::new("floor_without_batches", about).with("batches", batches.len() as f64),
        };
        return Ok(Made { notes: vec![note], ..Made::default() });
    };
    let bytes = |floor: &Floor| floor.yields.bytes().map(|bytes| bytes as f64);
    let value = match bytes(floor) {
        None => Some(time),
        Some(bytes) => time.turned(bytes, "bytes / t"),
    };
    let mut cells = vec![value];
    for below in planned.iter().filter(|below| floor.over.contains(&below.name)) {
        // Of what moves bytes, the time of a byte.
        let longer = bytes(floor).zip(bytes(below)).map_or(1.0, |(own, below)| own / below);
        let ratio = of.ratio(&own, &key(&below.name));
        cells.push(ratio.map(|ratio| ratio.part(longer)));
        let name = format!("over_{}", below.name);
        columns.push(Column::new(&name, Unit::One, "its time over that of the other, by round"));
    }
    let mut rows = Builder::new(FLOOR, &floor.name, "", &[], columns);
    let meaning = (&*floor.meaning).into();
    let labels = Labels::from([("meaning".to_owned(), meaning)]);
    let spread = of.spread(&own);
    rows.push(Vec::new(), labels, &cells, spread)?;
    Ok(rows.made())
}

#[cfg(test)]
mod tests;
