//! Tables in TOML.

use std::collections::{BTreeMap, HashMap};

use bandgap_model::breakdown::{
    By, Category, Change, Component, Declared, Group, Layer, Observed, Provenance, Question, Side,
    Stack, StackError, Time,
};
use bandgap_units::{Fraction, Ns, UnitError};
use serde::Deserialize;
use toml::Spanned;

use super::{BarDeclared, BarsDeclared, Case, ComponentTable, CurvesDeclared, line_of};
use crate::TableError;
use crate::table_error::shortened;
use crate::table_lines::Result;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    component: Vec<Spanned<ComponentEntry>>,
    #[serde(default)]
    model: Vec<Spanned<ModelEntry>>,
    #[serde(default)]
    figure: Vec<Spanned<FigureEntry>>,
    #[serde(default)]
    insight: Vec<Spanned<InsightEntry>>,
    #[serde(default)]
    curves: Vec<Spanned<CurvesEntry>>,
    #[serde(default)]
    case: Vec<Spanned<CaseEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComponentEntry {
    name: Spanned<String>,
    label: Option<String>,
    category: Spanned<String>,
    layer: Spanned<String>,
    side: Spanned<String>,
    time_ns: Option<Spanned<f64>>,
    time: Option<Spanned<String>>,
    formula: Option<String>,
    spread_ns: Option<Spanned<f64>>,
    spread: Option<Spanned<String>>,
    provenance: Option<Spanned<String>>,
    part_of: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    name: Spanned<String>,
    label: Option<String>,
    formula: Spanned<String>,
    #[serde(default)]
    main: bool,
    observed_ns: Option<Spanned<f64>>,
    observed: Option<Spanned<String>>,
    observed_spread_ns: Option<Spanned<f64>>,
    observed_spread: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureEntry {
    title: String,
    bars: Vec<BarEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BarEntry {
    model: String,
    by: Spanned<String>,
    only: Option<Spanned<String>>,
    label: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InsightEntry {
    ratio: Option<[String; 2]>,
    share: Option<[String; 2]>,
    most: Option<String>,
    by: Option<Spanned<String>>,
    only: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CurvesEntry {
    title: String,
    model: String,
    of: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseEntry {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    reduce: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    increase: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    set: BTreeMap<String, Spanned<String>>,
}

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
}

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
        let mut lines = HashMap::new();
        let mut components = Vec::with_capacity(file.component.len());
        // Counting lines from the begin of the text for each component would take its square.
        let mut counter = Counter { text: text.as_bytes(), at: 0, line: 1 };
        for entry in &file.component {
            let component = source.component(entry)?;
            lines.insert(component.name.clone(), counter.line(entry.get_ref().name.span().start));
            components.push(component);
        }
        counter = Counter { text: text.as_bytes(), at: 0, line: 1 };
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
        })
    }

    /// The table, all names looked up.
    fn checked(self) -> Result<ComponentTable> {
        let place = |error: StackError| match self.lines.get(&error.subject) {
            Some(line) => TableError::Line { line: *line, why: error.why },
            None => TableError::Whole { why: error.why },
        };
        let stack = Stack::new(self.components, self.models).map_err(place)?;
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
        })
    }
}

/// What is shown of a stack, and what cannot be, with its line and the reason.
pub(super) struct Shown {
    pub figures: Vec<BarsDeclared>,
    pub questions: Vec<Question>,
    pub curves: Vec<CurvesDeclared>,
    pub cases: Vec<Case>,
    pub left_out: Vec<(u64, String)>,
}

impl Shown {
    /// Of what is declared that whose names the stack has.
    pub fn of(
        stack: &Stack,
        figures: Vec<(u64, BarsDeclared)>,
        questions: Vec<(u64, Question)>,
        curves: Vec<(u64, CurvesDeclared)>,
        cases: Vec<(u64, Case)>,
    ) -> Shown {
        let mut left_out = Vec::new();
        let is_time = |name: &str| match stack.model(name) {
            Some(_) => Ok(()),
            None => Err(format!("'{name}' is no model")),
        };
        let figures = kept(figures, &mut left_out, |figure| {
            figure.bars.iter().try_for_each(|bar| is_time(&bar.model))
        });
        let questions = kept(questions, &mut left_out, |question| {
            stack.answer(question, 1.0).map(|_| ()).map_err(|error| error.why)
        });
        let curves = kept(curves, &mut left_out, |curves| {
            is_time(&curves.model)?;
            let meant = |what: &String| stack.meant(what).map(|_| ()).map_err(|error| error.why);
            curves.of.iter().try_for_each(meant)
        });
        let cases = kept(cases, &mut left_out, |case| {
            stack.changed(&case.changes).map(|_| ()).map_err(|error| error.why)
        });
        Shown { figures, questions, curves, cases, left_out }
    }
}

fn kept<T>(
    all: Vec<(u64, T)>,
    left_out: &mut Vec<(u64, String)>,
    check: impl Fn(&T) -> std::result::Result<(), String>,
) -> Vec<T> {
    let mut kept = Vec::new();
    for (line, one) in all {
        match check(&one) {
            Ok(()) => kept.push(one),
            Err(why) => left_out.push((line, why)),
        }
    }
    kept
}

/// Counts lines up to places that mostly ascend.
struct Counter<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl Counter<'_> {
    fn line(&mut self, at: usize) -> u64 {
        if at < self.at {
            return line_of(self.text, at);
        }
        self.line += line_of(&self.text[self.at..at.min(self.text.len())], usize::MAX) - 1;
        self.at = at.min(self.text.len());
        self.line
    }
}

struct Source<'a> {
    text: &'a str,
}

impl Source<'_> {
    fn wrong(&self, at: usize, why: impl Into<String>) -> TableError {
        TableError::Line { line: line_of(self.text.as_bytes(), at), why: why.into() }
    }

    fn all<E, T>(
        &self,
        entries: &[Spanned<E>],
        read: impl Fn(&Self, usize, &E) -> Result<T>,
    ) -> Result<Vec<(u64, T)>> {
        let one = |entry: &Spanned<E>| {
            let at = entry.span().start;
            Ok((line_of(self.text.as_bytes(), at), read(self, at, entry.get_ref())?))
        };
        entries.iter().map(one).collect()
    }

    fn component(&self, spanned: &Spanned<ComponentEntry>) -> Result<Component> {
        let entry = spanned.get_ref();
        let name = entry.name.get_ref();
        let at = entry.name.span().start;
        let time = self.time("time", &entry.time_ns, &entry.time)?;
        let spread = self.time("spread", &entry.spread_ns, &entry.spread)?;
        let (time, usual) = match (time, &entry.formula) {
            (Some(ns), None) => (Time::Given { ns, spread }, Provenance::Measured),
            (None, Some(_)) if spread.is_some() => {
                let why = format!("'{name}' has a formula, so its spread follows from others");
                return Err(self.wrong(at, why));
            }
            (None, Some(formula)) => (Time::Derived(formula.clone()), Provenance::Derived),
            (None, None) => {
                let why = format!("'{name}' has no time: give time_ns, time or formula");
                return Err(self.wrong(at, why));
            }
            (Some(_), Some(_)) => {
                return Err(self.wrong(at, format!("'{name}' has both a time and a formula")));
            }
        };
        let provenance = entry.provenance.as_ref();
        Ok(Component {
            name: name.clone(),
            label: entry.label.clone(),
            category: self.word(
                "category",
                &entry.category,
                Category::named,
                Category::EXPECTED,
            )?,
            layer: self.word("layer", &entry.layer, Layer::named, Layer::EXPECTED)?,
            side: self.word("side", &entry.side, Side::named, Side::EXPECTED)?,
            time,
            provenance: match provenance {
                None => usual,
                Some(word) => {
                    self.word("provenance", word, Provenance::named, Provenance::EXPECTED)?
                }
            },
            part_of: entry.part_of.clone(),
        })
    }

    fn model(&self, entry: &ModelEntry) -> Result<Declared> {
        let at = entry.name.span().start;
        let value = self.time("observed", &entry.observed_ns, &entry.observed)?;
        let spread =
            self.time("observed_spread", &entry.observed_spread_ns, &entry.observed_spread)?;
        let observed = match value {
            Some(0.0) => return Err(self.wrong(at, "an observed time must be above 0")),
            None if spread.is_some() => {
                return Err(self.wrong(at, "there is a spread of what was observed, but no value"));
            }
            value => value.map(|value| Observed { value, spread }),
        };
        Ok(Declared {
            name: entry.name.get_ref().clone(),
            label: entry.label.clone(),
            formula: entry.formula.get_ref().clone(),
            main: entry.main,
            observed,
        })
    }

    fn figure(&self, _: usize, entry: &FigureEntry) -> Result<BarsDeclared> {
        let bar = |bar: &BarEntry| {
            Ok(BarDeclared {
                model: bar.model.clone(),
                by: self.by(&bar.by)?,
                only: self.only(bar.only.as_ref())?,
                label: bar.label.clone(),
            })
        };
        let bars = entry.bars.iter().map(bar).collect::<Result<_>>()?;
        Ok(BarsDeclared { title: entry.title.clone(), bars })
    }

    fn question(&self, at: usize, entry: &InsightEntry) -> Result<Question> {
        match (&entry.ratio, &entry.share, &entry.most, &entry.by) {
            (Some([of, to]), None, None, None) => {
                Ok(Question::Ratio { of: of.clone(), to: to.clone() })
            }
            (None, Some([of, to]), None, None) => {
                Ok(Question::Share { of: of.clone(), to: to.clone() })
            }
            (None, None, Some(model), Some(by)) => Ok(Question::Most {
                model: model.clone(),
                by: self.by(by)?,
                only: self.only(entry.only.as_ref())?,
            }),
            _ => {
                let why =
                    "an insight has ratio = [one, other], share = [part, whole], or most and by";
                Err(self.wrong(at, why))
            }
        }
    }

    fn curves(&self, _: usize, entry: &CurvesEntry) -> Result<CurvesDeclared> {
        let CurvesEntry { title, model, of } = entry;
        Ok(CurvesDeclared { title: title.clone(), model: model.clone(), of: of.clone() })
    }

    fn case(&self, at: usize, entry: &CaseEntry) -> Result<Case> {
        let mut changes = Vec::new();
        let unit = |place: &Spanned<String>, error: UnitError| {
            self.wrong(place.span().start, error.to_string())
        };
        for (sign, shares) in [(-1.0, &entry.reduce), (1.0, &entry.increase)] {
            for (what, share) in shares {
                let share: Fraction =
                    share.get_ref().parse().map_err(|error| unit(share, error))?;
                changes.push(Change::Scale { what: what.clone(), factor: 1.0 + sign * share.0 });
            }
        }
        for (what, time) in &entry.set {
            let Ns(ns) = time.get_ref().parse().map_err(|error| unit(time, error))?;
            if ns < 0.0 {
                return Err(self.wrong(time.span().start, "a time must not be negative"));
            }
            changes.push(Change::Set { what: what.clone(), ns });
        }
        if changes.is_empty() {
            return Err(self.wrong(at, "a case changes something: give reduce, increase or set"));
        }
        Ok(Case { name: entry.name.clone(), about: entry.about.clone(), changes })
    }

    fn by(&self, word: &Spanned<String>) -> Result<By> {
        self.word("by", word, By::named, "it must be component, category, layer, side or term")
    }

    fn only(&self, word: Option<&Spanned<String>>) -> Result<Option<Group>> {
        let why = "it must be a category, a layer or a side";
        word.map(|word| self.word("only", word, Group::named, why)).transpose()
    }

    fn word<T>(
        &self,
        key: &str,
        word: &Spanned<String>,
        named: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Result<T> {
        named(word.get_ref()).ok_or_else(|| {
            let why = format!("{key} is '{}': {expected}", shortened(word.get_ref()));
            self.wrong(word.span().start, why)
        })
    }

    /// A time in nanoseconds, given as a number of them or as a text with its unit.
    fn time(
        &self,
        key: &str,
        number: &Option<Spanned<f64>>,
        text: &Option<Spanned<String>>,
    ) -> Result<Option<f64>> {
        let (at, time) = match (number, text) {
            (None, None) => return Ok(None),
            (Some(number), None) => (number.span().start, *number.get_ref()),
            (None, Some(text)) => {
                let at = text.span().start;
                let time: std::result::Result<Ns, UnitError> = text.get_ref().parse();
                (at, time.map_err(|error| self.wrong(at, error.to_string()))?.0)
            }
            (Some(number), Some(_)) => {
                let why = format!("{key}_ns and {key} say the same: give one of them");
                return Err(self.wrong(number.span().start, why));
            }
        };
        if !time.is_finite() || time < 0.0 {
            let why = format!("{key} is {time} ns: it must be finite and not negative");
            return Err(self.wrong(at, why));
        }
        Ok(Some(time))
    }
}
