use crate::machine::{Params, issue_time};
use bandgap_import::Timing;
use bandgap_results::Outcome;

use super::*;
use crate::AssembleError;
use crate::logp::tests::{MESSAGES, assert_is, assert_said, split};

const FITTING: Fitting = Fitting { precision: 0.05, confidence: 0.95, seed: 1 };

/// Rows of a machine: of each point so many, in rounds of so many launches.
fn rows(machine: &Params, repetitions: u64, launches: Option<u64>) -> Vec<Row> {
    let mut rows = Vec::new();
    for launch in 0..launches.unwrap_or(1) {
        for round in 0..repetitions {
            let mut push = |kind, messages, delay_ns, elapsed: f64| {
                let elapsed_ns = elapsed * (1.0 + 1e-3 * (round % 3) as f64);
                let (batch, launch) = (None, launches.map(|_| launch));
                let round = launches.map(|_| round);
                rows.push(Row { kind, messages, delay_ns, elapsed_ns, batch, round, launch });
            };
            push(Phase::Rtt, 1, 0.0, machine.rtt());
            for delay in [0.0, 8e3, 16e3, 32e3] {
                for messages in MESSAGES.map(u64::from) {
                    push(Phase::Issue, messages, delay, issue_time(machine, messages, delay));
                }
            }
        }
    }
    rows
}

#[test]
fn a_table_gives_back_the_machine_that_it_is_of() {
    for (machine, launches) in [(Params::PARAGON, None), (Params::MYRINET, Some(2))] {
        let made = FITTING.logp(&rows(&machine, 5, launches)).unwrap();
        let (logp, curve) = split(&made);
        assert_is(&logp.parameters.send_overhead, machine.send_overhead, 0.01);
        assert_is(&logp.parameters.recv_overhead, machine.recv_overhead, 0.02);
        assert_is(&logp.parameters.gap, machine.gap, 0.01);
        assert_is(&logp.parameters.latency, machine.latency, 0.01);
        assert_eq!((logp.id().as_str(), curve.rows.len()), ("logp/table", 4 * MESSAGES.len()));
        assert_said(&made.notes);
    }
}

#[test]
fn points_with_one_batch_are_left_out_and_counted() {
    let mut table = rows(&Params::PARAGON, 5, None);
    let single = Row { kind: Phase::Issue, messages: 5, delay_ns: 0.0, ..table[0] };
    table.push(single);
    let made = FITTING.logp(&table).unwrap();
    let note = made.notes.iter().find(|note| note.code == "points_left_out").unwrap();
    let [one, all] = [1.0, 54.0].map(bandgap_record::Value::from);
    assert_eq!(["count", "points"].map(|name| &note.values[name]), [&one, &all]);
    assert!(matches!(FITTING.logp(&table[..1]), Err(AssembleError::Model(_))));
}

fn table(rows: Vec<SizeRow>) -> SizeTable {
    SizeTable { tool: "osu_latency", timing: Timing::HalfRoundTrip, rows, remarks: Vec::new() }
}

#[test]
fn sizes_and_times_give_a_line_and_a_series() {
    let time = |bytes: u64, step: f64| {
        let time_ns = 1e3 + bytes as f64 / 8.0;
        SizeRow { line: 1, bytes, time_ns, step_ns: step, of_rate: false }
    };
    let rows: Vec<SizeRow> = (0..16).map(|power| time(1 << power, 0.0)).collect();
    let made = FITTING.hockney(&table(rows.clone()), Breaks::At(Vec::new())).unwrap();
    let [Outcome::Hockney(relative), Outcome::Hockney(ordinary), Outcome::Rows(series)] =
        &made.results[..]
    else {
        panic!("{made:?}")
    };
    assert_eq!((relative.id().as_str(), relative.segments.len()), ("hockney/osu_latency/table", 1));
    assert!((ordinary.segments[0].t0.as_ref().unwrap().value.0 - 1e-6).abs() < 1e-12);
    assert_eq!((series.id().as_str(), series.rows.len()), ("series/osu_latency/table", 16));
    let cell = series.cell(&series.rows[3], "time").unwrap();
    assert_eq!((cell.value.0, cell.interval(), cell.converged), (1.001e-6, None, true));
    assert_eq!(made.codes(), ["read_as"]);
    // Repetitions have an interval, and coarse steps are noted.
    let rows: Vec<SizeRow> = rows.iter().flat_map(|row| [time(row.bytes, 100.0); 3]).collect();
    let made = FITTING.hockney(&table(rows.clone()), Breaks::At(Vec::new())).unwrap();
    let Outcome::Rows(series) = &made.results[2] else { panic!("no series") };
    assert_eq!(series.cell(&series.rows[3], "time").unwrap().samples, 3);
    assert!(
        made.notes.iter().any(|note| note.code == "times_rounded" && note.about == series.id())
    );
    assert_said(&made.notes);
    assert!(FITTING.hockney(&table(rows[..6].to_vec()), Breaks::At(Vec::new())).is_err());
}
