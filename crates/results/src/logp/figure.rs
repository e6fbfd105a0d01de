//! Message cost against the number of messages, a curve for each Δ (LogP paper, figures 4 and 5).

use bandgap_model::Kind;
use bandgap_record::Quantity;
use bandgap_report::{Axis, Datum, Dimension, Figure, Reference, Region, Scale, Series, Style};
use bandgap_units::Ns;

use super::schema::{Logp, Point};
use crate::measured::datum;

/// More curves than this cannot be told apart.
const MOST_CURVES: usize = 8;

/// Above this ratio of the greatest to the least cost, a linear axis would hide the least.
const WIDE: f64 = 12.0;

/// The signature as a figure.
pub(super) fn figure(logp: &Logp) -> Figure {
    let all = delays(logp);
    let shown = evenly(&all, MOST_CURVES);
    let series: Vec<Series> = shown.iter().map(|delay| curve(logp, *delay)).collect();
    let costs = || series.iter().flat_map(|series| &series.points).map(|point| point.y);
    let (least, most) = (costs().fold(f64::INFINITY, f64::min), costs().fold(0.0, f64::max));
    let scale = if most > WIDE * least { Scale::Log10 } else { Scale::Linear };
    let mut notes = vec![
        "Bars are confidence intervals where these are larger than the mark; dashed lines are the \
         model's levels with the parameters found; the regimes are those of Δ = 0."
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

fn curve(logp: &Logp, delay: f64) -> Series {
    let ours = |point: &&Point| point.measure == Kind::Issue && point.delay.ns().0 == delay;
    let points = logp.points.iter().filter(ours);
    let mut points: Vec<Datum> =
        points.map(|point| datum(point.messages as f64, &point.cost)).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let name = if delay == 0.0 { "Δ = 0".to_owned() } else { format!("Δ = {}", Ns(delay)) };
    Series { name, points, style: Style::Line, twin: None }
}

/// The delays Δ of the issue points in ns, each once, ascending.
fn delays(logp: &Logp) -> Vec<f64> {
    let issue = logp.points.iter().filter(|point| point.measure == Kind::Issue);
    let mut delays: Vec<f64> = issue.map(|point| point.delay.ns().0).collect();
    delays.sort_by(f64::total_cmp);
    delays.dedup();
    delays
}

/// The lines os and g, and os + or + Δ where it lies above g.
fn references(logp: &Logp, delays: &[f64]) -> Vec<Reference> {
    let time = |quantity: &Option<Quantity>| quantity.as_ref().and_then(Quantity::as_time);
    let parameters = &logp.parameters;
    let [os, or, g] =
        [&parameters.send_overhead, &parameters.recv_overhead, &parameters.gap].map(time);
    let mut lines = Vec::new();
    let mut line = |name: &str, level: Option<Ns>, series| {
        lines.extend(level.map(|y| Reference { name: name.into(), y: y.0, series }));
    };
    line("os", os, None);
    line("g", g, None);
    if let (Some(os), Some(or)) = (os, or) {
        let least = g.unwrap_or(os + or);
        for (series, delay) in delays.iter().enumerate() {
            let level = os + or + Ns(*delay);
            if level > least {
                // One name is enough: the colours say which Δ each line is for.
                let name = if series + 1 == delays.len() { "os + or + Δ" } else { "" };
                line(name, Some(level), Some(series));
            }
        }
    }
    lines
}

fn regions(logp: &Logp) -> Vec<Region> {
    let Some(transition) = &logp.transition else { return Vec::new() };
    let begin = transition.messages.0;
    let region = |from, to, label: &str| Region { from, to, label: label.to_owned() };
    let steady = logp.lines.iter().find(|line| line.name == "gap" && line.delay.ns() == Ns::ZERO);
    let mut regions = vec![region(f64::NEG_INFINITY, begin, "send only")];
    match steady.map(|line| line.from as f64).filter(|from| *from > begin) {
        Some(steady) => {
            regions.push(region(begin, steady, "transition"));
            regions.push(region(steady, f64::INFINITY, "steady state"));
        }
        None => regions.push(region(begin, f64::INFINITY, "transition and steady state")),
    }
    regions
}
