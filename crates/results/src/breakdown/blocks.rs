//! Renders a breakdown: its models, their parts, and bars.

use bandgap_model::breakdown::{Category, Layer, Side};
use bandgap_record::{Quantity, Unit};
use bandgap_report::{
    Bar, Bars, Block, Cell, Head, Part, Precision, Shown as Drawn, Sums, Table, scaled, share,
};

use super::{Beside, Breakdown, ModelTime, PartTime, TermOf, Within};
use crate::logp::Logp;
use crate::shown::{Context, Shown, ranged};

impl Shown for Breakdown {
    /// Times measured as a whole count. Components do not: their deviation is the model's error.
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        let (id, counts) = (self.id(), self.measured.is_some());
        let mut all = Vec::new();
        for one in &self.components {
            all.push((format!("{id}/component={}/time", one.name), Some(&one.time), false));
        }
        for model in &self.models {
            let id = |name: &str| format!("{id}/model={}/{name}", model.name);
            all.push((id("modelled"), Some(&model.modelled), counts));
            all.push((id("observed"), model.observed.as_ref(), counts && model.observed.is_some()));
            all.push((id("error"), model.error.as_ref(), false));
        }
        let beside = self.measured.iter().flat_map(Beside::findings);
        all.extend(beside.map(|(name, _, of)| (format!("{id}/{name}"), Some(of), false)));
        all
    }

    fn detail(&self, context: &Context<'_>) -> Vec<Block> {
        let all: Vec<&ModelTime> = self.models.iter().collect();
        let heading = Block::section(self.id(), self.title());
        let mut blocks = vec![heading, Block::Table(self.model_table(context, &all))];
        for model in self.main() {
            blocks.push(Block::Text(format!("{}, divided", model.name)));
            blocks.push(Block::Table(self.part_table(context, model.by("component"))));
            blocks.push(Block::Table(ways(model)));
            blocks.push(Block::Bars(self.bars(model)));
        }
        blocks.extend(self.part_bars().map(Block::Bars));
        blocks.push(Block::Sums(self.sums()));
        blocks.extend(self.measured.iter().flat_map(|beside| beside.blocks(context, &self.id())));
        blocks
    }

    /// The models, and the components of the first; a single line if the run has signatures too.
    fn short(&self, context: &Context<'_>) -> Vec<Block> {
        let Some(model) = self.first() else { return vec![Block::Text(self.title())] };
        let mut parts = model.ranked("component");
        if context.of::<Logp>().next().is_some() {
            return vec![Block::Text(self.line(model, &parts))];
        }
        let mut models: Vec<&ModelTime> = self.main().collect();
        let more = rest(&mut models, MODELS, "models");
        let mut blocks =
            vec![Block::Text(self.title()), Block::Table(self.model_table(context, &models))];
        blocks.extend(more);
        let several = ["category", "layer"].into_iter().filter(|by| model.by(by).len() > 1);
        let by = |by| format!("by {by}: {}", shares(model.by(by)));
        let ways: Vec<String> = several.map(by).collect();
        if !ways.is_empty() {
            blocks.push(Block::Text(format!("{} {}", cut(&model.name), ways.join("; "))));
        }
        let more = rest(&mut parts, COMPONENTS, "components");
        blocks.push(Block::Table(self.part_table(context, &parts)));
        blocks.extend(more);
        if let ([first, ..], Some(_), [_]) = (&parts[..], &self.measured, &model.rows[..]) {
            let (name, saved) = (cut(&first.name), share(0.2 * first.share.0));
            blocks.push(Block::Text(format!(
                "20 % off {name} would save {saved}: bandgap whatif --from RUN --reduce {name}=20%"
            )));
        }
        blocks
    }

    fn negative(&self) -> Vec<String> {
        let off = self.main().filter(|model| model.within == Some(Within::Off));
        off.map(|model| format!("{}/model={} is off", self.id(), model.name)).collect()
    }
}

/// Models and components on a screen, at most.
const MODELS: usize = 4;
const COMPONENTS: usize = 8;
/// Components in a line, at most.
const IN_LINE: usize = 4;
/// Letters of a name in a table, at most.
const LETTERS: usize = 24;

/// Keeps the first `most`, and gives a text with the number of the others.
pub(crate) fn rest<T>(all: &mut Vec<T>, most: usize, what: &str) -> Option<Block> {
    let more = all.len().saturating_sub(most);
    all.truncate(most);
    (more > 0).then(|| Block::More(format!("{more} more {what} in -v")))
}

/// A name, shortened to fit a table.
pub(crate) fn cut(name: &str) -> String {
    match name.char_indices().nth(LETTERS) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// A value that was given, not measured: it always counts as converged, and without a spread it is a plain number.
pub(crate) fn given(quantity: &Quantity) -> Cell {
    match (quantity.interval(), quantity.unit) {
        (Some(_), Unit::Second) => Drawn::new(quantity, Precision::Converged).into(),
        (None, Unit::Second) => Cell::Number(exact(quantity.value.0)),
        _ => Cell::Number(ranged(quantity, share)),
    }
}

/// A given time, in nanoseconds with two decimals as far as it has them.
fn exact(seconds: f64) -> String {
    let ns = (seconds * 1e11).round() / 100.0;
    if (0.01..1e4).contains(&ns) { format!("{ns} ns") } else { scaled(seconds, Unit::Second) }
}

fn shares(parts: &[PartTime]) -> String {
    let one = |part: &PartTime| format!("{} {}", part.name, share(part.share.0));
    parts.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Breakdown {
    fn cell(&self, context: &Context<'_>, id: &str, quantity: &Quantity) -> Cell {
        let is_measured = self.measured.is_some() && quantity.unit == Unit::Second;
        if is_measured { context.cell(id, quantity) } else { given(quantity) }
    }

    fn model_table(&self, context: &Context<'_>, models: &[&ModelTime]) -> Table {
        let heads = ["model", "modelled", "observed", "error", "within 5 %"];
        let row = |model: &&ModelTime| {
            let cell = |name: &str, of: &Quantity| {
                self.cell(context, &format!("{}/model={}/{name}", self.id(), model.name), of)
            };
            [
                cut(&model.name).into(),
                cell("modelled", &model.modelled),
                model.observed.as_ref().map(|of| cell("observed", of)).into(),
                model.error.as_ref().map(|of| cell("error", of)).into(),
                model.within.as_ref().map(ToString::to_string).into(),
            ]
        };
        Table::new(heads.map(Head::new)).with(models.iter().map(row))
    }

    /// The main models as sums over the components.
    fn sums(&self) -> Sums {
        let at = |name: &str| self.components.iter().position(|one| one.name == name);
        let parameter = |name: &str| self.parameters.get(name).map_or(f64::NAN, |of| of.0);
        let term = |of: &TermOf| {
            let per = of.per.as_deref().map_or(1.0, parameter);
            Some((at(&of.component)?, of.times.0 / per))
        };
        let rows = |model: &ModelTime| {
            model.rows.iter().map(|row| row.iter().filter_map(term).collect()).collect()
        };
        let parts = self.components.iter().map(|one| (one.name.clone(), one.time.value.0));
        let models = self.main().map(|model| (model.name.clone(), rows(model)));
        Sums { parts: parts.collect(), models: models.collect() }
    }

    /// The parts of a model by component, with the time that each adds to the model.
    fn part_table(&self, context: &Context<'_>, parts: &[PartTime]) -> Table {
        let heads = ["component", "layer", "side", "known", "time", "share", ""];
        let mut table = Table::new(heads.map(Head::new));
        table.columns[2..4].iter_mut().for_each(|head| head.optional = true);
        table.with(parts.iter().filter_map(|part| {
            let of = self.component(&part.name)?;
            let times = part.time.0.0 / of.time.value.0;
            let time =
                if times.is_finite() { of.time.scaled(times, Unit::Second).ok() } else { None };
            let id = format!("{}/component={}/time", self.id(), part.name);
            Some([
                cut(&part.name).into(),
                of.layer.to_string().into(),
                of.side.to_string().into(),
                of.provenance.to_string().into(),
                self.cell(context, &id, time.as_ref().unwrap_or(&of.time)),
                Cell::Number(share(part.share.0)),
                Cell::Bar(part.share.0),
            ])
        }))
    }

    /// One line: `Breakdown over unix: latency 2.08 µs: receive 62 %, …; error -2.4 %, holds`.
    fn line(&self, model: &ModelTime, parts: &[PartTime]) -> String {
        let time = scaled(model.observed.as_ref().unwrap_or(&model.modelled).value.0, Unit::Second);
        let parts = shares(&parts[..parts.len().min(IN_LINE)]);
        let error = model.error.as_ref().zip(model.within);
        let error = error.map(|(of, within)| format!("; error {}, {within}", ranged(of, share)));
        let error = error.unwrap_or_default();
        format!("{}: {} {time}: {parts}{error}", self.title(), model.name)
    }

    /// A model by category, the components of each category, and the model by layer and side.
    ///
    /// *Source*: "Breaking Band", figures 8 to 16, most of all 15.
    pub(super) fn bars(&self, model: &ModelTime) -> Bars {
        let bar_by = |by: &str| bar(by, model.by(by), &|part| self.kind(by, &part.name));
        let mut bars = vec![bar_by("category")];
        for one in Category::ALL {
            let mut parts = model.ranked("component");
            parts.retain(|part| self.kind("component", &part.name) == Some(*one as usize));
            bars.push(bar(&one.to_string(), &parts, &|_| Some(*one as usize)));
        }
        bars.extend(["layer", "side"].map(bar_by));
        // Undivided bars are dropped; if all are, the first stays.
        let first = bars[0].clone();
        bars.retain(|bar| bar.parts.len() > 1);
        if bars.is_empty() {
            bars.push(first);
        }
        let says = format!("Of what {} consists, by category, layer and side.", model.name);
        Bars { title: model.name.clone(), says, to_scale: false, bars }
    }

    /// The kind of a part: which category, layer or side it is; of a component, its category.
    fn kind(&self, by: &str, name: &str) -> Option<usize> {
        match by {
            "category" => Category::named(name).map(|of| of as usize),
            "layer" => Layer::named(name).map(|of| of as usize),
            "side" => Side::named(name).map(|of| of as usize),
            _ => self.component(name).map(|of| of.category as usize),
        }
    }

    /// What other models consist of: each by category and side, or else by layer, or else by component.
    ///
    /// *Source*: "Breaking Band", figures 4, 11, 14 and 16.
    pub(super) fn part_bars(&self) -> Option<Bars> {
        let divided = |model: &ModelTime, by: &str| {
            let parts = model.ranked(by);
            let several = parts.iter().filter(|part| part.share.0 > 0.0).count() > 1;
            let name = format!("{} by {by}", model.name);
            several.then(|| bar(&name, &parts, &|part| self.kind(by, &part.name)))
        };
        let of_one = |model: &ModelTime| {
            let first = ["category", "layer", "component"].iter().find_map(|by| divided(model, by));
            let side = divided(model, "category").and_then(|_| divided(model, "side"));
            first.into_iter().chain(side)
        };
        let others = self.models.iter().filter(|model| !model.main);
        let bars: Vec<Bar> = others.flat_map(of_one).collect();
        let says = "Of what each part of the models consists.".to_owned();
        let title = format!("{}: parts of the models", self.name);
        (!bars.is_empty()).then_some(Bars { title, says, to_scale: false, bars })
    }
}

/// The most named parts of a bar; the rest is one part.
const NAMED: usize = 12;

fn bar(name: &str, parts: &[PartTime], kind: &dyn Fn(&PartTime) -> Option<usize>) -> Bar {
    let whole: f64 = parts.iter().map(|part| part.time.0.0).sum();
    let drawn = |part: &PartTime| Part {
        name: part.name.clone(),
        share: if whole == 0.0 { 0.0 } else { part.time.0.0 / whole },
        kind: kind(part),
    };
    let (named, rest) = parts.split_at(parts.len().min(NAMED));
    let mut drawn: Vec<Part> = named.iter().map(drawn).collect();
    if !rest.is_empty() {
        let share = 1.0 - drawn.iter().map(|part| part.share).sum::<f64>();
        drawn.push(Part { name: format!("{} more", rest.len()), share, kind: None });
    }
    Bar { name: name.to_owned(), whole, parts: drawn }
}

/// A model by category, layer and side.
fn ways(model: &ModelTime) -> Table {
    let ways = model.divided.iter().filter(|way| way.by != "component");
    let parts = ways.flat_map(|way| way.parts.iter().map(|part| (&way.by, part)));
    let row = |(by, part): (&String, &PartTime)| {
        [
            by.clone().into(),
            part.name.clone().into(),
            Cell::Number(scaled(part.time.0.0, Unit::Second)),
            Cell::Number(share(part.share.0)),
            Cell::Bar(part.share.0),
        ]
    };
    Table::new(["by", "", "time", "share", ""].map(Head::new)).with(parts.map(row))
}

impl Beside {
    /// Times that are in no model: the ends of their ids, and what they are.
    fn findings(&self) -> impl Iterator<Item = (&'static str, &'static str, &Quantity)> {
        let hidden = ("hidden", "software hidden each way", self.hidden.as_ref());
        let overlap = ("overlap", "done at once, without stamps", self.overlap.as_ref());
        let line = ("line", "a cache line's way", self.line.as_ref());
        let stamp = ("stamp", "a stamp, removed", self.stamp.as_ref());
        let awaited = ("awaited_stamp", "one that waits, removed", self.awaited_stamp.as_ref());
        [hidden, line, overlap, stamp, awaited]
            .into_iter()
            .filter_map(|(name, what, of)| Some((name, what, of?)))
    }

    fn blocks(&self, context: &Context<'_>, id: &str) -> Vec<Block> {
        let passes = self.passes.iter();
        let mut blocks: Vec<Block> =
            passes.map(|(model, what)| Block::Text(format!("{model} passed {what}"))).collect();
        let rows: Vec<_> = self.findings().collect();
        if !rows.is_empty() {
            let row = |(name, what, of): (&str, &str, &Quantity)| {
                let cell = context.cell(&format!("{id}/{name}"), of);
                [what.into(), cell, Cell::Number(of.samples.to_string())]
            };
            let table = Table::new(["beside", "", "values"].map(Head::new));
            blocks.push(Block::Table(table.with(rows.into_iter().map(row))));
        }
        if !self.inserted.is_empty() {
            let heads =
                ["inserted in", "length", "it is longer by", "", "half a round trip by", ""];
            let rows = self.inserted.iter().map(|one| {
                [
                    one.component.clone().into(),
                    Cell::Number(scaled(one.inserted.0.0, Unit::Second)),
                    given(&one.part),
                    one.comes_back.to_string().into(),
                    given(&one.whole),
                    one.whole_comes_back.to_string().into(),
                ]
            });
            blocks.push(Block::Table(Table::new(heads.map(Head::new)).with(rows)));
        }
        blocks
    }
}
