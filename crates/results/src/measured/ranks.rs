//! Which ranks were measured over what, in words.

use std::fmt;

use bandgap_report::Layout;

/// The transport of what somebody else measured.
pub const TABLE: &str = "table";

/// How the transports of virtual time begin.
pub(crate) const VIRTUAL: &str = "sim:";

/// Two ranks, or two processors.
pub type Pair = [u32; 2];

/// What was measured over which transport; a table has none.
pub(crate) fn over(name: &str, transport: &str) -> String {
    match transport {
        TABLE => name.to_owned(),
        transport => format!("{name} over {transport}"),
    }
}

/// Who takes part: `2 ranks, rank 0 on core 0 → rank 1 on core 1`.
pub(crate) fn of_ranks(
    ranks: impl fmt::Display,
    pair: Option<Pair>,
    cores: Option<Pair>,
    arrow: &str,
) -> String {
    let who = match (pair, cores) {
        (Some([from, to]), Some([here, there])) => {
            format!(", rank {from} on core {here} {arrow} rank {to} on core {there}")
        }
        (Some([from, to]), None) => format!(", rank {from} {arrow} rank {to}"),
        _ => String::new(),
    };
    format!("{ranks} ranks{who}")
}

/// How far apart two processors are: ` (one hop)`, or as the system describes a real machine, ` (system: same
/// package)`. Where that is virtual, the probes may read something else.
pub(crate) fn apart(distance: Option<&str>, transport: &str) -> String {
    let by = if transport.starts_with(VIRTUAL) { "" } else { "system: " };
    distance.map(|distance| format!(" ({by}{distance})")).unwrap_or_default()
}

/// From one to the other.
pub(crate) fn arrow(layout: &Layout) -> &'static str {
    if layout.ascii { "->" } else { "→" }
}

/// `3 launches`.
pub(crate) fn launches(count: u32) -> String {
    format!("{count} {}", if count == 1 { "launch" } else { "launches" })
}

/// A transport's name without what a file name cannot have.
pub(crate) fn named_file(transport: &str) -> String {
    transport.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
