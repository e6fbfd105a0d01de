//! Files as people have them: what is read of each, and what is refused in which line.

use std::fs;
use std::path::Path;

use bandgap_import::{Choice, Remark, Run, SizeTable, TableError, Timing, read_size_table};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{read, refused, remarks, table, text, times};

fn choosing(text: &str, test: Option<&str>, run: Run) -> Result<SizeTable, TableError> {
    read_size_table(text.as_bytes(), &Choice { test: test.map(str::to_owned), run })
}

#[track_caller]
fn gives(name: &str, tool: &str, timing: Timing, expected: &[(u64, f64)]) {
    let table = table(&text(name));
    assert_eq!((table.tool, table.timing), (tool, timing), "{name}");
    assert_eq!(times(&table), expected, "{name}");
}

#[test]
fn each_input_gives_its_times() {
    use Timing::{AsGiven, Completed, HalfRoundTrip, Stream};
    let small = [(1, 1.0), (2, 1.01), (4, 1.02)];
    for name in ["prefix_quote", "prefix_rank", "prefix_srun", "prefix_tag", "osu_time_stderr"] {
        gives(&format!("{name}.txt"), "osu_latency", HalfRoundTrip, &small);
    }
    let osu = "osu_latency";
    gives("osu_two_tests.txt", osu, HalfRoundTrip, &[(0, 0.2), (1, 0.24), (2, 0.23)]);
    gives("omb_py.txt", osu, HalfRoundTrip, &[(1024, 21.92), (2048, 21.01), (4096, 22.18)]);
    gives("osu_multi_lat.txt", "osu_multi_lat", HalfRoundTrip, &[(0, 0.98), (1, 1.03), (2, 1.03)]);
    let put = [(4, 58.19), (8, 57.42), (16, 57.5)];
    gives("osu_put_latency.txt", "osu_put_latency", Completed, &put);
    let average = [(1024, 59.15), (2048, 66.4), (4096, 82.0)];
    gives("imb_multi_pingpong.txt", "IMB", HalfRoundTrip, &average);
    let verbs = [(2, 5.86), (4, 5.86), (8, 5.88)];
    gives("perftest_untitled_lat.txt", "ib_send_lat", HalfRoundTrip, &verbs);
    for name in ["quoted_header.csv", "quoted_rows.csv", "semicolon.csv"] {
        gives(name, "CSV", AsGiven, &[(1, 1.9), (64, 1.95), (1024, 2.4)]);
    }
    gives("words.csv", "CSV", AsGiven, &[(0, 1.05), (1, 1.08), (2, 1.07)]);
    gives("sockperf_bold.txt", "sockperf --full-rtt", HalfRoundTrip, &[(350, 946.3)]);
    gives("sockperf_full_log.txt", "sockperf", HalfRoundTrip, &[(64, 1.403)]);
    // 1 s / 155 961.
    gives("sockperf_throughput.txt", "sockperf throughput", Stream, &[(32_768, 6.411_859)]);
    gives("ucx_set_x.txt", "ucx_perftest", HalfRoundTrip, &[(512, 15.064)]);
    // 97.80 Gbit/s of 10⁹ bits; MiB/s; a whole round trip.
    gives(
        "perftest_gbits.txt",
        "ib_send_bw",
        Stream,
        &[(65_536, 5.360_818), (131_072, 10.721_636)],
    );
    gives("perftest_bw.txt", "ib_write_bw", Stream, &[(65_536, 2.952_599), (131_072, 5.907_372)]);
    let whole = [(2, 1.67), (4, 1.68), (8, 1.69)];
    gives("perftest_read_lat.txt", "ib_read_lat", Timing::RoundTrip, &whole);
    // 131 072 · 8 bits at 9.428 Gbit/s.
    gives("iperf3.json", "iperf3", Stream, &[(131_072, 111.219_347)]);
    gives("nccl.txt", "nccl-tests", Timing::Collective, &[(8, 34.12), (16, 33.77), (32, 34.21)]);
    gives("perftest_lat.json", "ib_read_lat", Timing::RoundTrip, &[(128, 2.5)]);
    gives("nccl.json", "nccl-tests", Timing::Exchange, &[(8, 12.5), (16, 12.75)]);
    gives("mpptest.txt", "mpptest", HalfRoundTrip, &[(0, 3.254_890), (32, 3.314_017), (64, 3.38)]);
}

#[test]
fn what_is_not_named_or_holds_under_a_condition_is_said() {
    let remarks = |name: &str| remarks(&text(name));
    assert_eq!(remarks("osu_untitled.txt"), [Remark::Assumed("Latency")]);
    assert_eq!(remarks("perftest_untitled_lat.txt"), [Remark::Assumed("Send Latency")]);
    assert!(remarks("nccl.txt").contains(&Remark::Assumed("collective")));
    assert_eq!(remarks("osu_two_tests.txt"), [Remark::LeftOut(vec!["Init".into()])]);
    for name in ["osu_multi_lat.txt", "osu_rust_multi.txt", "imb_multi_pingpong.txt"] {
        assert!(matches!(remarks(name)[..], [Remark::Caveat(_)]), "{name}");
    }
}

#[test]
fn averages_beside_extremes_are_read_of_a_named_ping_pong_only() {
    let text = text("imb_multi_pingpong.txt");
    let single = table(&text.replace("Multi-PingPong", "PingPong"));
    assert_eq!((single.tool, single.rows.len()), ("IMB", 3));
    assert!(matches!(single.remarks[..], [Remark::Caveat(_)]));
    assert_eq!(refused(&text.replace("Multi-PingPong", "Sendrecv")), 1);
    // Without a title they may be a collective's.
    let untitled: String = text
        .lines()
        .filter(|line| !line.contains("Multi-PingPong"))
        .map(|line| format!("{line}\n"))
        .collect();
    for none in [
        &*untitled,
        // Cycles are no time.
        "#bytes #iterations t_min[cycles] t_max[cycles] t_typical[cycles] t_avg[cycles]\n2 1000 5 9 6 7\n",
        // A comma between thousands is no decimal point, nor is the time of a whole loop that of a message.
        "bytes|time_us\n1|950\n2|1,024\n4|1,100\n",
        "bytes,iterations,elapsed_s\n1,1000,0.001\n2,1000,0.001\n",
    ] {
        assert!(read(none).is_err(), "{none}");
    }
    // A heading that comes again is of the same test.
    let again = "# OSU MPI Allreduce Latency Test v5.8\n# Size  Avg Latency(us)\n4  5.47\n";
    assert_eq!(refused(&format!("{again}# Size  Avg Latency(us)\n4  5.47\n")), 1);
}

#[test]
fn what_cannot_be_read_is_refused_in_its_line() {
    for (name, line) in [
        ("osu_collective_columns.txt", 1),
        ("imb_defects.txt", 4),
        ("imb_barrier.txt", 2),
        ("osu_two_runs.txt", 6),
    ] {
        assert_eq!(refused(&text(name)), line, "{name}");
    }
    let wrong = text("nccl.txt").replace("33.77    0.00    0.00      0", "33.77 0.00 0.00 3");
    let place = wrong.lines().position(|line| line.contains("33.77")).unwrap() as u64 + 1;
    assert_eq!(refused(&wrong), place);
    let pairs = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.8\n# [ pairs: 4 ] [ window size: 64 ]\n\
                 # Size  MB/s  Messages/s\n1  20.0  20000000\n";
    assert_eq!(refused(pairs), 2);
    let one = table(&pairs.replace("pairs: 4", "pairs: 1"));
    assert_eq!((one.tool, times(&one)), ("osu_mbw_mr", vec![(1, 0.05)]));
    let bidirectional = text("perftest_bw.txt").replace("Write BW", "Write Bidirectional BW");
    assert!(read(&bidirectional.replace("$ ib_write_bw -a node-2\n", "")).is_err());
    // The line that is most like a heading is named.
    let other = "hello\n# the size and the latency of it\n8 1.0\n";
    assert_eq!(refused(other), 2);
}

#[test]
fn a_test_and_a_run_can_be_chosen() {
    let runs = text("osu_two_runs.txt");
    let of = |run| choosing(&runs, None, run).unwrap();
    assert_eq!(times(&of(Run::Number(2))), [(1, 1.02), (2, 1.03), (4, 1.04)]);
    assert_eq!(of(Run::Number(2)).remarks, [Remark::Run(2, 2)]);
    assert_eq!((of(Run::All).rows.len(), of(Run::All).remarks), (6, vec![Remark::Repetitions(2)]));
    assert!(choosing(&runs, None, Run::Number(3)).is_err());
    // Rows without headings between them.
    let bare = runs.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let bare = format!("# Size  Latency (us)\n{bare}\n");
    assert_eq!(refused(&bare), 5);
    let several = format!("{}{}", text("osu_line.txt"), text("osu_bw_rounding.txt"));
    for name in ["osu_bw", "Bandwidth", "bandwidth"] {
        assert_eq!(choosing(&several, Some(name), Run::Only).unwrap().tool, "osu_bw");
    }
    assert_eq!(table(&several).tool, "osu_latency");
    assert!(choosing(&several, Some("osu_allreduce"), Run::Only).is_err());
    // Of two tools as well.
    let two = format!("{several}{}", text("imb_multi_pingpong.txt"));
    assert!(read(&two).is_err());
    assert_eq!(choosing(&two, Some("Multi-PingPong"), Run::Only).unwrap().tool, "IMB");
}

/// What launchers and people write before lines.
const PREFIXES: [&str; 15] = [
    "[1,0]<stdout>:",
    "[1,0]<stdout>: ",
    "0: ",
    "[0] ",
    "> ",
    "> > ",
    "2026-11-25T09:00:01.123Z ",
    "Nov 25 09:00:01 node01 job[77]: ",
    "node01: ",
    "[09:00:01] 0: ",
    "Wed Nov 25 09:00:01 2026[1,0]<stdout>:",
    "[prterun-node-1@1,0]<stdout>:",
    "(rank 0) ",
    "[   12.345678] ",
    "INFO: ",
];

#[test]
fn prefixes_and_ways_to_write_lines_change_nothing() {
    let whole = [
        "osu_line.txt",
        "imb_multi_pingpong.txt",
        "ucx_set_x.txt",
        "nccl.txt",
        "perftest_bw.txt",
        "quoted_rows.csv",
        "mpptest.txt",
        "osu_two_tests.txt",
    ];
    for name in whole {
        let text = text(name);
        let expected = times(&table(&text));
        let is = |text: String| assert_eq!(times(&table(&text)), expected, "{text}");
        for prefix in PREFIXES {
            is(text.lines().map(|line| format!("{prefix}{line}\n")).collect());
        }
        is(text.replace('\n', "\r\n"));
        is(format!("\u{feff}{text}"));
        is(text.replace(' ', "\u{a0}"));
        is(format!(
            "{text}\n4 more processes have sent help message help-mpi.txt\n12:03:04 node kernel: x\n"
        ));
    }
    // Every line has its own time.
    let lines = text("osu_line.txt");
    let stamped =
        lines.lines().enumerate().map(|(at, line)| format!("09:00:{at:02}.{at} [{at}] {line}\n"));
    assert_eq!(table(&stamped.collect::<String>()).rows.len(), 23);
}

#[test]
fn csv_is_read_with_other_separators_and_words() {
    let expected = [(8, 1.5), (16, 2.5)];
    for text in [
        "Bytes;time_us\n8;1,5\n16;2,5\n",
        "bytes\ttime_us\n8\t1.5\n16\t2.5\n",
        "size (bytes),latency (us)\n8,1.5\n16,2.5\n",
        "Message size [B];Latency [µs]\n8;1.5\n16;2.5\n",
        "\"size\",\"time (ms)\"\n8,0.0015\n16,0.0025\n",
        "msg_size,t_avg_μs,other\n8,1.5,x\n16,2.5,y\n",
        "| size | time (s) |\n|---|---|\n| 8 | 1.5e-6 |\n| 16 | 2.5e-6 |\n",
        "bytes  time_ns\n8   1500\n16  2500\n",
        "# bytes time_ns\n8 1500\n16 2500\n",
        "sep=;\nbytes;time_us\n8;1.5\n16;2.5\n",
        "bytes,time_us\n8,1.5\n16,2.5\nreal 0m1.2s\n",
    ] {
        assert_eq!(times(&table(text)), expected, "{text}");
    }
}

/// All inputs.
fn corpus() -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files =
        ["inputs", "data"].map(|folder| fs::read_dir(tests.join(folder)).expect("a folder"));
    let texts = files.into_iter().flatten();
    texts.map(|file| fs::read_to_string(file.expect("a file").path()).expect("text")).collect()
}

#[test]
fn no_damage_to_the_corpus_panics() {
    let corpus = corpus();
    let cases =
        std::env::var("BANDGAP_READER_CASES").map_or(10_000, |cases| cases.parse().unwrap());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let place = || (0..corpus.len(), 0.0..1.0f64);
    let insert = "[a-zA-Z0-9 .,;:|+=#\\-\t\r\n\u{1b}\u{a0}\\[\\](){}<>\"NaNµ]{0,12}";
    let strategy = (place(), place(), 0.0..0.2f64, insert, 0u8..3);
    // The first lines tell most, and are quickest to read.
    let at = |text: &str, share: f64| {
        let place = (share * share * text.len() as f64) as usize;
        (0..=place).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
    };
    let test = |((first, begin), (second, from), length, insert, how): (
        (usize, f64),
        (usize, f64),
        f64,
        String,
        u8,
    )| {
        let (text, other) = (&corpus[first], &corpus[second]);
        let (before, after) = text.split_at(at(text, begin));
        let piece = &other[at(other, from)..at(other, (from + length).min(1.0))];
        let damaged = match how {
            0 => format!("{before}{insert}{after}"),
            1 => format!("{before}{piece}{after}"),
            _ => format!("{before}{insert}{}", &after[at(after, length)..]),
        };
        let run = if how == 0 { Run::Only } else { Run::All };
        if let Ok(table) = choosing(&damaged, None, run) {
            let (rows, whole) = (&table.rows, |ns: f64| ns.is_finite());
            prop_assert!(!rows.is_empty());
            prop_assert!(rows.iter().all(|row| row.time_ns > 0.0 && whole(row.time_ns)));
            prop_assert!(rows.iter().all(|row| whole(row.step_ns) && row.bytes <= 1 << 48));
        }
        Ok(())
    };
    TestRunner::new(config).run(&strategy, test).unwrap();
}
