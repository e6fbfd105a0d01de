//! The trace of a PCIe analyser.

use bandgap_model::pcie::{Given, Hardware, Software};
use bandgap_record::read_pcie_trace;
use bandgap_report::Layout;
use bandgap_results::pcie_trace::assemble::pcie_trace;
use bandgap_results::pcie_trace::components::table;
use bandgap_results::{Outcome, text};
use bandgap_stats::Rule;

use crate::{Shape, Target, Verdict};

pub(super) const TRACE: Target = Target {
    name: "pcie-trace",
    about: "the rows of a PCIe analyser",
    shape: Shape::Lines,
    real: &["docs/examples/pcie-ping-pong.csv", "docs/examples/pcie-put-bw.csv"],
    made: || {
        let text = include_str!("../../../../docs/examples/pcie-ping-pong.csv");
        let begin = text.lines().take(40).collect::<Vec<_>>().join("\n");
        vec![begin.replace("sequence", "tag").into_bytes(), begin.into_bytes()]
    },
    wrong: Vec::new,
    words: &[
        "time_ns",
        "time_ps",
        "time_us",
        "time_ms",
        "time_s",
        "direction",
        "type",
        "bytes",
        "address",
        "sequence",
        "tag",
        "up",
        "down",
        "MWr",
        "MRd",
        "CplD",
        "ACK",
        "NAK",
        "UpdateFC-P",
        "0x3800000800",
        "0xffffffffffffffff",
    ],
    read,
    share: 3,
};

fn read(input: &[u8]) -> Verdict {
    let Ok(trace) = read_pcie_trace(input, Given::default()) else { return Verdict::Refused };
    let Ok(trace) = trace.finish() else { return Verdict::Refused };
    let hardware = Hardware::of(&trace, None, Software::default(), 0.95);
    let rule = Rule { precision: 0.05, stamp: 0.0 };
    // What is too long for a number is said, and not recorded.
    if let Ok(result) = pcie_trace(("trace", &trace), None, &hardware, rule, 0.95) {
        assert!(!text(&[Outcome::from(result)], &Layout::default()).is_empty());
    }
    Verdict::from(&table(&hardware, Software::default(), None, 0.95))
}
