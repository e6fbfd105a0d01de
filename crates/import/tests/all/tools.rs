//! What further tools print, in the forms that their options give it: its times, or the line that is refused.

use bandgap_import::{Choice, Remark, Run, Timing, read_size_table};

use crate::{read, refused, remarks, table, text, times, why};

/// The tool, what its times are, and sizes with microseconds.
#[track_caller]
fn found(text: &str) -> (&'static str, Timing, Vec<(u64, f64)>) {
    let table = table(text);
    (table.tool, table.timing, times(&table))
}

#[test]
fn each_form_gives_its_times() {
    use Timing::{AsGiven, Collective, Completed, HalfRoundTrip, Stream};
    let qperf = [(64, 10.0), (1024, 11.0), (65_536, 75.5)];
    let omb = [(1024, 21.0), (2048, 22.0), (4096, 24.0)];
    let own = [(8, 1.5), (1024, 1.7), (65_536, 7.28), (1 << 20, 88.1)];
    #[rustfmt::skip]
    let cases = [
        // 1 s over the rate of messages; the bandwidth beside it is the same thing again.
        ("sockperf_throughput_sizes.txt", "sockperf throughput", Stream, &[(64, 8.0), (1024, 10.0), (8192, 25.0)][..]),
        ("fabtests_bw.txt", "fi_rma_bw", Stream, &[(64, 0.5), (1024, 1.0), (65_536, 32.77)]),
        ("netpipe_stream.txt", "NetPIPE --stream", Stream, &[(100, 0.2), (1000, 1.1), (10_000, 10.1)]),
        // The size column is the datatype's, of which less is sent.
        ("osu_datatype.txt", "osu_latency", HalfRoundTrip, &[(32, 0.84), (512, 4.83), (8192, 46.74)]),
        ("osu_tail.txt", "osu_multi_lat", HalfRoundTrip, &[(1, 0.4), (1024, 1.0), (16_384, 4.2)]),
        // 1 B at 1 MB/s, 1024 B at 900 MB/s, 65 536 B at 9 GB/s.
        ("osu_markdown.md", "osu_bw", Stream, &[(1, 1.0), (1024, 1.137_778), (65_536, 7.281_778)]),
        ("osu_markdown_two.md", "osu_latency", HalfRoundTrip, &[(1, 1.0), (1024, 1.5), (65_536, 9.0)]),
        ("qperf.txt", "qperf", HalfRoundTrip, &qperf),
        // Half of 1 s over 40 000, 25 000 and 10 000 round trips.
        ("netperf_rr.txt", "netperf", HalfRoundTrip, &[(1, 12.5), (1024, 20.0), (16_384, 50.0)]),
        ("netperf_names.txt", "netperf", HalfRoundTrip, &[(1, 12.5), (1024, 20.0)]),
        ("netperf_omni.csv", "netperf", HalfRoundTrip, &[(1, 12.5), (1024, 20.0)]),
        ("np.out", "np.out", HalfRoundTrip, &[(1, 1.34), (1024, 5.46), (65_536, 58.25)]),
        ("np5.out", "np.out", HalfRoundTrip, &[(1, 0.67), (1024, 1.34), (65_536, 6.55)]),
        ("imb_rma.txt", "IMB", Completed, &[(8, 1.0), (1024, 1.5), (65_536, 33.0)]),
        ("nccl_error.txt", "nccl-tests", Collective, &[(1 << 20, 100.0), (1 << 21, 190.0)]),
        ("mscclpp.txt", "mscclpp-test", Collective, &[(1 << 20, 6.16), (1 << 21, 9.31)]),
        ("sizes_with_units.csv", "CSV", AsGiven, &own),
        ("thousands.csv", "CSV", AsGiven, &own),
        ("omb_py_logging.txt", "osu_latency", HalfRoundTrip, &omb),
        // 4096 B at 2290 MiB/s: the columns are a bandwidth's, whatever a sentence names.
        ("perftest_prose.txt", "ib_send_bw", Stream, &[(4096, 1.705_786), (65_536, 26.939_655), (1 << 20, 429.000_429)]),
    ];
    for (name, tool, timing, expected) in cases {
        assert_eq!(found(&text(name)), (tool, timing, expected.to_vec()), "{name}");
    }
}

#[test]
fn what_is_no_time_of_a_message_is_refused_in_its_line() {
    for (name, line, word) in [
        ("netpipe_bidir.txt", 1, "--bidir"),
        ("nccl_failed.txt", 4, "#wrong"),
        ("iperf3_bidir.json", 1, "--bidir"),
        ("perftest_8qps.txt", 2, "-q"),
        ("perftest_both.txt", 1, "both"),
        ("osu_windows.txt", 2, "-W"),
        ("perftest_cycles.txt", 2, "-C"),
        ("iperf3_error.json", 1, "unable to connect"),
    ] {
        let (found, why) = why(&text(name));
        assert!(found == line && why.contains(word), "{name}: {found} {why}");
    }
    // Out of place is right, and the last line counts what was wrong in place.
    let failed = text("nccl_failed.txt").replace("7\n", "0\n").replace("9\n", "0\n");
    assert_eq!(refused(&failed), 7);
    let error = text("nccl_error.txt");
    assert_eq!(refused(&error.replace("2e-07", "1e+02")), 5);
    assert_eq!(refused(&error.replace("0 OK", "4 FAILED")), 7);
    let json = text("nccl.json").replace("\"nwrong\":null", "\"nwrong\":2");
    assert_eq!(refused(&json), 1);
    // A rate that is not the size's in this time is another kind of number.
    assert_eq!(refused(&text("np.out").replace("8583.690987", "9583.690987")), 3);
    let checked = "Doing a message integrity check\n  1:   1  B   10 times -->    0 failures\n";
    assert_eq!(refused(checked), 1);
    // Aggregated puts are left out.
    let rma = text("imb_rma.txt");
    let two = format!("{}{rma}", rma.replace("NON-AGGREGATE", "AGGREGATE"));
    assert_eq!(found(&two), found(&rma));
    assert!(read(&rma.replace("NON-AGGREGATE", "AGGREGATE")).is_err());
    let netperf = text("netperf_rr.txt");
    assert_eq!(refused(&netperf.replace(" 1024     1024", " 1024     1   ")), 8);
    let title = "MIGRATED UDP REQUEST/RESPONSE TEST from a () to b () : first burst ";
    assert!(read(&format!("{title}0\n{netperf}")).is_ok());
    assert_eq!(refused(&format!("{title}8\n{netperf}")), 1);
    assert!(why("tcp_lat:\n    latency  =  12.3 us\n").1.contains("-vu"));
    for size in ["1K", "1KB", "64xB", "1,02", "1.5"] {
        assert_eq!(refused(&format!("bytes;time_us\n8;1\n{size};2\n")), 3, "{size}");
    }
    // Cut rows are still told from short ones.
    assert_eq!(refused(&format!("{}32768\n", text("osu_tail.txt"))), 7);
    for line in [
        "{\n  \"format\": \"bandgap-run\",\n",
        "id,value,low,high,unit,converged,samples\na,1,1,1,s,true,2\n",
    ] {
        assert!(why(line).1.contains("bandgap show"));
    }
}

#[test]
fn command_lines_name_a_test_and_sentences_do_not() {
    let lines = |name: &str, first: usize| -> String {
        text(name).lines().skip(first).map(|line| format!("{line}\n")).collect()
    };
    let (bw, lat) = (lines("perftest_both.txt", 1), lines("perftest_untitled_lat.txt", 0));
    let way = |command: &str| read(&format!("{command}\n{bw}"));
    for both in
        ["-a -b h2", "-ab h2", "-aFb h2", "--bidirectional h2", "-b", "-q 8 h2", "--qp=4 h2"]
    {
        assert!(way(&format!("$ ib_write_bw {both}")).is_err(), "{both}");
    }
    for one in ["-a h2", "-d mlx5_bond_0 h2", "-q 1 h2", "-F -x 3 h2 > log"] {
        assert_eq!(way(&format!("+ srun ib_write_bw {one}")).unwrap().tool, "ib_write_bw", "{one}");
    }
    for command in [
        "ib_read_lat node-3",
        "[a@h1 ~]$ /usr/bin/ib_read_lat -a 10.0.0.3",
        "OMP=1 numactl -N 0 ib_read_lat",
    ] {
        assert_eq!(found(&format!("{command}\n{lat}")).1, Timing::RoundTrip, "{command}");
    }
    for sentence in [
        "For comparison, ib_read_lat gave 1.9 us.",
        "ib_read_lat was measured before",
        "The output of ib_read_lat node-3 follows",
        "#SBATCH --job-name=ib_read_lat",
        "Then ib_read_lat:",
    ] {
        let text = format!("{sentence}\n{lat}");
        assert_eq!(remarks(&text), [Remark::Assumed("Send Latency")], "{sentence}");
    }
    // Of fabtests only the command line tells a stream from a ping-pong.
    let fabric = lines("fabtests_bw.txt", 1);
    assert!(matches!(remarks(&fabric)[..], [Remark::Assumed(_), Remark::Caveat(_)]));
    for (program, timing) in [
        ("fi_rdm_tagged_bw", Timing::Stream),
        ("fi_msg_bw", Timing::Stream),
        ("fi_rdm_pingpong", Timing::HalfRoundTrip),
    ] {
        assert_eq!(found(&format!("{program} -S all h2\n{fabric}")).1, timing, "{program}");
    }
}

#[test]
fn which_column_and_which_test_is_read_is_said() {
    let caveat = |name: &str| match &remarks(&text(name))[..] {
        [.., Remark::Caveat(caveat)] => caveat.clone(),
        other => panic!("{other:?}"),
    };
    assert!(caveat("osu_markdown_two.md").contains("first of 2"));
    assert!(caveat("osu_datatype.txt").contains("transmit size"));
    assert!(caveat("mscclpp.txt").contains("in-place"));
    assert!(caveat("np.out").contains("ping-pong"));
    // Each test of qperf is one of its own: two sizes of two tests are no line.
    let all = text("qperf_all.txt");
    let of = |test: &str| {
        read_size_table(all.as_bytes(), &Choice { test: Some(test.into()), run: Run::Only })
    };
    assert_eq!(found(&all).2, [(1, 10.5)]);
    for (test, bytes, us) in [
        ("udp_lat", 1, 9.5),
        ("tcp_bw", 65_536, 65.536),
        ("udp_bw", 32_768, 32.768),
        ("rc_rdma_read_lat", 1, 3.5),
    ] {
        let row = of(test).unwrap().rows[0];
        assert!(row.bytes == bytes && (row.time_ns - 1e3 * us).abs() < 1e-6, "{test}: {row:?}");
    }
    assert!(of("rc_bi_bw").is_err());
}

#[test]
fn documents_may_share_a_line() {
    let one = text("iperf3.json");
    let line: String = one.lines().collect();
    let other = line.replace("131072", "65536");
    for text in
        [format!("{line}{other}"), format!("[{line},\n{other}]"), format!("{line} {other}\n")]
    {
        assert_eq!(read(&text).unwrap().rows.len(), 2, "{text}");
    }
    let failed: String = text("iperf3_error.json").lines().collect();
    assert!(why(&format!("{line}{failed}\n")).1.contains("iperf3 failed"));
    let before = "\"sum_sent\"";
    assert!(
        read(&one.replace(before, &format!("\"sum_bidir_reverse\":{{}},{before}"))).is_err()
            || !one.contains(before)
    );
}
