//! What is read of every tool's output, and which line of a damaged file is refused.

use std::io::{self, Read};

use bandgap_import::{Choice, Remark, TableError, Timing, read_size_table};
use proptest::prelude::*;

use crate::{read, refused, table};

const OSU: &str = include_str!("../data/osu_latency.txt");
const OSU_BW: &str = include_str!("../data/osu_bw.txt");
const IMB: &str = include_str!("../data/imb.txt");
const NETPIPE_3: &str = include_str!("../data/netpipe3.txt");
const NETPIPE_5: &str = include_str!("../data/netpipe5.txt");
const UCX: &str = include_str!("../data/ucx_perftest.txt");
const UCX_OLD: &str = include_str!("../data/ucx_perftest_old.txt");
const UCX_CSV: &str = include_str!("../data/ucx_perftest.csv");
const FABRIC: &str = include_str!("../data/fi_pingpong.txt");
const SOCKPERF: &str = include_str!("../data/sockperf.txt");

/// Rows as line, bytes and nanoseconds.
fn rows(text: &str) -> Vec<(u64, u64, f64)> {
    table(text).rows.iter().map(|row| (row.line, row.bytes, row.time_ns)).collect()
}

#[test]
fn every_tool_is_read() {
    use Timing::{HalfRoundTrip, Stream};
    // The samples are written with t = t0 + n/r, in µs and bytes per µs; the last column is what rounding in print
    // leaves. Two decimals of a bandwidth are 5e-3 of it at one byte, and so is the time.
    let cases = [
        (OSU_BW, "osu_bw", Stream, 23, 0.24, 11_400.0, 0.02),
        (NETPIPE_3, "NetPIPE", HalfRoundTrip, 55, 14.6, 1100.0, 0.0051),
        (UCX, "ucx_perftest", HalfRoundTrip, 5, 0.98, 11.9e3, 0.00051),
        (UCX_CSV, "ucx_perftest", HalfRoundTrip, 6, 0.98, 11.9e3, 0.00051),
        (UCX_OLD, "ucx_perftest", HalfRoundTrip, 3, 1.31, 9.9e3, 0.00051),
        (FABRIC, "fi_pingpong", HalfRoundTrip, 10, 2.65, 9.1e3, 0.0051),
        (SOCKPERF, "sockperf", HalfRoundTrip, 4, 11.9, 1180.0, 0.00051),
    ];
    for (text, tool, timing, count, t0, r, rounding) in cases {
        let table = table(text);
        assert_eq!((table.tool, table.timing, table.rows.len()), (tool, timing, count));
        for row in &table.rows {
            let expected = t0 + row.bytes as f64 / r;
            assert!((row.time_ns / 1e3 - expected).abs() <= rounding, "{tool}: {row:?}");
        }
    }
    for (text, first) in [(OSU, (5, 1, 1900.0)), (IMB, (19, 0, 1900.0))] {
        let table = table(text);
        assert_eq!((table.timing, rows(text)[0]), (HalfRoundTrip, first));
    }
}

#[test]
fn headings_of_other_versions_are_read() {
    // What stands over, beside and in the rows; 1.90 µs at 8 bytes.
    let osu = [
        ("# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)", ""),
        ("# OSU MPI-CUDA Latency Test v6.2\n# Size  Latency (us)  Validation", "  Pass"),
        (
            "[node-3:77] Rank 0 bound to package[0][core:0]\n\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n\
             # Size       Avg Latency(us)  P50 Tail Lat(us)  P99 Tail Lat(us)",
            "   3.10   9.95",
        ),
    ];
    for (head, more) in osu {
        let text = format!("{head}\n8   1.90{more}\n\n[node-3:77] done\n");
        let (_, bytes, time) = rows(&text)[0];
        assert_eq!((rows(&text).len(), bytes, time), (1, 8, 1900.0), "{head}");
    }
    // The server's banner of ucx_perftest names size and test.
    let banner = "| Test:         tag match bandwidth |\n| Message size: 64  |\n";
    let ucx = UCX.lines().skip(2).take(8).collect::<Vec<_>>().join("\n");
    let table = table(&format!("{banner}{ucx}"));
    assert_eq!((table.rows[0].bytes, table.timing), (64, Timing::Stream));
}

#[test]
fn sizes_are_the_file_s() {
    let sizes = |text| rows(text).into_iter().map(|row| row.1).collect::<Vec<_>>();
    // 1.5k is 1536 bytes, 96k is 98 304.
    assert_eq!((sizes(FABRIC)[4], sizes(FABRIC)[7]), (1536, 98_304));
    assert_eq!(sizes(SOCKPERF), [14, 64, 1472, 9000]);
    // With three decimals of a kilobyte version 5's sizes are whole, up to a megabyte.
    assert_eq!(sizes(NETPIPE_5)[..52], sizes(NETPIPE_3)[..52]);
    assert_eq!(sizes(NETPIPE_5)[53], 1_049_000);
}

#[test]
fn the_test_is_found() {
    let of = |text: &str| {
        let table = table(text);
        (table.timing, table.rows.len(), table.remarks)
    };
    let left_out = |names: &[&str]| Remark::LeftOut(names.iter().map(|of| (*of).into()).collect());
    let whole = rows(OSU).len();
    assert_eq!(of(OSU), (Timing::HalfRoundTrip, whole, vec![]));
    // Tests with a time of single messages are read from among others, wherever they stand.
    let others = OSU.replace("MPI Latency", "MPI Broadcast Latency");
    let mixed = format!("{others}{OSU_BW}{OSU}");
    let remarks = vec![left_out(&["Broadcast Latency"]), Remark::Others(vec!["Bandwidth".into()])];
    assert_eq!(of(&mixed), (Timing::HalfRoundTrip, whole, remarks));
    assert_eq!(of(IMB).2, [left_out(&["Sendrecv"])]);
    let ping = |name: &str| of(&IMB.replace("PingPong", name));
    assert_eq!(ping("PingPing").0, Timing::Exchange);
    // Where none is named, one is assumed, and that is told.
    let untitled: String =
        OSU.lines().filter(|line| !line.contains("Test")).collect::<Vec<_>>().join("\n");
    assert_eq!(of(&untitled), (Timing::HalfRoundTrip, whole, vec![Remark::Assumed("Latency")]));
    let unsent = FABRIC.replace("#sent", "iters");
    assert!(matches!(&of(&unsent).2[..], [Remark::Assumed("ping-pong"), Remark::Caveat(_)]));
    for text in [UCX, UCX_CSV] {
        assert_eq!(of(&text.replace("tag_lat", "tag_bw")).0, Timing::Stream);
        assert_eq!(of(&text.replace("tag_lat", "tag_x")).2, [Remark::Assumed("_lat")]);
    }
    let full = SOCKPERF.replace("Latency is", "Round trip is");
    assert_eq!(rows(&full)[0].2 * 2.0, rows(SOCKPERF)[0].2);
    assert_eq!(table(&full).tool, "sockperf --full-rtt");
}

#[test]
fn the_last_digit_is_known() {
    let near = |text: &str, expected: f64| {
        let step = table(text).rows[0].step_ns;
        assert!((step / expected - 1.0).abs() < 1e-9, "{step}: {expected}");
    };
    // Two decimals of a microsecond, three.
    near(OSU, 10.0);
    near(UCX, 1.0);
    near("bytes,time_us\n8,1.2e-1\n", 10.0);
    // Half of what is printed has half of its steps.
    near(&SOCKPERF.replace("Latency is", "Round trip is"), 0.5);
    // 1 byte at 4.17 MB/s takes 239.8 ns; 0.01 of 4.17 is 0.24 % of it.
    near(OSU_BW, 1e3 / 4.17 * (0.01 / 4.17));
    // A tenth of 1024 bytes, cut off, of 1 843 bytes that take 2.85 µs.
    let cut = FABRIC.replace("1.5k", "1.8k");
    let row = table(&cut).rows[4];
    assert_eq!(row.bytes, 1843);
    assert!((row.step_ns / (row.time_ns * 102.4 / 1843.0) - 1.0).abs() < 1e-9, "{row:?}");
}

#[test]
fn rounding_goes_as_far_as_the_digits_leave_open() {
    let of = |text: &str, row: usize| {
        let row = table(text).rows[row];
        row.rounding().map(|by| by / row.time_ns)
    };
    let near = |[below, above]: [f64; 2], least: f64, most: f64| {
        assert!((below - least).abs() < 1e-9 && (above - most).abs() < 1e-9, "{below} {above}");
    };
    // 0.2 µs is 0.15 to 0.25 µs; a rate of 0.01 MB/s is 0.005 to 0.015 MB/s, a time of 2/3 to twice.
    near(of("bytes,time_us\n8,0.2\n", 0), 0.25, 0.25);
    let rates = "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n2  0.01\n4  0.02\n";
    near(of(rates, 0), 1.0 / 3.0, 1.0);
    near(of(rates, 1), 1.0 / 5.0, 1.0 / 3.0);
}

#[test]
fn csv_columns_come_in_any_order_and_unit() {
    let text = "\u{feff}# OSU MPI Latency Test, by hand\r\nnote, time_us ,\"bytes\"\r\n\r\nx,1.5,0\r\n\
                # half way\r\ny,2e0,8\r\nz,2.5,8";
    let table = table(text);
    assert_eq!((table.tool, table.timing), ("CSV", Timing::AsGiven));
    // Rows of one size are repetitions.
    assert_eq!(rows(text), [(4, 0, 1500.0), (6, 8, 2000.0), (7, 8, 2500.0)]);
    assert_eq!(
        table.rows.iter().map(|row| row.step_ns).collect::<Vec<_>>(),
        [100.0, 1000.0, 100.0]
    );
    assert_eq!(rows("\"bytes\",\"time_s\"\n1048576,0.25\n"), [(2, 1 << 20, 2.5e8)]);
    assert_eq!(rows("bytes,time_ns\n281474976710656,3\n"), [(2, 1 << 48, 3.0)]);
}

#[test]
fn a_line_of_csv_that_cannot_be_taken_is_named() {
    let headers = [
        ("\nbytes,when\n1,2\n", 2),
        ("words,time_ns\n1,2\n", 1),
        ("size,bytes,length,time_ns,time_us\n1,2,3,4,5\n", 1),
        ("bytes,time\n1,2\n", 1),
        ("bytes,time_ns,bytes\n", 1),
        ("bytes,time_ns,time_us\n1,1000,1\n", 1),
        ("name,transport,bytes,time_ns\na,shm,8,100\na,tcp,8,9000\n", 3),
        ("bytes,variant,time_ns\n8,a,100\n8,b,9000\n", 3),
    ];
    for (text, line) in headers {
        assert_eq!(refused(text), line, "{text:?}");
    }
    let bad = ["8", "8,5us", "8,NaN", "8,-3", "-8,3", "1.5,3", "281474976710657,3"];
    for row in bad {
        // Line 1 is a comment, 2 the header, 3 a good row, 4 blank.
        assert_eq!(refused(&format!("# note\nbytes,time_s\n0,5\n\n{row}\n")), 5, "{row}");
    }
}

/// `text` with the first line that contains `place` replaced, and the number of that line.
fn with(text: &str, place: &str, line: &str) -> (u64, String) {
    let number = text.lines().position(|line| line.contains(place)).expect("a line");
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, old)| if at == number { line } else { old }.to_owned() + "\n");
    (number as u64 + 1, lines.collect())
}

#[test]
fn a_line_of_a_tool_that_cannot_be_taken_is_named() {
    let cases = [
        (OSU, "16 ", "16"),
        (OSU, "16 ", "16   0.00"),
        (OSU, "16 ", "16   2.1  Fail"),
        (OSU, "16 ", "-16   2.1"),
        (OSU, "16 ", "16   x.62"),
        (OSU, "16 ", "16   N/A"),
        (OSU, "16 ", "l6   2.1"),
        (OSU, "4194304 ", "4194304   x.62"),
        (OSU, "16 ", "8   2.1"),
        (OSU, "MPI Latency", "# OSU MPI Broadcast Latency Test v7.4"),
        (OSU_BW, "16 ", "16   1e308"),
        (IMB, " 16 ", "   16   1000"),
        (IMB, " 16 ", "   16   1000   x.62   9.5"),
        (IMB, "#bytes", "#bytes #repetitions t_min[usec] Mbytes/sec"),
        (NETPIPE_3, " 16 bytes", "  8:   16 bytes  100 times -->  1.0 Mbps in 12 fortnights"),
        (UCX, "Final:", "Final:    300000  0.9 0.9"),
        (UCX_CSV, "tag_lat,8,300000", "tag_lat,8,300000,1.0"),
        (FABRIC, "1.5k", "1.5k    1k      =1k"),
        (SOCKPERF, "Summary", "sockperf: Summary: Latency is"),
        (SOCKPERF, "Summary", "sockperf: Summary: Bursts of 9 messages"),
    ];
    for (text, place, row) in cases {
        let (line, text) = with(text, place, row);
        assert_eq!(refused(&text), line, "{row}");
    }
    // Only a Final ends a run, and only a command line or a name has its size.
    let (cut, last) = (UCX.rfind("Final:").unwrap(), UCX.lines().count() as u64);
    assert_eq!(refused(&UCX[..cut]), last - 1);
    let sized = UCX.replace("-s ", "-S ");
    assert_eq!(refused(&sized), with(&sized, "Final:", "").0);
    let bare: Vec<&str> = SOCKPERF.lines().filter(|line| !line.starts_with('$')).collect();
    assert_eq!(refused(&bare.join("\n")), 14);
    let sized = format!("msg-size=100\n{}", bare[..16].join("\n"));
    assert_eq!(rows(&sized), [(15, 100, 11_912.0)]);
    // Without an option it is the tool's own least size.
    let table = table(&SOCKPERF.replacen(" --msg-size=14", "", 1));
    assert_eq!((table.rows[0].bytes, table.remarks), (14, vec![Remark::DefaultSize(14)]));
}

#[test]
fn two_runs_or_two_tools_in_one_file_are_refused() {
    let lines = OSU.lines().count() as u64;
    assert_eq!(refused(&format!("{OSU}{OSU}")), lines + 2);
    let heading = IMB.lines().position(|line| line.contains("Benchmarking")).unwrap() as u64 + 1;
    assert_eq!(refused(&format!("{OSU}{IMB}")), lines + heading);
}

#[test]
fn what_is_no_table_is_told_apart() {
    assert!(matches!(read(""), Err(TableError::Empty(_))));
    assert!(matches!(read("\n \n"), Err(TableError::Empty(_))));
    for text in ["PING 10.0.0.7 56(84) bytes of data.\n64 bytes from 10.0.0.7\n", "1 2 3\n4 5 6\n"]
    {
        assert!(matches!(read(text), Err(TableError::Line(..))), "{text}");
    }
    for text in ["bytes,time_ns\n", "# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n"] {
        assert!(matches!(read(text), Err(TableError::NoRows)), "{text}");
    }
}

#[test]
fn a_source_without_end_or_text_is_refused() {
    let refused = |source: &mut dyn Read| match read_size_table(source, &Choice::default()) {
        Err(TableError::Line(line, _)) => line,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&mut &b"bytes,time_ns\n\xff\xfe,3\n"[..]), 2);
    assert_eq!(refused(&mut "x".repeat(70_000).as_bytes()), 1);
    assert_eq!(refused(&mut io::repeat(b'\n')), 4_000_001);
    assert_eq!(refused(&mut b"bytes,time_ns\n".chain(io::repeat(b'7'))), 2);

    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let table = "bytes,time_ns\n".as_bytes().chain(Failing);
    assert!(matches!(read_size_table(table, &Choice::default()), Err(TableError::Io(1, _))));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = read_size_table(&bytes[..], &Choice::default());
    }

    #[test]
    fn what_is_written_is_read(
        rows in prop::collection::vec((0u64..1 << 48, 1e-3..1e12f64), 1..20)
    ) {
        let lines = rows.iter().map(|(bytes, time)| format!("{bytes},{time}\n"));
        let table = table(&("bytes,time_ns\n".to_owned() + &lines.collect::<String>()));
        let found = table.rows.iter().map(|row| (row.bytes, row.time_ns));
        prop_assert!(found.eq(rows.iter().copied()));
    }
}
