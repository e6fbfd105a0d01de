//! The table of components that a trace gives.

use std::collections::BTreeMap;

use bandgap_model::breakdown::{Component, Observed, Provenance, Stack, StackError, Time};
use bandgap_model::pcie::{Hardware, Known, Software, Timed};
use bandgap_record::{ComponentTable, traced_component, traced_source, traced_table};
use bandgap_stats::interval::normal_factor;

/// The model of injection by the low level, which is what a trace observes.
const INJECTION: &str = "llp_injection";

/// A component that a trace gives: its name, its time, and its formula where it follows from others.
type Traced = (&'static str, Timed, Option<String>);

/// Half of the time from a ping to its completion: Switch is what Wire leaves of it.
const NETWORK: &str = "traced_network";
/// The time from a pong to the next ping: RC-to-MEM is what PCIe and the software leave of it.
const TURN: &str = "traced_turn";

/// The components that a trace gives. `from`: where LLP_post and LLP_prog are if they are not `given`.
fn traced(hardware: &Hardware, given: Software, from: Option<&Stack>) -> Vec<Traced> {
    let mut known: Vec<Traced> = Vec::new();
    let mut add = |name, time: &Known, formula: Option<String>| {
        known.extend(time.as_ref().ok().map(|time| (name, *time, formula)));
    };
    add("pcie", &hardware.pcie, None);
    match (&hardware.wire, &hardware.switch, &hardware.network) {
        (wire @ Ok(_), switch @ Ok(_), _) => {
            add("wire", wire, None);
            add("switch", switch, Some(format!("{NETWORK} - wire")));
        }
        (_, _, network @ Ok(_)) => add("network", network, None),
        (wire, _, _) => add("wire", wire, None),
    }
    let software = [("llp_prog", given.prog), ("llp_post", given.post)];
    let software = software.map(|(name, given)| match given {
        Some(_) => Some(name.to_owned()),
        None => from.and_then(|from| spelled_out(from, name)),
    });
    let formula = match software {
        [Some(prog), Some(post)] => Some(format!("{TURN} - 2 * pcie - {prog} - {post}")),
        _ => None,
    };
    add("rc_to_mem_8", &hardware.rc_to_mem, formula);
    known
}

/// A component, or a model as a sum over components; `None` if there is none.
fn spelled_out(stack: &Stack, name: &str) -> Option<String> {
    let Some(at) = stack.model(name) else {
        return stack.components().iter().any(|one| one.name == name).then(|| name.to_owned());
    };
    let modelled = stack.evaluated(&stack.state()).ok()?.swap_remove(at);
    let mut times: BTreeMap<usize, f64> = BTreeMap::new();
    for ((component, _), of) in &modelled.uses {
        *times.entry(*component).or_default() += of;
    }
    let terms = times.iter().enumerate().map(|(place, (component, times))| {
        let name = &stack.components()[*component].name;
        match (place, *times < 0.0) {
            (0, _) => format!("{times} * `{name}`"),
            (_, false) => format!(" + {times} * `{name}`"),
            (_, true) => format!(" - {} * `{name}`", -times),
        }
    });
    let terms: String = terms.collect();
    (!terms.is_empty()).then(|| format!("({terms})"))
}

/// What follows from an earlier trace and is not in this one, as it was: it does not follow what takes the place of what
/// it was derived from.
fn earlier(stack: &Stack, new: &[Component]) -> Vec<Component> {
    let components = stack.components().iter().enumerate();
    let kept = components.filter(|(_, one)| {
        let names = |name| matches!(&one.time, Time::Derived(formula) if formula.contains(name));
        [NETWORK, TURN].into_iter().any(names) && !new.iter().any(|other| other.name == one.name)
    });
    let given = kept.map(|(at, one)| {
        let spread = stack.deviation(&stack.sources(at));
        Component { time: Time::Given { ns: stack.times()[at], spread }, ..one.clone() }
    });
    given.collect()
}

/// The table with the components of the trace in it: `from` with those in the place of its own, or one of
/// them alone. `given`: times beside the trace that were not in `from`. `None` if there are none, and no table.
///
/// # Errors
/// The components do not fit the table.
pub fn table(
    hardware: &Hardware,
    given: Software,
    from: Option<ComponentTable>,
    confidence: f64,
) -> Result<Option<ComponentTable>, StackError> {
    let factor = normal_factor(confidence);
    let spread = |time: &Timed| time.half.map(|half| half / factor);
    let of_trace = traced(hardware, given, from.as_ref().map(|table| &table.stack));
    let names = of_trace.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
    let is_enough = !of_trace.is_empty();
    let mut components: Vec<Component> = of_trace
        .into_iter()
        .filter_map(|(name, time, formula)| {
            let one = traced_component(name, time.ns, spread(&time), Provenance::Derived)?;
            let time = formula.map_or_else(|| one.time.clone(), Time::Derived);
            Some(Component { time, ..one })
        })
        .collect();
    for (name, time) in [("llp_post", given.post), ("llp_prog", given.prog)] {
        let one =
            time.and_then(|it| traced_component(name, it.ns, spread(&it), Provenance::Assumed));
        components.extend(one);
    }
    let derives = |name: &str| {
        let needs = |one: &Component| matches!(&one.time, Time::Derived(of) if of.contains(name));
        components.iter().any(needs)
    };
    let sources = [(NETWORK, &hardware.network), (TURN, &hardware.turn)]
        .into_iter()
        .filter(|(name, _)| derives(name))
        .filter_map(|(name, time)| {
            let time = time.as_ref().ok()?;
            traced_source(name, time.ns, spread(time))
        });
    let sources: Vec<Component> = sources.collect();
    components.extend(sources);
    if let Some(from) = &from {
        let earlier = earlier(&from.stack, &components);
        components.extend(earlier);
    }
    let observed = hardware.injection.as_ref().ok();
    let observed = observed.map(|time| Observed { value: time.ns, spread: spread(time) });
    let Some(from) = from else {
        return if is_enough { traced_table(components).map(Some) } else { Ok(None) };
    };
    let name = from.name.clone();
    let has_injection = from.stack.model(INJECTION).is_some();
    let observed = observed.filter(|_| has_injection);
    let mut table = from.with(components, observed.map(|observed| (INJECTION, observed)))?;
    if is_enough {
        table.notes.push(format!(
            "From the trace, in the place of what {name} has: {names}. The other components, and what was \
             observed of latencies, are those of {name}."
        ));
    }
    if observed.is_some() {
        table.notes.push(format!("What {INJECTION} is compared with was observed in the trace."));
    }
    Ok(Some(table))
}
