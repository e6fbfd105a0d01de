//! Signatures of transfers of several lengths n: the LogP parameters as functions of n.

use bandgap_model::Regime;
use bandgap_report::Layout;
use bandgap_report::table::both;
use bandgap_units::Bytes;

use super::schema::{Logp, Operation};
use super::side_by_side::{Column, Row, estimators, side_by_side};
use super::text::heading;
use crate::measured::sentences;
use crate::series::{Series, SeriesPoint};

/// What a signature's requests carry: `stores`.
pub(super) fn plural(logp: &Logp) -> &'static str {
    match logp.operation {
        Some(Operation::Store) => "stores",
        Some(Operation::Get) => "gets",
        None => "requests",
    }
}

pub(super) fn size(logp: &Logp) -> String {
    Bytes(logp.bytes.unwrap_or(0)).to_string()
}

/// One column per length: os(n), or(n), g(n), L(n) and what they are derived from, then how much
/// computation fits beside a transfer where `series` tells it, and what limits the rate.
pub(super) fn page(signatures: &[&Logp], series: Option<&Series>, layout: &Layout) -> String {
    let Some(first) = signatures.first() else { return String::new() };
    let what = plural(first);
    let mut text = heading(first, &format!(" of {what}"), layout);
    let one_state = signatures.iter().all(|logp| logp.state.label == first.state.label);
    if one_state {
        text += &layout.paragraph(&first.state.line());
    }
    text += &layout.paragraph(&format!(
        "Parameters of {what} of n bytes, with the {} interval below each; L is RTT(n) − os − or − \
         RTT(0)/2:",
        layout.confidence
    ));
    text += "\n";
    let beside = |logp: &Logp| {
        let same = |point: &&SeriesPoint| Some(point.bytes) == logp.bytes;
        series?.points.iter().find(same)?.overlap.as_ref().map(both)
    };
    let overlapped = signatures.iter().any(|logp| beside(logp).is_some());
    let rows: [(bool, Row); 3] = [
        (overlapped, ("t − o", "computation that fits")),
        (true, ("bound", "bound by")),
        (!one_state, ("state", "state")),
    ];
    let further = |logp: &Logp| {
        let bound = bound(logp.regime).to_owned();
        let cells = [beside(logp).unwrap_or_default(), bound, logp.state.label.clone()];
        rows.iter().zip(cells).filter(|(row, _)| row.0).map(|(_, cell)| cell).collect()
    };
    let columns = signatures.iter().map(|logp| Column::of(logp, size(logp), further(logp)));
    let columns: Vec<Column<'_>> = columns.collect();
    let rows: Vec<Row> = rows.iter().filter(|row| row.0).map(|row| row.1).collect();
    text += &side_by_side(&columns, &rows, layout);
    text += &estimators(signatures, layout);
    let findings = signatures
        .iter()
        .flat_map(|logp| logp.findings.iter().map(|finding| format!("{}: {finding}", size(logp))));
    text + &sentences(&findings.collect::<Vec<_>>(), layout)
}

/// What limits the rate.
fn bound(regime: Regime) -> &'static str {
    match regime {
        Regime::NetworkBound => "network",
        Regime::ProcessorBound => "processor",
    }
}

#[cfg(test)]
mod tests;
