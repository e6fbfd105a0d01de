//! The files of signatures: one table of all, and the samples and a picture of each. Those of transfers
//! share a picture.

use std::collections::BTreeSet;

use bandgap_record::{Column, RecordError, csv, estimate, lower, nanoseconds, upper};
use bandgap_report::{Figure, svg, svg_panels};
use bandgap_units::Ns;

use super::schema::{Logp, Point};
use super::small_messages;
use crate::kind::{Among, File, Shown};
use crate::measured::{Batch, named_file};

/// The files of a signature of small messages, which is drawn as `figure`.
pub(super) fn small(
    logp: &Logp,
    figure: &Figure,
    among: &Among<'_>,
) -> Result<Vec<File>, RecordError> {
    let suffix = match among.more_to_come || small_messages(among).len() > 1 {
        true => format!("-{}", named_file(&logp.transport)),
        false => String::new(),
    };
    let mut files = vec![
        File::new(format!("samples{suffix}.csv"), samples(logp)?),
        File::new(format!("signature{suffix}.svg"), svg(figure)),
    ];
    if let Some(all) = among.led_by(logp, |other| !other.is_of_transfers()) {
        files.push(File::new("signature.csv", points(&all)?));
    }
    Ok(files)
}

/// The files of a signature of transfers.
pub(super) fn transfers(logp: &Logp, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
    let name = format!("samples-{}-{}.csv", logp.name, logp.bytes.unwrap_or(0));
    let mut files = vec![File::new(name, samples(logp)?)];
    if let Some(all) = among.led_by(logp, Logp::is_of_transfers) {
        let panels: Vec<Figure> = all.iter().flat_map(|logp| logp.figures(among)).collect();
        files.push(File::new("surface.csv", points(&all)?));
        files.push(File::new("surface.svg", svg_panels(&panels)));
    }
    Ok(files)
}

/// The points of signatures, a row for each. `low_ns` and `high_ns` bound the cost, and are empty where
/// there is no interval. Of transfers, the surface over (M, Δ, n), behind what each point moves.
pub(super) fn points(all: &[&Logp]) -> Result<Vec<u8>, RecordError> {
    let columns: [Column<(&Logp, &Point)>; 15] = [
        ("operation", |(logp, _)| logp.operation.map(|of| of.to_string()).unwrap_or_default()),
        ("bytes", |(logp, _)| logp.bytes.unwrap_or(0).to_string()),
        ("transport", |(logp, _)| logp.transport.clone()),
        ("state", |(logp, _)| logp.state.label.clone()),
        ("measure", |(_, point)| point.measure.to_string()),
        ("messages", |(_, point)| point.messages.to_string()),
        ("delay_ns", |(_, point)| nanoseconds(point.delay.ns())),
        ("cost_ns", |(_, point)| estimate(&point.cost)),
        ("low_ns", |(_, point)| lower(&point.cost)),
        ("high_ns", |(_, point)| upper(&point.cost)),
        ("elapsed_ns", |(_, point)| estimate(&point.elapsed)),
        ("samples", |(_, point)| point.summary.samples.to_string()),
        ("batches", |(_, point)| point.elapsed.samples.to_string()),
        ("converged", |(_, point)| point.converged.to_string()),
        ("clock_limited", |(_, point)| point.clock_limited.to_string()),
    ];
    let moves = all.iter().any(|logp| logp.is_of_transfers());
    let points = all.iter().flat_map(|logp| logp.points.iter().map(move |point| (*logp, point)));
    csv(if moves { &columns } else { &columns[2..] }, points)
}

/// A sample with its point: its time, and the numbers of its batch, round and launch.
type Sample<'a> = (&'a Point, Ns, usize, usize, u32);

/// The samples of one signature in the form that `fit logp` reads, a row for
/// each repetition, with the number of its batch at the point, of its round, and of its launch where there are
/// several.
///
/// Times are those at the point's Δ: by what the Δ of a sample's batch was off, M times, it is
/// corrected. Rejected batches are left out, and so are those of the machine's other states: a table
/// has no column to keep states apart.
fn samples(logp: &Logp) -> Result<Vec<u8>, RecordError> {
    let mut columns: Vec<Column<Sample>> = vec![
        ("kind", |(point, ..)| point.measure.to_string()),
        ("messages", |(point, ..)| point.messages.to_string()),
        ("delay_ns", |(point, ..)| nanoseconds(point.delay.ns())),
        ("elapsed_ns", |(_, elapsed, ..)| nanoseconds(*elapsed)),
        ("batch", |(_, _, batch, ..)| batch.to_string()),
    ];
    let counts = |of: &&Batch| of.counts_in(&logp.state.label);
    let counting = || logp.points.iter().flat_map(|point| &point.batches).filter(counts);
    // Those of several launches are numbered one after the other.
    let rounds: BTreeSet<(u32, u32)> =
        counting().filter_map(|of| Some((of.launch, of.round?))).collect();
    let known = counting().all(|of| of.round.is_some());
    let mut rows = Vec::new();
    for point in &logp.points {
        for (number, batch) in point.batches.iter().enumerate().filter(|(_, of)| counts(of)) {
            let off = batch.delay.map_or(Ns::ZERO, |own| own.ns() - point.delay.ns());
            let off = Ns(point.messages as f64 * off.0);
            let elapsed = batch.samples.iter().map(|sample| (sample.ns() - off).max(Ns::ZERO));
            let round = rounds.range(..(batch.launch, batch.round.unwrap_or(0))).count();
            rows.extend(elapsed.map(|elapsed| (point, elapsed, number, round, batch.launch)));
        }
    }
    if known {
        columns.push(("round", |(.., round, _)| round.to_string()));
    }
    if logp.launches > 1 {
        columns.push(("launch", |(.., launch)| launch.to_string()));
    }
    csv(&columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bandgap_import::{LogpRow, Phase, read_logp_table};

    use crate::logp::schema::Operation;
    use crate::logp::tests::sample;

    #[test]
    fn points_become_rows() {
        let out = points(&[&sample()]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "transport,state,measure,messages,delay_ns,cost_ns,low_ns,high_ns,elapsed_ns,samples,batches,converged,clock_limited\n\
             shm,N,issue,64,0,27.22,27.1,27.35,1742,2,100,true,false\n"
        );
    }

    #[test]
    fn points_of_a_surface_name_their_length() {
        let of = |bytes| Logp { operation: Some(Operation::Get), bytes: Some(bytes), ..sample() };
        let out = points(&[&of(0), &of(65536)]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "operation,bytes,transport,state,measure,messages,delay_ns,cost_ns,low_ns,high_ns,elapsed_ns,samples,batches,converged,clock_limited\n\
             get,0,shm,N,issue,64,0,27.22,27.1,27.35,1742,2,100,true,false\n\
             get,65536,shm,N,issue,64,0,27.22,27.1,27.35,1742,2,100,true,false\n"
        );
    }

    #[test]
    fn samples_are_read_back_without_the_rejected() {
        let out = samples(&Logp { launches: 1, ..sample() }).unwrap();
        let (phase, messages, delay_ns) = (Phase::Issue, 64, 0.0);
        // Of the point's three batches one is rejected and one is of another state.
        let [first, ..] = &sample().points[0].batches[..] else { panic!("three batches") };
        assert!(first.counts_in(&sample().state.label));
        let issue = |line, elapsed_ns| {
            let (batch, round, launch) = (Some(0), None, None);
            LogpRow { line, phase, messages, delay_ns, elapsed_ns, batch, round, launch }
        };
        let expected = [issue(2, 1734.0), issue(3, 1750.25)];
        assert_eq!(read_logp_table(&out[..]).unwrap(), expected, "an older file has no rounds");
    }

    #[test]
    fn rounds_of_all_launches_are_numbered_through() {
        let mut logp = Logp { launches: 1, ..sample() };
        let batch = logp.points[0].batches[0].clone();
        let of = |(launch, round)| Batch { launch, round: Some(round), ..batch.clone() };
        logp.points[0].batches = [(0, 2), (0, 7), (0, 7), (1, 0)].map(of).into();
        // Rejected batches need no number.
        let rejected = Batch { rejected: Some("why".into()), ..of((0, 1)) };
        logp.points[0].batches.push(rejected);
        let mut rows = read_logp_table(&samples(&logp).unwrap()[..]).unwrap();
        rows.dedup_by_key(|row| row.batch);
        let numbers: Vec<_> =
            rows.iter().map(|row| (row.batch.unwrap(), row.round.unwrap())).collect();
        assert_eq!(numbers, [(0, 0), (1, 1), (2, 1), (3, 2)]);
        // Of a single launch nothing tells them apart; of several the launch does.
        assert!(rows.iter().all(|row| row.launch.is_none()));
        logp.launches = 2;
        let mut rows = read_logp_table(&samples(&logp).unwrap()[..]).unwrap();
        rows.dedup_by_key(|row| row.batch);
        let launches: Vec<_> = rows.iter().filter_map(|row| row.launch).collect();
        assert_eq!(launches, [0, 0, 0, 1]);
    }
}
