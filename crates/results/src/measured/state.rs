//! The placement states of the machine.

use bandgap_campaign::Key;
use bandgap_campaign::data::Batch;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::placement::{Placement, SLOWED};
use bandgap_record::{Convergence, Evidence, Number, Quantity, RecordError, Seconds, Unit};
use bandgap_report::{Layout, table};
use bandgap_stats::Interval;
use bandgap_stats::interval::quantile_interval;
use bandgap_stats::quantile::{median, sorted};
use bandgap_units::{Fraction, Ns, significant};
use serde::{Deserialize, Serialize};

use crate::measured::checked::grouped;
use crate::measured::fenced::Fenced;
use crate::measured::set_aside::SetAside;

/// A state of the machine, as the probes around the batches found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Its name within this run.
    pub label: String,
    /// The probe's time in this state, one way of a cache-line ping-pong; absent where none was
    /// taken.
    pub probe: Option<Quantity>,
    /// The least and the greatest probe of its batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_range: Option<[Seconds; 2]>,
    /// The pace in this state: the time of a fixed amount of arithmetic of the slower of the two
    /// processors, which rises when something slows a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Quantity>,
    /// The pace over the fastest that was seen at this distance in this run. A machine slowed
    /// throughout is no slower than its own fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_over_fastest: Option<Quantity>,
    /// Batches in it that were slower than the fastest by more than a tenth, where there were too
    /// few to set them apart; absent where paces were told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_batches: Option<u64>,
    /// Share of all timed batches of the run that are in it.
    pub share: Number,
    /// Batches in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<u64>,
    /// Timed batches of the run that are of floors beside what was measured; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_batches: Option<u64>,
    /// What became of the other batches of the run; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<SetAside>,
    /// What fences left out of the batches of this result that count in this state. Absent where it is of another state;
    /// in older files it is of all batches of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fenced: Option<Fenced>,
}

impl State {
    /// The state of a machine that shows but one.
    pub(crate) fn only() -> State {
        State {
            label: ONLY.to_owned(),
            probe: None,
            probe_range: None,
            pace: None,
            pace_over_fastest: None,
            slower_batches: None,
            share: Number(1.0),
            batches: None,
            floor_batches: None,
            set_aside: None,
            fenced: None,
        }
    }

    /// The states found, with what their probes say.
    pub(crate) fn all(judged: &Judged<'_>) -> Vec<State> {
        let states = 0..judged.states().states().len();
        states.filter_map(|index| State::of(judged, index)).collect()
    }

    fn of(judged: &Judged<'_>, index: usize) -> Option<State> {
        let state = judged.states().states().get(index)?;
        let over_fastest: Vec<f64> = state.paces.iter().map(|pace| pace / state.fastest).collect();
        let set_aside = judged.set_aside();
        let batches = state.batches() + set_aside.unprobed;
        Some(State {
            label: judged.name(Some(index))?,
            probe: typical(judged, &state.lines, Unit::Second, "probes").ok(),
            probe_range: range(&state.lines),
            pace: typical(judged, &state.paces, Unit::Second, "slower paces of batches").ok(),
            pace_over_fastest: typical(judged, &over_fastest, Unit::One, OVER_FASTEST).ok(),
            slower_batches: (!judged.states().told_apart()).then(|| state.slower().count() as u64),
            share: Number(set_aside.share(batches)),
            batches: Some(batches as u64),
            floor_batches: of_floors(judged),
            set_aside: SetAside::beside(judged, batches),
            fenced: None,
        })
    }

    /// The name of the state that is seen from.
    pub(crate) fn name_seen(judged: &Judged<'_>) -> String {
        judged.label().unwrap_or_else(|| ONLY.to_owned())
    }

    /// The state that is seen from, of a result that has the batches of these keys.
    pub(crate) fn seen<'a>(
        judged: &Judged<'_>,
        keys: impl Iterator<Item = (&'a Key, &'a [Batch])>,
    ) -> State {
        let fenced = Some(Fenced::of(judged, keys));
        if let Some(seen) = judged.seen().and_then(|seen| State::of(judged, seen)) {
            return State { fenced, ..seen };
        }
        let (all, unprobed) = (judged.set_aside().timed, judged.set_aside().unprobed);
        let share = Number(if all == 0 { 1.0 } else { judged.set_aside().share(unprobed) });
        let set_aside = SetAside::beside(judged, unprobed);
        let (batches, floor_batches) = (Some(unprobed as u64), of_floors(judged));
        State { share, batches, floor_batches, set_aside, fenced, ..State::only() }
    }

    /// `N, 93 % of the batches`.
    pub(crate) fn share(&self) -> String {
        format!("{}, {} of the batches", self.label, Fraction(self.share.0))
    }

    /// The same as the beginning of a sentence, with what was set aside; and the probe and the pace where the label, or
    /// a sentence, does not tell them.
    pub(crate) fn line(&self) -> String {
        let mut text = format!("State {}", self.label);
        if let Some(probe) = &self.probe {
            // Converged or not, which is marked where a footnote follows.
            let time = table::value(&Quantity { converged: true, ..probe.clone() });
            if !self.label.contains(&time) {
                text += &format!(" (placement probe {time})");
            }
        }
        text += &format!(", {} of the batches", Fraction(self.share.0));
        let slowed = self.pace_over_fastest.as_ref().filter(|pace| pace.value.0 > SLOWED);
        if let Some((pace, (low, high))) = slowed.and_then(|pace| Some((pace, pace.interval()?))) {
            let [times, low, high] = [pace.value.0, low, high].map(|times| significant(times, 3));
            text += &format!("; its pace is {times} ({low} to {high}) × the fastest seen");
        }
        if let Some(set_aside) = &self.set_aside {
            text += &format!("; set aside: {}", set_aside.words());
            // What is counted here are all batches of the run, of which a table shows some.
            let floors = self.floor_batches.map(grouped);
            text +=
                &floors.map(|of| format!(", {of} of them of floors beside")).unwrap_or_default();
        }
        let fenced = self.fenced.as_ref().and_then(Fenced::words);
        text + &fenced.map(|words| format!("; {words}")).unwrap_or_default()
    }

    /// That more batches are in other states than in this one, where they are.
    pub(crate) fn mostly_elsewhere(&self) -> Option<String> {
        let &SetAside { timed, other_states, .. } = self.set_aside.as_ref()?;
        if other_states <= self.batches? {
            return None;
        }
        let others = Fraction(other_states as f64 / timed as f64);
        let own = Fraction(self.share.0);
        Some(match 2 * other_states > timed {
            true => {
                format!("Most batches ({others}) were in other states; the one shown has {own}.")
            }
            false => {
                format!(
                    "More batches ({others}) were in other states than in the one shown ({own})."
                )
            }
        })
    }

    /// Both as paragraphs, the line with something more at its end.
    pub(crate) fn paragraphs(&self, more: &str, layout: &Layout) -> String {
        let elsewhere = self.mostly_elsewhere().map(|said| layout.paragraph(&said));
        layout.paragraph(&(self.line() + more)) + &elsewhere.unwrap_or_default()
    }
}

/// The name of the state of a machine that shows but one.
const ONLY: &str = "only";

/// Timed batches of floors beside what was measured, where there are some.
fn of_floors(judged: &Judged<'_>) -> Option<u64> {
    let floors = judged.set_aside().of_floors as u64;
    (floors > 0).then_some(floors)
}

/// The name of the ratio in its estimator.
const OVER_FASTEST: &str =
    "slower paces of batches, over the 5 % quantile of those at this distance";

/// The median of values that each come from a batch, with its order-statistic interval; times in
/// nanoseconds.
fn typical(
    judged: &Judged<'_>,
    values: &[f64],
    unit: Unit,
    what: &str,
) -> Result<Quantity, RecordError> {
    let value = median(values);
    let ends = quantile_interval(&sorted(values), 0.5, judged.confidence());
    let rule = judged.rule().without_clock();
    let judge = |ends: Interval| rule.judge(ends.half_width(), value);
    let convergence = ends.map_or(Convergence::No, judge);
    let by = format!("median of {what}, order-statistic interval");
    let by = Evidence::new(by, values.len() as u64, convergence);
    let si = |value: f64| if unit == Unit::Second { Ns(value).as_secs() } else { value };
    Quantity::new(si(value), ends.map(|ends| (si(ends.low), si(ends.high))), unit, by)
}

/// The least and the greatest of some times in nanoseconds.
fn range(times: &[f64]) -> Option<[Seconds; 2]> {
    let ordered = sorted(times);
    Some([*ordered.first()?, *ordered.last()?].map(|time| Ns(time).into()))
}

/// The line that names the state of all of several results; empty if they are of several.
pub(crate) fn in_one_state(state: Option<&str>, layout: &Layout) -> String {
    state.map(|state| layout.paragraph(&format!("State {state}"))).unwrap_or_default()
}

/// Share of slowed batches from which on it is worth saying, where they are set aside.
const MANY_SLOWED: f64 = 0.2;

/// What slowed a processor is not seen, only that it was.
const CAUSES: &str = "Possible causes: something else on that core or on its other thread, a neighbour \
                      on a virtual machine, or a lower clock frequency (turbo, wide vector \
                      instructions, a governor).";

/// What there is to say about batches that were slower than the fastest: how much slower, and
/// whether they are among those that the estimates rest on. Who ended a run needs no advice on its time.
pub(crate) fn slowed(judged: &Judged<'_>, interrupted: bool) -> Option<String> {
    let states = judged.states().states();
    let seen = states.get(judged.seen()?)?;
    let told_apart = judged.states().told_apart();
    let of: Vec<&Placement> = match told_apart {
        true => states.iter().filter(|state| state.slowed).collect(),
        false => vec![seen],
    };
    let times = sorted(&of.iter().flat_map(|state| state.slower()).collect::<Vec<_>>());
    let [least, most] = [*times.first()?, *times.last()?].map(|times| significant(times, 3));
    let slower = times.len();
    let share = judged.set_aside().share(slower);
    let within = if least == most { least } else { format!("{least} to {most}") };
    // Where the numbers rest on them too, their share of what these rest on says how much they are worth.
    let of = if told_apart {
        format!("the {} batches", judged.set_aside().timed)
    } else {
        let counted = seen.batches() + judged.set_aside().unprobed;
        let share = Fraction(slower as f64 / counted as f64);
        format!("the {counted} batches that the numbers rest on ({share})")
    };
    let seen_to_be = format!(
        "During {slower} of {of} a fixed amount of arithmetic took {within} times as long as at its \
         fastest in this run. {CAUSES}"
    );
    if !told_apart {
        let advice = if interrupted { "" } else { " More time (--time-budget) decides it." };
        Some(format!(
            "{seen_to_be} There are too few batches to set these apart, and what they make of the \
             numbers is undecided.{advice}"
        ))
    } else if seen.slowed {
        Some(format!(
            "{seen_to_be} These numbers are of the machine slowed so. Repeat at a quieter time, or \
             choose other cores with --cores."
        ))
    } else if share > MANY_SLOWED {
        Some(format!("{seen_to_be} Those batches are set aside."))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
