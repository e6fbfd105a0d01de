//! Tables of components from the results of a run (a breakdown or a signature), for what-if predictions.

use bandgap_model::Regime;
use bandgap_model::breakdown::{
    Category, Component, Errors, Layer, Model, Observed, Provenance, Side, Stack, Term,
};
use bandgap_record::{ComponentTable, Note, Quantity, Seconds};
use bandgap_results::{Breakdown, Logp, Outcome, Parameters, Run, TermOf};
use bandgap_stats::interval::normal_factor;
use bandgap_units::Ns;

use crate::{AssembleError, Result};

/// A table of components with its origin.
pub struct Divided {
    /// Components and models.
    pub table: ComponentTable,
    /// The breakdown of a run that it was taken from, if any.
    pub breakdown: Option<Breakdown>,
    /// The run's notes about it.
    pub notes: Vec<Note>,
}

/// The confidence level assumed for a run that does not state it.
const USUAL: f64 = 0.95;
/// Names that a hint lists, at most.
const NAMED: usize = 40;

impl From<ComponentTable> for Divided {
    fn from(table: ComponentTable) -> Self {
        Self { table, breakdown: None, notes: Vec::new() }
    }
}

impl Divided {
    /// Takes a result of a run: the breakdown, else the signature of small messages, else that of the longest
    /// transfer; only among results whose id begins with `id`, if given.
    ///
    /// # Errors
    /// There is no such result, there are several, as of a run over several transports, or the file was changed by hand.
    pub fn of(run: Run, named: &str, id: Option<&str>) -> Result<Self> {
        let own = |result: &Outcome| match result {
            Outcome::Breakdown(of) => Some(((0, 0), Breakdown::id(of))),
            Outcome::Logp(of) => {
                let rank = (1 + u8::from(of.bytes.is_some()), u64::MAX - of.bytes.unwrap_or(0));
                Some((rank, Logp::id(of)))
            }
            _ => None,
        };
        let level = run.confidence().unwrap_or(USUAL);
        let all = || run.results.iter().filter_map(|of| Some((of, own(of)?)));
        let meant = all().filter(|(_, (_, own))| id.is_none_or(|id| own.starts_with(id)));
        let mut meant: Vec<_> =
            meant.map(|(of, (rank, own))| (id != Some(own.as_str()), rank, own, of)).collect();
        meant.sort_by_key(|of| (of.0, of.1));
        if let [(far, rank, own, _), (other_far, other_rank, other, _), ..] = &meant[..]
            && (far, rank) == (other_far, other_rank)
        {
            let what = format!("use {named}: it has several of the kind");
            let hint = format!("name one, as with --id {own} or --id {other}");
            return Err(AssembleError::Ambiguous { what, hint });
        }
        let meant = meant.into_iter().next();
        let found = meant.and_then(|(_, _, id, of)| Some((of, components(of, level)?, id)));
        let Some((meant, table, own)) = found else {
            let known: Vec<String> = all().map(|(_, (_, id))| id).take(NAMED).collect();
            if known.is_empty() {
                let what = format!("use {named}: it has no signature");
                let hint = "measure one, as with bandgap signature --out DIR".to_owned();
                return Err(AssembleError::Unfit { what, hint });
            }
            let (what, hint) = (format!("use {named}: no such id"), known.join(", "));
            return Err(AssembleError::Ambiguous { what, hint: format!("give one of {hint}") });
        };
        let is_its = |note: &Note| note.about.is_empty() || note.about.starts_with(&own);
        let breakdown = meant.of_kind().cloned();
        Ok(Self { table: table?, breakdown, notes: run.notes.into_iter().filter(is_its).collect() })
    }
}

/// The names that a change may have, for a hint.
pub(crate) fn changeable(stack: &Stack) -> String {
    let few = |names: Vec<&str>| {
        let more = if names.len() > NAMED { ", …" } else { "" };
        names[..names.len().min(NAMED)].join(", ") + more
    };
    format!(
        "components: {}; models: {}; parameters: {}; categories: cpu, io, network; layers: hlp, llp, misc, hardware",
        few(stack.components.iter().map(|one| &*one.name).collect()),
        few(stack.models.iter().map(|model| &*model.name).collect()),
        few(stack.parameters.keys().map(|name| &**name).collect()),
    )
}

/// The components and models of a result; `None` for other kinds of result. `confidence` is that of its intervals.
///
/// # Errors
/// The file was changed by hand, or the signature lacks what models are made of.
pub fn components(result: &Outcome, confidence: f64) -> Option<Result<ComponentTable>> {
    let factor = normal_factor(confidence);
    let (name, stack) = match result {
        Outcome::Breakdown(of) => (&of.name, of_breakdown(of, factor)),
        Outcome::Logp(of) => (&of.transport, of_signature(of, factor)),
        _ => return None,
    };
    let table = |stack| ComponentTable { name: name.clone(), stack, lacking: Vec::new() };
    Some(stack.map(table).map_err(AssembleError::Components))
}

fn of_breakdown(of: &Breakdown, factor: f64) -> Result<Stack, String> {
    let ns = |of: &Quantity| Ns::from_secs(of.value.0).0;
    let error = |(source, error): (&String, &Seconds)| (source.clone(), error.ns().0);
    let components = of.components.iter().map(|one| Component {
        name: one.name.clone(),
        category: one.category,
        layer: one.layer,
        side: one.side,
        ns: ns(&one.time),
        errors: one.errors.iter().map(error).collect(),
        provenance: one.provenance,
    });
    let parameters = of.parameters.iter().map(|(name, value)| (name.clone(), value.0));
    let mut stack = Stack {
        components: components.collect(),
        parameters: parameters.collect(),
        models: Vec::new(),
    };
    let term = |of: &TermOf| Term {
        // An unknown component is refused below.
        component: stack.component(&of.component).unwrap_or(usize::MAX),
        layer: of.layer,
        side: of.side,
        times: of.times.0,
        per: of.per.clone(),
    };
    let models = of.models.iter().map(|one| Model {
        name: one.name.clone(),
        rows: one.rows.iter().map(|row| row.iter().map(term).collect()).collect(),
        main: one.main,
        observed: known(one.observed.as_ref(), factor),
    });
    stack.models = models.collect();
    stack.check().map_err(|(_, why)| why)?;
    Ok(stack)
}

/// A time of at least 0 and its standard deviation: half its interval over `factor`, so that the interval at the run's own
/// confidence level is as wide as before.
fn known(parameter: Option<&Quantity>, factor: f64) -> Option<Observed> {
    let spread =
        parameter?.interval().map(|(low, high)| Ns::from_secs(high - low).0 / 2.0 / factor);
    let ns = parameter?.as_time()?.0;
    (ns >= 0.0).then_some(Observed { ns, spread })
}

/// The models of a signature: one way, and a message at full rate, limited by the network or by the overheads.
///
/// *Formula*: one way = os + L + or; since L = RTT/2 − os − or, its error is that of the round trip.
fn of_signature(logp: &Logp, factor: f64) -> Result<Stack, String> {
    let Parameters { send_overhead, recv_overhead, gap, latency, sent_latency, rtt, .. } =
        &logp.parameters;
    // The os of a get's bytes is the peer's.
    let is_sent = sent_latency.is_some();
    let (name, latency) = if is_sent { ("os+L", sent_latency) } else { ("L", latency) };
    let own = |of: &Option<Quantity>| known(of.as_ref(), factor);
    let mut stack = Stack::default();
    let mut add = |name: &str, of: &Option<Quantity>, category, layer, side| {
        let Observed { ns, spread } = own(of)?;
        let (name, provenance) = (name.to_owned(), Provenance::Measured);
        let one = Component { name, category, layer, side, ns, errors: Errors::new(), provenance };
        Some(stack.push(one.spread(spread)))
    };
    let os = add("os", send_overhead, Category::Cpu, Layer::Llp, Side::Initiator);
    let or = add("or", recv_overhead, Category::Cpu, Layer::Llp, Side::Target);
    let l = add(name, latency, Category::Network, Layer::Hardware, Side::Network);
    let g = add("g", gap, Category::Network, Layer::Hardware, Side::Network);
    if let (Some(os), Some(or), Some(latency)) = (os, or, latency) {
        // For transfers, L is the rest of the whole round trip.
        let of_trip = if logp.bytes.is_some() { 1.0 } else { 0.5 };
        let trip = own(rtt).and_then(|rtt| rtt.spread).map(|spread| of_trip * spread);
        let way = [(!is_sent).then_some(os), l, Some(or)];
        let way: Vec<usize> = way.into_iter().flatten().collect();
        if let Some(l) = l {
            if let Some(spread) = trip {
                let mut errors = Errors::from([("rtt".to_owned(), spread)]);
                for part in
                    way.iter().filter(|at| **at != l).map(|at| &stack.components[*at].errors)
                {
                    errors.extend(part.iter().map(|(source, error)| (source.clone(), -error)));
                }
                stack.components[l].errors = errors;
            }
            stack.components[l].provenance = Provenance::Derived;
            stack.sums("one_way", &[&way], None);
        } else {
            // Below 0, L is no component: the overheads overlap.
            let both: f64 = way.iter().map(|at| stack.components[*at].ns).sum();
            let ns = both + latency.as_time().map_or(0.0, |time| time.0);
            let observed = (ns > 0.0).then_some(Observed { ns, spread: trip });
            stack.sums("one_way", &[&way], observed);
        }
    }
    // The requester does both.
    let overheads = os.zip(or).map(|(os, or)| {
        vec![stack.term(os, 1.0), Term { side: Side::Initiator, ..stack.term(or, 1.0) }]
    });
    let bare = g.map(|g| vec![stack.term(g, 1.0)]);
    // How other components change g is unknown, so g is a main model only if there is no other.
    let alone = stack.models.is_empty();
    let bound = match logp.regime {
        Regime::Undecided => None,
        Regime::ProcessorBound => {
            overheads.map(|both| (vec![both], true, own(gap).filter(|gap| gap.ns > 0.0)))
        }
        Regime::NetworkBound if logp.bytes.is_none() => {
            bare.map(|bare| ([bare].into_iter().chain(overheads).collect(), true, None))
        }
        Regime::NetworkBound | Regime::Overlapped => bare.map(|bare| (vec![bare], alone, None)),
    };
    if let Some((rows, main, observed)) = bound {
        stack.models.push(Model { name: "message".to_owned(), rows, main, observed });
    }
    if stack.models.is_empty() {
        return Err("the signature lacks what models are made of: os, or and L, or g".to_owned());
    }
    Ok(stack)
}

#[cfg(test)]
mod tests;
