//! Tables that lack something get an error that names it.

use super::machines::{Layout, USUAL};
use crate::machine::Params;
use bandgap_model::{
    ModelError, Observation, Options, Phase, Row, extract, observations_from_rows,
};

fn table() -> Vec<Row> {
    Layout { rows: 10, outliers: 0.0, ..USUAL }.replayed(&Params::PARAGON, 1)
}

/// The error of a table without the rows for which `keep` is false.
fn error(keep: impl Fn(&Row) -> bool) -> ModelError {
    let rows: Vec<Row> = table().into_iter().filter(keep).collect();
    extract(&observations_from_rows(&rows), &Options::default(), None)
        .expect_err("an incomplete table")
}

#[test]
fn no_rtt() {
    assert_eq!(error(|row| row.kind == Phase::Issue), ModelError::NoRtt);
    assert_eq!(error(|_| false), ModelError::NoRtt);
}

#[test]
fn no_zero_delay() {
    assert_eq!(error(|row| row.kind == Phase::Rtt), ModelError::NoZeroDelay);
    let kept = |row: &Row| row.kind == Phase::Rtt || row.delay_ns > 0.0;
    assert_eq!(error(kept), ModelError::NoZeroDelay);
}

#[test]
fn too_few_small() {
    // RTT/os = 14.1, so that of these only M = 8 is in the send-only regime.
    let kept = |row: &Row| row.kind == Phase::Rtt || row.messages >= 8;
    let error = error(kept);
    assert!(matches!(error, ModelError::TooFewSmall(1, _)), "{error:?}");
}

#[test]
fn too_few_large() {
    let kept = |row: &Row| row.messages <= 8;
    let error = error(kept);
    assert!(matches!(error, ModelError::TooFewLarge(0, _)), "{error:?}");
}

#[test]
fn no_delay_above_idle() {
    // Idle is 7.6 − 1.4 − 2.2 = 4 µs.
    let error = error(|row| row.delay_ns <= 2000.0);
    assert!(matches!(error, ModelError::NoDelayAboveIdle(_)), "{error:?}");
}

#[test]
fn too_few_repetitions() {
    let mut observations = observations_from_rows(&table());
    observations[0].batches.truncate(1);
    let found = extract(&observations, &Options::default(), None);
    assert!(matches!(found, Err(ModelError::Unusable(_))), "{found:?}");
}

#[test]
fn impossible_values() {
    let refused = |change: fn(&mut Observation)| {
        let mut observations = observations_from_rows(&table());
        change(&mut observations[3]);
        matches!(extract(&observations, &Options::default(), None), Err(ModelError::Unusable(_)))
    };
    assert!(refused(|o| o.batches[0] = f64::NAN));
    assert!(refused(|o| o.batches[0] = -1.0));
    assert!(refused(|o| o.delay = f64::INFINITY));
    assert!(refused(|o| o.messages = 0));
}

#[test]
fn impossible_options() {
    let observations = observations_from_rows(&table());
    for options in [
        Options { confidence: 1.0, ..Options::default() },
        Options { confidence: f64::NAN, ..Options::default() },
    ] {
        let error = extract(&observations, &options, None).unwrap_err();
        assert!(matches!(error, ModelError::Unusable(_)), "{error:?}");
    }
}
