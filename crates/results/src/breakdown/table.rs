//! A breakdown as the table that it was made of, so that what was recorded can be changed.

use bandgap_model::breakdown::{Component, Declared, Observed, Stack, StackError, Time};
use bandgap_record::{ComponentTable, Quantity};
use bandgap_units::Ns;

use super::schema::{Breakdown, ComponentTime, ModelTime};

impl Breakdown {
    /// Its components and models. Of figures, questions and cases nothing is recorded.
    ///
    /// # Errors
    /// The file was changed by hand: names mean nothing, or times are none.
    pub fn table(&self) -> Result<ComponentTable, StackError> {
        let components = self.components.iter().map(component).collect();
        let models = self.models.iter().map(model).collect();
        let stack = Stack::new(components, models)?;
        Ok(ComponentTable::plain(&self.name, &self.description, stack))
    }
}

fn component(one: &ComponentTime) -> Component {
    let given = || Time::Given {
        ns: Ns::from_secs(one.time.value.0).0,
        spread: one.spread.map(|spread| spread.ns().0),
    };
    Component {
        name: one.name.clone(),
        label: one.label.clone(),
        category: one.category,
        layer: one.layer,
        side: one.side,
        time: one.formula.clone().map_or_else(given, Time::Derived),
        provenance: one.provenance,
        part_of: one.part_of.clone(),
        apart: one.apart,
    }
}

fn model(one: &ModelTime) -> Declared {
    let value = |of: &Quantity| of.as_time().map_or(of.value.0, |time| time.0);
    Declared {
        name: one.name.clone(),
        label: one.label.clone(),
        formula: one.formula.clone(),
        main: one.main,
        observed: one.observed.as_ref().map(|observed| Observed {
            value: value(observed),
            spread: one.observed_spread.map(|spread| spread.ns().0),
        }),
    }
}
