//! What follows from changes, and what a reader should know of the models that say it.

use bandgap_model::breakdown::bounds::LONGEST;
use bandgap_model::breakdown::insights::{begun, spoken};
use bandgap_model::breakdown::{Change, Modelled, Stack};
use bandgap_record::ComponentTable;
use bandgap_units::{Fraction, Ns};

use super::schema::{ModelChange, RankedComponent, Ranking};
use crate::AssembleError;
use crate::breakdown::assemble::unspread;
use crate::breakdown::{Breakdown, Measured, Within};
use crate::measured::listed;

/// What the sentences are about.
pub(super) struct Told<'a> {
    pub table: &'a ComponentTable,
    pub changes: &'a [Change],
    /// The breakdown that the table is of, if it is of one.
    pub of: Option<&'a Breakdown>,
    /// The models without the changes.
    pub before: &'a [Modelled],
}

impl Told<'_> {
    /// The sentences.
    pub fn sentences(
        &self,
        models: &[ModelChange],
        ranked: &[Ranked],
    ) -> Result<Vec<String>, AssembleError> {
        let stack = &self.table.stack;
        let mut said: Vec<String> = models.iter().filter_map(off).collect();
        if let Some(measured) = self.of.and_then(|breakdown| breakdown.measured.as_ref()) {
            said.push(taken(measured));
            said.extend(self.hidden(measured)?);
        }
        for change in self.changes {
            said.extend(without(stack, self.before, change.what())?);
        }
        let beside = if self.changes.is_empty() { "" } else { " without these changes" };
        if !self.changes.is_empty() {
            said.extend(models.iter().map(saved_in_words));
        }
        said.extend(ranked.iter().filter_map(|ranked| first_in_words(ranked, beside)));
        said.extend(unspread(stack, self.before));
        said.extend(self.table.notes.iter().cloned());
        Ok(said)
    }

    /// What is changed, although insertions showed that it hides or moves time.
    fn hidden(&self, measured: &Measured) -> Result<Option<String>, AssembleError> {
        let stack = &self.table.stack;
        let mut names: Vec<String> = Vec::new();
        for change in self.changes {
            for at in stack.meant(change.what())? {
                let one = &stack.components()[at];
                let missed = measured
                    .inserted
                    .iter()
                    .any(|came| came.component == one.name && came.whole_comes_back == Within::No);
                if missed && !names.iter().any(|name| name == one.title()) {
                    names.push(one.title().to_owned());
                }
            }
        }
        let its = if names.len() == 1 { "its time is" } else { "their times are" };
        Ok((!names.is_empty()).then(|| {
            format!(
                "What was inserted in {} did not make half a round trip longer by as much: {its} not what leaving it out would \
                 save.",
                listed(&names)
            )
        }))
    }
}

/// By how much a model is off what was observed, where it may be by more than 5 %.
fn off(model: &ModelChange) -> Option<String> {
    let (observed, error) = (model.observed.as_ref()?, model.error.as_ref()?);
    let open = match model.within? {
        Within::Yes => return None,
        Within::No => "",
        Within::Undecided => ", and whether that is within 5 % is undecided",
    };
    let by = match error.value.0 {
        share if share < 0.0 => format!("{} shorter", Fraction(-share)),
        share => format!("{} longer", Fraction(share)),
    };
    Some(format!(
        "{} is modelled {by} than the {} that were observed{open}: what is predicted of it is no better than that.",
        begun(model.title()),
        Ns::from_secs(observed.value.0)
    ))
}

/// Over what and in which state of the machine components were measured.
fn taken(measured: &Measured) -> String {
    let state = match measured.state.probe {
        Some(_) => format!(", in the machine's state {}", measured.state.share()),
        None => String::new(),
    };
    format!(
        "The components were measured over {}{state}. Runs in different states cannot be compared.",
        measured.transport
    )
}

/// Whether what is changed is in no model, not even where it takes very long.
fn without(
    stack: &Stack,
    before: &[Modelled],
    what: &str,
) -> Result<Option<String>, AssembleError> {
    /// Longer than all else.
    const LONG: f64 = 1e3 * LONGEST;
    let mut state = stack.state();
    for at in stack.meant(what)? {
        state.times[at] += LONG;
    }
    let longer = stack.evaluated(&state)?;
    let mut models = stack.models().zip(before.iter().zip(&longer));
    let holds = models.any(|(model, (before, longer))| model.main && before.value != longer.value);
    Ok((!holds).then(|| {
        format!("Nothing of {} is in the models, so changing it changes nothing.", spoken(what))
    }))
}

/// From this saved share on a change is called substantial, as the paper does.
const SUBSTANTIAL: f64 = 0.05;

fn saved_in_words(model: &ModelChange) -> String {
    let share = model.speedup.value.0;
    let title = begun(model.title());
    let (by, what) = match share {
        0.0 => return format!("{title} stays as it is."),
        share if share < 0.0 => (format!("{} longer", Fraction(-share)), "that is so"),
        share => {
            (format!("{} less", Fraction(share)), "that is a substantial speed-up, more than 5 %,")
        }
    };
    let (low, high) = match (model.speedup.interval(), model.before.interval()) {
        (Some(interval), _) => interval,
        (None, None) => (share, share),
        // A share of what may be nothing may be anything.
        (None, Some((low, high))) => {
            return format!(
                "{title} takes {by}, but whether {what} is undecided: its time may be {}.",
                between(low, high)
            );
        }
    };
    let size = match share {
        share if share < 0.0 && high < 0.0 => return format!("{title} takes {by}."),
        share if share < 0.0 => None,
        _ if low > SUBSTANTIAL => Some("a substantial speed-up (more than 5 %)"),
        _ if high <= SUBSTANTIAL => Some("no substantial speed-up (at most 5 %)"),
        _ => None,
    };
    match size {
        Some(size) => format!("{title} takes {by}: {size}."),
        None => format!(
            "{title} takes {by}, but whether {what} is undecided (interval of what is saved: {} to {}).",
            Fraction(low),
            Fraction(high)
        ),
    }
}

/// Two times in seconds, as `-52.0 ns to 91.0 ns`.
fn between(low: f64, high: f64) -> String {
    format!("{} to {}", Ns::from_secs(low), Ns::from_secs(high))
}

/// Shares that differ by no more are alike: by rounding.
const ALIKE: f64 = 1e-9;
/// Components that a sentence names, at most.
const NAMED: usize = 4;

/// A ranking, with what its sentence needs beside.
pub(super) struct Ranked {
    pub ranking: Ranking,
    /// By which share of the model's time each component saves less than the first, and how far that difference's
    /// interval reaches to either side.
    pub behind: Vec<(f64, f64)>,
}

/// `beside`: what else is said of the stack that is ranked.
fn first_in_words(Ranked { ranking, behind }: &Ranked, beside: &str) -> Option<String> {
    let most = ranking.components.first()?.speedup.value.0;
    if most <= 0.0 {
        return None;
    }
    let alike = ALIKE * most;
    let of = |keeps: &dyn Fn(f64, f64) -> bool| {
        let all = ranking.components.iter().zip(behind);
        all.filter(|(_, (by, reach))| keeps(*by, *reach)).map(|(one, _)| one).collect::<Vec<_>>()
    };
    let open = of(&|by, reach| reach > alike && by <= reach);
    let by = Fraction(ranking.reduction.0);
    let title = ranking.title();
    if let Some(first) = ranking.components.first().filter(|_| !open.is_empty()) {
        let told: Vec<String> = [first].into_iter().chain(open).map(saved).collect();
        let more = told.len().saturating_sub(NAMED);
        let named = match more {
            0 => listed(&told),
            more => format!("{} and {more} more", told[..NAMED].join(", ")),
        };
        return Some(format!(
            "Which component made {by} shorter saves the most of {title}{beside} is undecided: {named} cannot be told \
             apart."
        ));
    }
    let first = of(&|by, _| by <= alike);
    let names: Vec<String> = first.iter().map(|one| one.title().to_owned()).collect();
    let names = listed(&names);
    Some(match first.len() {
        1 => format!(
            "Of the components, {names} made {by} shorter saves the most of {title}{beside}: {}.",
            Fraction(most)
        ),
        _ => format!(
            "Of the components, {names}, each made {by} shorter alone, save the most of {title}{beside}: {} each.",
            Fraction(most)
        ),
    })
}

/// What a component saves, with its interval.
fn saved(component: &RankedComponent) -> String {
    let of = &component.speedup;
    let between = of.interval().map_or(String::new(), |(low, high)| {
        format!(" (interval {} to {})", Fraction(low), Fraction(high))
    });
    format!("{} {}{between}", component.title(), Fraction(of.value.0))
}
