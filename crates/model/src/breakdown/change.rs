//! What a change of components would bring.

use std::collections::BTreeMap;

use super::evaluate::{Modelled, State};
use super::formula::Group;
use super::quotient::Off;
use super::stack::{Stack, StackError};

/// A change of a component, of what a model is made of, or of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It takes so many times as long.
    Scale {
        /// What.
        what: String,
        /// 0.8 of one that is reduced by 20 %.
        factor: f64,
    },
    /// It takes so long.
    Set {
        /// What.
        what: String,
        /// In nanoseconds.
        ns: f64,
    },
}

impl Change {
    /// What is changed.
    pub fn what(&self) -> &str {
        match self {
            Change::Scale { what, .. } | Change::Set { what, .. } => what,
        }
    }
}

/// The share of a model's time that a change saves.
///
/// *Formula*: (before − after)/before, as the paper counts speed-ups. Negative where the time grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saved {
    /// The share.
    pub share: f64,
    /// How far it may be off; `None` where no component has a spread.
    pub off: Option<Off>,
}

/// What a component would bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The component.
    pub component: usize,
    /// What it saves of the model.
    pub saved: Saved,
    /// By how many nanoseconds less than the first of the ranking, with the standard deviation of the difference; none
    /// where no component has a spread.
    pub behind: (f64, Option<f64>),
}

/// What is left of a difference by rounding, as a share of what it is the difference of, at most.
const ROUNDING: f64 = 1e-12;

/// A ranking looks at this many components that take the most of a model.
const RANKED: usize = 20;

impl Stack {
    /// The components that a name stands for: of a component its parts or itself, of a model those that its formula
    /// names, of a category, layer or side those in that. To scale all that a time's formula names scales it as much,
    /// whichever of several is the largest.
    ///
    /// # Errors
    /// Nothing has that name.
    pub fn meant(&self, what: &str) -> Result<Vec<usize>, StackError> {
        if let Some(leaves) = self.component(what) {
            return Ok(leaves);
        }
        if let Some(model) = self.model(what) {
            if !self.evaluated_one(model, &self.state())?.is_time {
                return Err(StackError::new(what, format!("'{what}' is no time")));
            }
            return Ok(self.named_in(model));
        }
        if let Some(group) = Group::named(&what.to_ascii_lowercase()) {
            return Ok(self.grouped(group).to_vec());
        }
        let why = match self.lacks(what) {
            Some(why) => format!("'{what}' is no component here: {why}"),
            None => format!("'{what}' is no component, model, category, layer or side"),
        };
        Err(StackError { unknown: Some(what.to_owned()), ..StackError::new(what, why) })
    }

    /// A name as it is declared, where it is written in other letters of either case and nothing else reads so.
    pub fn spelled(&self, what: &str) -> String {
        if self.component(what).is_some() || self.model(what).is_some() {
            return what.to_owned();
        }
        let lower = what.to_ascii_lowercase();
        if Group::named(&lower).is_some() {
            return lower;
        }
        let components = self.components().iter().map(|one| one.name.as_str());
        let names = components.chain(self.models().map(|model| model.name.as_str()));
        let mut alike = names.filter(|name| name.eq_ignore_ascii_case(what));
        match (alike.next(), alike.next()) {
            (Some(only), None) => only.to_owned(),
            _ => what.to_owned(),
        }
    }

    /// The components after all these changes, which may meet: two reductions by half leave a quarter.
    ///
    /// # Errors
    /// A name means nothing; a component is set and changed in another way too; what takes no time is set.
    pub fn changed(&self, changes: &[Change]) -> Result<State, StackError> {
        let mut state = self.state();
        let mut by: BTreeMap<usize, &Change> = BTreeMap::new();
        for change in changes {
            let what = change.what();
            let meant = self.meant(what)?;
            for component in &meant {
                let other = by.insert(*component, change);
                let sets = |change: &Change| matches!(change, Change::Set { .. });
                if let Some(other) = other.filter(|other| sets(other) || sets(change)) {
                    let name = &self.components()[*component].name;
                    let why = match (sets(other) && sets(change), other.what() == what) {
                        (true, true) => format!("'{what}' is set twice"),
                        (true, false) => {
                            format!("'{name}' is set twice, by '{}' and '{what}'", other.what())
                        }
                        (false, true) => format!("'{what}' is set, and scaled too"),
                        (false, false) => format!(
                            "'{name}' is set, and changed in another way too (by '{}' and '{what}')",
                            other.what()
                        ),
                    };
                    return Err(StackError::new(what, why));
                }
            }
            match change {
                Change::Scale { factor, .. } => {
                    for component in meant {
                        state.times[component] *= factor;
                        state.factors[component] *= factor;
                    }
                }
                Change::Set { ns, .. } => self.set(what, *ns, &meant, &mut state)?,
            }
        }
        Ok(state)
    }

    /// Gives one component this time, or several this sum in their proportions.
    fn set(
        &self,
        what: &str,
        ns: f64,
        meant: &[usize],
        state: &mut State,
    ) -> Result<(), StackError> {
        let before: f64 = match self.model(what) {
            Some(model) => self.evaluated_one(model, &self.state())?.value,
            None => meant.iter().map(|component| self.times()[*component]).sum(),
        };
        if let [component] = meant
            && self.model(what).is_none()
        {
            (state.times[*component], state.factors[*component]) = (ns, 0.0);
            return Ok(());
        }
        if before <= 0.0 {
            return Err(StackError::new(
                what,
                format!("'{what}' takes no time that could be divided"),
            ));
        }
        for component in meant {
            state.times[*component] = self.times()[*component] * ns / before;
            state.factors[*component] = 0.0;
        }
        Ok(())
    }

    /// What a change saves of a model. Errors of times that both hold cancel.
    pub fn saved(&self, before: &Modelled, after: &Modelled) -> Saved {
        let (b, a) = (before.value, after.value);
        let rest = |one: f64, other: f64| {
            let left = one - other;
            if left.abs() <= ROUNDING * one.abs().max(other.abs()) { 0.0 } else { left }
        };
        let share = rest(b, a) / b;
        let of = |model: &Modelled, from| model.sources.get(&from).copied().unwrap_or(0.0);
        let both = before.sources.keys().chain(after.sources.keys());
        let sources: BTreeMap<usize, f64> = both
            .map(|from| (*from, rest(of(before, *from) * a / (b * b), of(after, *from) / b)))
            .collect();
        let off = self.deviation(&sources).map(|deviation| {
            let whole: BTreeMap<usize, f64> =
                before.sources.iter().map(|(from, times)| (*from, times / b)).collect();
            let of_whole = self.deviation(&whole).unwrap_or(0.0);
            Off { deviation, of_whole, common: self.covariance(&sources, &whole) }
        });
        Saved { share, off }
    }

    /// By how much another time is longer, and the standard deviation of that.
    fn behind(&self, one: &Modelled, other: &Modelled) -> (f64, Option<f64>) {
        let mut sources = other.sources.clone();
        for (from, times) in &one.sources {
            *sources.entry(*from).or_default() -= times;
        }
        (other.value - one.value, self.deviation(&sources))
    }

    /// Which components, each made shorter by this share alone, save the most of a model.
    ///
    /// # Errors
    /// Those of the model.
    pub fn ranked(&self, model: usize, share: f64) -> Result<Vec<Ranked>, StackError> {
        let state = self.state();
        let before = self.evaluated_one(model, &state)?;
        let mut longest: BTreeMap<usize, f64> = BTreeMap::new();
        for ((component, _), times) in &before.uses {
            *longest.entry(*component).or_default() += times * state.times[*component];
        }
        let mut longest: Vec<(usize, f64)> = longest.into_iter().collect();
        longest.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let mut ranked = Vec::new();
        for (component, _) in longest.into_iter().take(RANKED) {
            let mut state = state.clone();
            state.times[component] *= 1.0 - share;
            state.factors[component] *= 1.0 - share;
            let after = self.evaluated_one(model, &state)?;
            // What would divide by nothing then has no place among the others.
            if !after.is_sound() {
                continue;
            }
            ranked.push((component, self.saved(&before, &after), after));
        }
        ranked.sort_by(|(_, a, _), (_, b, _)| b.share.total_cmp(&a.share));
        let one = |(component, saved, after): &(usize, Saved, Modelled)| Ranked {
            component: *component,
            saved: *saved,
            behind: self.behind(&ranked[0].2, after),
        };
        Ok(ranked.iter().map(one).collect())
    }
}
