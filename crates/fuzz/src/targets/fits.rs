//! What is made of tables once they are read.

use bandgap_import::{Phase, read_logp_table, read_size_table};
use bandgap_model::hockney::{Breaks, HockneyOptions, fit, sized_times_from_pairs};
use bandgap_model::{Kind, Options, Row, extract, observations_from_rows};

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
    let Ok(table) = read_size_table(input) else { return Verdict::Refused };
    let rows = &table.rows[..table.rows.len().min(MOST)];
    let times = sized_times_from_pairs(rows.iter().map(|row| (row.bytes, row.time_ns)));
    let steps = rows.iter().map(|row| (row.bytes, row.step_ns)).collect();
    let breaks = Breaks::Automatic { most: 5 };
    Verdict::from(&fit(&times, &HockneyOptions { breaks, confidence: 0.95, steps }))
}

fn logp(input: &[u8]) -> Verdict {
    let Ok(rows) = read_logp_table(input) else { return Verdict::Refused };
    let repetition = |row: &bandgap_import::LogpRow| Row {
        kind: if row.phase == Phase::Issue { Kind::Issue } else { Kind::Rtt },
        messages: row.messages,
        delay_ns: row.delay_ns,
        elapsed_ns: row.elapsed_ns,
        batch: row.batch,
        round: row.round,
        launch: row.launch,
    };
    let rows: Vec<Row> = rows.iter().take(MOST).map(repetition).collect();
    let mut points = observations_from_rows(&rows);
    points.retain(|point| point.batches.len() >= 2);
    Verdict::from(&extract(&points, &Options { confidence: 0.95, resamples: 100, seed: 1 }, None))
}
