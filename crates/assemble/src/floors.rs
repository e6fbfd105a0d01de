//! Floors, the times and rates of plain loops on the machine, and the layers above them.

use bandgap_campaign::Key;
use bandgap_campaign::floors::{key, lost_key, sized_key};
use bandgap_comm::Floor;
use bandgap_record::{Column, Form, Labels, Note, Place, Unit};
use bandgap_stats::Convergence;

use crate::Result;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};

/// The kind of rows that hold one floor or layer.
pub const FLOOR: &str = "floor";

/// A row for each measured floor and layer, or for each size if it has several. Layers have ratios to the floors below
/// them.
///
/// # Errors
/// A number cannot be recorded.
pub fn floors(of: &Measured<'_>, planned: &[Floor]) -> Result<Made> {
    let mut made = Made::default();
    for floor in planned {
        made = made.and(one(of, floor, planned)?);
    }
    Ok(made)
}

fn one(of: &Measured<'_>, floor: &Floor, planned: &[Floor]) -> Result<Made> {
    let bytes = |floor: &Floor| floor.yields.bytes().map(|bytes| bytes as f64);
    let column = match bytes(floor) {
        None => Column::new("time", Unit::Second, "of one operation, or half a round trip"),
        Some(_) => Column::new("rate", Unit::BytePerSecond, "bytes moved over the time"),
    };
    let mut columns = vec![column.counting()];
    let below: Vec<&Floor> = planned.iter().filter(|of| floor.over.contains(&of.name)).collect();
    for below in &below {
        let name = format!("over_{}", below.name);
        columns.push(Column::new(&name, Unit::One, "its time over that of the other, by round"));
    }
    let has_sizes = !floor.sizes.is_empty();
    let mut axes = Vec::new();
    if has_sizes {
        axes.push("bytes");
        columns.push(Column::new("lost", Unit::One, "messages without an answer in time"));
        columns.push(Column::new("sent", Unit::One, "messages sent"));
    }
    let mut rows = Builder::new(FLOOR, &floor.name, &of.setting.transport, &axes, columns);
    rows.rows.form = Form::Floor;
    let sizes = floor.sizes.iter().map(|&size| (vec![size.into()], sized_key(&floor.name, size)));
    let single = (!has_sizes).then(|| (Vec::new(), key(&floor.name)));
    for (place, own) in single.into_iter().chain(sizes) {
        let (time, lost) = (of.time(&own), losses(of, &own, floor.samples));
        if time.is_none() {
            rows.notes.extend(why(of, &rows, &place, &own));
        }
        if time.is_none() && lost.is_none() {
            continue;
        }
        let value = match (&time, bytes(floor)) {
            (Some(time), Some(bytes)) => time.turned(bytes, "bytes / t"),
            _ => time,
        };
        let mut cells = vec![value];
        for below in &below {
            // Floors that move bytes are compared by the time per byte.
            let longer = bytes(floor).zip(bytes(below)).map_or(1.0, |(own, below)| own / below);
            let ratio = of.ratio(&own, &key(&below.name));
            cells.push(ratio.map(|ratio| ratio.part(longer)));
        }
        if has_sizes {
            cells.extend(lost.map_or([None, None], |lost| lost.map(Some)));
        }
        let labels = Labels::from([("meaning".to_owned(), (&*floor.meaning).into())]);
        rows.push(place, labels, &cells, of.spread(&own))?;
    }
    Ok(rows.made())
}

/// The numbers of messages lost and sent in batches that count; `None` if losses are not counted.
fn losses(of: &Measured<'_>, own: &Key, sent: u32) -> Option<[Estimated; 2]> {
    let key = lost_key(own);
    let batches =
        of.judged.table.batches(&key).iter().filter(|of_lost| of.judged.counts(&key, of_lost));
    let lost: Vec<f64> = batches.flat_map(|batch| batch.samples.iter().copied()).collect();
    let all = f64::from(sent) * lost.len() as f64;
    let how = ("sum over batches", lost.len() as u64);
    let sum = |value| Estimated::new(value, None, Convergence::Converged, how);
    (!lost.is_empty()).then(|| [sum(lost.iter().sum()), sum(all)])
}

/// The reason for a missing time; `None` if nothing was measured.
fn why(of: &Measured<'_>, rows: &Builder, place: &[Place], own: &Key) -> Option<Note> {
    let batches = of.judged.table.batches(own);
    let at = place.iter().map(|size| format!("/bytes={size}"));
    let about = rows.rows.id() + &at.collect::<String>();
    (!batches.is_empty()).then(|| match of.refused(own) {
        Some(reason) => Note::new("floor_unavailable", about).with("reason", reason),
        None => Note::new("floor_without_batches", about).with("batches", batches.len() as f64),
    })
}

#[cfg(test)]
mod tests;
