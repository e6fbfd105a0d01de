//! A breakdown from a table of components, and back.

use bandgap_campaign::breakdown::TOLERANCE;
use bandgap_model::breakdown::{
    By, Component, Model, Observed, Stack, Term, Value, deviation, verdict,
};
use bandgap_record::{ComponentTable, Number, Quantity, Seconds, Unit};
use bandgap_stats::Rule;
use bandgap_stats::interval::normal_factor;
use bandgap_units::Ns;

use super::schema::{
    Breakdown, ComponentTime, Divided, LackingModel, ModelTime, PartTime, TermOf, Within,
};
use crate::AssembleError;
use crate::measured::Propagated;

/// Parts of a model below this share of it are what rounding leaves.
const ROUNDING: f64 = 1e-12;

/// The breakdown of a table.
///
/// # Errors
/// A number cannot be recorded.
pub fn breakdown(
    table: &ComponentTable,
    rule: Rule,
    confidence: f64,
) -> Result<Breakdown, AssembleError> {
    let stack = &table.stack;
    let estimate = Propagated { rule, factor: normal_factor(confidence) };
    let components = stack.components.iter().map(|one| component(one, &estimate));
    let models = stack.models.iter().map(|of| model(stack, of, &estimate));
    let lacking = table.lacking.iter().map(|lacking| LackingModel {
        model: lacking.model.clone(),
        components: lacking.components.clone(),
    });
    Ok(Breakdown {
        name: table.name.clone(),
        components: components.collect::<Result<_, _>>()?,
        parameters: stack.parameters.iter().map(|(name, of)| (name.clone(), Number(*of))).collect(),
        models: models.collect::<Result<_, _>>()?,
        lacking: lacking.collect(),
        measured: None,
    })
}

fn component(one: &Component, estimate: &Propagated) -> Result<ComponentTime, AssembleError> {
    let off = deviation(&one.errors);
    let seconds = |(source, error): (&String, &f64)| (source.clone(), Ns(*error).into());
    Ok(ComponentTime {
        name: one.name.clone(),
        category: one.category,
        layer: one.layer,
        side: one.side,
        time: estimate.quantity(one.ns, off, Unit::Second, "given", 1)?,
        provenance: one.provenance,
        errors: one.errors.iter().map(seconds).collect(),
    })
}

fn model(stack: &Stack, model: &Model, estimate: &Propagated) -> Result<ModelTime, AssembleError> {
    let value = stack.value(model, &stack.state());
    let (modelled, observed, error) = compared(&value, model.observed, estimate)?;
    let term = |term: &Term| TermOf {
        component: stack.components[term.component].name.clone(),
        layer: term.layer,
        side: term.side,
        times: Number(term.times),
        per: term.per.clone(),
    };
    let whole = value.ns;
    let part = |(name, ns): (String, f64)| PartTime {
        name,
        time: Ns(ns).into(),
        share: Number(if whole == 0.0 { 0.0 } else { ns / whole }),
    };
    let divided = By::ALL.map(|(by, name)| Divided {
        by: name.to_owned(),
        parts: stack
            .divided(&value, by)
            .into_iter()
            .filter(|(_, ns)| ns.abs() > ROUNDING * whole.abs())
            .map(part)
            .collect(),
    });
    Ok(ModelTime {
        name: model.name.clone(),
        main: model.main,
        modelled,
        observed,
        observed_spread: model.observed.and_then(|of| of.spread).map(|ns| Ns(ns).into()),
        within: error.as_ref().map(within),
        error,
        rows: model.rows.iter().map(|row| row.iter().map(term).collect()).collect(),
        divided: divided.into(),
    })
}

/// What a model gives, what was observed of it, and its error.
pub(crate) fn compared(
    value: &Value,
    observed: Option<Observed>,
    estimate: &Propagated,
) -> Result<(Quantity, Option<Quantity>, Option<Quantity>), AssembleError> {
    let count = value.parts.len() as u64;
    let modelled =
        estimate.quantity(value.ns, value.deviation(), Unit::Second, "sum of components", count)?;
    let Some(observed) = observed else { return Ok((modelled, None, None)) };
    let (error, off) = value.error(observed);
    let error = estimate.quantity(error, off, Unit::One, "modelled / observed - 1", count + 1)?;
    let observed = estimate.quantity(observed.ns, observed.spread, Unit::Second, "given", 1)?;
    Ok((modelled, Some(observed), Some(error)))
}

/// Whether an error is within what counts as right.
pub(crate) fn within(error: &Quantity) -> Within {
    let ends = error.interval().unwrap_or((error.value.0, error.value.0));
    decided(verdict(ends, TOLERANCE))
}

pub(super) fn decided(holds: Option<bool>) -> Within {
    match holds {
        Some(true) => Within::Holds,
        Some(false) => Within::Off,
        None => Within::Undecided,
    }
}

impl Breakdown {
    /// Its components and models as a table, so that what was recorded can be changed.
    ///
    /// # Errors
    /// The file was changed by hand: names mean nothing, or times are none.
    pub fn table(&self) -> Result<ComponentTable, AssembleError> {
        let ns = |of: &Quantity| Ns::from_secs(of.value.0).0;
        let error = |(source, error): (&String, &Seconds)| (source.clone(), error.ns().0);
        let components = self.components.iter().map(|one| Component {
            name: one.name.clone(),
            category: one.category,
            layer: one.layer,
            side: one.side,
            ns: ns(&one.time),
            errors: one.errors.iter().map(error).collect(),
            provenance: one.provenance,
        });
        let parameters = self.parameters.iter().map(|(name, value)| (name.clone(), value.0));
        let mut stack = Stack {
            components: components.collect(),
            parameters: parameters.collect(),
            models: Vec::new(),
        };
        let term = |of: &TermOf| Term {
            // One that is not there is refused below.
            component: stack.component(&of.component).unwrap_or(usize::MAX),
            layer: of.layer,
            side: of.side,
            times: of.times.0,
            per: of.per.clone(),
        };
        let models = self.models.iter().map(|one| Model {
            name: one.name.clone(),
            rows: one.rows.iter().map(|row| row.iter().map(term).collect()).collect(),
            main: one.main,
            observed: one.observed.as_ref().map(|observed| Observed {
                ns: ns(observed),
                spread: one.observed_spread.map(|spread| spread.ns().0),
            }),
        });
        stack.models = models.collect();
        stack.check().map_err(|(_, why)| AssembleError::Components(why))?;
        Ok(ComponentTable { name: self.name.clone(), stack, lacking: Vec::new() })
    }
}
