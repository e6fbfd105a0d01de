//! Time per message over the number of messages, a curve for each Δ (LogP paper, figures 4 and 5).

use bandgap_record::{Quantity, Unit};
use bandgap_report::{Axis, Bar, Bars, Datum, Figure, Part, Reference, Region, Scale, Series};
use bandgap_units::Ns;

use super::{Arm, Logp, SIGNATURE};
use crate::rows::{self, Curve, evenly};
use crate::shown::Context;

/// More curves than this are hard to tell apart.
const MOST_CURVES: usize = 6;

/// Above this ratio of the greatest to the least cost, a linear axis would hide the least.
const WIDE: f64 = 12.0;

/// The signature as a figure; `None` without its curve.
pub(super) fn figure(context: &Context<'_>, logp: &Logp) -> Option<Figure> {
    let curves = curves(context, logp)?;
    let shown: Vec<_> = evenly(&curves, MOST_CURVES).collect();
    let delays: Vec<Ns> = shown.iter().map(|(delay, _)| *delay).collect();
    let name = |name: String| format!("Δ = {name}");
    let names = Ns::distinct(&delays).into_iter().map(name);
    let series: Vec<Series> = names
        .zip(shown.iter())
        .map(|(name, (_, points))| Series { name, points: points.clone(), twin: None })
        .collect();
    let costs = || series.iter().flat_map(|series| &series.points).map(|point| point.y);
    let (least, most) = (costs().fold(f64::INFINITY, f64::min), costs().fold(0.0, f64::max));
    let scale = if most > WIDE * least { Scale::Log10 } else { Scale::Linear };
    Some(Figure {
        title: logp.title(),
        caption: format!("{} of {} Δ, levels: the model", shown.len(), curves.len()),
        says: "Time per message over the number of messages, a curve for each delay Δ; levels: the model.".to_owned(),
        x: Axis { label: "messages M".into(), scale: Scale::Log2, unit: Unit::One },
        y: Axis { label: "time per message".into(), scale, unit: Unit::Second },
        legend: if logp.name == SIGNATURE { "delay per request" } else { "delay per transfer" }
            .into(),
        references: references(logp, &delays),
        regions: regions(logp),
        series,
    })
}

/// The parameters of several signatures as bars: half a round trip as os, L and or, and the gap. `None` for all but the
/// first.
///
/// *Source*: Culler et al., "Assessing Fast Network Interfaces" (1996), figure 6.
pub(super) fn summary(context: &Context<'_>, logp: &Logp) -> Option<Bars> {
    let all: Vec<&Logp> = context.of::<Logp>().filter(|of| of.name == SIGNATURE).collect();
    if all.len() < 2 || all[0].id() != logp.id() {
        return None;
    }
    let bars_of = |logp: &&Logp| {
        let of = &logp.parameters;
        let value = |of: &Option<Quantity>| of.as_ref().map(|of| of.value.0);
        let bar = |what: &str, whole: f64, parts: &[(&str, f64, usize)]| {
            let part = |(name, time, kind): &(&str, f64, usize)| Part {
                name: (*name).to_owned(),
                share: time / whole,
                kind: Some(*kind),
            };
            let name = format!("{}: {what}", logp.transport);
            Bar { name, whole, parts: parts.iter().map(part).collect() }
        };
        let [os, latency, or] = [&of.send_overhead, &of.latency, &of.recv_overhead].map(value);
        let half = || Some([("os", os?, 0), ("L", latency?, 2), ("or", or?, 0)]);
        let half =
            value(&of.rtt).and_then(|rtt| Some(bar("half a round trip", rtt / 2.0, &half()?)));
        [half, value(&of.gap).map(|gap| bar("gap", gap, &[("g", gap, 1)]))].into_iter().flatten()
    };
    let bars: Vec<Bar> = all.iter().flat_map(bars_of).collect();
    let says = "Half a round trip as os, L and or, and the gap g, of each transport; to scale.";
    let title = "LogP parameters".to_owned();
    (!bars.is_empty()).then(|| Bars { title, says: says.to_owned(), to_scale: true, bars })
}

/// The points of each Δ, both ascending.
fn curves(context: &Context<'_>, logp: &Logp) -> Option<Vec<(Ns, Vec<Datum>)>> {
    let rows = logp.curve(context)?;
    let curve = |curve: Curve<'_>| {
        let (_, delay) = curve.which.iter().find(|(axis, _)| *axis == "delay_ps")?;
        Some((Ns(delay.number()? as f64 / 1e3), curve.points(rows, "cost", context)))
    };
    let mut curves: Vec<_> = rows::curves(rows, "messages").into_iter().filter_map(curve).collect();
    curves.retain(|(_, points)| !points.is_empty());
    curves.sort_by(|(a, _), (b, _)| a.0.total_cmp(&b.0));
    Some(curves)
}

/// The model's levels, each where it holds: os before the first replies, g in the steady state of Δ = 0, and os + or + Δ
/// in the steady state of a Δ on an arm, with that arm's or.
fn references(logp: &Logp, delays: &[Ns]) -> Vec<Reference> {
    let time = |quantity: &Option<Quantity>| quantity.as_ref().map(|of| of.value.0);
    let [os, g] = [&logp.parameters.send_overhead, &logp.parameters.gap].map(time);
    let mut lines = Vec::new();
    if let Some(os) = os {
        let single =
            logp.lines.iter().find(|line| line.name == "send_overhead" && line.from == line.to);
        let end = logp.transition.as_ref().map(|found| found.messages.0);
        let to = end.or(single.map(|line| line.to as f64)).unwrap_or(f64::INFINITY);
        lines.push(Reference { to, ..Reference::across("os", os) });
    }
    if let Some(g) = g {
        lines.push(Reference { from: steady(logp, Ns(0.0)), ..Reference::across("g", g) });
    }
    for (at, delay) in delays.iter().enumerate().filter(|(_, delay)| delay.0 > 0.0) {
        let has = |arm: &&Arm| {
            let (from, to) = (arm.from_delay.ns().0 - STEP, arm.to_delay.ns().0 + STEP);
            (from..=to).contains(&delay.0)
        };
        let arm = logp.arms.iter().find(has).map(|arm| arm.recv_overhead.value.0);
        if let (Some(os), Some(or)) = (os, arm) {
            let level = Reference::across("", os + or + delay.as_secs());
            lines.push(Reference { series: Some(at), from: steady(logp, *delay), ..level });
        }
    }
    // One name is enough: colours show each line's Δ.
    if let Some(last) = lines.last_mut().filter(|line| line.series.is_some()) {
        last.name = "os + or + Δ".to_owned();
    }
    lines
}

/// The resolution of Δ in nanoseconds: places on its axis are whole picoseconds.
const STEP: f64 = 1e-3;

/// The M from which the cost at a Δ is steady.
fn steady(logp: &Logp, delay: Ns) -> f64 {
    let mut gaps = logp.lines.iter().filter(|line| line.name == "gap");
    let found = gaps.find(|line| (line.delay.ns().0 - delay.0).abs() <= STEP);
    found.map_or(f64::NEG_INFINITY, |line| line.from as f64)
}

fn regions(logp: &Logp) -> Vec<Region> {
    let Some(transition) = &logp.transition else { return Vec::new() };
    let begin = transition.messages.0;
    let region = |from, to, label: &str| Region { from, to, label: label.to_owned() };
    let steady = steady(logp, Ns(0.0));
    let mut regions = vec![region(f64::NEG_INFINITY, begin, "send only")];
    if steady > begin {
        regions.push(region(begin, steady, "transition"));
        regions.push(region(steady, f64::INFINITY, "steady state"));
    } else {
        regions.push(region(begin, f64::INFINITY, "steady state"));
    }
    regions
}
