//! What a change would bring as a page of text.

use bandgap_model::breakdown::insights::{called, spoken};
use bandgap_report::{Layout, Listing};
use bandgap_units::Fraction;

use super::schema::{ChangeMade, RankedComponent, WhatIf};
use crate::kind::Shown;
use crate::measured::{listed, sentences, share_with_interval, with_interval};

/// Places of a ranking that are printed.
const PLACES: usize = 5;

/// Changes, models before and after, the ranking and the findings.
pub(super) fn page(whatif: &WhatIf, layout: &Layout) -> String {
    let mut text = layout.paragraph(&heading(whatif)) + "\n";
    if !whatif.changes.is_empty() {
        text += &Listing::new(&whatif.models, layout)
            .text("model", |model| model.title().to_owned())
            .when(whatif.models.iter().any(|model| model.observed.is_some()), |rows| {
                rows.number("observed", |model| {
                    model.observed.as_ref().map(with_interval).unwrap_or_default()
                })
            })
            .number("before", |model| with_interval(&model.before))
            .number("after", |model| with_interval(&model.after))
            .number("saved", |model| share_with_interval(&model.speedup))
            .number("times as fast", |model| {
                let ratio = 1.0 / (1.0 - model.speedup.value.0);
                if ratio.is_finite() { format!("{ratio:.3}") } else { String::new() }
            })
            .finish();
        text += "\n";
    }
    text += &ranking(whatif, layout);
    text + &sentences(whatif.findings(), layout)
}

fn heading(whatif: &WhatIf) -> String {
    let name = &whatif.name;
    match whatif.changes.as_slice() {
        [] => format!("What faster components of {name} would bring"),
        some => {
            let said: Vec<String> = some.iter().map(change).collect();
            format!("What would be on {name} with {}", listed(&said))
        }
    }
}

fn change(change: &ChangeMade) -> String {
    let what = spoken(&change.component);
    match (change.set, change.reduction) {
        (Some(set), Some(reduction)) => {
            let by = match reduction.0 {
                share if share < 0.0 => format!("{} more", Fraction(-share)),
                share => format!("{} less", Fraction(share)),
            };
            format!("{what} at {} ({by})", set.ns())
        }
        (Some(set), None) => format!("{what} at {}", set.ns()),
        (None, Some(reduction)) if reduction.0 < 0.0 => {
            format!("{what} {} longer", Fraction(-reduction.0))
        }
        (None, reduction) => {
            format!("{what} {} shorter", Fraction(reduction.map_or(0.0, |share| share.0)))
        }
    }
}

/// The first places for each model.
fn ranking(whatif: &WhatIf, layout: &Layout) -> String {
    let Some(first) = whatif.ranking.first() else { return String::new() };
    let share = Fraction(first.reduction.0);
    let most = whatif.ranking.iter().map(|ranking| ranking.components.len()).max().unwrap_or(0);
    let places: Vec<usize> = (0..most.min(PLACES)).collect();
    let mut listing = Listing::new(&places, layout).number("", |place| (place + 1).to_string());
    let cell = |one: &RankedComponent| {
        let name = called(one.title(), &one.component);
        format!("{name}\n{}", share_with_interval(&one.speedup))
    };
    for ranking in &whatif.ranking {
        listing = listing.text(&ranking.model, |place| {
            ranking.components.get(*place).map(cell).unwrap_or_default()
        });
    }
    let beside = if whatif.changes.is_empty() { "" } else { ", without the changes above" };
    layout.paragraph(&format!(
        "What each component by itself would save of each model if it took {share} less{beside}:"
    )) + &listing.finish()
}
