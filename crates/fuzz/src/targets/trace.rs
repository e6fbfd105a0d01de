//! The trace of a PCIe analyser.

use bandgap_model::pcie::{Hardware, Software};
use bandgap_record::read_pcie_trace;
use bandgap_report::Layout;
use bandgap_results::pcie_trace::assemble::{pcie_trace, table};
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
        vec![begin.replace("sequence", "number").into_bytes(), begin.into_bytes()]
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
    let Ok(trace) = read_pcie_trace(input) else { return Verdict::Refused };
    let (named, software) = (("trace", &trace), Software::default());
    let hardware = Hardware::of(named, None, &software);
    let rule = Rule { precision: 0.05, stamp: 0.0 };
    let result = pcie_trace(named, None, &hardware, rule, 0.95);
    let result = result.expect("the times of a trace can be recorded");
    assert!(!text(&[Outcome::from(result)], &Layout::default()).is_empty());
    let made = table(&hardware, &software, None);
    Verdict::from(&made.ok_or(()))
}
