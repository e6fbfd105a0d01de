//! Values of models, with what each component contributes to them.

use std::collections::BTreeMap;

use super::component::Side;
use super::formula::{Formula, Group, Node, Term};

/// The derivatives of a model by its components, each at the side that it counts for.
pub type Uses = BTreeMap<(usize, Side), f64>;

/// A value, and its power of time: 1 of a time, 0 of a plain number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value {
    pub number: f64,
    pub power: i32,
}

/// What the names in a formula stand for.
pub(super) trait Meaning {
    /// The value of a name.
    fn value(&self, name: &str) -> Value;
    /// Adds the derivatives of a name, `times` over.
    fn add(&self, name: &str, side: Option<Side>, times: f64, to: &mut Uses);
    /// The components of a group.
    fn group(&self, group: Group) -> &[usize];
    /// A component's time.
    fn time(&self, component: usize) -> f64;
    /// Adds the derivatives of a component of a group, `times` over.
    fn add_one(&self, component: usize, times: f64, to: &mut Uses);
}

/// The value of a formula.
///
/// # Errors
/// It adds times and plain numbers.
pub(super) fn value(formula: &Formula, names: &dyn Meaning) -> Result<Value, String> {
    let mut sum: Option<(Value, &Term)> = None;
    for term in &formula.terms {
        let mut one = product(term, names)?;
        if term.negative {
            one.number = -one.number;
        }
        sum = Some(match sum {
            None => (one, term),
            Some((before, first)) if before.power == one.power => {
                (Value { number: before.number + one.number, ..one }, first)
            }
            Some((before, first)) => {
                let of = |power| if power == 1 { "a time" } else { "no time" };
                return Err(format!(
                    "the formula adds '{}', {}, and '{}', {}",
                    first.text,
                    of(before.power),
                    term.text,
                    of(one.power)
                ));
            }
        });
    }
    Ok(sum.map_or(Value { number: 0.0, power: 0 }, |(value, _)| value))
}

/// The value of a term without its sign.
pub(super) fn product(term: &Term, names: &dyn Meaning) -> Result<Value, String> {
    let mut product = Value { number: 1.0, power: 0 };
    for factor in &term.factors {
        let one = node(&factor.node, names)?;
        product = match factor.divides {
            false => {
                Value { number: product.number * one.number, power: product.power + one.power }
            }
            true => Value { number: product.number / one.number, power: product.power - one.power },
        };
    }
    Ok(product)
}

fn node(node: &Node, names: &dyn Meaning) -> Result<Value, String> {
    Ok(match node {
        Node::Number(number) => Value { number: *number, power: 0 },
        Node::Name { name, .. } => names.value(name),
        Node::Group(group) => {
            let sum = names.group(*group).iter().map(|one| names.time(*one)).sum();
            Value { number: sum, power: 1 }
        }
        Node::Sum(inner) => value(inner, names)?,
        Node::Max(all) => largest(all, names)?.1,
    })
}

/// The largest of several formulas, of equals the first, and its value.
fn largest<'a>(all: &'a [Formula], names: &dyn Meaning) -> Result<(&'a Formula, Value), String> {
    let mut largest: Option<(&Formula, Value)> = None;
    for formula in all {
        let one = value(formula, names)?;
        largest = match largest {
            Some((_, before)) if before.power != one.power => {
                return Err(
                    "the formula takes the largest of a time and of what is none".to_owned()
                );
            }
            // What is no number stays seen.
            Some(before) if before.1.number >= one.number || before.1.number.is_nan() => {
                Some(before)
            }
            _ => Some((formula, one)),
        };
    }
    largest.ok_or_else(|| "the formula takes the largest of nothing".to_owned())
}

/// Adds the derivatives of a formula by its components, `times` over. Its value is known to exist.
pub(super) fn derive(formula: &Formula, names: &dyn Meaning, times: f64, to: &mut Uses) {
    for term in &formula.terms {
        let sign = if term.negative { -times } else { times };
        let values: Vec<f64> = term
            .factors
            .iter()
            .map(|factor| node(&factor.node, names).map_or(f64::NAN, |value| value.number))
            .collect();
        for (at, factor) in term.factors.iter().enumerate() {
            let others = term.factors.iter().zip(&values).enumerate();
            let others: f64 = others
                .filter(|(place, _)| *place != at)
                .map(|(_, (other, value))| if other.divides { 1.0 / value } else { *value })
                .product();
            let own = if factor.divides { -1.0 / (values[at] * values[at]) } else { 1.0 };
            let times = sign * others * own;
            match &factor.node {
                Node::Number(_) => {}
                Node::Name { name, side } => names.add(name, *side, times, to),
                Node::Group(group) => {
                    for component in names.group(*group) {
                        names.add_one(*component, times, to);
                    }
                }
                Node::Sum(inner) => derive(inner, names, times, to),
                Node::Max(all) => {
                    if let Ok((largest, _)) = largest(all, names) {
                        derive(largest, names, times, to);
                    }
                }
            }
        }
    }
}

/// The times of the components, as they are or after changes.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// In nanoseconds, by component.
    pub times: Vec<f64>,
    /// By how much each grows with its unchanged time: 0 where it was set.
    pub factors: Vec<f64>,
}

/// What a model gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Modelled {
    /// The value: nanoseconds, or a plain number.
    pub value: f64,
    /// Whether it is a time.
    pub is_time: bool,
    /// Derivatives by the components without parts, by side.
    pub uses: Uses,
    /// The terms of its formula with their values, signs included.
    pub terms: Vec<(String, f64)>,
    /// Derivatives by the times that were given.
    pub sources: BTreeMap<usize, f64>,
}
