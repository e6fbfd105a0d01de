//! Tables as they are written, to be read again.

use bandgap_model::breakdown::{Component, Declared, Time};
use toml::Value;

use super::ComponentTable;

impl ComponentTable {
    /// The components and models in TOML. Figures, questions, curves, cases and notes are not in it.
    pub fn to_toml(&self) -> String {
        let mut text = line("name", &self.name) + &line("description", &self.description);
        for one in self.stack.components() {
            text += &component(one);
        }
        for one in self.stack.models() {
            text += &model(one);
        }
        text
    }
}

fn component(one: &Component) -> String {
    let time = match &one.time {
        Time::Given { ns, spread } => number("time_ns", Some(*ns)) + &number("spread_ns", *spread),
        Time::Derived(formula) => line("formula", formula),
    };
    let lines = [
        line("name", &one.name),
        one.label.as_ref().map(|label| line("label", label)).unwrap_or_default(),
        line("category", &one.category.to_string()),
        line("layer", &one.layer.to_string()),
        line("side", &one.side.to_string()),
        time,
        line("provenance", &one.provenance.to_string()),
        one.part_of.as_ref().map(|whole| line("part_of", whole)).unwrap_or_default(),
        if one.apart { "apart = true\n".to_owned() } else { String::new() },
    ];
    format!("\n[[component]]\n{}", lines.concat())
}

fn model(one: &Declared) -> String {
    let observed = one.observed.filter(|observed| observed.value > 0.0);
    let lines = [
        line("name", &one.name),
        one.label.as_ref().map(|label| line("label", label)).unwrap_or_default(),
        line("formula", &one.formula),
        if one.main { "main = true\n".to_owned() } else { String::new() },
        number("observed_ns", observed.map(|observed| observed.value)),
        number("observed_spread_ns", observed.and_then(|observed| observed.spread)),
    ];
    format!("\n[[model]]\n{}", lines.concat())
}

fn line(key: &str, text: &str) -> String {
    format!("{key} = {}\n", Value::String(text.to_owned()))
}

fn number(key: &str, value: Option<f64>) -> String {
    value.map(|value| format!("{key} = {}\n", Value::Float(value))).unwrap_or_default()
}
