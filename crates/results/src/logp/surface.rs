//! Signatures of transfers of several lengths n: the LogP parameters as functions of n.

use bandgap_model::Regime;
use bandgap_report::Layout;
use bandgap_report::table::both;
use bandgap_units::Bytes;

use super::schema::{Logp, Operation};
use super::side_by_side::{Column, estimators, side_by_side};
use super::text::heading;
use crate::kind::Shown;
use crate::measured::{listed, sentences};
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

/// One column per length, of one length at least: os(n), or(n), g(n), L(n) and what they are derived from, then how much
/// computation fits beside a transfer where `series` tells it, and what limits the rate.
pub(super) fn page<'a>(
    signatures: &[&'a Logp],
    series: Option<&Series>,
    layout: &Layout,
) -> String {
    let first = signatures[0];
    let what = plural(first);
    let mut text = heading(first, &format!(" of {what}"), layout);
    let one_state = signatures.iter().all(|logp| logp.state.label == first.state.label);
    if one_state {
        text += &first.state.paragraphs("", layout);
    }
    text += &layout.paragraph(&format!(
        "Parameters of {what} of n bytes, with the {} interval below each; L is RTT(n) − os − or − \
         RTT(0)/2:",
        layout.confidence
    ));
    text += "\n";
    let at = |logp: &Logp| {
        let same = |point: &&SeriesPoint| Some(point.bytes) == logp.bytes;
        series?.points.iter().find(same)?.overlap.as_ref()
    };
    // A column is of one state.
    let in_state = |logp: &Logp| series.is_some_and(|of| of.state.label == logp.state.label);
    let beside = |logp: &Logp| at(logp).filter(|_| in_state(logp)).map(both);
    let overlapped = signatures.iter().any(|logp| beside(logp).is_some());
    let column = |logp: &&'a Logp| {
        let overlap = ("t − o", "computation that fits", beside(logp).unwrap_or_default());
        let bound = ("bound", "bound by", bound(logp.regime).to_owned());
        let state = ("state", "state", logp.state.label.clone());
        let rows = [(overlapped, overlap), (true, bound), (!one_state, state)];
        let further = rows.into_iter().filter(|row| row.0).map(|(_, row)| row).collect();
        Column::of(logp, size(logp), further)
    };
    let columns: Vec<Column<'_>> = signatures.iter().map(column).collect();
    text += &side_by_side(&columns, layout);
    text += &estimators(signatures, layout);
    let apart: Vec<String> = signatures
        .iter()
        .filter(|logp| at(logp).is_some() && !in_state(logp))
        .map(|logp| size(logp))
        .collect();
    let findings = signatures.iter().flat_map(|logp| {
        logp.findings().iter().map(|finding| format!("{}: {finding}", size(logp)))
    });
    let all: Vec<String> =
        series.and_then(|of| of_other_state(of, &apart)).into_iter().chain(findings).collect();
    text + &sentences(&all, layout)
}

/// Why t − o does not stand beside the signatures of these sizes, if there are some.
fn of_other_state(series: &Series, sizes: &[String]) -> Option<String> {
    let state = &series.state.label;
    (!sizes.is_empty()).then(|| {
        format!(
            "t − o was measured in the state {state}. The signatures of {} are of another state, so it is \
             not given beside them.",
            listed(sizes)
        )
    })
}

/// What limits the rate.
fn bound(regime: Regime) -> &'static str {
    match regime {
        Regime::NetworkBound => "network",
        Regime::ProcessorBound => "processor",
        Regime::Overlapped => "overlapped",
        Regime::Undecided => "undecided",
    }
}

#[cfg(test)]
mod tests;
