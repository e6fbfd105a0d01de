//! What each entry of a file declares.

use bandgap_model::breakdown::bounds::{OBSERVED, SPREAD, TIME, is_observed, is_spread, is_time};
use bandgap_model::breakdown::{
    By, Category, Change, Component, Declared, Group, Layer, Observed, Provenance, Question, Side,
    Time,
};
use bandgap_units::{Fraction, Ns, UnitError};
use toml::Spanned;

use super::file::{
    BarEntry, CaseEntry, ComponentEntry, CurvesEntry, FigureEntry, InsightEntry, ModelEntry,
};
use super::source::Source;
use crate::component_table::{BarDeclared, BarsDeclared, Case, CurvesDeclared};
use crate::table_lines::Result;

impl Source<'_> {
    pub fn component(&self, spanned: &Spanned<ComponentEntry>) -> Result<Component> {
        let entry = spanned.get_ref();
        let name = entry.name.get_ref();
        let at = entry.name.span().start;
        let time = self.time("time", &entry.time_ns, &entry.time, (is_time, TIME))?;
        let spread = self.time("spread", &entry.spread_ns, &entry.spread, (is_spread, SPREAD))?;
        let (time, usual) = match (time, &entry.formula) {
            (Some(ns), None) => (Time::Given { ns, spread }, Provenance::Assumed),
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
            apart: entry.apart,
        })
    }

    pub fn model(&self, entry: &ModelEntry) -> Result<Declared> {
        let at = entry.name.span().start;
        let ModelEntry { observed, observed_ns, observed_spread, observed_spread_ns, .. } = entry;
        let value = self.time("observed", observed_ns, observed, (is_observed, OBSERVED))?;
        let (number, text) = (observed_spread_ns, observed_spread);
        let spread = self.time("observed_spread", number, text, (is_spread, SPREAD))?;
        let observed = match value {
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

    pub fn figure(&self, _: usize, entry: &FigureEntry) -> Result<BarsDeclared> {
        let bar = |bar: &BarEntry| {
            let by = self.by(&bar.by)?;
            Ok(BarDeclared {
                model: bar.model.clone(),
                by,
                only: self.only(by, bar.only.as_ref())?,
                label: bar.label.clone(),
            })
        };
        let bars = entry.bars.iter().map(bar).collect::<Result<_>>()?;
        Ok(BarsDeclared { title: entry.title.clone(), bars })
    }

    pub fn question(&self, at: usize, entry: &InsightEntry) -> Result<Question> {
        let InsightEntry { ratio, share, most, by, only } = entry;
        match (ratio, share, most, by, only) {
            (Some([of, to]), None, None, None, None) => {
                Ok(Question::Ratio { of: of.clone(), to: to.clone() })
            }
            (None, Some([of, to]), None, None, None) => {
                Ok(Question::Share { of: of.clone(), to: to.clone() })
            }
            (None, None, Some(model), Some(by), only) => {
                let by = self.by(by)?;
                let only = self.only(by, only.as_ref())?;
                Ok(Question::Most { model: model.clone(), by, only })
            }
            _ => {
                let why = "an insight has ratio = [one, other], share = [part, whole], or most and by, and only \
                           beside these";
                Err(self.wrong(at, why))
            }
        }
    }

    pub fn curves(&self, _: usize, entry: &CurvesEntry) -> Result<CurvesDeclared> {
        let CurvesEntry { title, model, of } = entry;
        Ok(CurvesDeclared { title: title.clone(), model: model.clone(), of: of.clone() })
    }

    pub fn case(&self, at: usize, entry: &CaseEntry) -> Result<Case> {
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
            if !is_spread(ns) {
                return Err(self.wrong(
                    time.span().start,
                    "a time must not be negative or above 1e18 ns (1e9 s)",
                ));
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

    /// Of which components. The terms of a formula may have several each.
    fn only(&self, by: By, word: Option<&Spanned<String>>) -> Result<Option<Group>> {
        let Some(word) = word else { return Ok(None) };
        if by == By::Term {
            let why = "only goes with by = component, category, layer or side, not with term";
            return Err(self.wrong(word.span().start, why));
        }
        self.word("only", word, Group::named, "it must be a category, a layer or a side").map(Some)
    }
}
