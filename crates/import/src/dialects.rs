//! The supported dialects: one row for each kind of output, grouped into families whose files look
//! alike. GUIDE.md lists them.

use crate::columns::Timing;
use crate::headed::{self, bare};
use crate::json::{read_iperf, read_nccl, read_verbs};
use crate::lines::{command, option};
use crate::netpipe;
use crate::records;
use crate::sockperf;
use crate::table::{Dialect, Family, MICROSECONDS, US, Unit, dialect};
use crate::ucx;

use Timing::{Collective, Completed, Exchange, HalfRoundTrip, RoundTrip, Stream};

/// The tool divides by 10⁶.
const MB: (Unit, f64) = (Unit::Rate(1e6), 1.0);
/// The tool writes MB and divides by 2²⁰.
const MIB: (Unit, f64) = (Unit::Rate(1_048_576.0), 1.0);
const ROUND_TRIPS: (Unit, f64) = (Unit::Frequency, 0.5);

const ONE_PAIR: &str = "valid for one pair of ranks";
const AVERAGE: &str = "t_avg";
const GROUPS: &str = "t_avg over groups at once";
const OUT_OF_PLACE: &str = "out-of-place";
const IN_PLACE: &str = "in-place";
const OR_STREAM: &str =
    "valid for a ping-pong: the bandwidth programs of fabtests print the same columns";
const NO_MODE: &str = "valid for a ping-pong: np.out does not hold the mode (--stream, --bidir)";

const LATENCY: [&str; 3] = ["size", "", "latency"];
const BANDWIDTH: [&str; 3] = ["size", "", "bandwidth"];
const FABTESTS: [&str; 3] = ["bytes", "", "usec/xfer"];

#[rustfmt::skip]
const OSU: &[Dialect] = &[
    //       tool                   test                       size, beside, time  unit  what a time is
    dialect(("osu_latency", "Latency"), LATENCY, US, HalfRoundTrip),
    dialect(("osu_latency_persistent", "Latency Persistent"), LATENCY, US, HalfRoundTrip),
    dialect(("osu_latency_mt", "Multi-threaded Latency"), LATENCY, US, HalfRoundTrip),
    dialect(("osu_latency_mp", "Multi-process Latency"), LATENCY, US, HalfRoundTrip),
    dialect(("osu_multi_lat", "Multi Latency"), LATENCY, US, HalfRoundTrip).but(ONE_PAIR),
    dialect(("osu_put_latency", "MPI_Put Latency"), LATENCY, US, Completed),
    dialect(("osu_get_latency", "MPI_Get Latency"), LATENCY, US, Completed),
    dialect(("osu_fop_latency", "MPI_Fetch_and_op Latency"), LATENCY, US, Completed),
    dialect(("osu_cas_latency", "MPI_Compare_and_swap Latency"), LATENCY, US, Completed),
    dialect(("osu_acc_latency", "MPI_Accumulate Latency"), LATENCY, US, Completed),
    dialect(("osu_get_acc_latency", "MPI_Get_accumulate Latency"), LATENCY, US, Completed),
    dialect(("osu_oshm_get", "OpenSHMEM Get"), LATENCY, US, Completed),
    dialect(("osu_oshm_put", "OpenSHMEM Put"), LATENCY, US, Completed),
    dialect(("osu_bw", "Bandwidth"), BANDWIDTH, MB, Stream),
    dialect(("osu_bw_persistent", "Bandwidth Persistent"), BANDWIDTH, MB, Stream),
    dialect(("osu_mbw_mr", "Multiple Bandwidth / Message Rate"), ["size", "messages/s", "mb/s"], MB, Stream).but(ONE_PAIR),
    dialect(("osu_put_bw", "MPI_Put Bandwidth"), BANDWIDTH, MB, Stream),
    dialect(("osu_get_bw", "MPI_Get Bandwidth"), BANDWIDTH, MB, Stream),
];

#[rustfmt::skip]
const IMB: &[Dialect] = &[
    dialect(("IMB", "PingPong"), ["bytes", "#repetitions", "t"], US, HalfRoundTrip),
    dialect(("IMB", "PingPong"), ["bytes", "#repetitions", "t_avg"], US, HalfRoundTrip).but(AVERAGE),
    dialect(("IMB", "PingPongAnySource"), ["bytes", "#repetitions", "t"], US, HalfRoundTrip),
    dialect(("IMB", "PingPongSpecificSource"), ["bytes", "#repetitions", "t"], US, HalfRoundTrip),
    dialect(("IMB", "PingPongMT"), ["bytes", "#repetitions", "t_avg"], US, HalfRoundTrip).but(AVERAGE),
    dialect(("IMB", "Multi-PingPong"), ["bytes", "#repetitions", "t_avg"], US, HalfRoundTrip).but(GROUPS),
    dialect(("IMB", "PingPing"), ["bytes", "#repetitions", "t"], US, Exchange),
    dialect(("IMB", "PingPing"), ["bytes", "#repetitions", "t_avg"], US, Exchange).but(AVERAGE),
    dialect(("IMB", "PingPingAnySource"), ["bytes", "#repetitions", "t"], US, Exchange),
    dialect(("IMB", "PingPingSpecificSource"), ["bytes", "#repetitions", "t"], US, Exchange),
    dialect(("IMB", "Multi-PingPing"), ["bytes", "#repetitions", "t_avg"], US, Exchange).but(GROUPS),
    dialect(("IMB", "Unidir_put"), ["bytes", "#repetitions", "t"], US, Completed),
    dialect(("IMB", "Unidir_get"), ["bytes", "#repetitions", "t"], US, Completed),
];

#[rustfmt::skip]
const FABRIC: &[Dialect] = &[
    dialect(("fi_pingpong", ""), ["bytes", "#sent", "usec/xfer"], US, HalfRoundTrip),
    // The columns of all of libfabric's fabtests.
    dialect(("fi_pingpong", "ping-pong"), FABTESTS, US, HalfRoundTrip).but(OR_STREAM),
    dialect(("fi_pingpong", "pingpong"), FABTESTS, US, HalfRoundTrip),
    dialect(("fi_rma_bw", "fi_rma_bw"), FABTESTS, US, Stream),
    dialect(("fi_msg_bw", "fi_msg_bw"), FABTESTS, US, Stream),
    dialect(("fi_rdm_bw", "fi_rdm_bw"), FABTESTS, US, Stream),
    dialect(("fi_rdm_tagged_bw", "fi_rdm_tagged_bw"), FABTESTS, US, Stream),
];

#[rustfmt::skip]
const VERBS: &[Dialect] = &[
    dialect(("ib_send_lat", "Send Latency"), ["bytes", "#iterations", "t_avg"], US, HalfRoundTrip),
    dialect(("ib_write_lat", "RDMA Write Latency"), ["bytes", "#iterations", "t_avg"], US, HalfRoundTrip),
    dialect(("ib_read_lat", "RDMA Read Latency"), ["bytes", "#iterations", "t_avg"], US, RoundTrip),
    dialect(("ib_atomic_lat", "Atomic Latency"), ["bytes", "#iterations", "t_avg"], US, RoundTrip),
    dialect(("ib_send_bw", "Send BW"), ["bytes", "#iterations", "average"], MIB, Stream),
    dialect(("ib_write_bw", "RDMA Write BW"), ["bytes", "#iterations", "average"], MIB, Stream),
    dialect(("ib_read_bw", "RDMA Read BW"), ["bytes", "#iterations", "average"], MIB, Stream),
    dialect(("ib_atomic_bw", "Atomic BW"), ["bytes", "#iterations", "average"], MIB, Stream),
];

#[rustfmt::skip]
const NCCL: &[Dialect] = &[
    dialect(("nccl-tests", "collective"), ["size", "type", "time"], US, Collective).but(OUT_OF_PLACE),
    dialect(("nccl-tests", "sendrecv"), ["size", "type", "time"], US, Exchange).but(OUT_OF_PLACE),
    // MSCCL++'s tables lack the type, and begin with the times in place.
    dialect(("mscclpp-test", "collective"), ["size", "algbw", "time"], US, Collective).but(IN_PLACE),
    dialect(("mscclpp-test", "sendrecv"), ["size", "algbw", "time"], US, Exchange).but(IN_PLACE),
];

#[rustfmt::skip]
const MPPTEST: &[Dialect] = &[
    // An older version prints whole round trips, and also the time of all repetitions.
    dialect(("mpptest", ""), ["len", "time", "ave time"], (MICROSECONDS, 0.5), HalfRoundTrip),
    dialect(("mpptest", ""), ["len", "dist", "ave time"], US, HalfRoundTrip),
];

#[rustfmt::skip]
const NETPIPE: &[Dialect] = &[
    dialect(("NetPIPE", "ping-pong"), ["", "", "times -->"], US, HalfRoundTrip),
    dialect(("NetPIPE --stream", "stream"), ["", "", "times -->"], US, Stream),
    dialect(("np.out", "np.out"), ["", "", "time"], US, HalfRoundTrip).but(NO_MODE),
];

#[rustfmt::skip]
const QPERF: &[Dialect] = &[
    dialect(("qperf", "_lat"), ["", "", "latency"], US, HalfRoundTrip),
    dialect(("qperf", "_read_lat"), ["", "", "latency"], US, RoundTrip),
    dialect(("qperf", "_bw"), ["", "", "bw"], MB, Stream),
];

#[rustfmt::skip]
const NETPERF: &[Dialect] = &[
    dialect(("netperf", "TCP_RR"), ["size", "recv", "rate"], ROUND_TRIPS, HalfRoundTrip),
    dialect(("netperf", "UDP_RR"), ["size", "recv", "rate"], ROUND_TRIPS, HalfRoundTrip),
];

const UCX: &[Dialect] = &[
    dialect(("ucx_perftest", "_lat"), ["", "iterations", "overall_lat"], US, HalfRoundTrip),
    dialect(("ucx_perftest", "_bw"), ["", "iterations", "overall_lat"], US, Stream),
];

#[rustfmt::skip]
const SOCKPERF: &[Dialect] = &[
    dialect(("sockperf", "ping-pong"), ["", "", "Summary: Latency is"], US, HalfRoundTrip),
    dialect(("sockperf --full-rtt", "full-rtt"), ["", "", "Summary: Round trip is"], (MICROSECONDS, 0.5), HalfRoundTrip),
    dialect(("sockperf throughput", "throughput"), ["", "", "Summary: Message Rate is"], (Unit::Frequency, 1.0), Stream),
];

const IPERF: &[Dialect] =
    &[dialect(("iperf3", "JSON"), ["", "", ""], (Unit::Rate(0.125), 1.0), Stream)];

/// A family whose files have columns under headings but no titles.
const HEADED: Family =
    Family { name: "", dialects: &[], title: |_| None, tells: headed::tells, read: headed::read };

#[rustfmt::skip]
pub(crate) const FAMILIES: &[Family] = &[
    Family { name: "OSU", dialects: OSU, title: osu, ..HEADED },
    Family { name: "IMB", dialects: IMB, title: imb, ..HEADED },
    Family { name: "fi_pingpong and fabtests", dialects: FABRIC, title: fabric, ..HEADED },
    Family { name: "linux-rdma/perftest", dialects: VERBS, title: verbs, ..HEADED },
    Family { name: "nccl-tests", dialects: NCCL, title: nccl, ..HEADED },
    Family { name: "mpptest", dialects: MPPTEST, ..HEADED },
    Family { name: "NetPIPE", dialects: NETPIPE, tells: |_, text| netpipe::tells(text), read: netpipe::read, ..HEADED },
    Family { name: "ucx_perftest", dialects: UCX, tells: |_, text| ucx::tells(text), read: ucx::read, ..HEADED },
    Family { name: "ucx_perftest's CSV", dialects: UCX, tells: |_, text| ucx::tells_csv(text), read: ucx::read_csv, ..HEADED },
    Family { name: "sockperf", dialects: SOCKPERF, tells: sockperf::tells, read: sockperf::read, ..HEADED },
    Family { name: "iperf3 --json", dialects: IPERF, tells: |_, text| text.contains("\"test_start\"") || text.contains("\"iperf 3"), read: read_iperf, ..HEADED },
    Family { name: "perftest --out_json", dialects: VERBS, title: verbs, tells: |_, text| text.contains("\"test_info\""), read: read_verbs },
    Family { name: "nccl-tests -J", dialects: NCCL, title: nccl, tells: |_, text| text.contains("\"out_of_place\""), read: read_nccl },
    Family { name: "qperf", dialects: QPERF, title: records::qperf, tells: |_, text| records::qperf(text).is_some(), read: records::read },
    Family { name: "netperf", dialects: NETPERF, title: records::netperf, tells: |family, text| records::tells(text) || headed::tells(family, text), read: records::read },
];

/// `# OSU MPI Latency Test v7.4` gives `Latency`; one-sided tests keep the name of the call, as in
/// `MPI_Put Latency`. OMB's Python edition writes `# OMB Python MPI Latency Test`.
fn osu(text: &str) -> Option<String> {
    let words: Vec<&str> = bare(text).split_whitespace().collect();
    let begin = words.iter().take(4).position(|word| *word == "OSU" || word.starts_with("OMB"))?;
    if begin > 0 && !text.trim_start().starts_with('#') {
        return None;
    }
    let end = words.iter().position(|word| *word == "Test").filter(|end| *end > begin + 1)?;
    // The words after the name are the library under test: MPI, MPI-CUDA, xCCL.
    let is_library = |word: &&&str| {
        let libraries = ["NCCL", "RCCL", "xCCL", "Python", "Java", "One", "Sided"];
        word.starts_with("MPI") && !word.starts_with("MPI_")
            || libraries.iter().any(|library| word.starts_with(library))
    };
    let persistent = words.get(end + 1).filter(|word| **word == "Persistent");
    let words = &words[begin + 1..end];
    let begin = words.iter().take_while(is_library).count();
    let name: Vec<&str> = words[begin..].iter().chain(persistent).copied().collect();
    // The name of a call may be followed by the kind of memory.
    let name = name.join(" ").replace("-CUDA ", " ").replace("-ROCM ", " ");
    (begin < words.len()).then_some(name)
}

/// The command line `fi_rma_bw -o write node-2`.
fn fabric(text: &str) -> Option<String> {
    let test = |program: &str| match program.strip_prefix("fi_")?.ends_with("pingpong") {
        true => Some("pingpong"),
        false => FABRIC.iter().map(|dialect| dialect.test).find(|test| *test == program),
    };
    command(text, test).map(|(test, _)| test.to_owned())
}

/// `# Benchmarking PingPong`. Puts and gets that complete together are no single messages.
fn imb(text: &str) -> Option<String> {
    if text.contains("MODE: AGGREGATE") {
        return Some("aggregate".to_owned());
    }
    let name = bare(text).strip_prefix("Benchmarking")?.trim_start_matches([':', ' ', '\t']);
    name.split_whitespace().next().map(str::to_owned)
}

/// `   Send Latency Test`, `RDMA_Read BW Test`, or the command line `ib_read_lat node-2`.
fn verbs(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(name) = text.strip_suffix(" Test") {
        // How requests are posted, or the atomic operation, does not change the meaning of a time.
        let how = ["Post List ", "FETCH AND ADD ", "CMP AND SWAP "];
        let name = how.iter().fold(name.replace('_', " "), |name, how| name.replace(how, ""));
        let kinds = ["Send", "RDMA Write", "RDMA Read", "Atomic"];
        return kinds.iter().any(|kind| name.starts_with(kind)).then_some(name);
    }
    let (dialect, words) = command(text, |program| VERBS.iter().find(|of| of.tool == program))?;
    // Letters of options without a value may stand together.
    let both = |word: &&str| {
        let letters = word.strip_prefix('-').unwrap_or("");
        let letters = letters.trim_start_matches(|c| "aCeFgHNORUVhz".contains(c));
        letters.starts_with('b') || *word == "--bidirectional"
    };
    let several = option(&words, &["-q", "--qp"]).is_some_and(|pairs| pairs != "1");
    Some(match dialect.test {
        test if words.iter().any(both) => format!("{test}, both ways at once"),
        test if several => format!("{test}, several queue pairs"),
        test => test.to_owned(),
    })
}

/// `# Collective test starting: all_reduce_perf`, or the command line.
fn nccl(text: &str) -> Option<String> {
    let mut words = text.split(|c: char| c.is_whitespace() || c == '/');
    let program = words.find_map(|word| word.strip_suffix("_perf"))?;
    let known = ["all", "reduce", "broadcast", "scatter", "gather", "hypercube", "sendrecv"];
    let name = if program == "sendrecv" { "sendrecv" } else { "collective" };
    known.iter().any(|known| program.starts_with(known)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::FAMILIES;

    /// What is read, in a line for each family.
    fn list() -> String {
        let mut list = String::new();
        for family in FAMILIES {
            let mut names: Vec<String> = Vec::new();
            for dialect in family.dialects {
                let name = if dialect.tool == "IMB" { dialect.test } else { dialect.tool };
                let name = format!("`{name}`");
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let (name, names) = (family.name, names.join(", "));
            let alone = names == format!("`{name}`");
            list += &if alone { format!("- {names}\n") } else { format!("- {name}: {names}\n") };
        }
        list
    }

    #[test]
    fn the_guide_lists_what_is_read() {
        let guide = include_str!("../../../GUIDE.md").replace("\n  ", " ");
        assert!(guide.contains(&list()), "GUIDE.md must have:\n{}", list());
    }
}
