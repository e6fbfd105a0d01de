//! The predicted effect of changes to components: before and after, a ranking, and speed-ups over reductions.

use bandgap_model::breakdown::Category;
use bandgap_record::{Number, Quantity, Seconds, Unit};
use bandgap_report::{Axis, Block, Cell, Datum, Figure, Head, Series, Table, scaled, share};
use bandgap_units::significant_short;
use serde::{Deserialize, Serialize};

use crate::breakdown::Within;
use crate::breakdown::blocks::{cut, given, rest};
use crate::shown::{Context, Shown, by_key};

/// Changes to a table's components, and the time that they save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// The name of the table, or the transport that was measured.
    pub name: String,
    /// The changes, made together; empty if none were requested.
    pub changes: Vec<ChangeMade>,
    /// The main models before and after the changes.
    pub models: Vec<ModelChange>,
    /// What each component would save by itself, regardless of the changes.
    pub ranking: Vec<Ranking>,
    /// Speed-ups over reductions, each by itself.
    pub curves: Vec<SpeedUpCurve>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeMade {
    /// What is changed: a component, a model, a parameter, a category, a layer or a side.
    pub component: String,
    /// The share by which its time is reduced, negative if it grows; null for parameters, and if it took no time before.
    pub reduction: Option<Number>,
    /// The time that it is set to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Seconds>,
    /// The number that a parameter is set to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
}

/// A model without and with the changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelChange {
    /// Its name.
    pub name: String,
    /// Its time without them.
    pub before: Quantity,
    /// before / observed − 1; absent where nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Quantity>,
    /// Whether that is at most 5 %; absent where nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// Its time with them.
    pub after: Quantity,
    /// (before − after) / before: the share of the time that is saved.
    pub speedup: Quantity,
}

/// What each component by itself would save of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The model.
    pub model: String,
    /// By which share each component is reduced.
    pub reduction: Number,
    /// The components, those that save most first.
    pub components: Vec<RankedComponent>,
}

/// What a component by itself would save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedComponent {
    /// The component.
    pub component: String,
    /// The share of the model's time that is saved.
    pub speedup: Quantity,
}

/// Speed-ups of a model by reducing one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedUpCurve {
    /// The model.
    pub model: String,
    /// What is reduced.
    pub of: String,
    /// The category of all that is reduced of the model, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// Reductions, ascending, and the share of the model's time that each saves.
    pub points: Vec<(Number, Number)>,
}

/// The most curves of all categories in one figure.
const TOGETHER: usize = 6;
/// The most models, and places of a ranking, on a screen.
const MODELS: usize = 4;
const PLACES: usize = 5;

impl Shown for WhatIf {
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        let id = |model: &str, name: &str| format!("whatif/{}/model={model}/{name}", self.name);
        let mut all = Vec::new();
        for model in &self.models {
            let of =
                [("before", &model.before), ("after", &model.after), ("speedup", &model.speedup)];
            all.extend(of.map(|(name, of)| (id(&model.name, name), Some(of), false)));
        }
        for Ranking { model, components, .. } in &self.ranking {
            for one in components {
                let name = format!("component={}/speedup", one.component);
                all.push((id(model, &name), Some(&one.speedup), false));
            }
        }
        all
    }

    fn detail(&self, _: &Context<'_>) -> Vec<Block> {
        let mut blocks = self.blocks(usize::MAX, usize::MAX);
        let figures = self.models.iter().flat_map(|model| self.figures(&model.name));
        blocks.extend(figures.map(Block::Figure));
        blocks
    }

    fn short(&self, _: &Context<'_>) -> Vec<Block> {
        self.blocks(MODELS, PLACES)
    }

    /// A prediction is no better than its model.
    fn negative(&self) -> Vec<String> {
        let off = self.models.iter().filter(|model| model.within == Some(Within::Off));
        off.map(|model| format!("the model {} is off", model.name)).collect()
    }
}

impl WhatIf {
    fn blocks(&self, models: usize, places: usize) -> Vec<Block> {
        let changes: Vec<String> = self.changes.iter().map(ChangeMade::words).collect();
        let heading = match changes.is_empty() {
            true => format!("{}, each component shorter by itself", self.name),
            false => format!("{} with {}", self.name, changes.join(", ")),
        };
        let mut shown: Vec<&ModelChange> = self.models.iter().collect();
        let more = rest(&mut shown, models, "models");
        let heads = ["model", "before", "after", "saved"].map(Head::new);
        let rest = [Head::new("error").optional(), Head::new("within 5 %")];
        let changed = |of: &ModelChange| match () {
            () if changes.is_empty() => [Cell::Empty, Cell::Empty],
            () if of.before.value == of.after.value => [given(&of.after), "not in it".into()],
            () => [given(&of.after), given(&of.speedup)],
        };
        let rows = shown.iter().map(|model| {
            let [after, saved] = changed(model);
            [
                cut(&model.name).into(),
                given(&model.before),
                after,
                saved,
                model.error.as_ref().map(given).into(),
                model.within.as_ref().map(ToString::to_string).into(),
            ]
        });
        let table = Table::new(heads.into_iter().chain(rest)).with(rows);
        let mut blocks = vec![Block::Text(heading), Block::Table(table)];
        blocks.extend(more);
        if changes.is_empty() {
            blocks.extend(self.ranked(models, places));
        }
        blocks
    }

    /// The first places of the ranking, with a column for each model.
    fn ranked(&self, models: usize, places: usize) -> Vec<Block> {
        let Some(first) = self.ranking.first() else { return Vec::new() };
        let columns: Vec<&Ranking> = self.ranking.iter().take(models).collect();
        let most = columns.iter().map(|of| of.components.len()).max().unwrap_or(0);
        let heads = columns.iter().map(|ranking| Head::new(cut(&ranking.model)));
        let mut table = Table::new([Head::new("")].into_iter().chain(heads));
        for place in 0..most.min(places) {
            let cell = |ranking: &&Ranking| -> Cell {
                let one = ranking.components.get(place);
                one.map(|one| format!("{} {}", cut(&one.component), share(one.speedup.value.0)))
                    .into()
            };
            let number = Cell::Number((place + 1).to_string());
            table.push([number].into_iter().chain(columns.iter().map(cell)));
        }
        let by = share(first.reduction.0);
        vec![
            Block::Text(format!("Saved by a component that is {by} shorter:")),
            Block::Table(table),
        ]
    }

    /// The curves of one model: if many, a figure of the categories, and one for each of them.
    ///
    /// *Source*: "Breaking Band", figure 17.
    fn figures(&self, model: &str) -> Vec<Figure> {
        let its = || self.curves.iter().filter(|curve| curve.model == model);
        let is_apart = its().count() > TOGETHER;
        let is_whole = |of: &&SpeedUpCurve| !is_apart || Category::named(&of.of) == of.category;
        let parts = by_key(its().filter_map(|of| Some((Some(of.category?), of))));
        let panels = [(None, its().filter(is_whole).collect())].into_iter();
        let panels = panels.chain(parts.into_iter().filter(|_| is_apart));
        let panels = panels.filter(|(_, curves)| curves.len() > usize::from(is_apart));
        panels.map(|(of, curves)| self.figure(model, of, &curves)).collect()
    }

    fn figure(&self, model: &str, of: Option<Category>, curves: &[&SpeedUpCurve]) -> Figure {
        let point = |(x, y): &(Number, Number)| Datum::exact(100.0 * x.0, 100.0 * y.0);
        let series = curves.iter().map(|curve| Series {
            name: curve.of.clone(),
            points: curve.points.iter().map(point).collect(),
            twin: None,
        });
        let of = of.map_or(String::new(), |of| format!(": {of}"));
        let axis = |label: &str| Axis { label: label.to_owned(), ..Axis::default() };
        Figure {
            title: format!("{model}: what a reduction saves{of}"),
            caption: format!("{}, each by itself", self.name),
            says: format!(
                "The share of {model} that is saved where one thing takes less time{of}."
            ),
            x: axis("reduction of each, %"),
            y: axis("time saved, %"),
            legend: "reduced".to_owned(),
            series: series.collect(),
            ..Figure::default()
        }
    }
}

impl ChangeMade {
    fn words(&self) -> String {
        let what = cut(&self.component);
        match (self.set, self.number, self.reduction) {
            (Some(set), ..) => format!("{what} = {}", scaled(set.0.0, Unit::Second)),
            (_, Some(Number(number)), _) => format!("{what} = {}", significant_short(number, 6)),
            (_, _, Some(Number(by))) => format!("{what} - {}", share(by)),
            _ => what,
        }
    }
}

#[cfg(test)]
mod tests;
