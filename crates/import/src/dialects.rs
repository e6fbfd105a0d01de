//! The dialects that are read: a row for each kind of output, in families whose files look alike.

use crate::columns::Timing;
use crate::headed;
use crate::lines::Line;
use crate::netpipe;
use crate::sockperf;
use crate::table::{Dialect, Family, MICROSECONDS, US, Unit, dialect};
use crate::ucx;

use Timing::{Exchange, HalfRoundTrip, Stream};

const OSU: &[Dialect] = &[
    //       tool                               size, beside, time          unit     what a time is
    dialect(("osu_latency", "Latency"), ["Size", "", "Latency"], US, HalfRoundTrip),
    dialect(
        ("osu_latency_mt", "Multi-threaded Latency"),
        ["Size", "", "Latency"],
        US,
        HalfRoundTrip,
    ),
    // The tool divides by 10⁶.
    dialect(("osu_bw", "Bandwidth"), ["Size", "", "Bandwidth"], (Unit::Rate(1e6), 1.0), Stream),
];

const IMB: &[Dialect] = &[
    dialect(("IMB", "PingPong"), ["bytes", "#repetitions", "t"], US, HalfRoundTrip),
    dialect(("IMB", "PingPing"), ["bytes", "#repetitions", "t"], US, Exchange),
];

const FABRIC: &[Dialect] = &[
    dialect(("fi_pingpong", ""), ["bytes", "#sent", "usec/xfer"], US, HalfRoundTrip),
    // The columns of all of libfabric's fabtests.
    dialect(("fi_pingpong", "ping-pong"), ["bytes", "", "usec/xfer"], US, HalfRoundTrip),
];

const NETPIPE: &[Dialect] = &[dialect(("NetPIPE", ""), ["", "", "times -->"], US, HalfRoundTrip)];

const UCX: &[Dialect] = &[
    dialect(("ucx_perftest", "_lat"), ["", "iterations", "overall_lat"], US, HalfRoundTrip),
    dialect(("ucx_perftest", "_bw"), ["", "iterations", "overall_lat"], US, Stream),
];

const SOCKPERF: &[Dialect] = &[
    dialect(("sockperf", "ping-pong"), ["", "", "Summary: Latency is"], US, HalfRoundTrip),
    dialect(
        ("sockperf --full-rtt", "ping-pong"),
        ["", "", "Summary: Round trip is"],
        (MICROSECONDS, 0.5),
        HalfRoundTrip,
    ),
];

pub(crate) const FAMILIES: &[Family] = &[
    Family { name: "OSU", dialects: OSU, title: osu, tells: headed::tells, read: headed::read },
    Family { name: "IMB", dialects: IMB, title: imb, tells: headed::tells, read: headed::read },
    Family {
        name: "fi_pingpong",
        dialects: FABRIC,
        title: |_| None,
        tells: headed::tells,
        read: headed::read,
    },
    Family {
        name: "NetPIPE",
        dialects: NETPIPE,
        title: |_| None,
        tells: |_, lines| lines.iter().find(|line| netpipe::tells(line)),
        read: netpipe::read,
    },
    Family {
        name: "NetPIPE's np.out",
        dialects: NETPIPE,
        title: |_| None,
        tells: |_, lines| netpipe::units(lines).and(lines.first()),
        read: netpipe::read_np_out,
    },
    Family {
        name: "ucx_perftest",
        dialects: UCX,
        title: |_| None,
        tells: |_, lines| lines.iter().find(|line| ucx::tells(line)),
        read: ucx::read,
    },
    Family {
        name: "ucx_perftest's CSV",
        dialects: UCX,
        title: |_| None,
        tells: |_, lines| lines.iter().find(|line| ucx::tells_csv(line)),
        read: ucx::read_csv,
    },
    Family {
        name: "sockperf",
        dialects: SOCKPERF,
        title: |_| None,
        tells: sockperf::tells,
        read: sockperf::read,
    },
];

/// `# OSU MPI Latency Test v7.4` gives `Latency`; one-sided tests keep the name of the call, as in
/// `MPI_Put Latency`.
fn osu(line: &Line) -> Option<String> {
    let words: Vec<&str> = line.text.trim_start_matches(['#', ' ']).split_whitespace().collect();
    let end = words.iter().position(|word| *word == "Test").filter(|end| *end > 2)?;
    // The word after the name is the library that was called: MPI, MPI-CUDA, OpenSHMEM.
    let begin = if words[1].starts_with("MPI_") { 1 } else { 2 };
    (words[0] == "OSU").then(|| words[begin..end].join(" "))
}

/// `# Benchmarking PingPong`.
fn imb(line: &Line) -> Option<String> {
    let name = line.text.trim_start_matches(['#', ' ']).strip_prefix("Benchmarking ")?;
    name.split_whitespace().next().map(str::to_owned)
}
