//! The files of overlaps: one table of all, and a picture of each.

use bandgap_record::{Column, Quantity, RecordError, csv, estimate, lower, upper};
use bandgap_report::{Figure, svg_panels};

use super::schema::{Overlap, OverlapPoint};
use crate::kind::{Among, File};
use crate::measured::named_file;

/// The files of `overlap`, which is drawn as `figures`.
pub(super) fn files(
    overlap: &Overlap,
    figures: &[Figure],
    among: &Among<'_>,
) -> Result<Vec<File>, RecordError> {
    let suffix = match among.of::<Overlap>().count() {
        0 | 1 if !among.more_to_come => String::new(),
        _ => format!("-{}", named_file(&overlap.transport)),
    };
    let mut files = Vec::new();
    if let Some(all) = among.led_by(overlap, |_| true) {
        files.push(File::new("overlap.csv", points(&all)?));
    }
    if !figures.is_empty() {
        files.push(File::new(format!("overlap{suffix}.svg"), svg_panels(figures)));
    }
    Ok(files)
}

/// A row for each point. Cells are empty where there is no value.
fn points(all: &[&Overlap]) -> Result<Vec<u8>, RecordError> {
    type Row<'a> = (&'a Overlap, &'a OverlapPoint);
    let columns: [Column<Row<'_>>; 15] = [
        ("transport", |(overlap, _)| overlap.transport.clone()),
        ("state", |(overlap, _)| overlap.state.label.clone()),
        ("bytes", |(_, point)| point.bytes.to_string()),
        ("elements", |(_, point)| point.elements.to_string()),
        ("blocking_ns", |(_, point)| estimate(&point.blocking)),
        ("non_blocking_ns", |(_, point)| estimate(&point.non_blocking)),
        ("exchange_ns", |(_, point)| estimate(&point.exchange)),
        ("computation_ns", |(_, point)| estimate(&point.computation)),
        ("overheads_ns", |(_, point)| estimate(&point.overheads)),
        ("gain_ns", |(_, point)| estimate(&point.gain)),
        ("gain_low_ns", |(_, point)| lower(&point.gain)),
        ("gain_high_ns", |(_, point)| upper(&point.gain)),
        ("hidden_share", |(_, point)| number(point.share.as_ref().map(|share| share.value.0))),
        ("share_low", |(_, point)| number(ends(point).map(|(low, _)| low))),
        ("share_high", |(_, point)| number(ends(point).map(|(_, high)| high))),
    ];
    csv(&columns, all.iter().flat_map(|of| of.points.iter().map(move |point| (*of, point))))
}

/// The ends of the interval of the hidden share.
fn ends(point: &OverlapPoint) -> Option<(f64, f64)> {
    point.share.as_ref().and_then(Quantity::interval)
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
