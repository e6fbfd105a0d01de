//! Components that the trace of a PCIe analyser gives, and the models over them alone.

use bandgap_model::breakdown::formula::Formula;
use bandgap_model::breakdown::{
    Category, Component, Declared, Known, Layer, Provenance, Side, Stack, StackError, Time,
};

use super::ComponentTable;

/// They are named as in the paper's table.
const KNOWN: [Known; 7] = [
    ("llp_post", "LLP_post", Category::Cpu, Layer::Llp, Side::Initiator),
    ("llp_prog", "LLP_prog", Category::Cpu, Layer::Llp, Side::Target),
    ("pcie", "PCIe (64 bytes)", Category::Io, Layer::Hardware, Side::Both),
    ("network", "the network", Category::Network, Layer::Hardware, Side::Network),
    ("wire", "wire", Category::Network, Layer::Hardware, Side::Network),
    ("switch", "switch", Category::Network, Layer::Hardware, Side::Network),
    ("rc_to_mem_8", "RC-to-MEM", Category::Io, Layer::Hardware, Side::Target),
];

/// What a trace gives that components are derived from, and that is none itself.
const SOURCES: [Known; 2] = [
    ("traced_network", "Network in the trace", Category::Network, Layer::Hardware, Side::Network),
    ("traced_turn", "pong to next ping", Category::Io, Layer::Hardware, Side::Both),
];

/// Models: name, label, formula. Of `WAYS`, each longer than the next, the first that is known is a main one.
const NETWORK: (&str, &str, &str) = ("network", "the network", "wire + switch");
const LATENCY: (&str, &str, &str) = (
    "llp_latency",
    "latency of the low level",
    "llp_post + pcie@initiator + network + pcie@target + rc_to_mem_8 + llp_prog",
);
const WAYS: [(&str, &str, &str); 4] = [
    (
        "hardware_alone",
        "the hardware on a message's way",
        "pcie@initiator + network + pcie@target + rc_to_mem_8",
    ),
    ("way", "the way from memory to memory", "pcie@initiator + network + pcie@target"),
    ("network_alone", "between the network interfaces", "network"),
    ("pcie_twice", "PCIe on both nodes", "pcie@initiator + pcie@target"),
];

/// Whether a component is one that a trace gives, or that is given beside it.
pub(super) fn is_traced(name: &str) -> bool {
    KNOWN.iter().any(|(known, ..)| *known == name)
}

/// A component of a trace by its name; `None` if no trace gives it.
pub fn traced_component(
    name: &str,
    ns: f64,
    spread: Option<f64>,
    provenance: Provenance,
) -> Option<Component> {
    let known = KNOWN.iter().find(|(known, ..)| *known == name)?;
    Some(Component::of(known, Time::Given { ns, spread }, provenance))
}

/// What components of a trace are derived from, by its name; `None` if no trace gives it.
///
/// `traced_network` is half of the time from a ping to its completion, of which Wire and Switch are parts;
/// `traced_turn` the time from a pong to the next ping, in which RC-to-MEM is.
pub fn traced_source(name: &str, ns: f64, spread: Option<f64>) -> Option<Component> {
    let known = SOURCES.iter().find(|(known, ..)| *known == name)?;
    let one = Component::of(known, Time::Given { ns, spread }, Provenance::Measured);
    Some(Component { apart: true, ..one })
}

/// A table of components that a trace gives, with the models that they are enough for.
///
/// # Errors
/// There is none, or one is there twice.
pub fn traced_table(components: Vec<Component>) -> Result<ComponentTable, StackError> {
    let about = "components from a PCIe analyser's trace";
    Ok(ComponentTable::plain("pcie-trace", about, modelled(components)?))
}

/// Such components with the models that they are enough for.
///
/// # Errors
/// There is none, or one is there twice.
pub(super) fn modelled(components: Vec<Component>) -> Result<Stack, StackError> {
    let network = has_only_parts(&components).then_some((NETWORK, false));
    let known = |(_, _, formula): &(&str, &str, &str)| missing(formula, &components).is_empty();
    let latency = Some(LATENCY).filter(known).map(|latency| (latency, true));
    let way = WAYS.into_iter().find(known).map(|way| (way, true));
    let models: Vec<Declared> = [latency, way, network]
        .into_iter()
        .flatten()
        .map(|((name, label, formula), main)| Declared {
            name: name.to_owned(),
            label: Some(label.to_owned()),
            formula: formula.to_owned(),
            main,
            observed: None,
        })
        .collect();
    if models.is_empty() {
        let why = "there are no components of a message's way in it".to_owned();
        return Err(StackError { subject: String::new(), why, unknown: None });
    }
    Stack::new(components, models)
}

/// The name of the latency's model, and the components that it lacks.
pub(super) fn lacking(components: &[Component]) -> (&'static str, Vec<&'static str>) {
    let (name, _, formula) = LATENCY;
    (name, missing(formula, components))
}

fn has(components: &[Component], name: &str) -> bool {
    components.iter().any(|one| one.name == name)
}

/// Whether the network is there by its parts only.
fn has_only_parts(components: &[Component]) -> bool {
    let has = |name| has(components, name);
    !has("network") && has("wire") && has("switch")
}

/// The components that a formula lacks: of a network that is there in part the other part.
fn missing(formula: &str, components: &[Component]) -> Vec<&'static str> {
    let has = |name: &str| has(components, name);
    let mut missing = Vec::new();
    for (name, ..) in KNOWN.iter().filter(|(name, ..)| uses(formula, name) && !has(name)) {
        match (*name, has("wire"), has("switch")) {
            ("network", true, true) => {}
            ("network", true, false) => missing.push("switch"),
            ("network", false, true) => missing.push("wire"),
            (name, ..) => missing.push(name),
        }
    }
    missing
}

fn uses(formula: &str, name: &str) -> bool {
    Formula::parse(formula).is_ok_and(|formula| formula.names().contains(&name))
}
