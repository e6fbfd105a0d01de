//! Tables in TOML.

mod entries;
mod file;
mod source;

use std::collections::HashMap;

use bandgap_model::breakdown::{Component, Declared, Question, Stack, StackError};

use self::file::File;
use self::source::{Counter, Source};
use super::shown::Shown;
use super::{BarsDeclared, Case, ComponentTable, CurvesDeclared};
use crate::TableError;
use crate::table_lines::Result;

/// What a file declares, before names are looked up.
pub(super) struct Declarations {
    pub name: String,
    pub description: String,
    pub components: Vec<Component>,
    pub models: Vec<Declared>,
    pub figures: Vec<(u64, BarsDeclared)>,
    pub questions: Vec<(u64, Question)>,
    pub curves: Vec<(u64, CurvesDeclared)>,
    pub cases: Vec<(u64, Case)>,
    /// The line of each component and model; of a name that is there twice the second.
    lines: HashMap<String, u64>,
    /// How many bars, insights, curves and cases there are.
    shown: usize,
}

/// Most bars, insights, curves and cases.
const MOST_SHOWN: usize = 300;

/// Most of them times the derivatives that are added up for all models: each looks at what models use.
const MOST_LOOKED_AT: usize = 1 << 19;

/// Reads a table.
pub(super) fn read(text: &str) -> Result<ComponentTable> {
    let declarations = Declarations::parse(text)?;
    if declarations.components.is_empty() {
        return Err(TableError::Whole { why: "it has no [[component]]".to_owned() });
    }
    if declarations.models.is_empty() {
        return Err(TableError::Whole { why: "it has no [[model]]".to_owned() });
    }
    declarations.checked()
}

impl Declarations {
    /// Reads what is declared.
    pub fn parse(text: &str) -> Result<Declarations> {
        let source = Source { text };
        let file: File = toml::from_str(text).map_err(|error| {
            source.wrong(error.span().unwrap_or_default().start, error.message())
        })?;
        let shown = file.figure.iter().map(|figure| figure.get_ref().bars.len()).sum::<usize>()
            + file.insight.len()
            + file.curves.iter().map(|curves| curves.get_ref().of.len()).sum::<usize>()
            + file.curves.len()
            + file.case.len();
        if shown > MOST_SHOWN {
            let why = format!(
                "it has {shown} bars, insights, curves and cases together; {MOST_SHOWN} are possible"
            );
            return Err(TableError::Whole { why });
        }
        let mut lines = HashMap::new();
        let mut components = Vec::with_capacity(file.component.len());
        // Counting lines from the begin of the text for each component would take its square.
        let mut counter = Counter::new(text);
        for entry in &file.component {
            let component = source.component(entry)?;
            lines.insert(component.name.clone(), counter.line(entry.get_ref().name.span().start));
            components.push(component);
        }
        counter = Counter::new(text);
        let any_main = file.model.iter().any(|entry| entry.get_ref().main);
        let mut models = Vec::with_capacity(file.model.len());
        for entry in &file.model {
            let mut model = source.model(entry.get_ref())?;
            model.main |= !any_main;
            lines.insert(model.name.clone(), counter.line(entry.get_ref().formula.span().start));
            models.push(model);
        }
        Ok(Declarations {
            name: file.name,
            description: file.description,
            components,
            models,
            figures: source.all(&file.figure, Source::figure)?,
            questions: source.all(&file.insight, Source::question)?,
            curves: source.all(&file.curves, Source::curves)?,
            cases: source.all(&file.case, Source::case)?,
            lines,
            shown,
        })
    }

    /// The table, all names looked up.
    fn checked(self) -> Result<ComponentTable> {
        let place = |error: StackError| match self.lines.get(&error.subject) {
            Some(line) => TableError::Line { line: *line, why: error.why },
            None => TableError::Whole { why: error.why },
        };
        let stack = Stack::new(self.components, self.models).map_err(place)?;
        if self.shown * stack.uses() > MOST_LOOKED_AT {
            let why = format!(
                "it has {} bars, insights, curves and cases together, and its models use components {} times; {} are possible",
                self.shown,
                stack.uses(),
                MOST_LOOKED_AT / stack.uses()
            );
            return Err(TableError::Whole { why });
        }
        let Shown { figures, questions, curves, cases, left_out } =
            Shown::of(&stack, self.figures, self.questions, self.curves, self.cases);
        if let Some((line, why)) = left_out.into_iter().next() {
            return Err(TableError::Line { line, why });
        }
        let (name, description) = (self.name, self.description);
        Ok(ComponentTable {
            name,
            description,
            stack,
            figures,
            questions,
            curves,
            cases,
            notes: Vec::new(),
            warnings: Vec::new(),
        })
    }
}
