//! The files of a trace: its times, their distribution, and a picture of that.

use bandgap_record::{Column, RecordError, csv, estimate, lower, nanoseconds, upper};
use bandgap_report::{Figure, svg_panels};

use super::schema::{PcieTrace, TraceBin, TraceTime};
use crate::kind::{Among, File};
use crate::measured::{for_gnuplot, named_file};

pub(super) fn files(
    trace: &PcieTrace,
    figures: &[Figure],
    among: &Among<'_>,
) -> Result<Vec<File>, RecordError> {
    let suffix = match among.of::<PcieTrace>().count() {
        0 | 1 if !among.more_to_come => String::new(),
        _ => format!("-{}", named_file(&trace.name)),
    };
    let mut files = vec![File::new(format!("trace{suffix}.csv"), times(trace)?)];
    if !figures.is_empty() {
        files.push(File::new(format!("injection{suffix}.csv"), bins(trace)?));
        files.push(File::new(format!("injection{suffix}.svg"), svg_panels(figures)));
        files.extend(for_gnuplot(figures, &format!("injection{suffix}")));
    }
    Ok(files)
}

fn times(trace: &PcieTrace) -> Result<Vec<u8>, RecordError> {
    let columns: [Column<&TraceTime>; 11] = [
        ("time", |one| one.name.clone()),
        ("samples", |one| one.samples.to_string()),
        ("mean_ns", |one| estimate(&one.mean)),
        ("low_ns", |one| lower(&one.mean)),
        ("high_ns", |one| upper(&one.mean)),
        ("median_ns", |one| estimate(&one.median)),
        ("min_ns", |one| nanoseconds(one.min.ns())),
        ("p90_ns", |one| nanoseconds(one.p90.ns())),
        ("p99_ns", |one| nanoseconds(one.p99.ns())),
        ("p999_ns", |one| nanoseconds(one.p999.ns())),
        ("max_ns", |one| nanoseconds(one.max.ns())),
    ];
    csv(&columns, &trace.times)
}

fn bins(trace: &PcieTrace) -> Result<Vec<u8>, RecordError> {
    let columns: [Column<&TraceBin>; 4] = [
        ("from_ns", |bin| nanoseconds(bin.from.ns())),
        ("to_ns", |bin| nanoseconds(bin.to.ns())),
        ("count", |bin| bin.count.to_string()),
        ("share", |bin| bin.share.0.to_string()),
    ];
    csv(&columns, &trace.histogram)
}
