//! The placement states of the machine.

use bandgap_campaign::judge::Judged;
use bandgap_campaign::placement::Placement;
use bandgap_record::{Evidence, Number, Quantity};
use bandgap_report::table::value;
use bandgap_units::{Fraction, Ns};
use serde::{Deserialize, Serialize};

/// A state of the machine, as the probes around the batches found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Its name within this run.
    pub label: String,
    /// The probe's time in this state, one way of a cache-line ping-pong; absent where none was
    /// taken.
    pub probe: Option<Quantity>,
    /// The pace in this state: the time of a fixed amount of arithmetic of the slower of the two
    /// processors, which rises when something else uses a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Quantity>,
    /// Share of the batches that fell into it.
    pub share: Number,
}

/// Share of slowed batches from which on it is worth saying.
const MANY_SLOWED: f64 = 0.2;

impl State {
    /// The state of a machine that shows but one.
    pub(crate) fn only() -> State {
        State { label: "only".to_owned(), probe: None, pace: None, share: Number(1.0) }
    }

    /// The states found, with what their probes say.
    pub(crate) fn all(judged: &Judged<'_>) -> Vec<State> {
        let found = judged.states().states();
        let all: usize = found.iter().map(|state| state.batches).sum();
        let recorded = |(index, state): (usize, &Placement)| {
            let evidence = |estimator| Evidence::new(estimator, state.batches as u64, true);
            let (low, high) = (Ns(state.cache_line.low), Ns(state.cache_line.high));
            let ranged = evidence("median of probes, with their range");
            State {
                label: judged.name(Some(index)).unwrap_or_default(),
                probe: Quantity::time(Ns(state.cache_line.centre), Some((low, high)), ranged).ok(),
                pace: Quantity::time(Ns(state.pace), None, evidence("median of probes")).ok(),
                share: Number(state.batches as f64 / all.max(1) as f64),
            }
        };
        found.iter().enumerate().map(recorded).collect()
    }

    /// The state that is seen from.
    pub(crate) fn seen(judged: &Judged<'_>) -> State {
        let seen = judged.seen().and_then(|seen| State::all(judged).into_iter().nth(seen));
        seen.unwrap_or_else(State::only)
    }

    /// `N, 93 % of the batches`.
    pub(crate) fn share(&self) -> String {
        format!("{}, {} of the batches", self.label, Fraction(self.share.0))
    }

    /// The same as the beginning of a sentence, with the probe.
    pub(crate) fn line(&self) -> String {
        let probe = self.probe.as_ref().map(|probe| format!(" (floor probe {})", value(probe)));
        let share = Fraction(self.share.0);
        format!("State {}{}, {share} of the batches", self.label, probe.unwrap_or_default())
    }
}

/// The line that names the state of all of several results; empty if they are of several.
pub(crate) fn in_one_state(state: Option<&str>, layout: &bandgap_report::Layout) -> String {
    state.map(|state| layout.paragraph(&format!("State {state}"))).unwrap_or_default()
}

/// What there is to say about cores that something else used.
pub(crate) fn slowed(judged: &Judged<'_>) -> Option<String> {
    let states = judged.states().states();
    let seen = states.get(judged.seen()?)?;
    let slowed: usize = states.iter().filter(|s| s.slowed).map(|s| s.batches).sum();
    let all: usize = states.iter().map(|state| state.batches).sum();
    let share = 100.0 * slowed as f64 / all.max(1) as f64;
    let used = format!(
        "Something else used a rank's core during {share:.0} % of the batches (a neighbour on a \
         virtual machine, or the other thread of a core)."
    );
    if seen.slowed {
        Some(format!(
            "{used} These numbers are of the machine under that load. Repeat at a quieter time, or \
             choose other cores with --cores."
        ))
    } else if share > 100.0 * MANY_SLOWED {
        Some(format!("{used} Those batches are set aside."))
    } else {
        None
    }
}
