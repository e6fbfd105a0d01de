use std::io;

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Vec<Row>, TableError> {
    read_logp_table(text.as_bytes())
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

const HEADER: &str = "kind,messages,delay_ns,elapsed_ns\n";

#[test]
fn columns_come_in_any_order_with_others_between() {
    let text = "\u{feff}# taken by hand\r\nelapsed_ns, note ,kind,delay_ns,messages\r\n\r\n\
                125.5,\"a, b\",issue,0,64\r\n# half way\r\n 1e2 ,x, rtt ,2.5,1";
    let row = |kind, messages, delay_ns, elapsed_ns| Row {
        kind,
        messages,
        delay_ns,
        elapsed_ns,
        batch: None,
        round: None,
        launch: None,
    };
    let expected = [row(Kind::Issue, 64, 0.0, 125.5), row(Kind::Rtt, 1, 2.5, 100.0)];
    assert_eq!(read(text).unwrap(), expected);
}

#[test]
fn a_launch_is_read_where_there_is_a_column_for_it() {
    let read = |text: &str| read(text).unwrap()[0].launch;
    assert_eq!(read(&(HEADER.to_owned() + "issue,1,0,5\n")), None);
    assert_eq!(read("kind,messages,delay_ns,elapsed_ns,launch\nissue,1,0,5,2\n"), Some(2));
    let wrong = message("kind,messages,delay_ns,elapsed_ns,launch\nissue,1,0,5,x\n");
    assert!(wrong.contains("launch is 'x': it must be a whole number"), "{wrong}");
}

#[test]
fn every_defect_is_named_with_its_line() {
    let cases = [
        (
            "",
            "it is empty (the first line must name the columns kind,messages,delay_ns,elapsed_ns)",
        ),
        (
            "# only this\n\n",
            "it is empty (the first line must name the columns kind,messages,delay_ns,elapsed_ns)",
        ),
        (HEADER, "it has a header but no rows"),
        (
            "\nkind,messages,elapsed_ns\n",
            "line 2: column delay_ns is missing (found: kind, messages, elapsed_ns)",
        ),
        ("kind,messages,delay_ns,elapsed_ns,kind\n", "line 1: column kind appears twice"),
    ];
    for (text, why) in cases {
        assert_eq!(message(text), format!("read the table: {why}"), "{text:?}");
    }
    let rows = [
        ("issue,1,0", "3 fields where the header has 4"),
        ("issue,1,0,5,6", "5 fields where the header has 4"),
        ("send,1,0,5", "kind is 'send': it must be issue or rtt"),
        ("issue,0,0,5", "messages is '0': there must be at least one"),
        ("issue,1.5,0,5", "messages is '1.5': it must be a whole number"),
        ("issue,-1,0,5", "messages is '-1': it must be a whole number"),
        ("issue,1,x,5", "delay_ns is 'x': it must be a number of nanoseconds"),
        ("issue,1,-0.5,5", "delay_ns is '-0.5': it must not be negative"),
        ("issue,1,0,NaN", "elapsed_ns is 'NaN': it must be finite"),
        ("issue,1,0,inf", "elapsed_ns is 'inf': it must be finite"),
        ("issue,1,0,1e999", "elapsed_ns is '1e999': it must be finite"),
        ("issue,1,0,1.1e18", "elapsed_ns is '1.1e18': it is more than 30 years"),
        ("issue,1,9e101,5", "delay_ns is '9e101': it is more than 30 years"),
        ("issue,1,0,", "elapsed_ns is '': it must be a number of nanoseconds"),
        ("issue,1,0,\u{1b}[2J", "elapsed_ns is '\\u{1b}[2J': it must be a number of nanoseconds"),
    ];
    for (row, why) in rows {
        // Line 1 is the header, 2 a comment, 3 a good row, 4 blank.
        let text = format!("{HEADER}# note\nissue,1,0,5\n\n{row}\n");
        assert_eq!(message(&text), format!("read the table: line 5: {why}"));
    }
}

#[test]
fn batches_and_rounds_are_numbers_where_there_are_columns_of_them() {
    let numbers = |header: &str, first: &str, second: &str| {
        let header = format!("{header},kind,messages,delay_ns,elapsed_ns\n");
        let rows = read(&format!("{header}{first},rtt,1,0,5\n{second},rtt,1,0,6\n")).unwrap();
        rows.iter().map(|row| (row.batch, row.round)).collect::<Vec<_>>()
    };
    assert_eq!(numbers("batch", "3", "0"), [(Some(3), None), (Some(0), None)]);
    assert_eq!(numbers("round", "3", "0"), [(None, Some(3)), (None, Some(0))]);
    assert_eq!(numbers("round,batch", "3,1", "0,2"), [(Some(1), Some(3)), (Some(2), Some(0))]);
    for column in ["batch", "round"] {
        for wrong in ["", "-1", "1.5", "first"] {
            let table = format!("{column},kind,messages,delay_ns,elapsed_ns\n{wrong},rtt,1,0,5\n");
            let why =
                format!("read the table: line 2: {column} is '{wrong}': it must be a whole number");
            assert_eq!(message(&table), why);
        }
    }
}

#[test]
fn bytes_that_are_no_table_are_refused() {
    let error = read_logp_table(&b"kind,messages,delay_ns,elapsed_ns\n\xff\xfe\n"[..]).unwrap_err();
    assert_eq!(error.to_string(), "read the table: line 2: it is not text in UTF-8");
    assert_eq!(message(&"x".repeat(70_000)), "read the table: line 1: it is longer than 64 KiB");
}

#[test]
fn a_source_without_end_is_refused() {
    let comment = format!("#{}\n", "x".repeat(60_000));
    let table = HEADER.as_bytes().chain(Endless(comment.as_bytes()));
    let said = read_logp_table(table).unwrap_err().to_string();
    assert!(said.ends_with("the table is longer than 256 MiB"), "{said}");
}

/// A line for ever.
struct Endless<'a>(&'a [u8]);

impl Read for Endless<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let whole = into.len() / self.0.len() * self.0.len();
        into[..whole].chunks_exact_mut(self.0.len()).for_each(|room| room.copy_from_slice(self.0));
        Ok(whole)
    }
}

#[test]
fn a_failing_source_is_an_error() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let table = HEADER.as_bytes().chain(Failing);
    assert_eq!(read_logp_table(table).unwrap_err().to_string(), "read the table: after line 1");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = read_logp_table(&bytes[..]);
    }

    #[test]
    fn no_rows_under_a_header_panic(rows in "[issuertt0-9.,\"#eE+\\-\n\r \u{feff}]{0,80}") {
        let _ = read(&format!("{HEADER}{rows}"));
    }

    #[test]
    fn what_is_written_is_read(
        rows in prop::collection::vec((any::<bool>(), 1u64.., 0.0..1e12f64, 0.0..1e12f64), 1..20)
    ) {
        let name = |issue| if issue { "issue" } else { "rtt" };
        let lines = rows.iter().map(|(issue, m, d, e)| format!("{},{m},{d},{e}\n", name(*issue)));
        let read = read(&(HEADER.to_owned() + &lines.collect::<String>())).unwrap();
        let expected = rows.iter().map(|&(issue, messages, delay_ns, elapsed_ns)| Row {
            kind: if issue { Kind::Issue } else { Kind::Rtt },
            messages,
            delay_ns,
            elapsed_ns,
            batch: None,
            round: None,
            launch: None,
        });
        prop_assert!(read.into_iter().eq(expected));
    }
}
