//! Signatures of transfers of several lengths n: the LogP parameters as functions of n.

mod figure;

use bandgap_record::{Logp, Operation, Regime, Series};
use bandgap_units::Bytes;

use crate::Layout;
use crate::signature::{participants, state};
use crate::summary::{Row, both, side_by_side};

pub use figure::surface_figure;

/// What a signature's requests carry: `stores`.
fn plural(logp: &Logp) -> &'static str {
    match logp.operation {
        Some(Operation::Store) => "stores",
        Some(Operation::Get) => "gets",
        None => "requests",
    }
}

fn size(logp: &Logp) -> String {
    Bytes(logp.bytes.unwrap_or(0)).to_string()
}

/// One column per length: os(n), or(n), g(n), L(n) and what they are derived from, then how much
/// computation fits beside a transfer where `series` tells it, and what limits the rate.
pub fn surface(signatures: &[&Logp], series: Option<&Series>, layout: &Layout) -> String {
    let Some(first) = signatures.first() else { return String::new() };
    let arrow = if layout.ascii { "->" } else { "→" };
    let what = plural(first);
    let mut text = layout.paragraph(&format!(
        "LogP signature of {what} over {}: {}; {} {}",
        first.transport,
        participants(first, arrow),
        first.launches,
        if first.launches == 1 { "launch" } else { "launches" },
    ));
    let one_state = signatures.iter().all(|logp| logp.state.label == first.state.label);
    if one_state {
        text += &layout.paragraph(&state(&first.state));
    }
    text += &layout.paragraph(&format!(
        "Parameters of {what} of n bytes, with the {} interval below each; L is RTT(n) − os − or − \
         RTT(0)/2:",
        layout.confidence
    ));
    text += "\n";
    let sizes: Vec<String> = signatures.iter().map(|logp| size(logp)).collect();
    let headings: Vec<&str> = sizes.iter().map(String::as_str).collect();
    let beside = |logp: &Logp| {
        let points = &series.as_ref()?.points;
        let same = |point: &&bandgap_record::SeriesPoint| Some(point.bytes) == logp.bytes;
        points.iter().find(same)?.overlap.as_ref().map(both)
    };
    let fits = |logp: &Logp| beside(logp).unwrap_or_default();
    let bound = |logp: &Logp| match logp.regime {
        Regime::NetworkBound => "network".to_owned(),
        Regime::ProcessorBound => "processor".to_owned(),
    };
    let label = |logp: &Logp| logp.state.label.clone();
    let mut rows = Vec::new();
    if signatures.iter().any(|logp| beside(logp).is_some()) {
        rows.push(Row { symbol: "t − o", name: "computation that fits", cell: &fits });
    }
    rows.push(Row { symbol: "bound", name: "bound by", cell: &bound });
    if !one_state {
        rows.push(Row { symbol: "state", name: "state", cell: &label });
    }
    text += &side_by_side(signatures, &headings, &rows, layout);
    let findings: Vec<String> = signatures
        .iter()
        .flat_map(|logp| logp.findings.iter().map(|finding| format!("{}: {finding}", size(logp))))
        .collect();
    if !findings.is_empty() {
        text += "\n";
        text += &layout.bullets(findings.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests;
