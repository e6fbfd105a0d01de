//! Further files of the kinds that people have: other sizes, other words before lines, and several defects at once.

use bandgap_import::{Choice, Remark, Run, SizeTable, TableError, read_size_table};

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
const IMB: &str = "#---------------------------------------------------\n# Benchmarking PingPong\n# #processes = 2\n\
#---------------------------------------------------\n       #bytes #repetitions      t[usec]   Mbytes/sec\n            \
0         1000         0.75         0.00\n           64         1000         0.80        80.00\n";
const VERBS: &str = "                    RDMA_Write Latency Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n \
#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   \
99.9% percentile[usec] \n 16      1000          1.10           7.20         1.12     \t       1.15        \t0.09            \
1.30                    7.20   \n 32      1000          1.12           7.90         1.14     \t       1.17        \t0.09     \
       1.32                    7.90   \n";
const OSU_TIMES: &[(u64, f64)] = &[(8, 1.5), (4096, 3.25), (65_536, 18.0)];

fn read(bytes: &[u8], choice: &Choice) -> Result<SizeTable, TableError> {
    read_size_table(bytes, choice)
}

fn is(what: &str, bytes: &[u8], choice: &Choice, gives: &Gives) -> bool {
    let found = read(bytes, choice);
    let right = match (&found, gives) {
        (Ok(table), Times(tool, times)) => {
            let near = |(bytes, us): &(u64, f64), row: &bandgap_import::SizeRow| {
                row.bytes == *bytes && (row.time_ns / 1e3 - us).abs() <= 1e-6 * us
            };
            table.tool == *tool
                && table.rows.len() == times.len()
                && times.iter().zip(&table.rows).all(|(time, row)| near(time, row))
        }
        (Err(TableError::Line { line, .. }), Line(expected)) => line == expected,
        (Err(_), Nothing) => true,
        _ => false,
    };
    if !right {
        println!("{what}: {found:?}");
    }
    right
}

/// Every line with something before it, which may differ from line to line.
fn before(text: &str, prefix: impl Fn(usize) -> String) -> String {
    text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", prefix(at))).collect()
}

fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).expect("Latin-1")).collect()
}

#[test]
fn variants_give_what_is_in_them() {
    let imb: &[(u64, f64)] = &[(0, 0.75), (64, 0.8)];
    let verbs: &[(u64, f64)] = &[(16, 1.15), (32, 1.17)];
    let bw: &[(u64, f64)] = &[(1000, 2.0), (2000, 2.5)];
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let text = |text: &str| text.as_bytes().to_vec();
    let csv: &[(u64, f64)] = &[(100, 1.5), (200, 2.5)];
    let twin = "#p0\tp1\tdist\tlen\ttime\t\tave time (us)\trate\n0\t1\t1\t0\t0.002\t20.000000\t0.00\n0\t1\t1\t32\t0.0021\t21.0\t1.5\n";
    let cases: Vec<(&str, Vec<u8>, Gives)> = vec![
        (
            "crlf, a launcher's prefix and two tests",
            text(&crlf(&before(&format!("{OSU}{OSU_BW}"), |_| "[1,0]<stdout>:".into()))),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "each line with its own rank and time",
            text(&before(OSU, |at| format!("Nov 25 09:{at:02}:01 n{at} prog[{}]: ", at * 7))),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "quoted twice in a mail",
            text(&before(OSU, |_| ">> ".into())),
            Times("osu_latency", OSU_TIMES),
        ),
        ("srun's label in front of IMB", text(&before(IMB, |_| "12: ".into())), Times("IMB", imb)),
        (
            "a prefix and perftest's tabs",
            text(&before(VERBS, |_| "node7: ".into())),
            Times("ib_write_lat", verbs),
        ),
        (
            "ISO times with a zone before perftest",
            text(&before(VERBS, |at| format!("2026-01-0{at}T00:00:0{at}+01:00 "))),
            Times("ib_write_lat", verbs),
        ),
        (
            "no-break spaces and CRLF in IMB",
            text(&crlf(&IMB.replace(' ', "\u{a0}"))),
            Times("IMB", imb),
        ),
        (
            "thin spaces",
            text(&OSU.replace("   ", "\u{202f}\u{202f}")),
            Times("osu_latency", OSU_TIMES),
        ),
        ("Latin-1 CSV with µ", latin("size;latency µs\n100;1,5\n200;2,5\n"), Times("CSV", csv)),
        (
            "Latin-1 in a comment above",
            latin(
                "Prüfung auf Knoten é\n# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n8 1.5\n",
            ),
            Times("osu_latency", &[(8, 1.5)]),
        ),
        (
            "Latin-1 no-break spaces",
            latin(&OSU.replace(' ', "\u{a0}")),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "a UTF-8 mark before a prefix",
            text(&format!("\u{feff}{}", before(OSU, |_| "0: ".into()))),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "columns the other way round",
            text("time_us,bytes\n1.5,100\n2.5,200\n"),
            Times("CSV", csv),
        ),
        (
            "quoted headers with semicolons",
            text(
                "\"Message size (bytes)\";\"Average latency (usec)\"\n\"100\";\"1,5\"\n\"200\";\"2,5\"\n",
            ),
            Times("CSV", csv),
        ),
        (
            "quoted headers with tabs and CRLF",
            text("\"length\"\t\"mean [ns]\"\r\n100\t1500\r\n200\t2500\r\n"),
            Times("CSV", csv),
        ),
        (
            "least, mean and most",
            text(
                "bytes,min_us,avg_us,max_us,stddev_us\n100,1.1,1.5,9.9,0.2\n200,2.1,2.5,9.9,0.2\n",
            ),
            Times("CSV", csv),
        ),
        (
            "a rate beside the time",
            text("bytes,MB/s,time_us\n100,66.7,1.5\n200,80,2.5\n"),
            Times("CSV", csv),
        ),
        ("two averages", text("bytes,avg_us,median_us\n100,1.5,1.4\n"), Line(1)),
        ("no unit", text("bytes,latency\n100,1.5\n200,2.5\n"), Line(1)),
        (
            "a table of Markdown with alignment",
            text("| Size (B) | Latency (us) |\n|:---:|---:|\n| 100 | 1.5 |\n| 200 | 2.5 |\n"),
            Times("CSV", csv),
        ),
        (
            "CSV with a prefix and CRLF",
            text(&crlf(&before("bytes,time_us\n100,1.5\n200,2.5\n", |_| "[0] ".into()))),
            Times("CSV", csv),
        ),
        (
            "spaces and two words",
            text("Bytes   Time(us)\n100     1.5\n200     2.5\n"),
            Times("CSV", csv),
        ),
        (
            "foreign lines below",
            text(&format!(
                "{OSU}\nreal\t0m3.120s\nuser\t0m0.010s\n1 more process has sent help message help-mpi.txt / x\nsrun: Job 7 done\n"
            )),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "foreign lines between",
            text(
                &OSU.replace("4096 ", "[n1:77] 3 warnings so far\n12:00:01 kernel: eth0 up\n4096 "),
            ),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "a resource table of a batch system below",
            text(&format!("{OSU}JobID  Elapsed  MaxRSS\n1234   00:00:03  2048K\n")),
            Times("osu_latency", OSU_TIMES),
        ),
        ("a row that is cut", text(&OSU.replace("4096   3.25", "4096")), Line(4)),
        (
            "a Fail",
            text(
                "# OSU MPI Latency Test v7.4\n# Size  Latency (us)  Validation\n8  1.5  Pass\n16  1.6  Fail\n",
            ),
            Line(4),
        ),
        (
            "a Fail behind a prefix and CRLF",
            text(&crlf(&before(
                "# OSU MPI Latency Test v7.4\n# Size  Latency (us)  Validation\n8  1.5  Pass\n16  1.6  Fail\n",
                |_| "[1,0]<stdout>: ".into(),
            ))),
            Line(4),
        ),
        (
            "one defect in the second row",
            text(
                "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec defects\n0 1000 0.7 0.0 0.00\n64 1000 0.8 80.0 1.00\n",
            ),
            Line(4),
        ),
        (
            "no defects",
            text(
                "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec defects\n0 1000 0.7 0.0 0.00\n64 1000 0.8 80.0 0.00\n",
            ),
            Times("IMB", &[(0, 0.7), (64, 0.8)]),
        ),
        (
            "a collective alone",
            text("# OSU MPI Alltoall Latency Test v7.4\n# Size  Avg Latency(us)\n8  1.5\n"),
            Line(1),
        ),
        (
            "a collective without its title",
            text(
                "# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations\n8  1.5  1.0  2.0  1000\n",
            ),
            Nothing,
        ),
        (
            "a collective before the latency",
            text(&format!(
                "# OSU MPI Allgather Latency Test v7.4\n# Size  Avg Latency(us)\n8  9.5\n{OSU}"
            )),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "both directions",
            text(
                "# OSU MPI Bi-Directional Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)\n1000 500.0\n",
            ),
            Line(1),
        ),
        (
            "IMB's Barrier behind a prefix",
            text(&before(
                "# Benchmarking Barrier\n# #processes = 2\n#repetitions t_min[usec] t_max[usec] t_avg[usec]\n1000 0.5 0.6 0.55\n",
                |_| "0: ".into(),
            )),
            Line(1),
        ),
        ("two runs of two sizes", text(&format!("{OSU_BW}{OSU_BW}")), Line(5)),
        (
            "persistent, as OMB titles it",
            text(&OSU.replace("Latency Test", "Latency Test Persistent")),
            Times("osu_latency_persistent", OSU_TIMES),
        ),
        (
            "persistent and not",
            text(&format!("{OSU}{}", OSU.replace("Latency Test", "Latency Test Persistent"))),
            Times("osu_latency", OSU_TIMES),
        ),
        (
            "an old title of a put",
            text(&OSU.replace("OSU MPI Latency", "OSU One Sided MPI_Put latency")),
            Times("osu_put_latency", OSU_TIMES),
        ),
        (
            "a get in a GPU's memory",
            text(&OSU.replace("OSU MPI Latency", "OSU MPI_Get-CUDA latency")),
            Times("osu_get_latency", OSU_TIMES),
        ),
        (
            "GPU buffers",
            text(&OSU.replace("MPI Latency", "MPI-CUDA Latency").replace(
                "# Size",
                "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n# Size",
            )),
            Times("osu_latency", OSU_TIMES),
        ),
        ("mpptest before it halved", text(twin), Times("mpptest", &[(0, 10.0), (32, 10.5)])),
        (
            "OMB's Python edition behind a prefix",
            text(&before(
                "# OMB Python MPI Latency Test\n# Size (B)      Latency (us)\n1024                   21.92\n2048                   21.01\n",
                |_| "[0] ".into(),
            )),
            Times("osu_latency", &[(1024, 21.92), (2048, 21.01)]),
        ),
        (
            "a 0-byte row that is much faster",
            text(&OSU.replace("8   1.50", "0   0.02\n8   1.50")),
            Times("osu_latency", &[(0, 0.02), (8, 1.5), (4096, 3.25), (65_536, 18.0)]),
        ),
        ("not text at all", (0..=255u8).cycle().take(5000).collect(), Nothing),
    ];
    let choice = Choice::default();
    let wrong =
        cases.iter().filter(|(what, bytes, gives)| !is(what, bytes, &choice, gives)).count();
    assert_eq!(wrong, 0);
    // The same of what is chosen.
    let all = format!("{OSU}{OSU_BW}{OSU_BW}{}", before(VERBS, |_| String::new()));
    for (test, run, gives) in [
        ("osu_bw", Run::Number(2), Times("osu_bw", bw)),
        ("Bandwidth", Run::Only, Line(10)),
        ("OSU_BW", Run::Number(3), Nothing),
        ("ib_write_lat", Run::Only, Times("ib_write_lat", verbs)),
        ("Latency", Run::All, Times("osu_latency", OSU_TIMES)),
    ] {
        assert!(is(test, all.as_bytes(), &Choice { test: Some(test.into()), run }, &gives));
    }
}

#[test]
fn the_column_that_is_read_and_the_tests_that_can_be_chosen_are_named() {
    let remarks = |text: &str| read(text.as_bytes(), &Choice::default()).unwrap().remarks;
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
        assert!(read(text.as_bytes(), &choice).is_ok(), "{test}");
    }
}
