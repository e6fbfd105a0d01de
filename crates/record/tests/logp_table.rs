//! Which tables of LogP measurements are read, and which line of a damaged one is refused.

use std::io::{self, Read};

use bandgap_model::{Phase, Row};
use bandgap_record::{TableError, read_logp_table};
use proptest::prelude::*;

fn logp(text: &str) -> Result<Vec<Row>, TableError> {
    read_logp_table(text.as_bytes())
}

const HEADER: &str = "kind,messages,delay_ns,elapsed_ns\n";

#[test]
fn logp_columns_come_in_any_order() {
    let text = "\u{feff}# taken by hand\r\nelapsed_ns, note ,kind,delay_ns,messages,round,batch,launch\r\n\r\n\
                125.5,\"a, b\",issue,0,64,3,0,2\r\n# half way\r\n 1e2 ,x, rtt ,2.5,1,4,1,2";
    let row = |kind, messages, delay_ns, elapsed_ns, [batch, round, launch]: [Option<u64>; 3]| {
        Row { kind, messages, delay_ns, elapsed_ns, batch, round, launch }
    };
    let expected = [
        row(Phase::Issue, 64, 0.0, 125.5, [Some(0), Some(3), Some(2)]),
        row(Phase::Rtt, 1, 2.5, 100.0, [Some(1), Some(4), Some(2)]),
    ];
    assert_eq!(logp(text).unwrap(), expected);
    let plain = row(Phase::Issue, 1, 0.0, 5.0, [None; 3]);
    assert_eq!(logp(&format!("{HEADER}issue,1,0,5\n")).unwrap(), [plain]);
}

#[test]
fn a_line_of_logp_that_cannot_be_taken_is_named() {
    let refused = |text: &str| match logp(text) {
        Err(TableError::Line(line, _)) => line,
        other => panic!("{text:?}: {other:?}"),
    };
    assert_eq!(refused("\nkind,messages,elapsed_ns\n"), 2);
    assert_eq!(refused("kind,messages,delay_ns,elapsed_ns,kind\n"), 1);
    assert!(matches!(logp("# only this\n\n"), Err(TableError::Empty(_))));
    assert!(matches!(logp(HEADER), Err(TableError::NoRows)));
    let bad = [
        "issue,1,0",
        "issue,1,0,5,6",
        "send,1,0,5",
        "issue,0,0,5",
        "issue,1.5,0,5",
        "issue,-1,0,5",
        "issue,1,x,5",
        "issue,1,-0.5,5",
        "issue,1,0,NaN",
        "issue,1,0,inf",
        "issue,1,0,1e999",
        "issue,1,0,1.1e18",
        "issue,1,9e101,5",
        "issue,1,0,",
    ];
    for row in bad {
        // Line 1 is the header, 2 a comment, 3 a good row, 4 blank.
        assert_eq!(refused(&format!("{HEADER}# note\nissue,1,0,5\n\n{row}\n")), 5, "{row}");
    }
    for wrong in ["", "-1", "1.5", "first"] {
        for column in ["batch", "round", "launch"] {
            assert_eq!(refused(&format!("{column},{HEADER}{wrong},rtt,1,0,5\n")), 2, "{wrong}");
        }
    }
    // A source without end: 256 MiB are the most.
    let comment = format!("#{}\n", "x".repeat(60_000));
    assert!(refused_endless(comment.as_bytes()) > 4000);
}

fn refused_endless(line: &[u8]) -> u64 {
    struct Endless<'a>(&'a [u8]);
    impl Read for Endless<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let whole = into.len() / self.0.len() * self.0.len();
            into[..whole]
                .chunks_exact_mut(self.0.len())
                .for_each(|room| room.copy_from_slice(self.0));
            Ok(whole)
        }
    }
    match read_logp_table(HEADER.as_bytes().chain(Endless(line))) {
        Err(TableError::Line(line, _)) => line,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = read_logp_table(&bytes[..]);
    }

    #[test]
    fn no_rows_under_a_header_panic(rows in "[issuertt0-9.,\"#eE+\\-\n\r \u{feff}]{0,80}") {
        let _ = logp(&format!("{HEADER}{rows}"));
    }

    #[test]
    fn what_is_written_is_read(
        rows in prop::collection::vec((0u64..1 << 48, 1e-3..1e12f64), 1..20)
    ) {
        let lines = rows.iter().map(|(m, time)| format!("issue,{},{time},{time}\n", m + 1));
        let found = logp(&(HEADER.to_owned() + &lines.collect::<String>())).unwrap();
        let found = found.iter().map(|row| (row.messages, row.delay_ns, row.elapsed_ns));
        prop_assert!(found.eq(rows.iter().map(|(m, time)| (m + 1, *time, *time))));
    }
}
