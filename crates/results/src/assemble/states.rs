//! The placement states as they are recorded.

use bandgap_record::{Evidence, Number, Quantity, State};
use bandgap_units::Ns;

use bandgap_campaign::judge::Judged;

/// The states found, with what their probes say.
pub(super) fn states(judged: &Judged<'_>) -> Vec<State> {
    let found = judged.states().states();
    let all: usize = found.iter().map(|state| state.batches).sum();
    found
        .iter()
        .enumerate()
        .map(|(index, state)| {
            let evidence = |estimator| Evidence::new(estimator, state.batches as u64, true);
            State {
                label: judged.name(Some(index)).unwrap_or_default(),
                probe: Quantity::time(
                    Ns(state.cache_line.centre),
                    Some((Ns(state.cache_line.low), Ns(state.cache_line.high))),
                    evidence("median of probes, with their range"),
                )
                .ok(),
                pace: Quantity::time(Ns(state.pace), None, evidence("median of probes")).ok(),
                share: Number(state.batches as f64 / all.max(1) as f64),
            }
        })
        .collect()
}

/// The state of a machine that shows but one.
pub(super) fn only() -> State {
    State { label: "only".to_owned(), probe: None, pace: None, share: Number(1.0) }
}
