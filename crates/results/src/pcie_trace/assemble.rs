//! What is recorded of a trace, and the table of components that it gives.

use bandgap_model::breakdown::{Category, Component, Layer, Observed, Provenance, Side};
use bandgap_model::pcie::{Hardware, Known, Software, Timed, Trace};
use bandgap_record::{ComponentTable, Number, RecordError, Unit, paper_models};
use bandgap_stats::interval::normal_factor;
use bandgap_stats::{Rule, Stream};
use bandgap_units::Ns;

use super::schema::{DerivedTime, MissingTime, PcieTrace, TraceFile, TraceTime};
use crate::AssembleError;
use crate::measured::Propagated;

/// Shares of the samples whose times are recorded.
const SHARES: [f64; 13] =
    [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];
/// The model of injection by the low level, which is what a trace observes.
const INJECTION: &str = "llp_injection";

/// A trace by its file's name.
pub type Named<'a> = (&'a str, &'a Trace);

/// What a trace says, and another one without a switch.
///
/// # Errors
/// A number cannot be recorded.
pub fn pcie_trace(
    trace: Named<'_>,
    direct: Option<Named<'_>>,
    hardware: &Hardware,
    rule: Rule,
    confidence: f64,
) -> Result<PcieTrace, AssembleError> {
    let estimate = Propagated { rule, factor: normal_factor(confidence) };
    let streams = trace.1.streams().into_iter().flatten().filter(|(_, stream)| stream.count() > 0);
    let times = streams.map(|(name, stream)| time(name, stream, &estimate, confidence));
    let (mut derived, mut missing) = (Vec::new(), Vec::new());
    let all = parts(hardware).map(|(name, known, ..)| (name, known));
    for (name, known) in [("inj_overhead", &hardware.injection)].into_iter().chain(all) {
        let name = name.to_owned();
        match known {
            Ok(of) => {
                let (how, samples) = ("sum of means of batch means", of.samples);
                let time = estimate.quantity(of.ns, of.deviation(), Unit::Second, how, samples)?;
                derived.push(DerivedTime { name, time });
            }
            Err(why) => missing.push(MissingTime { name, why: *why }),
        }
    }
    let files = [Some(trace), direct].into_iter().flatten().enumerate();
    Ok(PcieTrace {
        name: trace.0.to_owned(),
        files: files.map(|(at, named)| file(named, at > 0)).collect(),
        times: times.collect::<Result<_, RecordError>>()?,
        derived,
        missing,
    })
}

/// What follows from a trace, named as in the paper's table, and what it is.
#[rustfmt::skip] // One line each.
fn parts(of: &Hardware) -> [(&'static str, &Known, Category, Side); 5] {
    [
        ("pcie", &of.pcie, Category::Io, Side::Both),
        ("network", &of.network, Category::Network, Side::Network),
        ("wire", &of.wire, Category::Network, Side::Network),
        ("switch", &of.switch, Category::Network, Side::Network),
        ("rc_to_mem_8", &of.rc_to_mem, Category::Io, Side::Target),
    ]
}

/// Times between packets.
fn time(
    name: &str,
    stream: &Stream,
    estimate: &Propagated,
    confidence: f64,
) -> Result<TraceTime, RecordError> {
    let samples = stream.count();
    let off = stream.mean_interval(confidence).map(|of| of.half_width() / 1e3 / estimate.factor);
    let mean = stream.mean().unwrap_or(0.0) / 1e3;
    let quantile = |share| Some((Number(share), Ns(stream.quantile(share)? / 1e3).into()));
    Ok(TraceTime {
        name: name.to_owned(),
        samples,
        mean: estimate.quantity(
            mean,
            off,
            Unit::Second,
            "mean, t interval of batch means",
            samples,
        )?,
        quantiles: SHARES.into_iter().filter_map(quantile).collect(),
    })
}

fn file((name, trace): Named<'_>, without_switch: bool) -> TraceFile {
    let counted = trace.counted;
    TraceFile {
        file: name.to_owned(),
        without_switch,
        rows: trace.rows,
        span: Ns(trace.span as f64 / 1e3).into(),
        posts: counted.posts,
        completions: counted.completions,
        payloads: counted.payloads,
        acknowledgements: counted.acknowledgements,
        lost: counted.lost,
    }
}

/// The table with the components of the trace in it: `from` with those in the place of its own, or the paper's models
/// over them alone. `given`: times beside the trace that were not in `from`. `None` if there are none, and no table.
pub fn table(
    hardware: &Hardware,
    given: &Software,
    from: Option<ComponentTable>,
) -> Option<ComponentTable> {
    let made = |name: &str, of: &Timed, category, layer, side, provenance| Component {
        name: name.to_owned(),
        category,
        layer,
        side,
        ns: of.ns,
        errors: of.errors.clone(),
        provenance,
    };
    // Network stands for its parts where these are not known.
    let divided = hardware.wire.is_ok() && hardware.switch.is_ok();
    let unwanted: &[&str] = if divided { &["network"] } else { &["wire", "switch"] };
    let known = parts(hardware).into_iter().filter(|(name, ..)| !unwanted.contains(name));
    let mut components: Vec<Component> = known
        .filter_map(|(name, known, category, side)| {
            let of = known.as_ref().ok()?;
            Some(made(name, of, category, Layer::Hardware, side, Provenance::Derived))
        })
        .collect();
    let software =
        [("llp_post", &given.post, Side::Initiator), ("llp_prog", &given.prog, Side::Target)];
    for (name, of, side) in software {
        let one = |of| made(name, of, Category::Cpu, Layer::Llp, side, Provenance::Assumed);
        components.extend(of.as_ref().map(one));
    }
    let Some(mut from) = from else {
        let (stack, lacking) = (!components.is_empty()).then(|| paper_models(components))?;
        return Some(ComponentTable { name: "pcie-trace".to_owned(), stack, lacking });
    };
    for one in components {
        match from.stack.component(&one.name) {
            Some(at) => from.stack.components[at] = one,
            None => from.stack.components.push(one),
        }
    }
    let (stack, lacking) = from.stack.over(from.stack.components.clone());
    (from.stack, from.lacking) = (stack, lacking);
    let model = from.stack.models.iter_mut().find(|model| model.name == INJECTION);
    if let (Some(model), Ok(of)) = (model, &hardware.injection) {
        model.observed = Some(Observed { ns: of.ns, spread: of.deviation() });
    }
    Some(from)
}
