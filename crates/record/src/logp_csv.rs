//! A LogP signature as CSV: its points, and its raw samples.

use std::io::Write;

use bandgap_units::Ns;

use crate::{Logp, Measure, Number, Point, Quantity, RecordError};

/// Writes the points of signatures, one row each:
/// `transport,state,measure,messages,delay_ns,cost_ns,low_ns,high_ns,elapsed_ns,samples,converged`.
///
/// `low_ns` and `high_ns` bound the cost, and are empty where there is no interval.
///
/// # Errors
/// Those of the writer.
pub fn signature_csv<'a>(
    out: impl Write,
    signatures: impl IntoIterator<Item = &'a Logp>,
) -> Result<(), RecordError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS).map_err(RecordError::Csv)?;
    for logp in signatures {
        for point in &logp.points {
            csv.write_record(cells(logp, point)).map_err(RecordError::Csv)?;
        }
    }
    csv.flush().map_err(|error| RecordError::Csv(error.into()))
}

/// Writes the points of signatures of transfers, the surface over (M, Δ, n), as [`signature_csv`] does,
/// behind the columns `operation,bytes`.
///
/// # Errors
/// Those of the writer.
pub fn surface_csv<'a>(
    out: impl Write,
    signatures: impl IntoIterator<Item = &'a Logp>,
) -> Result<(), RecordError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["operation", "bytes"].iter().chain(&COLUMNS)).map_err(RecordError::Csv)?;
    for logp in signatures {
        let operation = logp.operation.map(|operation| operation.name().to_owned());
        let bytes = logp.bytes.map(|bytes| bytes.to_string());
        let of = [operation.unwrap_or_default(), bytes.unwrap_or_default()];
        for point in &logp.points {
            let row = of.iter().cloned().chain(cells(logp, point));
            csv.write_record(row.collect::<Vec<_>>()).map_err(RecordError::Csv)?;
        }
    }
    csv.flush().map_err(|error| RecordError::Csv(error.into()))
}

const COLUMNS: [&str; 11] = [
    "transport",
    "state",
    "measure",
    "messages",
    "delay_ns",
    "cost_ns",
    "low_ns",
    "high_ns",
    "elapsed_ns",
    "samples",
    "converged",
];

/// A point under [`COLUMNS`].
fn cells(logp: &Logp, point: &Point) -> [String; 11] {
    let bound = |end: Option<Number>| end.map(|end| nanoseconds(Ns::from_secs(end.0)));
    [
        logp.transport.clone(),
        logp.state.label.clone(),
        name(point.measure).to_owned(),
        point.messages.to_string(),
        nanoseconds(point.delay.ns()),
        estimate(&point.cost),
        bound(point.cost.low).unwrap_or_default(),
        bound(point.cost.high).unwrap_or_default(),
        estimate(&point.elapsed),
        point.elapsed.samples.to_string(),
        point.converged.to_string(),
    ]
}

/// Writes the samples of one signature in the form that [`read_logp_table`](crate::read_logp_table)
/// reads: `kind,messages,delay_ns,elapsed_ns`, one row per repetition.
///
/// Times are those at the point's Δ: by what the Δ of a sample's batch was off, M times, it is
/// corrected. Rejected batches are left out, and so are those of the machine's other states: a table has no
/// column to keep states apart.
///
/// # Errors
/// Those of the writer.
pub fn samples_csv(out: impl Write, logp: &Logp) -> Result<(), RecordError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["kind", "messages", "delay_ns", "elapsed_ns"]).map_err(RecordError::Csv)?;
    for point in &logp.points {
        let counted =
            |batch: &&crate::Batch| batch.rejected.is_none() && batch.state == logp.state.label;
        for batch in point.batches.iter().filter(counted) {
            let off = batch.delay.map_or(Ns::ZERO, |own| own.ns() - point.delay.ns());
            for sample in &batch.samples {
                let elapsed = sample.ns() - point.messages as f64 * off;
                csv.write_record([
                    name(point.measure),
                    &point.messages.to_string(),
                    &nanoseconds(point.delay.ns()),
                    &nanoseconds(elapsed.max(Ns::ZERO)),
                ])
                .map_err(RecordError::Csv)?;
            }
        }
    }
    csv.flush().map_err(|error| RecordError::Csv(error.into()))
}

fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Issue => "issue",
        Measure::Rtt => "rtt",
    }
}

/// A time's value in nanoseconds.
pub(crate) fn estimate(quantity: &Quantity) -> String {
    nanoseconds(Ns::from_secs(quantity.value.0))
}

/// Nanoseconds to the femtosecond: the rest is what the conversion from seconds added.
pub(crate) fn nanoseconds(time: Ns) -> String {
    let text = format!("{:.6}", time.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::small_logp;
    use crate::{Row, read_logp_table};

    #[test]
    fn points_become_rows() {
        let mut out = Vec::new();
        signature_csv(&mut out, [&small_logp()]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "transport,state,measure,messages,delay_ns,cost_ns,low_ns,high_ns,elapsed_ns,samples,converged\n\
             shm,N,issue,64,0,27.22,27.1,27.35,1742,100,true\n"
        );
    }

    #[test]
    fn points_of_a_surface_name_their_length() {
        let mut out = Vec::new();
        let of = |bytes| crate::Logp {
            operation: Some(crate::Operation::Get),
            bytes: Some(bytes),
            ..small_logp()
        };
        surface_csv(&mut out, [&of(0), &of(65536)]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "operation,bytes,transport,state,measure,messages,delay_ns,cost_ns,low_ns,high_ns,elapsed_ns,samples,converged\n\
             get,0,shm,N,issue,64,0,27.22,27.1,27.35,1742,100,true\n\
             get,65536,shm,N,issue,64,0,27.22,27.1,27.35,1742,100,true\n"
        );
    }

    #[test]
    fn samples_are_read_back_without_the_rejected() {
        let mut out = Vec::new();
        samples_csv(&mut out, &small_logp()).unwrap();
        let issue = |elapsed| Row {
            kind: Measure::Issue,
            messages: 64,
            delay: Ns(0.0),
            elapsed: Ns(elapsed),
        };
        // Of the point's three batches one is rejected and one is of another state.
        let expected = [issue(1734.0), issue(1750.25)];
        assert_eq!(read_logp_table(&out[..]).unwrap(), expected);
    }
}
