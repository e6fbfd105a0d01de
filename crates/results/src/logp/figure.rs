//! Message cost against the number of messages, a curve for each Δ (LogP paper, figures 4 and 5).

use bandgap_model::Kind;
use bandgap_record::Quantity;
use bandgap_report::{Axis, Datum, Dimension, Figure, Reference, Region, Scale, Series, Style};
use bandgap_units::Ns;

use super::schema::{Line, Logp, Point};
use crate::measured::datum;

/// More curves than this cannot be told apart.
const MOST_CURVES: usize = 8;

/// Above this ratio of the greatest to the least cost, a linear axis would hide the least.
const WIDE: f64 = 12.0;

/// The signature as a figure.
pub(super) fn figure(logp: &Logp) -> Figure {
    let all: Vec<f64> = logp.delays().into_iter().map(|Ns(delay)| delay).collect();
    let shown = evenly(&all, MOST_CURVES);
    let names = Ns::distinct(&shown.iter().copied().map(Ns).collect::<Vec<Ns>>());
    let curves = shown.iter().zip(&names);
    let series: Vec<Series> = curves.map(|(delay, name)| curve(logp, *delay, name)).collect();
    let costs = || series.iter().flat_map(|series| &series.points).map(|point| point.y);
    let (least, most) = (costs().fold(f64::INFINITY, f64::min), costs().fold(0.0, f64::max));
    let scale = if most > WIDE * least { Scale::Log10 } else { Scale::Linear };
    let mut notes = vec![
        "Bars are confidence intervals where these are larger than the mark; dashed lines are the \
         model's levels with the parameters found, each where it holds: for a Δ on no arm there is none. The \
         regimes are those of Δ = 0."
            .to_owned(),
    ];
    if shown.len() < all.len() {
        notes.push(format!("{} of the {} delays are shown.", shown.len(), all.len()));
    }
    Figure {
        title: format!("LogP signature over {}", logp.transport),
        subtitle: format!("{}; state {}", logp.participants("→"), logp.state.share()),
        x: Axis { label: "messages M".into(), scale: Scale::Log2, dimension: Dimension::Count },
        y: Axis { label: "time per message".into(), scale, dimension: Dimension::Time },
        legend: "delay per request".into(),
        references: references(logp, &shown),
        regions: regions(logp),
        marks: Vec::new(),
        series,
        notes,
    }
}

/// At most `most` of `values`, evenly spread by rank, the first and the last among them.
fn evenly(values: &[f64], most: usize) -> Vec<f64> {
    if values.len() <= most {
        return values.to_vec();
    }
    (0..most).map(|index| values[index * (values.len() - 1) / (most - 1)]).collect()
}

/// The curve of a Δ that is written as `name`.
fn curve(logp: &Logp, delay: f64, name: &str) -> Series {
    let ours = |point: &&Point| point.measure == Kind::Issue && point.delay.ns().0 == delay;
    let points = logp.points.iter().filter(ours);
    let mut points: Vec<Datum> =
        points.map(|point| datum(point.messages as f64, &point.cost)).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let name = if delay == 0.0 { "Δ = 0".to_owned() } else { format!("Δ = {name}") };
    Series { name, points, style: Style::Line, twin: None }
}

/// The levels that the model gives, each where it holds: os before the first replies, g in the steady
/// state of Δ = 0, and os + or + Δ in that of a Δ on an arm, with the arm's own os + or.
fn references(logp: &Logp, delays: &[f64]) -> Vec<Reference> {
    let time = |quantity: &Option<Quantity>| quantity.as_ref().and_then(Quantity::as_time);
    let [os, g] = [&logp.parameters.send_overhead, &logp.parameters.gap].map(time);
    let mut lines = Vec::new();
    if let Some(Ns(os)) = os {
        let end = logp.transition.as_ref().map(|found| found.messages.0);
        let to = end.or_else(|| single(logp)).unwrap_or(f64::INFINITY);
        lines.push(Reference { to, ..Reference::across("os", os) });
    }
    if let Some(Ns(g)) = g {
        lines.push(Reference { from: steady(logp, 0.0), ..Reference::across("g", g) });
    }
    let level = |(series, delay): (usize, &f64)| {
        let Ns(overheads) = overheads(logp, Ns(*delay))?;
        let (series, from) = (Some(series), steady(logp, *delay));
        Some(Reference { series, from, ..Reference::across("", overheads + delay) })
    };
    let on_arms = delays.iter().enumerate().filter(|(_, delay)| **delay > 0.0).filter_map(level);
    lines.extend(on_arms);
    // One name is enough: the colours say which Δ each line is for.
    if let Some(last) = lines.last_mut().filter(|line| line.series.is_some()) {
        last.name = "os + or + Δ".to_owned();
    }
    lines
}

/// The M that os was read from, where that is one alone, so that there is no send-only regime.
fn single(logp: &Logp) -> Option<f64> {
    let of = |line: &&Line| line.name == "send_overhead" && line.from == line.to;
    logp.lines.iter().find(of).map(|line| line.to as f64)
}

/// os + or on the arm that a Δ is on; `None` where it is on none.
fn overheads(logp: &Logp, delay: Ns) -> Option<Ns> {
    if logp.arms.is_empty() {
        // An older run has the far arm only.
        let arm = logp.arm.as_ref().filter(|arm| arm.holds != Some(false))?;
        let [os, or] = [&logp.parameters.send_overhead, &logp.parameters.recv_overhead]
            .map(|quantity| quantity.as_ref().and_then(Quantity::as_time));
        return Some(os? + or?).filter(|_| delay >= arm.from_delay.ns());
    }
    logp.arms.iter().find(|arm| arm.has(delay))?.overheads.as_time()
}

/// The M from which the cost at a Δ is steady.
fn steady(logp: &Logp, delay: f64) -> f64 {
    let of = |line: &&Line| line.name == "gap" && line.delay.ns() == Ns(delay);
    logp.lines.iter().find(of).map_or(f64::NEG_INFINITY, |line| line.from as f64)
}

fn regions(logp: &Logp) -> Vec<Region> {
    let Some(transition) = &logp.transition else { return Vec::new() };
    let begin = transition.messages.0;
    let region = |from, to, label: &str| Region { from, to, label: label.to_owned() };
    let steady = steady(logp, 0.0);
    let mut regions = vec![region(f64::NEG_INFINITY, begin, "send only")];
    if steady > begin {
        regions.push(region(begin, steady, "transition"));
        regions.push(region(steady, f64::INFINITY, "steady state"));
    } else {
        regions.push(region(begin, f64::INFINITY, "transition and steady state"));
    }
    regions
}
