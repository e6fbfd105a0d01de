//! A breakdown as a page of text.

use std::collections::BTreeMap;

use bandgap_model::breakdown::insights::{called, spoken};
use bandgap_model::breakdown::{Category, Layer, Side};
use bandgap_report::{Bar, Bars, Layout, Listing, Part, bars, plot};
use bandgap_units::Fraction;

use super::figure::arrivals;
use super::measured_text;
use super::schema::{BarFigure, Breakdown, ComponentTime, ModelTime, PartTime, Within};
use crate::kind::Shown;
use crate::measured::{sentences, share_with_interval, with_interval};

/// Rows of components, at most.
const ROWS: usize = 40;

/// Models beside one another, at most.
const BESIDE: usize = 4;

/// Models, percentages, bars and findings.
pub(super) fn page(breakdown: &Breakdown, layout: &Layout) -> String {
    let mut text = heading(breakdown, layout);
    if let Some(measured) = &breakdown.measured {
        text += &measured_text::conditions(measured, layout);
    }
    text += &models(breakdown, layout);
    let main: Vec<&ModelTime> =
        breakdown.models.iter().filter(|model| model.main && !model.divided.is_empty()).collect();
    for some in main.chunks(BESIDE) {
        text += &components(breakdown, some, layout);
        text += &groups(some, layout);
    }
    for figure in &breakdown.figures {
        text += "\n";
        text += &bars(&figure_bars(figure), layout);
    }
    if let Some(measured) = &breakdown.measured {
        text += &measured_text::inserted(measured, layout);
    }
    if let Some(figure) = arrivals(breakdown) {
        text += &format!("\n{}", plot(&figure, layout));
    }
    text + &sentences(breakdown.findings(), layout)
}

fn heading(breakdown: &Breakdown, layout: &Layout) -> String {
    let about = match breakdown.description.as_str() {
        "" => String::new(),
        about => format!(": {about}"),
    };
    layout.paragraph(&format!("Breakdown of {}{about}", breakdown.name)) + "\n"
}

fn models(breakdown: &Breakdown, layout: &Layout) -> String {
    let any = breakdown.models.iter().any(|model| model.observed.is_some());
    Listing::new(&breakdown.models, layout)
        .text("model", |model| called(model.title(), &model.name))
        .number("modelled", |model| with_interval(&model.modelled))
        .when(any, |rows| {
            rows.number("observed", |model| {
                model.observed.as_ref().map(with_interval).unwrap_or_default()
            })
            .number("error", |model| {
                model.error.as_ref().map(share_with_interval).unwrap_or_default()
            })
            .text("within 5 %", |model| {
                match model.within {
                    None => "",
                    Some(Within::Yes) => "yes",
                    Some(Within::No) => "no",
                    Some(Within::Undecided) => "undecided",
                }
                .to_owned()
            })
        })
        .finish()
}

/// The share that a part has in each of some models; empty where it has none.
fn share(parts: &BTreeMap<&str, f64>, name: &str) -> String {
    parts.get(name).map(|share| Fraction(*share).to_string()).unwrap_or_default()
}

fn shares(parts: &[PartTime]) -> BTreeMap<&str, f64> {
    parts.iter().map(|part| (part.name.as_str(), part.share.0)).collect()
}

/// What readers call a component, and below it its name where that is another: changes want that.
fn named(one: &ComponentTime) -> String {
    let title = one.title();
    match called(title, &one.name).strip_prefix(title) {
        Some(name) if !name.is_empty() => format!("{title}\n{}", name.trim_start()),
        _ => title.to_owned(),
    }
}

fn components(breakdown: &Breakdown, main: &[&ModelTime], layout: &Layout) -> String {
    let of: Vec<(&ModelTime, BTreeMap<&str, f64>)> =
        main.iter().map(|model| (*model, shares(model.by("component")))).collect();
    let greatest = |one: &ComponentTime| {
        let shares = of.iter().filter_map(|(_, parts)| parts.get(one.name.as_str()));
        shares.fold(f64::NEG_INFINITY, |greatest, share| greatest.max(*share))
    };
    let mut rows: Vec<(usize, &ComponentTime, f64)> = breakdown
        .components
        .iter()
        .enumerate()
        .map(|(at, one)| (at, one, greatest(one)))
        .filter(|(_, _, share)| share.is_finite())
        .collect();
    let left = rows.len().saturating_sub(ROWS);
    if left > 0 {
        rows.sort_by(|(_, _, a), (_, _, b)| b.total_cmp(a));
        rows.truncate(ROWS);
        rows.sort_by_key(|(at, _, _)| *at);
    }
    let rows: Vec<&ComponentTime> = rows.into_iter().map(|(_, one, _)| one).collect();
    let mut listing = Listing::new(rows, layout)
        .text("component", named)
        .text("of", |one| {
            format!(
                "{}, {}, {}",
                spoken(&one.category.to_string()),
                spoken(&one.layer.to_string()),
                one.side
            )
        })
        .text("known", |one| one.provenance.to_string())
        .number("time", |one| with_interval(&one.time));
    for (model, parts) in &of {
        listing = listing.number(&model.name, |one| share(parts, &one.name));
    }
    let mut text = "\n".to_owned() + &listing.sparing(&["known", "of"]).finish();
    if left > 0 {
        text += &layout
            .paragraph(&format!("{left} more components with smaller shares are in the run file."));
    }
    text
}

/// All words of a property.
fn words<T: ToString>(all: &[T]) -> Vec<String> {
    all.iter().map(T::to_string).collect()
}

/// The shares of categories, layers and sides.
fn groups(main: &[&ModelTime], layout: &Layout) -> String {
    let ways = [
        ("category", words(Category::ALL)),
        ("layer", words(Layer::ALL)),
        ("side", words(Side::ALL)),
    ];
    let mut rows: Vec<(&str, String)> = Vec::new();
    for (by, parts) in ways {
        let has =
            |part: &String| main.iter().flat_map(|model| model.by(by)).any(|one| one.name == *part);
        rows.extend(parts.into_iter().filter(has).map(|part| (by, part)));
    }
    let mut listing = Listing::new(&rows, layout)
        .text("by", |(by, _)| (*by).to_owned())
        .text("part", |(_, part)| spoken(part).to_owned());
    for model in main {
        listing = listing.number(&model.name, |(by, part)| share(&shares(model.by(by)), part));
    }
    "\n".to_owned() + &listing.finish()
}

/// A figure for the eye.
pub(super) fn figure_bars(figure: &BarFigure) -> Bars {
    let bar = |bar: &super::schema::StackedBar| Bar {
        name: bar.name.clone(),
        whole: format!("{:.2} ns", bar.whole.ns().0),
        parts: bar
            .parts
            .iter()
            .map(|part| Part { name: spoken(&part.name).to_owned(), share: part.share.0 })
            .collect(),
    };
    Bars { title: figure.title.clone(), bars: figure.bars.iter().map(bar).collect() }
}
