//! The parameters of a signature as a table of components, so that it can be asked what shorter ones would bring: os, L,
//! or and, for a message at full rate, g.

use bandgap_model::Regime;
use bandgap_model::breakdown::{
    Category, Component, Errors, Layer, Model, Observed, Provenance, Side, Stack,
};
use bandgap_record::{ComponentTable, Quantity};
use bandgap_stats::interval::normal_factor;
use bandgap_units::Ns;

use super::schema::{Logp, Parameters};
use crate::{AssembleError, Outcome};

/// The level that the intervals of a run are taken to have if it does not say.
const USUAL: f64 = 0.95;
/// Signatures that an error names, at most.
const NAMED: usize = 6;

/// The components of a run's signature: of the first of small messages, else of the longest transfer; or of the first
/// whose name holds `wanted`. `confidence`: of its intervals.
///
/// # Errors
/// There is no signature, none with such a name, or it lacks what models are made of.
pub fn components(
    results: &[Outcome],
    wanted: Option<&str>,
    confidence: Option<f64>,
) -> Result<ComponentTable, AssembleError> {
    let all = results.iter().filter_map(|outcome| match outcome {
        Outcome::Logp(logp) => Some(&**logp),
        _ => None,
    });
    let mut all: Vec<&Logp> = all.collect();
    all.sort_by_key(|logp| (logp.is_of_transfers(), std::cmp::Reverse(logp.bytes)));
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<String>();
    let holds =
        |logp: &&&Logp| wanted.is_none_or(|wanted| plain(&logp.subject()).contains(&plain(wanted)));
    let Some(logp) = all.iter().find(holds) else {
        let known: Vec<String> = all.iter().take(NAMED).map(|logp| logp.subject()).collect();
        return Err(match wanted {
            Some(wanted) if !all.is_empty() => AssembleError::NoSuchSignature {
                wanted: wanted.to_owned(),
                known: known.join("; "),
            },
            _ => AssembleError::NoSignature,
        });
    };
    let stack = stack(logp, normal_factor(confidence.unwrap_or(USUAL)));
    if stack.models.is_empty() {
        return Err(AssembleError::NoComponents(logp.subject()));
    }
    Ok(ComponentTable { name: logp.transport.clone(), stack, lacking: Vec::new() })
}

/// A time that is not below 0, and its standard deviation: half of its interval over `factor`, so that at the run's own
/// level the interval comes out as wide as it was.
fn known(parameter: Option<&Quantity>, factor: f64) -> Option<Observed> {
    let spread =
        parameter?.interval().map(|(low, high)| Ns::from_secs(high - low).0 / 2.0 / factor);
    let ns = parameter?.as_time()?.0;
    (ns >= 0.0).then_some(Observed { ns, spread })
}

fn stack(logp: &Logp, factor: f64) -> Stack {
    let Parameters { send_overhead, recv_overhead, gap, latency, rtt, .. } = &logp.parameters;
    let mut stack = Stack::default();
    let mut add = |name: &str, of: Option<Observed>, category, layer, side| {
        let (name, provenance) = (name.to_owned(), Provenance::Measured);
        let one = |Observed { ns, spread }| {
            let errors = Errors::new();
            Component { name, category, layer, side, ns, errors, provenance }.spread(spread)
        };
        of.map(|of| stack.push(one(of)))
    };
    let own = |of: &Option<Quantity>| known(of.as_ref(), factor);
    let os = add("os", own(send_overhead), Category::Cpu, Layer::Llp, Side::Initiator);
    let or = add("or", own(recv_overhead), Category::Cpu, Layer::Llp, Side::Target);
    let between = (Category::Network, Layer::Hardware, Side::Network);
    let l = add("L", own(latency), between.0, between.1, between.2);
    let g = add("g", own(gap), between.0, between.1, between.2);
    if let (Some(os), Some(or), Some(latency)) = (os, or, latency) {
        // *Formula*: L = RTT/2 − os − or, so that os + L + or is known as well as the round trip. Of transfers L is what is
        // left of the whole of it.
        let of_trip = if logp.is_of_transfers() { 1.0 } else { 0.5 };
        let trip = own(rtt).and_then(|rtt| rtt.spread).map(|spread| of_trip * spread);
        match (l, trip) {
            (Some(l), trip) => {
                if let Some(spread) = trip {
                    let mut errors = Errors::from([("rtt".to_owned(), spread)]);
                    for part in [os, or].map(|at| &stack.components[at].errors) {
                        errors.extend(part.iter().map(|(source, error)| (source.clone(), -error)));
                    }
                    stack.components[l].errors = errors;
                }
                stack.components[l].provenance = Provenance::Derived;
                stack.sums("one_way", &[&[os, l, or]], None);
            }
            // Below 0, L is no component: the overheads overlap.
            (None, spread) => {
                let both = stack.components[os].ns + stack.components[or].ns;
                let ns = both + latency.as_time().map_or(0.0, |time| time.0);
                let observed = (ns > 0.0).then_some(Observed { ns, spread });
                stack.sums("one_way", &[&[os, or]], observed);
            }
        }
    }
    message(&mut stack, logp, [os, or, g], own(gap));
    stack
}

/// A message at full rate, by what bounds the rate.
fn message(stack: &mut Stack, logp: &Logp, [os, or, g]: [Option<usize>; 3], gap: Option<Observed>) {
    // The requester does both.
    let overheads = os.zip(or).map(|(os, or)| {
        let mut or = stack.term(or, 1.0);
        or.side = Side::Initiator;
        vec![stack.term(os, 1.0), or]
    });
    let bare = g.map(|g| vec![stack.term(g, 1.0)]);
    // As long as nobody knows how other components change g, no prediction is made of it where there is another.
    let alone = stack.models.is_empty();
    let (rows, main, observed) = match logp.regime {
        Regime::NetworkBound if !logp.is_of_transfers() => {
            (bare.into_iter().chain(overheads).collect(), true, None)
        }
        Regime::NetworkBound | Regime::Overlapped => (Vec::from_iter(bare), alone, None),
        Regime::ProcessorBound => (Vec::from_iter(overheads), true, gap.filter(|gap| gap.ns > 0.0)),
        Regime::Undecided => return,
    };
    // Without g there is no network to bound it.
    if !rows.is_empty() && (g.is_some() || logp.regime == Regime::ProcessorBound) {
        stack.models.push(Model { name: "message".to_owned(), rows, main, observed });
    }
}

#[cfg(test)]
mod tests;
