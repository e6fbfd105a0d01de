//! The files of fits over distances: one table of all, and a picture of each.

use bandgap_record::{Column, Quantity, RecordError, csv};
use bandgap_report::{Figure, svg_panels};

use super::schema::{Hops, HopsSegment};
use crate::kind::{Among, File};
use crate::measured::{for_gnuplot, named_file};

/// The files of `hops`, which is drawn as `figures`.
pub(super) fn files(
    hops: &Hops,
    figures: &[Figure],
    among: &Among<'_>,
) -> Result<Vec<File>, RecordError> {
    let mut files = Vec::new();
    if let Some(all) = among.led_by(hops, |_| true) {
        files.push(File::new("hops.csv", table(&all)?));
    }
    if !figures.is_empty() {
        let name = format!("hops-{}-{}", named_file(&hops.name), named_file(&hops.transport));
        files.push(File::new(format!("{name}.svg"), svg_panels(figures)));
        files.extend(for_gnuplot(figures, &name));
    }
    Ok(files)
}

/// A row for each segment; cells are empty where there is no value.
fn table(all: &[&Hops]) -> Result<Vec<u8>, RecordError> {
    type Row<'a> = (&'a Hops, &'a HopsSegment);
    fn part(of: Option<&Quantity>, part: fn(&Quantity) -> Option<f64>) -> String {
        // Times of a byte are less than a nanosecond: all digits, in nanoseconds.
        of.and_then(part).map(|seconds| (seconds * 1e9).to_string()).unwrap_or_default()
    }
    const VALUE: fn(&Quantity) -> Option<f64> = |of| Some(of.value.0);
    const LOW: fn(&Quantity) -> Option<f64> = |of| of.low.map(|low| low.0);
    const HIGH: fn(&Quantity) -> Option<f64> = |of| of.high.map(|high| high.0);
    let columns: [Column<Row<'_>>; 15] = [
        ("name", |(hops, _)| hops.name.clone()),
        ("transport", |(hops, _)| hops.transport.clone()),
        ("from_bytes", |(_, segment)| segment.from_bytes.to_string()),
        ("to_bytes", |(_, segment)| segment.to_bytes.to_string()),
        ("points", |(_, segment)| segment.points.to_string()),
        ("t_startup_ns", |(_, segment)| part(segment.t_startup.as_ref(), VALUE)),
        ("t_startup_low_ns", |(_, segment)| part(segment.t_startup.as_ref(), LOW)),
        ("t_startup_high_ns", |(_, segment)| part(segment.t_startup.as_ref(), HIGH)),
        ("t_byte_ns", |(_, segment)| part(segment.t_byte.as_ref(), VALUE)),
        ("t_byte_low_ns", |(_, segment)| part(segment.t_byte.as_ref(), LOW)),
        ("t_byte_high_ns", |(_, segment)| part(segment.t_byte.as_ref(), HIGH)),
        ("h_ns", |(_, segment)| part(segment.h.as_ref(), VALUE)),
        ("h_low_ns", |(_, segment)| part(segment.h.as_ref(), LOW)),
        ("h_high_ns", |(_, segment)| part(segment.h.as_ref(), HIGH)),
        ("rms_relative", |(_, segment)| {
            segment.residuals.as_ref().map(|of| of.rms_relative.0.to_string()).unwrap_or_default()
        }),
    ];
    csv(&columns, all.iter().flat_map(|hops| hops.segments.iter().map(move |of| (*hops, of))))
}
