//! The LogP parameters in the order of the tables, with their names and meanings.

use bandgap_model::Regime;
use bandgap_record::Quantity;

use super::schema::Parameters;

/// One parameter.
pub(crate) struct Parameter {
    /// The symbol of the papers.
    pub symbol: &'static str,
    /// The name.
    pub name: &'static str,
    /// What it is, in at most 23 characters: a table of 80 columns has no more.
    pub meaning: &'static str,
    /// Where it is in the record.
    pub of: fn(&Parameters) -> Option<&Quantity>,
}

pub(crate) const PARAMETERS: [Parameter; 7] = [
    row("os", "send overhead", "spent on one request", |p| p.send_overhead.as_ref()),
    row("or", "receive overhead", "spent on one reply", |p| p.recv_overhead.as_ref()),
    row("g", "gap", "time per message", |p| p.gap.as_ref()),
    row("L", "latency", "RTT/2 − os − or", |p| p.latency.as_ref()),
    row("RTT", "round trip", "request until reply", |p| p.rtt.as_ref()),
    row("idle", "idle time", "g − os − or", |p| p.idle.as_ref()),
    row("C", "capacity", "requests under way", |p| p.capacity.as_ref()),
];

const fn row(
    symbol: &'static str,
    name: &'static str,
    meaning: &'static str,
    of: fn(&Parameters) -> Option<&Quantity>,
) -> Parameter {
    Parameter { symbol, name, meaning, of }
}

/// The parameters that were determined, with their symbols.
pub(crate) fn determined(
    parameters: &Parameters,
) -> impl Iterator<Item = (&'static str, &Quantity)> {
    PARAMETERS
        .iter()
        .filter_map(move |parameter| (parameter.of)(parameters).map(|q| (parameter.symbol, q)))
}

impl Parameter {
    /// What a table says in place of a value that was not determined.
    pub fn missing(&self, regime: Regime) -> &'static str {
        match (self.symbol, regime) {
            ("g", Regime::ProcessorBound) => "os + or",
            _ => "not found",
        }
    }
}
