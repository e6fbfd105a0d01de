//! Tables that other programs wrote: of sizes and times, and of LogP measurements.

use std::fmt::Write;

use bandgap_import::{LogpRow, Phase, SizeTable, read_logp_table, read_size_table};

use crate::{Shape, Target, Verdict};

pub(super) const HOCKNEY: Target = Target {
    name: "hockney-table",
    about: "sizes and times: CSV, and what seven tools print",
    shape: Shape::Lines,
    real: &["crates/import/tests/data", "docs/examples/times.csv"],
    made: Vec::new,
    wrong: Vec::new,
    words: &[
        "bytes",
        "time_ns",
        "time_us",
        "time_ms",
        "time_s",
        "operation_messages",
        "variant",
        "way",
        "Size",
        "Latency (us)",
        "Bandwidth (MB/s)",
        "#bytes",
        "t[usec]",
        "# Benchmarking PingPong",
        "Mbps in",
        "usec/xfer",
        "Final:",
        "avg-lat=",
        "-s",
        "--msg-size",
        "ucx_perftest",
        "1k",
        "2G",
        "64k",
    ],
    read: hockney,
    share: 5,
};

pub(super) const LOGP: Target = Target {
    name: "logp-table",
    about: "samples for fit logp",
    shape: Shape::Lines,
    real: &["docs/examples/paragon.csv"],
    made: || {
        vec![b"kind,messages,delay_ns,elapsed_ns,batch,round,launch\nissue,4,0,12.5,0,1,2\nrtt,1,0,99,1,1,2\n".to_vec()]
    },
    wrong: Vec::new,
    words: &[
        "kind",
        "messages",
        "delay_ns",
        "elapsed_ns",
        "batch",
        "round",
        "launch",
        "issue",
        "rtt",
    ],
    read: logp,
    share: 4,
};

fn hockney(input: &[u8]) -> Verdict {
    let read = read_size_table(input);
    if let Ok(table) = &read {
        sound(table);
        let again = read_size_table(written(table).as_bytes());
        let again = again.expect("what was read and written can be read");
        let rows = |table: &SizeTable| -> Vec<(u64, u64)> {
            table.rows.iter().map(|row| (row.bytes, row.time_ns.to_bits())).collect()
        };
        assert_eq!((again.messages, rows(&again)), (table.messages, rows(table)));
    }
    Verdict::from(&read)
}

fn sound(table: &SizeTable) {
    assert!(!table.rows.is_empty() && table.messages > 0);
    for row in &table.rows {
        assert!(row.bytes <= 1 << 48 && row.line > 0, "{row:?}");
        assert!(row.time_ns.is_finite() && row.time_ns > 0.0, "{row:?}");
        assert!(row.step_ns >= 0.0, "{row:?}");
    }
}

/// The table as CSV, which takes any times.
fn written(table: &SizeTable) -> String {
    let mut text = "bytes,time_ns,operation_messages\n".to_owned();
    for row in &table.rows {
        let _ = writeln!(text, "{},{:?},{}", row.bytes, row.time_ns, table.messages);
    }
    text
}

/// A column that need not be there.
type Field = fn(&LogpRow) -> Option<u64>;

fn logp(input: &[u8]) -> Verdict {
    let read = read_logp_table(input);
    if let Ok(rows) = &read {
        // A column is there in all rows or in none.
        let has = |of: Field| rows.iter().all(|row| of(row).is_some());
        let optional: [(&str, Field); 3] =
            [("batch", |row| row.batch), ("round", |row| row.round), ("launch", |row| row.launch)];
        let mut text = "kind,messages,delay_ns,elapsed_ns".to_owned();
        for (name, _) in optional.iter().filter(|(_, of)| has(*of)) {
            let _ = write!(text, ",{name}");
        }
        for row in rows {
            let kind = if row.phase == Phase::RoundTrip { "rtt" } else { "issue" };
            let _ =
                write!(text, "\n{kind},{},{:?},{:?}", row.messages, row.delay_ns, row.elapsed_ns);
            for (_, of) in optional.iter().filter(|(_, of)| has(*of)) {
                let _ = write!(text, ",{}", of(row).unwrap_or_default());
            }
        }
        let again =
            read_logp_table(text.as_bytes()).expect("what was read and written can be read");
        let plain = |rows: &[LogpRow]| -> Vec<LogpRow> {
            rows.iter().map(|row| LogpRow { line: 0, ..*row }).collect()
        };
        assert_eq!(plain(&again), plain(rows));
    }
    Verdict::from(&read)
}
