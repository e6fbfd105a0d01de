//! What may be a name.

use super::{Checked, Named, Stack, StackError};
use crate::breakdown::component::Category;
use crate::breakdown::formula::Group;

/// Letters of a name, at most.
const LONGEST: usize = 80;

impl Stack {
    /// Takes the name of a component or a model.
    pub(super) fn name(&mut self, name: String, named: Named) -> Checked {
        let fits = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || name.chars().count() > LONGEST || !name.chars().all(fits) {
            let why = format!(
                "'{}' cannot be a name: 1 to {LONGEST} letters, digits, '_', '-' and '.'",
                name.escape_debug()
            );
            return Err(StackError::new(&name, why));
        }
        if let Some(what) = self.group_called(&name, named) {
            return Err(unclear(&name, &what));
        }
        match self.names.insert(name.clone(), named) {
            None => Ok(()),
            Some(_) => Err(StackError::new(&name, format!("'{name}' is there twice"))),
        }
    }

    /// What else the name of a component or a model stands for: a category, a layer, a side, or all. The network may
    /// be called so, and a model of it: both are the same.
    fn group_called(&self, name: &str, named: Named) -> Option<String> {
        let name = name.to_ascii_lowercase();
        let may_be_network = match named {
            Named::Component(at) => self.components[at].category == Category::Network,
            Named::Model(_) => true,
        };
        match Group::named(&name)? {
            Group::Category(Category::Network) if may_be_network => None,
            Group::Category(_) => Some(format!("the category {name}")),
            Group::Layer(_) => Some(format!("the layer {name}")),
            Group::Side(_) => Some(format!("the side {name}")),
            Group::All => Some("all components".to_owned()),
        }
    }
}

fn unclear(name: &str, what: &str) -> StackError {
    let name_shown = name.escape_debug();
    let why = format!(
        "'{name_shown}' cannot be a name: it would not be clear whether it is meant or {what}"
    );
    StackError::new(name, why)
}
