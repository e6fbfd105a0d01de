//! `bandgap fit logp`.

use std::collections::BTreeMap;
use std::path::Path;

use bandgap_campaign::signature::QUICK_RESAMPLES;
use bandgap_import::{LogpRow, Phase, read_logp_table};
use bandgap_launch::{Classify, Exit, Failure, told};
use bandgap_model::{
    Kind, ModelError, Observation, Options, Row, Signature, extract, observations_from_rows,
};
use bandgap_results::assemble;
use bandgap_stats::Rule;
use bandgap_units::Ns;
use serde_json::json;

use super::{named, open};
use crate::args::{Measure, Output};
use crate::output::Sink;

/// Resamples of the bootstrap.
const RESAMPLES: usize = 1000;

/// Fits a signature to rows of kind, messages, delay and time.
pub(super) fn run(file: &Path, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let name = named(file);
    let rows = read_logp_table(open(file)?)
        .map_err(|error| Failure::new(Exit::Input, format!("use {name}: {}", told(&error))))?;
    let rows: Vec<Row> = rows.into_iter().map(repetition).collect();
    let options =
        Options { confidence: measure.confidence.0, resamples: RESAMPLES, seed: measure.seed };
    // As in a measurement: a single batch has no interval.
    let (observations, single): (Vec<_>, Vec<_>) =
        observations_from_rows(&rows).into_iter().partition(|point| point.batches.len() >= 2);
    let left_out = left_out(&single, observations.len());
    let unfitted = |why: String| {
        let failure = Failure::new(Exit::Input, format!("fit {name}: {why}"));
        match &left_out {
            Some(left_out) => failure.hint(left_out.clone()),
            None => failure,
        }
    };
    if observations.is_empty() {
        return Err(unfitted("no point has more than one batch".to_owned()));
    }
    let whole =
        extract(&observations, &options, None).map_err(|error| unfitted(advised(&error)))?;
    let Launched { signature, launches, lost } = over_launches(whole, &rows, &options);
    let mut sink = Sink::open(&output.only_asked(), "fit", measure)?;
    sink.plan(&json!({"name": "fit", "plan": {"confidence": options.confidence}}));
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let mut result = assemble::fitted(&observations, &signature, rule, measure.confidence.0)
        .class(Exit::Defect)?;
    result.launches = launches;
    result.findings.extend(lost.into_iter().chain(left_out));
    let exit = sink.add(vec![result.into()])?;
    sink.close(output.judged(exit))
}

fn repetition(row: LogpRow) -> Row {
    let LogpRow { phase, messages, delay_ns, elapsed_ns, batch, round, launch, .. } = row;
    let kind = match phase {
        Phase::Issue => Kind::Issue,
        Phase::RoundTrip => Kind::Rtt,
    };
    Row { kind, messages, delay_ns, elapsed_ns, batch, round, launch }
}

/// Why there is no signature, and what the table lacks.
fn advised(error: &ModelError) -> String {
    match error.unobserved() {
        Some(what) => format!("{error}; observe {what}"),
        None => error.to_string(),
    }
}

/// A signature over the launches that a table names.
struct Launched {
    signature: Signature,
    launches: u32,
    /// Which launches have no signature of their own, in words.
    lost: Vec<String>,
}

/// `whole`, that of all rows, over the signatures of the launches, as in a measurement of several: their
/// variance is in the intervals.
fn over_launches(whole: Signature, rows: &[Row], options: &Options) -> Launched {
    let mut launches = BTreeMap::<u64, Vec<Row>>::new();
    for row in rows {
        launches.entry(row.launch.unwrap_or(0)).or_default().push(*row);
    }
    let (mut each, mut lost) = (Vec::new(), Vec::new());
    for (launch, rows) in launches.iter().filter(|_| launches.len() > 1) {
        let mut points = observations_from_rows(rows);
        points.retain(|point| point.batches.len() >= 2);
        match extract(&points, &Options { resamples: QUICK_RESAMPLES, ..*options }, None) {
            Ok(signature) => each.push(signature),
            Err(why) => {
                let why = advised(&why);
                lost.push(format!("Launch {launch} has no signature of its own: {why}."));
            }
        }
    }
    let launches = launches.len() as u32;
    Launched { signature: whole.over_launches(&each, options.confidence), launches, lost }
}

/// Points that are named, at most.
const NAMED: usize = 3;

/// Which points have too few batches, beside so many that have enough, and what is missing.
fn left_out(single: &[Observation], enough: usize) -> Option<String> {
    let named: Vec<String> = single.iter().take(NAMED).map(place).collect();
    let more = if single.len() > NAMED { ", …" } else { "" };
    (!single.is_empty()).then(|| {
        format!(
            "Left out: {} of {} points, with one batch each ({}{more}). An interval needs two at \
             least, and five are better: measure these points again, in batches of their own.",
            single.len(),
            single.len() + enough,
            named.join(", ")
        )
    })
}

/// A point in words.
fn place(point: &Observation) -> String {
    match point.kind {
        Kind::Rtt => "the round trip".to_owned(),
        Kind::Issue => format!("M = {} at Δ = {}", point.messages, Ns(point.delay)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six batches of each point of a machine with RTT 1 µs, or 30 ns, g 100 ns and this os.
    fn rows(launch: Option<u64>, os: f64) -> Vec<Row> {
        let elapsed = |messages: u64, delay: f64| {
            let (all, issue) = (messages as f64, os + delay);
            let alone = all.min((970.0 / issue).max(1.0));
            20.0 + issue * alone + f64::max(100.0, os + 30.0 + delay) * (all - alone)
        };
        let mut rows = Vec::new();
        let mut repeat = |kind, messages, delay_ns, truth: f64| {
            rows.extend([-1.0, 0.0, 1.0, 1.0, 0.0, -1.0].map(|off| {
                let elapsed_ns = truth * (1.0 + 1e-4 * off);
                Row { kind, messages, delay_ns, elapsed_ns, batch: None, round: None, launch }
            }));
        };
        repeat(Kind::Rtt, 1, 0.0, 1000.0);
        for delay in [0.0, 100.0, 200.0, 300.0, 400.0] {
            for power in 0..12 {
                repeat(Kind::Issue, 1 << power, delay, elapsed(1 << power, delay));
            }
        }
        rows
    }

    fn fitted(rows: &[Row]) -> Launched {
        let options = Options { confidence: 0.95, resamples: 200, seed: 1 };
        let whole = extract(&observations_from_rows(rows), &options, None).unwrap();
        over_launches(whole, rows, &options)
    }

    #[test]
    fn the_variance_between_launches_is_in_the_intervals() {
        let overheads = [19.0, 20.0, 21.0];
        let all = |of: fn(u64) -> Option<u64>| -> Vec<Row> {
            (0..).zip(overheads).flat_map(|(launch, os)| rows(of(launch), os)).collect()
        };
        let (told, untold) = (fitted(&all(Some)), fitted(&all(|_| None)));
        assert_eq!((told.launches, untold.launches), (3, 1));
        let os = told.signature.send_overhead;
        assert!((os.value - 20.0).abs() < 0.1, "{os:?}");
        // s = 1, t(2, 95 %)/√3 = 2.484.
        assert!(os.high - os.low > 2.0 * 2.45, "{os:?}");
        let os = untold.signature.send_overhead;
        assert!(os.high - os.low < 2.0 * 2.0, "{os:?}");
        assert_eq!(told.lost, Vec::<String>::new());
    }

    #[test]
    fn what_a_table_lacks_is_said_with_what_to_observe() {
        let mut all = rows(None, 20.0);
        all.retain(|row| row.kind == Kind::Rtt || row.messages >= 32);
        let options = Options { confidence: 0.95, resamples: 200, seed: 1 };
        let error = extract(&observations_from_rows(&all), &options, None).unwrap_err();
        assert!(advised(&error).ends_with("; observe smaller M with a delay of 0"), "{error}");
    }

    #[test]
    fn a_launch_without_a_signature_is_named() {
        let mut all: Vec<Row> = (0..3).flat_map(|launch| rows(Some(launch), 20.0)).collect();
        all.retain(|row| row.launch != Some(1) || row.kind == Kind::Rtt);
        let [said] = &fitted(&all).lost[..] else { panic!("one launch") };
        assert!(said.starts_with("Launch 1 has no signature of its own: "), "{said}");
    }
}
