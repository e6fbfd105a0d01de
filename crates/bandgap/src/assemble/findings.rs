//! What there is to say besides the numbers, as sentences.

use bandgap_model::Signature;

use crate::measure::placement::Placements;

/// Share of slowed batches from which on it is worth saying.
const MANY_SLOWED: f64 = 0.2;

/// What there is to say about a signature.
pub(super) fn of_signature(signature: &Signature) -> Vec<String> {
    let mut findings: Vec<String> = signature.findings.iter().map(ToString::to_string).collect();
    if signature.recv_overhead.high < 0.0 {
        findings.push(
            "or is negative: with a delay between them requests cost less than os + Δ; the processor \
             probably handles replies while it computes."
                .to_owned(),
        );
    }
    findings
}

/// What there is to say about cores that something else used.
pub(super) fn slowed(placements: &Placements, seen: Option<usize>) -> Option<String> {
    let states = placements.states();
    let seen = states.get(seen?)?;
    let slowed: usize = states.iter().filter(|s| s.slowed).map(|s| s.batches).sum();
    let all: usize = states.iter().map(|state| state.batches).sum();
    let share = 100.0 * slowed as f64 / all.max(1) as f64;
    let who = "(a neighbour on a virtual machine, or the other thread of a core)";
    if seen.slowed {
        Some(format!(
            "during {share:.0} % of the batches something else used a rank's core {who}: what is \
             shown is the machine under that load, which is not the machine left alone. Repeat \
             at a quieter time, or choose other cores with --cores"
        ))
    } else if share > 100.0 * MANY_SLOWED {
        Some(format!(
            "during {share:.0} % of the batches something else used a rank's core {who}; they \
             are set aside, and what is shown is the machine left alone"
        ))
    } else {
        None
    }
}
