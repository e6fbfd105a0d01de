//! Reads tables of components of a message's time, and models made of them.
//!
//! The table is CSV with the columns `name`, `category`, `layer`, `side` and `time_ns`, in any order, and optionally
//! `spread_ns` (a standard deviation) and `provenance`. Every other column is a model, whose cells are the coefficients
//! of the components: `1`, `-0.5`, `1/64`, or `1/c` with a parameter; empty means 0. Columns with the same name are one
//! model, whose time is that of the longest. Blank lines and lines that begin with `#` are ignored.
//!
//! Rows of these categories are not components:
//!
//! | category | content of the row |
//! |---|---|
//! | `observed` | in the column of each model, its observed time in ns; `time_ns` is empty |
//! | `observed_spread` | likewise, the standard deviation |
//! | `parameter` | a number in `time_ns` |
//!
//! A row without a time and with the name of an earlier row is the same component on another layer or side. A time
//! without a `provenance` is `assumed`. A table without models gets those of the paper's models for which it has all
//! components, or else the sum of its components.

use std::collections::BTreeMap;
use std::io::Read;

use bandgap_model::breakdown::{
    Category, Component, Lacking, Layer, Model, Observed, Provenance, Side, Stack, Term,
};
use csv::StringRecord;

use crate::TableError;
use crate::table_lines::{self, Header, Line, Result};

const EXPECTED: &str = "CSV whose first line names the columns name,category,layer,side,time_ns and one for each model";

/// Columns that are not models; the last two are optional.
const COLUMNS: [&str; 7] =
    ["name", "category", "layer", "side", "time_ns", "spread_ns", "provenance"];

/// Longest table, in bytes, so that an endless source does not fill the memory.
const LONGEST: usize = 64 << 20;

/// The built-in tables, by name.
const PRESETS: [(&str, &str); 1] =
    [("thunderx2-connectx4", include_str!("../presets/thunderx2-connectx4.csv"))];

/// Components and models.
#[derive(Clone, Debug)]
pub struct ComponentTable {
    /// The table's name.
    pub name: String,
    /// Components and models.
    pub stack: Stack,
    /// Components that the paper's models lack, in a table without models.
    pub lacking: Vec<Lacking>,
}

/// Names of the built-in tables.
pub fn component_presets() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The built-in table with this name.
pub fn component_preset(name: &str) -> Option<ComponentTable> {
    let (name, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
    let table = read_component_table(text.as_bytes());
    Some(ComponentTable {
        name: (*name).to_owned(),
        ..table.expect("a table that is built in is read by a test")
    })
}

/// The paper's models over other components, without the times observed on the paper's machine.
pub fn paper_models(components: Vec<Component>) -> (Stack, Vec<Lacking>) {
    let mut paper = component_preset(PRESETS[0].0).expect("it is built in").stack;
    paper.models.iter_mut().for_each(|model| model.observed = None);
    paper.over(components)
}

/// Reads a table of components.
///
/// # Errors
/// Any defect, with its line if it has one: a table with a defect is refused.
pub fn read_component_table(source: impl Read) -> Result<ComponentTable> {
    let mut lines = table_lines::bounded(source, LONGEST)
        .filter(|line| !line.as_ref().is_ok_and(Line::is_comment));
    let first = lines.next().transpose()?.ok_or(TableError::Empty(EXPECTED))?;
    let header = Header::new(&first, ',')?;
    let columns = Columns::of(&header)?;
    let mut rows = Rows::new(columns);
    for line in lines {
        let line = line?;
        rows.take(&line, &header.row(&line)?)?;
    }
    rows.finish()
}

/// Places of the columns.
struct Columns {
    needed: [usize; 5],
    spread: Option<usize>,
    provenance: Option<usize>,
    /// Name and places of each model.
    models: Vec<(String, Vec<usize>)>,
}

impl Columns {
    fn of(header: &Header<'_>) -> Result<Columns> {
        let [name, category, layer, side, time, spread, provenance] = COLUMNS;
        let mut models: Vec<(String, Vec<usize>)> = Vec::new();
        let others = header.names().enumerate();
        for (at, name) in others.filter(|(_, name)| !name.is_empty() && !COLUMNS.contains(name)) {
            match models.iter_mut().find(|(known, _)| known == name) {
                Some((_, places)) => places.push(at),
                None => models.push((name.to_owned(), vec![at])),
            }
        }
        Ok(Columns {
            needed: header.needs([name, category, layer, side, time])?,
            spread: header.find(spread)?,
            provenance: header.find(provenance)?,
            models,
        })
    }
}

/// The rows read so far.
struct Rows {
    columns: Columns,
    stack: Stack,
    /// Line of each name.
    lines: BTreeMap<String, u64>,
    /// Observed times and their spreads, by model.
    observed: [Vec<Option<f64>>; 2],
}

impl Rows {
    fn new(columns: Columns) -> Rows {
        let model = |(name, places): &(String, Vec<usize>)| Model {
            name: name.clone(),
            rows: vec![Vec::new(); places.len()],
            main: true,
            observed: None,
        };
        let models = columns.models.iter().map(model).collect();
        let observed = [(), ()].map(|()| vec![None; columns.models.len()]);
        let stack = Stack { models, ..Stack::default() };
        Rows { columns, stack, lines: BTreeMap::new(), observed }
    }

    fn take(&mut self, line: &Line, row: &StringRecord) -> Result {
        let [name, category, layer, side, time] = self.columns.needed.map(|at| &row[at]);
        match category.to_ascii_lowercase().as_str() {
            "observed" => return self.observed(0, line, row),
            "observed_spread" => return self.observed(1, line, row),
            "parameter" => {
                let value = line.cell("time_ns", time).amount("it must be a number")?;
                self.lines.insert(name.to_owned(), line.number);
                self.stack.parameters.insert(name.to_owned(), value);
                return Ok(());
            }
            _ => {}
        }
        let word = |column, text, expected| line.cell(column, text).wrong(expected);
        let category = Category::named(category).ok_or_else(|| {
            word(
                "category",
                category,
                "it must be cpu, io, network, parameter, observed or observed_spread",
            )
        })?;
        let layer = Layer::named(layer).ok_or_else(|| word("layer", layer, Layer::EXPECTED))?;
        let side = Side::named(side).ok_or_else(|| word("side", side, Side::EXPECTED))?;
        let known = self.stack.component(name).filter(|_| time.is_empty());
        let component = match known {
            Some(at) => at,
            None => {
                let filled =
                    |place: Option<usize>| place.map(|at| &row[at]).filter(|cell| !cell.is_empty());
                let amount = |column, text| {
                    line.cell(column, text).amount("it must be a number of nanoseconds")
                };
                let spread = filled(self.columns.spread)
                    .map(|text| amount("spread_ns", text))
                    .transpose()?;
                let provenance =
                    filled(self.columns.provenance).map_or(Ok(Provenance::Assumed), |text| {
                        Provenance::named(text)
                            .ok_or_else(|| word("provenance", text, Provenance::EXPECTED))
                    })?;
                let (name, ns, errors) =
                    (name.to_owned(), amount("time_ns", time)?, BTreeMap::new());
                self.lines.insert(name.clone(), line.number);
                let one = Component { name, category, layer, side, ns, errors, provenance };
                self.stack.push(one.spread(spread))
            }
        };
        for (model, (name, places)) in self.stack.models.iter_mut().zip(&self.columns.models) {
            for (terms, at) in model.rows.iter_mut().zip(places) {
                let cell = &row[*at];
                let (times, per) = coefficient(cell).ok_or_else(|| {
                    line.wrong(format!("{name} is '{}': it must be a number, or one divided by another or by a parameter, as 1/c", bandgap_import::shortened(cell)))
                })?;
                if times != 0.0 {
                    terms.push(Term { component, layer, side, times, per });
                }
            }
        }
        Ok(())
    }

    fn observed(&mut self, which: usize, line: &Line, row: &StringRecord) -> Result {
        for (known, (_, places)) in self.observed[which].iter_mut().zip(&self.columns.models) {
            let cells = places.iter().map(|at| &row[*at]).filter(|cell| !cell.is_empty());
            for cell in cells {
                *known =
                    Some(line.cell("observed", cell).amount("it must be a number of nanoseconds")?);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<ComponentTable> {
        let Rows { mut stack, lines, observed: [observed, spread], .. } = self;
        if stack.components.is_empty() {
            return Err(TableError::NoRows);
        }
        for ((model, ns), spread) in stack.models.iter_mut().zip(observed).zip(spread) {
            model.observed = ns.map(|ns| Observed { ns, spread });
        }
        stack.observed_are_main();
        stack.check().map_err(|(name, why)| match lines.get(&name) {
            Some(line) => TableError::Line(*line, why),
            None => TableError::Whole(why),
        })?;
        let (stack, lacking) = match stack.models.is_empty() {
            true => paper_models(stack.components),
            false => (stack, Vec::new()),
        };
        Ok(ComponentTable { name: "table".to_owned(), stack, lacking })
    }
}

/// A coefficient, and the parameter that divides it.
fn coefficient(cell: &str) -> Option<(f64, Option<String>)> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match cell.split_once('/') {
        _ if cell.is_empty() => Some((0.0, None)),
        None => Some((number(cell)?, None)),
        Some((times, by)) => match number(by) {
            Some(by) => Some((number(times)? / by, None)).filter(|(times, _)| times.is_finite()),
            None => Some((number(times)?, Some(by.trim().to_owned()))),
        },
    }
}

#[cfg(test)]
mod tests;
