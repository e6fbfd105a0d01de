use std::io;

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<HockneyTable, TableError> {
    read_hockney_table(text.as_bytes())
}

fn message(text: &str) -> String {
    let message = read(text).unwrap_err().to_string();
    message.strip_prefix("read the table: ").unwrap().to_owned()
}

const OSU: &str = include_str!("../../tests/data/osu_latency.txt");
const OSU_BW: &str = include_str!("../../tests/data/osu_bw.txt");
const IMB: &str = include_str!("../../tests/data/imb.txt");
const NETPIPE_3: &str = include_str!("../../tests/data/netpipe3.txt");
const NETPIPE_5: &str = include_str!("../../tests/data/netpipe5.txt");
const NP_OUT_3: &str = include_str!("../../tests/data/np_out3.txt");
const NP_OUT_5: &str = include_str!("../../tests/data/np_out5.txt");
const UCX: &str = include_str!("../../tests/data/ucx_perftest.txt");
const UCX_OLD: &str = include_str!("../../tests/data/ucx_perftest_old.txt");
const UCX_CSV: &str = include_str!("../../tests/data/ucx_perftest.csv");
const FABRIC: &str = include_str!("../../tests/data/fi_pingpong.txt");
const SOCKPERF: &str = include_str!("../../tests/data/sockperf.txt");

const SAMPLES: [&str; 12] = [
    OSU, OSU_BW, IMB, NETPIPE_3, NETPIPE_5, NP_OUT_3, NP_OUT_5, UCX, UCX_OLD, UCX_CSV, FABRIC,
    SOCKPERF,
];

/// The samples are written with t = t0 + n/r; these are their constants in µs and bytes per µs, and
/// the greatest error that rounding in print leaves.
fn follows(text: &str, tool: &str, count: usize, t0: f64, r: f64, rounding: f64) {
    let table = read(text).unwrap();
    assert_eq!((table.tool, table.rows.len()), (tool, count));
    for row in &table.rows {
        let expected = t0 + row.bytes as f64 / r;
        let found = row.time.0 / 1e3;
        assert!((found - expected).abs() <= rounding, "{row:?}: {expected} µs");
    }
}

#[test]
fn every_tool_is_read() {
    follows(NETPIPE_3, "NetPIPE", 55, 14.6, 1100.0, 0.0051);
    follows(NP_OUT_3, "NetPIPE", 55, 14.6, 1100.0, 0.0051);
    follows(NP_OUT_5, "NetPIPE", 55, 14.6, 1100.0, 0.0051);
    follows(UCX, "ucx_perftest", 5, 0.98, 11.9e3, 0.00051);
    follows(UCX_CSV, "ucx_perftest", 6, 0.98, 11.9e3, 0.00051);
    follows(UCX_OLD, "ucx_perftest", 3, 1.31, 9.9e3, 0.00051);
    follows(FABRIC, "fi_pingpong", 10, 2.65, 9.1e3, 0.0051);
    follows(SOCKPERF, "sockperf", 4, 11.9, 1180.0, 0.00051);
    // Two decimals of a bandwidth are 5e-3 of it at one byte, and so is the time.
    follows(OSU_BW, "osu_bw", 23, 0.24, 11_400.0, 0.02);
}

#[test]
fn sizes_and_lines_are_the_file_s() {
    let row = |text: &str, index: usize| {
        let table = read(text).unwrap();
        let row = table.rows[index];
        (row.line, row.bytes, row.time.0)
    };
    // The fifth line is the first row; 1.90 µs.
    assert_eq!(row(OSU, 0), (5, 1, 1900.0));
    // 0 bytes are a row like any other.
    assert_eq!(row(IMB, 0), (19, 0, 1900.0));
    // 1.5k is 1536 bytes, 96k is 98 304.
    assert_eq!(row(FABRIC, 4).1, 1536);
    assert_eq!(row(FABRIC, 7).1, 98_304);
    // With three decimals of a kilobyte version 5's sizes are whole, up to a megabyte.
    let bytes = |text| read(text).unwrap().rows.iter().map(|row| row.bytes).collect::<Vec<_>>();
    assert_eq!(bytes(NETPIPE_5)[..52], bytes(NETPIPE_3)[..52]);
    assert_eq!(bytes(NP_OUT_5), bytes(NP_OUT_3));
    assert_eq!(bytes(NETPIPE_5)[53], 1_049_000);
    assert!(read(NETPIPE_5).unwrap().notes[0].contains("rounded to kilobytes"));
    assert_eq!(bytes(SOCKPERF), [14, 64, 1472, 9000]);
}

#[test]
fn the_meaning_of_the_times_is_told() {
    let timing = |text: &str| read(text).unwrap().timing;
    assert_eq!(timing(OSU), Timing::HalfRoundTrip);
    assert_eq!(timing(OSU_BW), Timing::Stream);
    assert!(read(OSU_BW).unwrap().notes[0].contains("size divided by it"));
    assert_eq!(timing("bytes,time_us\n1,2\n"), Timing::AsGiven);
    let ping = |name: &str| IMB.replace("PingPong", name);
    assert_eq!(timing(&ping("PingPing")), Timing::Exchange);
    let notes = [
        "IMB's PingPong prints half of a round trip.",
        "The file holds Sendrecv too; it is left out.",
    ];
    assert_eq!(read(IMB).unwrap().notes, notes);
    for text in [OSU, NETPIPE_3, NP_OUT_5, UCX, UCX_CSV, UCX_OLD, FABRIC, SOCKPERF] {
        let notes = read(text).unwrap().notes.join(" ");
        assert!(notes.contains("half of"), "{notes}");
    }
    assert_eq!(timing(&UCX.replace("tag_lat", "tag_bw")), Timing::Stream);
    assert_eq!(timing(&UCX_CSV.replace("tag_lat", "tag_bw")), Timing::Stream);
    let full = SOCKPERF.replace("Latency is", "Round trip is");
    assert_eq!(read(&full).unwrap().rows[0].time.0 * 2.0, read(SOCKPERF).unwrap().rows[0].time.0);
    assert!(read(&full).unwrap().notes[0].contains("they are halved"));
}

#[test]
fn the_last_digit_is_known() {
    let step = |text: &str| read(text).unwrap().rows[0].step.0;
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found}");
    // Two decimals of a microsecond, three, eight of a second.
    near(step(OSU), 10.0);
    near(step(UCX), 1.0);
    near(step(NP_OUT_3), 10.0);
    near(step("bytes,time_us\n8,1.2e-1\n"), 10.0);
    // Half of what is printed has half of its steps.
    near(step(&SOCKPERF.replace("Latency is", "Round trip is")), 0.5);
    // 1 byte at 4.17 MB/s takes 239.8 ns; 0.01 of 4.17 is 0.24 % of it.
    near(step(OSU_BW), 1e3 / 4.17 * (0.01 / 4.17));
}

#[test]
fn csv_columns_come_in_any_order_and_unit() {
    let text = "\u{feff}# OSU MPI Latency Test, by hand\r\nnote, time_us ,bytes\r\n\r\nx,1.5,0\r\n\
                # half way\r\ny,2e0,8\r\nz,2.5,8";
    let row = |line, bytes, time, step| HockneyRow { line, bytes, time: Ns(time), step: Ns(step) };
    let table = read(text).unwrap();
    assert_eq!(table.tool, "CSV");
    // Rows of one size are repetitions.
    let expected = [row(4, 0, 1500.0, 100.0), row(6, 8, 2000.0, 1000.0), row(7, 8, 2500.0, 100.0)];
    assert_eq!(table.rows, expected);
    let seconds = read("bytes,time_s\n1048576,0.25\n").unwrap();
    assert_eq!(seconds.rows, [row(2, 1 << 20, 2.5e8, 1e7)]);
}

#[test]
fn defects_of_csv_name_line_and_reason() {
    let cases = [
        ("bytes,time_ns\n", "it has a header but no rows"),
        ("\nbytes,when\n1,2\n", "line 2: column time_ns is missing (found: bytes, when)"),
        ("size,time_ns\n1,2\n", "line 1: column bytes is missing (found: size, time_ns)"),
        (
            "bytes,time\n1,2\n",
            "line 1: column time has no unit: call it time_ns, time_us, time_ms or time_s",
        ),
        ("bytes,time_ns,bytes\n", "line 1: column bytes appears twice"),
        (
            "bytes,time_ns,time_us\n1,1000,1\n",
            "line 1: column time_us after column time_ns (line 1): give the times in one unit",
        ),
    ];
    for (text, why) in cases {
        assert_eq!(message(text), why, "{text:?}");
    }
    assert_eq!(
        message("name,transport,bytes,time_ns\na,shm,8,100\na,tcp,8,9000\n"),
        "line 3: transport 'tcp' after 'shm' (line 2): give one series at a time"
    );
    let rows = [
        ("8", "1 fields where the header has 2"),
        ("8,5us", "time_ns is '5us': it must be a number"),
        ("8,", "time_ns is '': it must be a number"),
        ("8,NaN", "time_ns is 'NaN': it must be finite"),
        ("8,inf", "time_ns is 'inf': it must be finite"),
        ("8,-3", "time_ns is '-3': it must not be negative"),
        ("8,0.0", "time_ns is '0.0': it must be more than 0"),
        ("-8,3", "bytes is '-8': it must not be negative"),
        ("1.5,3", "bytes is '1.5': it must be a whole number of bytes"),
        ("NaN,3", "bytes is 'NaN': it must be finite"),
        ("281474976710657,3", "bytes is '281474976710657': it is too large (at most 2^48 bytes)"),
        ("1e30,3", "bytes is '1e30': it is too large (at most 2^48 bytes)"),
    ];
    for (row, why) in rows {
        // Line 1 is a comment, 2 the header, 3 a good row, 4 blank.
        let text = format!("# note\nbytes,time_ns\n0,5\n\n{row}\n");
        assert_eq!(message(&text), format!("line 5: {why}"));
    }
    // 2^48 itself is the greatest.
    assert!(read("bytes,time_ns\n281474976710656,3\n").is_ok());
}

#[test]
fn what_is_not_recognised_is_explained() {
    assert!(message("").starts_with("it is empty (CSV with the columns bytes,time_ns; "));
    assert!(message("\n \n").starts_with("it is empty"));
    let text = "PING 10.0.0.7 56(84) bytes of data.\n64 bytes from 10.0.0.7: icmp_seq=1\n";
    assert_eq!(
        message(text),
        "its format is not recognised; it begins with 'PING 10.0.0.7 56(84) bytes of data.', '64 \
         bytes from 10.0.0.7: icmp_seq=1' (known: CSV with the columns bytes,time_ns; the output of \
         osu_latency, osu_bw, IMB PingPong, NetPIPE, ucx_perftest, fi_pingpong, sockperf)"
    );
    // Columns of numbers alone are np.out only if rate times time is the size.
    assert!(message("1 2 3\n4 5 6\n").starts_with("its format is not recognised"));
}

/// `text` with the first line that contains `place` replaced.
fn with(text: &str, place: &str, line: &str) -> (usize, String) {
    let number = text.lines().position(|line| line.contains(place)).unwrap();
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, old)| if at == number { line } else { old }.to_owned() + "\n");
    (number + 1, lines.collect())
}

#[test]
fn defects_of_tools_name_line_and_reason() {
    let cases = [
        (OSU, "16 ", "16", "it is cut: a size without its result"),
        (OSU, "16 ", "16   nan", "latency is 'nan': it must be finite"),
        (OSU, "16 ", "16   0.00", "latency is '0.00': it must be more than 0"),
        (
            OSU_BW,
            "16 ",
            "16   1e308",
            "bandwidth is '1e308': the time that it gives is too long or too short for a number",
        ),
        (OSU, "16 ", "16   2.1  Fail", "the tool found wrong data: its time is not used"),
        (OSU, "16 ", "-16   2.1", "size is '-16': it must not be negative"),
        (OSU_BW, "16 ", "16   -4", "bandwidth is '-4': it must not be negative"),
        (OSU_BW, "16 ", "0   4", "0 bytes have a bandwidth but no time"),
        (IMB, " 16 ", "   16   1000", "it is cut: 2 of 4 columns"),
        (IMB, " 16 ", "   16   1000 -1.5 3", "t is '-1.5': it must not be negative"),
        (
            NETPIPE_3,
            " 16 bytes",
            "  8:   16 bytes  100 times -->",
            "it is cut: no 'in … usec' at its end",
        ),
        (
            NETPIPE_3,
            " 16 bytes",
            "  8:   16 bytes  100 times -->  1.0 Mbps in 12 fortnights",
            "the time's unit 'fortnights' is not known",
        ),
        (
            NETPIPE_3,
            " 16 bytes",
            "  8:   16 words  100 times -->  1.0 Mbps in 12 usec",
            "the size's unit 'words' is not known",
        ),
        (NP_OUT_3, " 1024 ", "1024 530.1", "2 columns, where np.out has 3 or 5: it is cut"),
        (
            NP_OUT_3,
            " 1024 ",
            "1024 530.1 0.1",
            "its rate times its time is not its size, as in other rows",
        ),
        (UCX_CSV, "tag_lat,8,300000", "tag_lat,8,300000,1.0", "4 fields where the header has 10"),
        (UCX, "Final:", "Final:    300000  0.9 0.9", "it is cut: 3 of 8 results"),
        (FABRIC, "1.5k", "1.5k    1k      =1k", "it is cut: 3 of 8 columns"),
        (
            SOCKPERF,
            "Summary",
            "sockperf: Summary: Latency is",
            "it is cut: the average in usec is missing",
        ),
    ];
    for (text, place, row, why) in cases {
        let (line, text) = with(text, place, row);
        assert_eq!(message(&text), format!("line {line}: {why}"));
    }
}

#[test]
fn a_run_that_was_cut_is_not_taken_for_a_whole_one() {
    let end = UCX.rfind("Final:").unwrap();
    let why = message(&UCX[..end]);
    assert!(why.contains("the run is cut: its results so far"), "{why}");
    assert_eq!(
        message("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n"),
        "it has a header but no rows"
    );
}

#[test]
fn two_runs_or_two_tools_in_one_file_are_refused() {
    let why = message(&format!("{OSU}{OSU}"));
    assert!(why.starts_with("line 32: 1 bytes again, as in line 5"), "{why}");
    let why = message(&format!("{OSU}{IMB}"));
    assert_eq!(
        why,
        "line 45: the output of IMB after that of OSU micro-benchmarks (line 2): give one tool's \
         output at a time"
    );
    let why = message(&format!("{OSU}{OSU_BW}"));
    assert_eq!(
        why,
        "line 29: times between messages of a stream after half round trips (line 4): give one kind \
         of test at a time"
    );
    let other = OSU.replace("(us)", "(ms)");
    let why = message(&format!("{OSU}{other}"));
    assert_eq!(
        why,
        "line 31: another unit of time after the first (line 4): give the times in one unit"
    );
}

#[test]
fn tests_without_a_time_of_one_message_are_refused() {
    let why = message(&OSU.replace("Latency Test", "Broadcast Latency Test"));
    assert!(why.starts_with("line 2: the OSU test 'Broadcast Latency' has no time"), "{why}");
    let why = message(&OSU.replace("MPI Latency", "MPI_Put Latency"));
    assert!(why.starts_with("line 2: the OSU test 'MPI_Put Latency' has no time"), "{why}");
    let why = message(&IMB.replace("PingPong", "Bcast"));
    assert!(why.starts_with("line 18: the IMB benchmark 'Bcast' has no time"), "{why}");
    let why = message(&SOCKPERF.replace("Latency is", "Message Rate is"));
    assert!(why.contains("it is not an average latency of single messages"), "{why}");
}

#[test]
fn a_size_that_is_nowhere_is_not_guessed() {
    let why = message(&UCX.replace("-s ", "-S "));
    assert!(
        why.contains("a result without its message size (put the command line with -s"),
        "{why}"
    );
    let commands = |line: &&str| !line.starts_with('$');
    let bare: String = SOCKPERF.lines().filter(commands).map(|line| format!("{line}\n")).collect();
    assert!(message(&bare).contains("a latency without its message size, which sockperf"));
    // The same with a line that says it.
    let bare: String = bare.split_inclusive("<MIN>").take(1).collect();
    assert_eq!(read(&format!("msg-size=100\n{bare}")).unwrap().rows[0].bytes, 100);
    // sockperf's own least size is known.
    let default = SOCKPERF.replacen(" --msg-size=14", "", 1);
    let table = read(&default).unwrap();
    assert_eq!(table.rows[0].bytes, 14);
    assert!(table.notes[0].contains("sends 14 bytes"), "{:?}", table.notes);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let error = read_hockney_table(&b"bytes,time_ns\n\xff\xfe\n"[..]).unwrap_err();
    assert_eq!(error.to_string(), "read the table: line 2: it is not text in UTF-8");
    assert_eq!(message(&"x".repeat(70_000)), "line 1: it is longer than 64 KiB");
    // A source without end is not read to its end.
    let endless = io::repeat(b'\n');
    let error = read_hockney_table(endless).unwrap_err().to_string();
    assert_eq!(error, "read the table: line 4000001: the table has more than 4 million lines");
    let endless = "bytes,time_ns\n".as_bytes().chain(io::repeat(b'7'));
    let error = read_hockney_table(endless).unwrap_err().to_string();
    assert_eq!(error, "read the table: line 2: it is longer than 64 KiB");
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let table = "bytes,time_ns\n".as_bytes().chain(Failing);
    assert_eq!(read_hockney_table(table).unwrap_err().to_string(), "read the table: after line 1");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = read_hockney_table(&bytes[..]);
    }

    #[test]
    fn no_damage_to_a_sample_panics(
        sample in 0usize..SAMPLES.len(), cut in 0.0..1.0f64, at in 0.0..1.0f64,
        insert in "[a-zA-Z0-9 .,:|+=#\\-\n\u{1b}\\[NaNµ]{0,12}"
    ) {
        let text = SAMPLES[sample];
        // The samples are ASCII: every byte begins a character.
        let place = |share: f64| (share * text.len() as f64) as usize;
        let _ = read(&text[..place(cut)]);
        let (before, after) = text.split_at(place(at));
        // Whatever is read is still a table that a fit can use.
        if let Ok(table) = read(&format!("{before}{insert}{after}")) {
            prop_assert!(!table.rows.is_empty());
            prop_assert!(table.rows.iter().all(|row| row.time.0 > 0.0 && row.time.0.is_finite()));
            prop_assert!(table.rows.iter().all(|row| row.bytes <= 1 << 48));
        }
    }

    #[test]
    fn csv_that_is_written_is_read(
        rows in prop::collection::vec((0u64..1 << 48, 1e-3..1e12f64), 1..20)
    ) {
        let lines = rows.iter().map(|(bytes, time)| format!("{bytes},{time}\n"));
        let read = read(&("bytes,time_ns\n".to_owned() + &lines.collect::<String>())).unwrap();
        let found = read.rows.iter().map(|row| (row.bytes, row.time.0));
        prop_assert!(found.eq(rows.iter().copied()));
    }
}
