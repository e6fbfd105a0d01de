//! Further files of the kinds that people have: other sizes, other words before lines, and several defects at once.

use proptest::prelude::*;

use bandgap_import::{Choice, Remark, Run, SizeRow, TableError, read_size_table};

use crate::remarks;

/// What is to come of a file.
enum Gives {
    /// This tool's sizes and microseconds.
    Times(&'static str, &'static [(u64, f64)]),
    /// A refusal of this line.
    Line(u64),
    /// Another refusal.
    Nothing,
}

use Gives::{Line, Nothing, Times};

const OSU: &str = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8   1.50\n4096   3.25\n65536  18.00\n";
const OSU_BW: &str =
    "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1000  500.00\n2000  800.00\n";
const VERBS: &str = "                    RDMA_Write Latency Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n \
#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   \
99.9% percentile[usec] \n 16      1000          1.10           7.20         1.12     \t       1.15        \t0.09            \
1.30                    7.20   \n 32      1000          1.12           7.90         1.14     \t       1.17        \t0.09     \
       1.32                    7.90   \n";
const OSU_TIMES: &[(u64, f64)] = &[(8, 1.5), (4096, 3.25), (65_536, 18.0)];

fn is(what: &str, bytes: impl Into<Vec<u8>>, gives: Gives) {
    let found = read_size_table(&bytes.into()[..], &Choice::default());
    let near = |(bytes, us): &(u64, f64), row: &SizeRow| {
        row.bytes == *bytes && (row.time_ns / 1e3 - us).abs() <= 1e-6 * us
    };
    let is_right = match (&found, gives) {
        (Ok(table), Times(tool, times)) => {
            table.tool == tool
                && table.rows.len() == times.len()
                && times.iter().zip(&table.rows).all(|(time, row)| near(time, row))
        }
        (Err(TableError::Line(line, _)), Line(expected)) => *line == expected,
        (Err(_), Nothing) => true,
        _ => false,
    };
    assert!(is_right, "{what}: {found:?}");
}

/// The times of OSU's table, in another form.
fn osu(what: &str, bytes: impl Into<Vec<u8>>) {
    is(what, bytes, Times("osu_latency", OSU_TIMES));
}

/// Every line with something before it, which may differ from line to line.
fn before(text: &str, prefix: impl Fn(usize) -> String) -> String {
    text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", prefix(at))).collect()
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
}

fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).expect("Latin-1")).collect()
}

#[test]
fn variants_give_what_is_in_them() {
    let verbs: &[(u64, f64)] = &[(16, 1.15), (32, 1.17)];
    let csv: &[(u64, f64)] = &[(100, 1.5), (200, 2.5)];
    let twin = "#p0\tp1\tdist\tlen\ttime\t\tave time (us)\trate\n0\t1\t1\t0\t0.002\t20.000000\t0.00\n0\t1\t1\t32\t0.0021\t21.0\t1.5\n";
    let perftest = |test: &str, results: &str| {
        format!(
            "{{\n\"test_info\": {{\n\"test\": \"{test}\",\n\"Device\": \"mlx5_0\"\n}},\n\"results\": {{\n{results}\n}}\n}}\n"
        )
    };
    let lat = |size: u64, avg: &str| {
        perftest(
            "Send_Latency_Test",
            &format!(
                "\"MsgSize\": {size},\n\"n_iterations\": 1000,\n\"t_min\": 1.0,\n\"t_avg\": {avg},\n\"t_stdev\": 0.05"
            ),
        )
    };
    let nccl = |wrong: &str| {
        format!(
            "{{\"version\":2,\"args\":[\".\\/build\\/all_reduce_perf\",\"-b\",\"8\"],\"env\":[\"A=b, c\"],\"results\":[\
{{\"size\":8,\"count\":2,\"type\":\"float\",\"out_of_place\":{{\"time\":34.120000,\"alg_bw\":0.0,\"nwrong\":{wrong}}},\
\"in_place\":{{\"time\":1.0,\"nwrong\":null}}}},{{\"size\":16,\"out_of_place\":{{\"time\":35.500000,\"nwrong\":null}}}}]}}\n"
        )
    };
    is(
        "ISO times with a zone before perftest",
        before(VERBS, |at| format!("2026-01-0{at}T00:00:0{at}+01:00 ")),
        Times("ib_write_lat", verbs),
    );
    osu("thin spaces", OSU.replace("   ", "\u{202f}\u{202f}"));
    osu("UTF-16, little end first", utf16(OSU, u16::to_le_bytes));
    let crlf = OSU.replace('\n', "\r\n");
    osu("UTF-16, big end first, with CRLF", utf16(&crlf, u16::to_be_bytes));
    osu("UTF-16 and half a pair", [utf16(OSU, u16::to_le_bytes), vec![b'9']].concat());
    let micro = "Bytes;time (µs)\r\n100;1,5\r\n200;2,5\r\n";
    is("UTF-16 CSV with µ", utf16(micro, u16::to_le_bytes), Times("CSV", csv));
    is("Latin-1 CSV with µ", latin("size;latency µs\n100;1,5\n200;2,5\n"), Times("CSV", csv));
    osu("Latin-1 in a comment above", latin(&format!("Prüfung auf Knoten é\n{OSU}")));
    osu("Latin-1 no-break spaces", latin(&OSU.replace(' ', "\u{a0}")));
    let ranked = before(OSU, |_| "0: ".into());
    osu("a UTF-8 mark before a prefix", format!("\u{feff}{ranked}"));
    let spread = "bytes,min_us,avg_us,max_us,stddev_us\n100,1.1,1.5,9.9,0.2\n200,2.1,2.5,9.9,0.2\n";
    is("least, mean and most", spread, Times("CSV", csv));
    let rate = "bytes,MB/s,time_us\n100,66.7,1.5\n200,80,2.5\n";
    is("a rate beside the time", rate, Times("CSV", csv));
    is("two averages", "bytes,avg_us,median_us\n100,1.5,1.4\n", Line(1));
    let below = "\nreal\t0m3.120s\nuser\t0m0.010s\n1 more process has sent help message help-mpi.txt / x\nsrun: Job 7 done\n";
    osu("foreign lines below", format!("{OSU}{below}"));
    osu("lines as long as rows below", format!("{OSU}2 warnings\nreal 1.25\n# 16 1.9\nh2 3\n"));
    let between = "#16 1.9\n[n1:77] 3 warnings so far\n12:00:01 kernel: eth0 up\n4096 ";
    osu("foreign lines between", OSU.replace("4096 ", between));
    let resources = "JobID  Elapsed  MaxRSS\n1234   00:00:03  2048K\n";
    osu("a resource table of a batch system below", format!("{OSU}{resources}"));
    let defects = "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec defects\n0 1000 0.7 0.0 0.00\n64 1000 0.8 80.0 0.00\n";
    is("no defects", defects, Times("IMB", &[(0, 0.7), (64, 0.8)]));
    let both =
        "# OSU MPI Bi-Directional Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)\n1000 500.0\n";
    is("both directions", both, Line(1));
    let persistent = OSU.replace("Latency Test", "Latency Test Persistent");
    osu("persistent and not", format!("{OSU}{persistent}"));
    let put = OSU.replace("OSU MPI Latency", "OSU One Sided MPI_Put latency");
    let get = OSU.replace("OSU MPI Latency", "OSU MPI_Get-CUDA latency");
    for (what, text, tool) in [
        ("persistent, as OMB titles it", persistent, "osu_latency_persistent"),
        ("an old title of a put", put, "osu_put_latency"),
        ("a get in a GPU's memory", get, "osu_get_latency"),
    ] {
        is(what, text, Times(tool, OSU_TIMES));
    }
    is("mpptest before it halved", twin, Times("mpptest", &[(0, 10.0), (32, 10.5)]));
    let sizes = format!("{}{}", lat(2, "1.20"), lat(4, "1.30"));
    let times = Times("ib_send_lat", &[(2, 1.2), (4, 1.3)]);
    is("perftest's JSON, a document a size", sizes, times);
    let bandwidth = perftest(
        "RDMA_Write_BW_Test",
        "\"MsgSize\": 65536,\n\"BW_peak\": 0.0,\n\"BW_average\": 21167.79,\n\"MsgRate\": 0.250000",
    );
    is("perftest's JSON of a bandwidth", bandwidth, Times("ib_write_bw", &[(65_536, 4.0)]));
    let both = perftest("Send_Bidirectional_BW_Test", "\"MsgSize\": 65536,\n\"MsgRate\": 0.250000");
    is("perftest's JSON of both directions", both, Line(1));
    is("perftest's JSON that is cut", &lat(2, "1.20")[..120], Nothing);
    let times = Times("nccl-tests", &[(8, 34.12), (16, 35.5)]);
    is("nccl-tests' JSON", nccl("0.000000"), times);
    is("nccl-tests' JSON with wrong data", nccl("3.000000"), Line(1));
    let iperf = "Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n[  5]   0.00-1.00   sec  1.10 GBytes  9.42 Gbits/sec    0   1.5 MBytes\n";
    is("iperf3 without --json", iperf, Line(2));
    let times = Times("osu_latency", &[(0, 0.02), (8, 1.5), (4096, 3.25), (65_536, 18.0)]);
    is("a 0-byte row that is much faster", OSU.replace("8   1.50", "0   0.02\n8   1.50"), times);
    let bytes: Vec<u8> = (0..=255u8).cycle().take(5000).collect();
    is("not text at all", bytes, Nothing);
}

#[test]
fn the_column_that_is_read_and_the_tests_that_can_be_chosen_are_named() {
    let several = "bytes,min_us,avg_us,max_us\n100,1.1,1.5,9.9\n";
    assert_eq!(remarks(several), [Remark::Caveat("column avg_us".into())]);
    assert_eq!(remarks("bytes,MB/s,time_us\n100,66.7,1.5\n"), []);
    let put = OSU.replace("MPI Latency", "MPI_Put Latency");
    let text = format!("{OSU}{OSU_BW}{put}{}", OSU.replace("MPI Latency", "MPI Bcast Latency"));
    let [Remark::LeftOut(left_out), Remark::Others(others)] = &remarks(&text)[..] else { panic!() };
    assert_eq!((left_out.len(), others.len()), (1, 2));
    // Each of the names is taken.
    for test in others {
        let choice = Choice { test: Some(test.clone()), run: Run::Only };
        assert!(read_size_table(text.as_bytes(), &choice).is_ok(), "{test}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(mark in 0..4usize, bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0..200usize) {
        let marks: [&[u8]; 4] = [b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"];
        let mut text = match mark {
            1 => utf16(OSU, u16::to_le_bytes),
            2 => utf16(OSU, u16::to_be_bytes),
            _ => OSU.as_bytes().to_vec(),
        };
        let at = at.min(text.len());
        text.splice(at..at, bytes.iter().copied());
        let _ = read_size_table(&text[..], &Choice::default());
        let _ = read_size_table(&[marks[mark], &bytes].concat()[..], &Choice::default());
    }
}
