//! Tables in CSV, with the models of the paper.

use std::collections::{BTreeSet, HashMap};

use bandgap_model::breakdown::bounds::{SPREAD, TIME, is_spread, is_time};
use bandgap_model::breakdown::formula::Formula;
use bandgap_model::breakdown::{
    Category, Component, Declared, Layer, Provenance, Side, Stack, StackError, Time,
};
use csv::StringRecord;

use super::ComponentTable;
use super::paper::paper;
use super::shown::Shown;
use super::toml::Declarations;
use super::traced::{self, is_traced, lacking, traced_component};
use crate::TableError;
use crate::table_lines::{self, Header, Line, Result};

pub(super) const EXPECTED: &str = "CSV whose first line names the columns \
                                   name,category,layer,side,time_ns, or TOML with [[component]] and [[model]]";

/// The columns that are read; the last two need not be there.
const COLUMNS: [&str; 7] =
    ["name", "category", "layer", "side", "time_ns", "spread_ns", "provenance"];

/// Reads a table.
pub(super) fn read(text: &str) -> Result<ComponentTable> {
    let mut lines = table_lines::lines(text.as_bytes())
        .filter(|line| !line.as_ref().is_ok_and(Line::is_comment));
    let first = lines.next().transpose()?.ok_or(TableError::Empty { expected: EXPECTED })?;
    let header = Header::new(&first)?;
    let columns = [
        header.need("name")?,
        header.need("category")?,
        header.need("layer")?,
        header.need("side")?,
        header.need("time_ns")?,
    ];
    let known = [header.find("spread_ns")?, header.find("provenance")?];
    let ignored: Vec<&str> = header.names().filter(|name| !COLUMNS.contains(name)).collect();
    let mut components = Vec::new();
    let mut at: HashMap<String, u64> = HashMap::new();
    for line in lines {
        let line = line?;
        let component = row(&line, &header.row(&line)?, columns, known)?;
        at.insert(component.name.clone(), line.number);
        components.push(component);
    }
    if components.is_empty() {
        return Err(TableError::NoRows);
    }
    let mut table = modelled(components).map_err(|wrong| match at.get(&wrong.subject) {
        Some(line) => TableError::Line { line: *line, why: wrong.why },
        None => TableError::Whole { why: wrong.why },
    })?;
    table.warnings.extend(unread(&ignored));
    Ok(table)
}

/// That columns are not read.
fn unread(ignored: &[&str]) -> Option<String> {
    let (columns, are) = if ignored.len() == 1 { ("column", "is") } else { ("columns", "are") };
    (!ignored.is_empty()).then(|| {
        format!(
            "the table's {columns} {} {are} ignored: a table of components has {}",
            quoted(ignored),
            COLUMNS.join(", ")
        )
    })
}

fn row(
    line: &Line,
    record: &StringRecord,
    columns: [usize; 5],
    [spread, provenance]: [Option<usize>; 2],
) -> Result<Component> {
    let [name, category, layer, side, time] = columns.map(|column| &record[column]);
    let amount = |column, text, fits: fn(f64) -> bool, expected| {
        let cell = line.cell(column, text);
        let number = cell.amount("it must be a number of nanoseconds")?;
        if fits(number) { Ok(number) } else { Err(cell.wrong(expected)) }
    };
    let filled = |place: Option<usize>| place.map(|at| &record[at]).filter(|cell| !cell.is_empty());
    let spread = filled(spread).map(|text| amount("spread_ns", text, is_spread, SPREAD));
    let spread = spread.transpose()?;
    let word = |column, text, expected| line.cell(column, text).wrong(expected);
    let provenance = match filled(provenance) {
        None => Provenance::Assumed,
        Some(text) => {
            Provenance::named(text).ok_or_else(|| word("provenance", text, Provenance::EXPECTED))?
        }
    };
    Ok(Component {
        name: name.to_owned(),
        label: None,
        category: Category::named(category)
            .ok_or_else(|| word("category", category, Category::EXPECTED))?,
        layer: Layer::named(layer).ok_or_else(|| word("layer", layer, Layer::EXPECTED))?,
        side: Side::named(side).ok_or_else(|| word("side", side, Side::EXPECTED))?,
        time: Time::Given { ns: amount("time_ns", time, is_time, TIME)?, spread },
        provenance,
        part_of: None,
        apart: false,
    })
}

/// The paper's models over components that others measured, or their sum where none of its is among
/// them.
fn modelled(mut components: Vec<Component>) -> std::result::Result<ComponentTable, StackError> {
    if components.iter().all(|one| is_traced(&one.name)) {
        return relabelled(components);
    }
    let mut paper = paper();
    let there: BTreeSet<String> = components.iter().map(|one| one.name.clone()).collect();
    if !paper.components.iter().any(|one| there.contains(&one.name)) {
        return summed(components);
    }
    // The parts of what is there. What readers call a component is the paper's.
    let parts = || paper.components.iter().filter(|one| one.part_of.is_some());
    for one in parts() {
        let whole = one.part_of.as_ref().is_some_and(|whole| there.contains(whole));
        let siblings = parts().filter(|other| other.part_of == one.part_of);
        if whole && !siblings.map(|one| &one.name).any(|name| there.contains(name)) {
            components.push(one.clone());
        }
    }
    for component in &mut components {
        let same = paper.components.iter().find(|one| one.name == component.name);
        component.label = same.and_then(|one| one.label.clone());
    }
    let lacking = |model: &Declared| missing(&paper, &there, model);
    let needed: Vec<(String, String)> =
        paper.models.iter().filter(|model| model.main).flat_map(lacking).collect();
    if let Some((model, _)) = needed.first() {
        let mut names: Vec<&str> = Vec::new();
        for (_, name) in &needed {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let known: Vec<&str> = paper.components.iter().map(|one| one.name.as_str()).collect();
        let used: Vec<&str> = known.into_iter().filter(|name| there.contains(*name)).collect();
        return Err(lacks(&names, model, &used));
    }
    let left: Vec<(String, String)> = paper
        .models
        .iter()
        .filter_map(|model| {
            Some((model.name.clone(), missing(&paper, &there, model).into_iter().next()?.1))
        })
        .collect();
    paper.models.retain(|model| left.iter().all(|(name, _)| *name != model.name));
    // What was observed was observed on the paper's machine.
    for model in &mut paper.models {
        model.observed = None;
    }
    let stack = Stack::new(components, paper.models)?;
    let shown = Shown::of(&stack, paper.figures, paper.questions, paper.curves, paper.cases);
    let mut notes =
        vec!["The table has no models of its own: those of the paper are used.".to_owned()];
    if !left.is_empty() {
        let left: Vec<String> =
            left.iter().map(|(model, name)| format!("{model} (no '{name}')")).collect();
        notes.push(format!("Left out, for want of components: {}.", left.join(", ")));
    }
    Ok(ComponentTable {
        name: "table".to_owned(),
        description: String::new(),
        stack,
        figures: shown.figures,
        questions: shown.questions,
        curves: shown.curves,
        cases: shown.cases,
        notes,
        warnings: Vec::new(),
    })
}

/// Nothing but components that are named as those of a PCIe trace, whoever measured them.
fn relabelled(mut components: Vec<Component>) -> std::result::Result<ComponentTable, StackError> {
    for one in &mut components {
        let same = traced_component(&one.name, 0.0, None, one.provenance);
        one.label = same.and_then(|same| same.label);
    }
    let (latency, missing) = lacking(&components);
    let used: Vec<String> = components.iter().map(|one| one.name.clone()).collect();
    let used: Vec<&str> = used.iter().map(String::as_str).collect();
    let stack = traced::modelled(components).map_err(|error| {
        let is_lacking = error.subject.is_empty() && !missing.is_empty();
        if is_lacking { lacks(&missing, latency, &used) } else { error }
    })?;
    let mut notes = vec![
        "The table has no models of its own, and only such components as a PCIe trace gives: the models are those \
         that these are enough for."
            .to_owned(),
    ];
    if !missing.is_empty() {
        let missing = missing.join("', '");
        notes.push(format!("Left out, for want of components: {latency} (no '{missing}')."));
    }
    Ok(ComponentTable { notes, ..ComponentTable::plain("table", "", stack) })
}

/// Names that a sentence lists, at most.
const NAMED: usize = 8;

/// Names in quotes, and how many more there are.
fn quoted(names: &[&str]) -> String {
    let listed = names[..names.len().min(NAMED)].join("', '");
    match names.len().saturating_sub(NAMED) {
        0 => format!("'{listed}'"),
        more => format!("'{listed}' and {more} more"),
    }
}

/// That a table has not what the paper's models need, first this one; they are computed for the names in `used`.
fn lacks(names: &[&str], model: &str, used: &[&str]) -> StackError {
    let (first, others) = names.split_first().map_or(("", names), |(first, rest)| (*first, rest));
    let others = match others {
        [] => String::new(),
        others => format!(" (nor {}, which these models need too)", quoted(others)),
    };
    let (are, them) = if used.len() == 1 { ("is a name", "it") } else { ("are names", "them") };
    StackError {
        subject: String::new(),
        why: format!(
            "it has no component '{first}', which the model '{model}' needs{others}; the paper's models are computed \
             since {} {are} of the paper's components: rename {them}, or declare models of your own in TOML",
            quoted(used)
        ),
        unknown: Some(first.to_owned()),
    }
}

/// The components that a model lacks, each with the model whose formula names it.
fn missing(
    paper: &Declarations,
    there: &BTreeSet<String>,
    model: &Declared,
) -> Vec<(String, String)> {
    let Ok(formula) = Formula::parse(&model.formula) else { return Vec::new() };
    let absent = formula.names().into_iter().filter(|name| !there.contains(*name));
    let lacks = |name: &str| match paper.models.iter().find(|other| other.name == name) {
        Some(other) => missing(paper, there, other),
        None => vec![(model.name.clone(), name.to_owned())],
    };
    absent.flat_map(lacks).collect()
}

/// Components whose only model is their sum.
fn summed(components: Vec<Component>) -> std::result::Result<ComponentTable, StackError> {
    let total = Declared {
        name: "total".to_owned(),
        label: None,
        formula: "sum:all".to_owned(),
        main: true,
        observed: None,
    };
    let stack = Stack::new(components, vec![total])?;
    Ok(ComponentTable {
        notes: vec![
            "The table has no models, and none of the paper's components: the model is the sum of \
             all. Declare models in TOML for others."
                .to_owned(),
        ],
        ..ComponentTable::plain("table", "", stack)
    })
}
