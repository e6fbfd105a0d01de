//! What other tools print, each in its own layout, with times of 3 µs + n/(2 GB/s).

use serde_json::Value;

use crate::program::subject::{Place, near, of_kind, value};

/// 1 byte to 1 MiB.
fn sizes() -> impl Iterator<Item = u64> {
    (0..=20).map(|power| 1 << power)
}

/// Microseconds.
fn time(bytes: u64) -> f64 {
    3.0 + bytes as f64 / 2000.0
}

/// `head`, then a line for each size.
fn text(head: &str, line: impl Fn(u64) -> String) -> String {
    let lines = sizes().map(|bytes| line(bytes) + "\n");
    head.to_owned() + &lines.collect::<String>()
}

fn osu(head: &str, more: &str) -> String {
    text(head, |bytes| format!("{bytes:<10}{:>20.2}{more}", time(bytes)))
}

/// A file and standard input give the same, with these parameters (t0 in µs) and no findings that
/// count; `told` is printed.
#[track_caller]
fn gives(tool: &str, text: &str, t0: f64, told: &str) {
    let place = Place::new();
    let file = place.file("it.txt", text);
    let printed = place.run(["fit", "hockney", &file]).ends(0).stdout;
    let begin = format!("Read as {tool}: ");
    assert!(printed.starts_with(&begin) && printed.contains(told), "{printed}");
    let args = ["fit", "hockney", "-", "--json", "-"];
    let run = place.run_with_input(args, text.as_bytes()).ends(0).json();
    for fit in of_kind(&run, "hockney") {
        assert_eq!(fit["name"], tool);
        let [segment] = fit["segments"].as_array().unwrap().as_slice() else {
            panic!("one segment: {fit}");
        };
        near("t0", value(&segment["t0"]), t0 * 1e-6, 0.01);
        near("r∞", value(&segment["r_inf"]), 2e9, 0.01);
        near("n½", value(&segment["n_half"]), t0 * 2000.0, 0.02);
    }
}

/// The message about a table that cannot be used.
#[track_caller]
fn refused(text: &str) -> String {
    let place = Place::new();
    let finished = place.run_with_input(["fit", "hockney", "-"], text.as_bytes()).ends(3);
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    finished.stderr
}

#[test]
fn osu_latency_of_every_version() {
    let half = "osu_latency prints half of a round trip.";
    let head = "# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n";
    gives("osu_latency", &osu(head, ""), 3.0, half);
    let head = "# OSU MPI Latency Test v6.2\n# Size          Latency (us)        Validation\n";
    gives("osu_latency", &osu(head, "                Pass"), 3.0, half);
    // Colours, percentiles, and lines of the MPI library before the title.
    let head = "[node-3:77] Rank 0 bound to package[0][core:0]\n\n# OSU MPI Latency Test v7.4\n\
                # Datatype: MPI_CHAR.\n# Size       Avg Latency(us)  P50 Tail Lat(us)  P99 Tail Lat(us)\n";
    gives("osu_latency", &osu(head, "             3.10             9.95"), 3.0, half);
    let failed = osu(head, "").replace("3.00\n2 ", "3.00  Fail\n2 ");
    assert!(refused(&failed).contains("line 6: the tool found wrong data"));
}

#[test]
fn a_bandwidth_is_a_stream_and_has_no_startup_time() {
    let head =
        "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n";
    let rate = |bytes: u64| format!("{bytes:<10}{:>20.2}", bytes as f64 / time(bytes));
    let told =
        "t0 is the least\n  time between messages: neither a startup time nor half a round trip";
    gives("osu_bw", &text(head, rate), 3.0, told);
    let both = text(head, rate).replace("Bandwidth Test", "Bi-Directional Bandwidth Test");
    assert!(refused(&both).contains("'Bi-Directional Bandwidth' has no time of a single message"));
}

#[test]
fn imb_s_ping_pong() {
    let head = "#    Intel(R) MPI Benchmarks 2021.9, MPI-1 part\n\n# Benchmarking PingPong\n\
                # #processes = 2\n#-----\n       #bytes #repetitions      t[usec]   Mbytes/sec\n";
    let line = |bytes: u64| {
        let rate = bytes as f64 / time(bytes);
        format!("{bytes:>13}{:>13}{:>13.2}{rate:>13.2}", 1000, time(bytes))
    };
    let whole = text(head, line) + "\n\n# All processes entering MPI_Finalize\n\n";
    gives("IMB", &whole, 3.0, "IMB's PingPong prints half of a round trip.");
    // Both send at once: read, and said.
    let exchange = whole.replace("PingPong", "PingPing");
    let place = Place::new();
    let args = ["fit", "hockney", "-"];
    let printed = place.run_with_input(args, exchange.as_bytes()).ends(0).stdout;
    assert!(printed.contains("the fit is of an exchange"), "{printed}");
}

#[test]
fn netpipe_s_lines_and_files() {
    let half = "NetPIPE prints half of a round trip";
    let mbit = |bytes: u64| bytes as f64 * 8.0 / time(bytes);
    let lines = text("Now starting the main loop\n", |bytes| {
        let rate = mbit(bytes) / 1.048_576;
        format!(
            " 1: {bytes:>7} bytes  12345 times --> {rate:>8.2} Mbps in {:>10.2} usec",
            time(bytes)
        )
    });
    gives("NetPIPE", &lines, 3.0, half);
    let three = text("", |bytes| {
        format!("{bytes:>8} {:.6}   {:.8}", mbit(bytes) / 1.048_576, time(bytes) * 1e-6)
    });
    gives("NetPIPE", &three, 3.0, half);
    let five = text("", |bytes| {
        let gbit = mbit(bytes) * 1e-3;
        format!("{bytes:>9} {gbit:>9.3} {gbit:>9.3} {gbit:>9.3} {:>7.2}", time(bytes))
    });
    gives("NetPIPE", &five, 3.0, half);
    // Version 5 rounds sizes above a megabyte: 1048576 and its neighbours become one.
    let mut prefixed = text("", |bytes| {
        let (size, unit) =
            if bytes < 1000 { (bytes as f64, "B") } else { (bytes as f64 / 1e3, "KB") };
        format!(
            "  7: {size:>8} {unit} 99 times --> {:>8.3} Mbps in {:>8.3} usecs",
            mbit(bytes),
            time(bytes)
        )
    });
    for bytes in [2_097_149, 2_097_152, 2_097_155] {
        let time = time(bytes);
        prefixed += &format!("  8:  2.097 MB  9 times -->  15.0 Gbps in {time:>8.3} usecs\n");
    }
    gives("NetPIPE", &prefixed, 3.0, "rounded to kilobytes; np.out has them all");
}

#[test]
fn ucx_perftest_size_after_size() {
    let rule = "+--------------+--------------+------------------------------+\n";
    let run = |bytes: u64| {
        let t = time(bytes);
        format!(
            "{rule}|              |              |       latency (usec)         |\n{rule}\
             |    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  \
             average  |  overall  |\n{rule}\
             [thread 0]  100000  {t:.3} {t:.3} {t:.3}  1.00  1.00  1000  1000\n\
             Final:      200000  {t:.3} {t:.3} {t:.3}  1.00  1.00  1000  1000"
        )
    };
    let half = "ucx_perftest's latency is half of a round trip.";
    for test in ["tag_lat", "am_lat"] {
        let whole = text("", |bytes| {
            format!("$ ucx_perftest node-2 -t {test} -s {bytes} -n 200000\n{}", run(bytes))
        });
        gives("ucx_perftest", &whole, 3.0, half);
    }
    // The server's banner names size and test.
    let whole = text("", |bytes| {
        format!("| Test:         tag match latency |\n| Message size: {bytes}  |\n{}", run(bytes))
    });
    gives("ucx_perftest", &whole, 3.0, half);
    let why = refused(&run(8));
    assert!(
        why.contains("line 7: a result without its message size (put the command line with -s")
    );
    let cut = run(8).replace("Final:", "Stopped");
    assert!(
        refused(&format!("$ ucx_perftest n -t tag_lat -s 8\n{cut}")).contains("the run is cut")
    );
}

#[test]
fn fi_pingpong_s_columns() {
    let head = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n";
    let prefixed = |bytes: u64| match bytes {
        0..1024 => bytes.to_string(),
        1024..1_048_576 => format!("{}k", bytes >> 10),
        _ => format!("{}m", bytes >> 20),
    };
    let line = |bytes: u64| {
        let size = prefixed(bytes);
        format!(
            "{size:<8}10      =10     20        0.00s     99.00 {:>9.2}       0.33",
            time(bytes)
        )
    };
    let told = "fi_pingpong counts two transfers a round trip: its times are half of one.";
    gives("fi_pingpong", &text(head, line), 3.0, told);
}

#[test]
fn sockperf_run_after_run() {
    let run = |bytes: u64, command: &str, summary: &str| {
        format!(
            "{command}sockperf: == version #3.10-no.git ==\nsockperf: Starting test...\n\
             sockperf: Summary: {summary} {:.3} usec\nsockperf: Total 9 observations",
            time(bytes)
        )
    };
    let command = |bytes: u64| format!("$ sockperf ping-pong -i 10.0.0.9 --tcp -m {bytes}\n");
    // Sizes under 14 bytes, which sockperf refuses, are as good as others here.
    let whole = |summary: &'static str| text("", |n| run(n, &command(n), summary));
    gives("sockperf", &whole("Latency is"), 3.0, "sockperf's latency is half of a round trip.");
    let full = "sockperf printed whole round trips (--full-rtt): they are halved.";
    let halved: Value = {
        let place = Place::new();
        let text = whole("Round trip is");
        let printed = place.run_with_input(["fit", "hockney", "-"], text.as_bytes()).ends(0).stdout;
        assert!(printed.contains(full), "{printed}");
        let args = ["fit", "hockney", "-", "--json", "-"];
        place.run_with_input(args, text.as_bytes()).json()
    };
    near("t0", value(&of_kind(&halved, "hockney")[0]["segments"][0]["t0"]), 1.5e-6, 0.01);
    let why = refused(&run(64, "", "Latency is"));
    assert!(
        why.contains("line 3: a latency without its message size") && why.contains("msg-size=N")
    );
}
