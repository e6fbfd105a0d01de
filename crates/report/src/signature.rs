//! A LogP signature for a reader: what was measured, the parameters, and what they mean.

mod figure;
mod text;

use bandgap_record::{Logp, Measure, Pattern};

pub(crate) use figure::nanoseconds;
pub use figure::signature_figure;
pub use text::signature;
pub(crate) use text::state;

/// Who talks to whom, on which processors: `one-to-one, 2 ranks, rank 0 on core 0 → …`.
pub(crate) fn participants(logp: &Logp, arrow: &str) -> String {
    let pattern = match logp.pattern {
        Pattern::OneToOne => "one-to-one",
        Pattern::Pairs => "pairs",
        Pattern::FanOut => "fan-out",
        Pattern::FanIn => "fan-in",
    };
    let mut text = format!("{pattern}, {} ranks", logp.ranks);
    match (logp.pair, logp.cores) {
        (Some([from, to]), Some([here, there])) => {
            text += &format!(", rank {from} on core {here} {arrow} rank {to} on core {there}");
        }
        (Some([from, to]), None) => text += &format!(", rank {from} {arrow} rank {to}"),
        (None, Some([here, there])) => text += &format!(", core {here} {arrow} core {there}"),
        (None, None) => {}
    }
    if let Some(distance) = &logp.distance {
        text += &format!(" ({distance})");
    }
    text
}

/// The delays Δ of the issue points in ns, each once, ascending.
pub(crate) fn delays(logp: &Logp) -> Vec<f64> {
    let issue = logp.points.iter().filter(|point| point.measure == Measure::Issue);
    let mut delays: Vec<f64> = issue.map(|point| point.delay.ns().0).collect();
    delays.sort_by(f64::total_cmp);
    delays.dedup();
    delays
}

#[cfg(test)]
pub(crate) mod tests;
