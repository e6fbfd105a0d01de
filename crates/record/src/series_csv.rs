//! Series as CSV: their points, and their raw samples.

use std::io::Write;

use bandgap_units::Ns;

use crate::logp_csv::{estimate, nanoseconds};
use crate::{RecordError, Series};

/// Writes the points of series, one row each:
/// `name,transport,state,ranks,distance,bytes,time_ns,low_ns,high_ns,bytes_per_second,samples,converged`.
///
/// `low_ns` and `high_ns` bound the time. Cells are empty where there is no value.
///
/// # Errors
/// Those of the writer.
pub fn series_csv<'a>(
    out: impl Write,
    series: impl IntoIterator<Item = &'a Series>,
) -> Result<(), RecordError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "name",
        "transport",
        "state",
        "ranks",
        "distance",
        "bytes",
        "time_ns",
        "low_ns",
        "high_ns",
        "bytes_per_second",
        "samples",
        "converged",
    ])
    .map_err(RecordError::Csv)?;
    for series in series {
        for point in &series.points {
            let bound = |seconds: f64| nanoseconds(Ns::from_secs(seconds));
            let interval = point.time.interval();
            csv.write_record([
                series.name.clone(),
                series.transport.clone(),
                point.state.clone(),
                point.ranks.to_string(),
                point.distance.clone().unwrap_or_default(),
                point.bytes.to_string(),
                estimate(&point.time),
                interval.map(|(low, _)| bound(low)).unwrap_or_default(),
                interval.map(|(_, high)| bound(high)).unwrap_or_default(),
                point.bandwidth.as_ref().map(|rate| rate.value.0.to_string()).unwrap_or_default(),
                point.time.samples.to_string(),
                point.converged.to_string(),
            ])
            .map_err(RecordError::Csv)?;
        }
    }
    csv.flush().map_err(|error| RecordError::Csv(error.into()))
}

/// Writes the samples of one series in the form that
/// [`read_hockney_table`](crate::read_hockney_table) reads: `bytes,time_ns`, one row per sample.
///
/// Rejected batches are left out, and so are those of other states than their point's.
///
/// # Errors
/// Those of the writer.
pub fn series_samples_csv(out: impl Write, series: &Series) -> Result<(), RecordError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["bytes", "time_ns"]).map_err(RecordError::Csv)?;
    for point in &series.points {
        let counts = |batch: &&crate::Batch| batch.rejected.is_none() && batch.state == point.state;
        for sample in point.batches.iter().filter(counts).flat_map(|batch| &batch.samples) {
            csv.write_record([&point.bytes.to_string(), &nanoseconds(sample.ns())])
                .map_err(RecordError::Csv)?;
        }
    }
    csv.flush().map_err(|error| RecordError::Csv(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::small_series;
    use crate::{Timing, read_hockney_table};

    #[test]
    fn points_become_rows_that_a_fit_reads() {
        let mut out = Vec::new();
        series_csv(&mut out, [&small_series()]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "name,transport,state,ranks,distance,bytes,time_ns,low_ns,high_ns,bytes_per_second,samples,converged\n\
             comms1,shm,N,2,same package,0,150,148,152,,100,true\n\
             comms1,shm,N,2,same package,4096,512,500,520,8000000000,100,true\n"
        );
        let table = read_hockney_table(text.as_bytes()).unwrap();
        let rows: Vec<_> = table.rows.iter().map(|row| (row.bytes, row.time.0)).collect();
        assert_eq!((table.timing, rows), (Timing::AsGiven, vec![(0, 150.0), (4096, 512.0)]));
    }

    #[test]
    fn samples_are_read_back_without_the_rejected() {
        let mut out = Vec::new();
        series_samples_csv(&mut out, &small_series()).unwrap();
        let table = read_hockney_table(&out[..]).unwrap();
        let rows: Vec<_> = table.rows.iter().map(|row| (row.bytes, row.time.0)).collect();
        // Of each point's three batches one is rejected and one is of another state.
        let expected = [(0, 149.0), (0, 151.0), (4096, 511.0), (4096, 513.25)];
        assert_eq!(rows, expected);
    }
}
