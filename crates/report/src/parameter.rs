//! The LogP parameters in the order of the tables, with their names and meanings.

use bandgap_record::{Parameters, Quantity, Regime};

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
    Parameter {
        symbol: "os",
        name: "send overhead",
        meaning: "CPU time per request",
        of: |p| p.send_overhead.as_ref(),
    },
    Parameter {
        symbol: "or",
        name: "receive overhead",
        meaning: "CPU time per reply",
        of: |p| p.recv_overhead.as_ref(),
    },
    Parameter { symbol: "g", name: "gap", meaning: "time per message", of: |p| p.gap.as_ref() },
    Parameter {
        symbol: "L",
        name: "latency",
        meaning: "RTT/2 − os − or",
        of: |p| p.latency.as_ref(),
    },
    Parameter {
        symbol: "RTT",
        name: "round trip",
        meaning: "request until reply",
        of: |p| p.rtt.as_ref(),
    },
    Parameter {
        symbol: "idle",
        name: "idle time",
        meaning: "g − os − or",
        of: |p| p.idle.as_ref(),
    },
    Parameter {
        symbol: "C",
        name: "capacity",
        meaning: "requests under way",
        of: |p| p.capacity.as_ref(),
    },
];

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
            ("idle", Regime::ProcessorBound) => "none",
            _ => "not found",
        }
    }
}
