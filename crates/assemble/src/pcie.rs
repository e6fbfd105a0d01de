//! The results of a PCIe analyser's trace, and the table of components derived from it.

use bandgap_model::breakdown::{Category, Component, Layer, Observed, Provenance, Side};
use bandgap_model::pcie::{Hardware, Known, Software, Timed, Trace};
use bandgap_record::{Column, ComponentTable, Form, Labels, Note, Unit, paper_models};
use bandgap_results::PCIE_TRACE;
use bandgap_stats::Rule;

use crate::Result;
use crate::breakdown::Propagated;
use crate::estimate::spread;
use crate::made::{Builder, Made};

/// The model of injection by the low level, which is what a trace observes.
const INJECTION: &str = "llp_injection";

/// A trace by its file's name.
pub type Named<'a> = (&'a str, &'a Trace);

/// The results of a trace, and of a second one without a switch.
///
/// # Errors
/// A number cannot be recorded.
pub fn pcie_trace(
    trace: Named<'_>,
    direct: Option<Named<'_>>,
    hardware: &Hardware,
    rule: Rule,
    confidence: f64,
) -> Result<Made> {
    let propagated = Propagated::new(rule, confidence);
    let mut rows = read("trace", trace, &propagated, confidence)?;
    let all = parts(hardware).map(|(name, known, ..)| (name, known));
    for (name, known) in [("inj_overhead", &hardware.injection)].into_iter().chain(all) {
        match known {
            Ok(of) => {
                let how = ("sum of means of batch means", of.samples as usize);
                let time = propagated.of(of.ns, of.deviation(), how);
                rows.push(vec![name.into()], Labels::new(), &[Some(time)], None)?;
            }
            Err(why) => {
                let about = format!("{PCIE_TRACE}/trace/part={name}");
                rows.notes.push(Note::new(&format!("pcie_{why}"), about));
            }
        }
    }
    let mut made = rows.made();
    if let Some(direct) = direct {
        made = made.and(read("without_switch", direct, &propagated, confidence)?.made());
    }
    Ok(made)
}

/// The times between the packets of a trace.
fn read(
    name: &str,
    (file, trace): Named<'_>,
    propagated: &Propagated,
    confidence: f64,
) -> Result<Builder> {
    let column = Column::new("time", Unit::Second, "mean, or what follows from means").counting();
    let mut rows = Builder::new(PCIE_TRACE, name, "", &["part"], vec![column]);
    let counted = trace.counted;
    rows.rows.form = Form::Table;
    rows.label("file", file);
    let counts = [
        ("rows", trace.rows),
        ("posts", counted.posts),
        ("completions", counted.completions),
        ("payloads", counted.payloads),
        ("acknowledgements", counted.acknowledgements),
    ];
    for (name, count) in counts.into_iter().chain(counted.lost.map(|lost| ("lost", lost))) {
        rows.label(name, count);
    }
    let streams = trace.streams().into_iter().flatten().filter(|(_, stream)| stream.count() > 0);
    for (name, stream) in streams {
        // Of picoseconds.
        let half = stream.mean_interval(confidence).map(|of| of.half_width() / 1e3);
        let how = ("mean, t interval of batch means", stream.count() as usize);
        let mean = stream.mean().unwrap_or(0.0) / 1e3;
        let time = propagated.of(mean, half.map(|half| half / propagated.factor), how);
        let spread = spread(stream.count(), |p| Some(stream.quantile(p)? / 1e3));
        rows.push(vec![name.into()], Labels::new(), &[Some(time)], spread)?;
    }
    Ok(rows)
}

/// The components that follow from a trace, named as in the paper's table, with their category and side.
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

/// A table with the trace's components: `from` with its own components replaced, or the paper's models over the trace's
/// components alone. `given` holds software times that are not in `from`. `None` without components and without `from`.
pub fn pcie_table(
    hardware: &Hardware,
    given: &Software,
    from: Option<ComponentTable>,
) -> Option<ComponentTable> {
    let made = |name: &str, of: &Timed, category, layer, side, provenance| {
        let (name, ns, errors) = (name.to_owned(), of.ns, of.errors.clone());
        Component { name, category, layer, side, ns, errors, provenance }
    };
    // If wire and switch are not both known, network stands for the two.
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

#[cfg(test)]
mod tests;
