//! What is made of tables once they are read.

use bandgap_model::hockney::{Breaks, HockneyOptions, fit, sized_times_from_pairs};
use bandgap_model::{Options, extract, observations_from_rows};
use bandgap_record::{read_hockney_table, read_logp_table};

use super::tables;
use crate::{Target, Verdict};

/// Rows that are fitted, at most: a fit takes longer than a reader.
const MOST: usize = 200;

pub(super) const HOCKNEY: Target = Target {
    name: "fit-hockney",
    about: "fits to sizes and times",
    read: hockney,
    share: 1,
    ..tables::HOCKNEY
};

pub(super) const LOGP: Target = Target {
    name: "fit-logp",
    about: "signatures of samples",
    made: Vec::new,
    // Two samples are a table, and no signature.
    wrong: tables::LOGP.made,
    read: logp,
    share: 1,
    ..tables::LOGP
};

fn hockney(input: &[u8]) -> Verdict {
    let Ok(table) = read_hockney_table(input) else { return Verdict::Refused };
    let rows = &table.rows[..table.rows.len().min(MOST)];
    let times = sized_times_from_pairs(rows.iter().map(|row| (row.bytes, row.time.0)));
    let steps = rows.iter().map(|row| (row.bytes, row.step.0)).collect();
    let breaks = Breaks::Automatic { most: 5 };
    Verdict::from(&fit(&times, &HockneyOptions { breaks, confidence: 0.95, steps }))
}

fn logp(input: &[u8]) -> Verdict {
    let Ok(rows) = read_logp_table(input) else { return Verdict::Refused };
    let mut points = observations_from_rows(&rows[..rows.len().min(MOST)]);
    points.retain(|point| point.batches.len() >= 2);
    Verdict::from(&extract(&points, &Options { confidence: 0.95, resamples: 100, seed: 1 }, None))
}
