//! The surface over (M, Δ, n) as a family of curves: cost of a long burst against Δ, one for each n.

use bandgap_model::Kind;
use bandgap_report::table::one_state;
use bandgap_report::{Axis, Datum, Dimension, Figure, Scale, Series, Style};
use bandgap_units::Ns;

use super::schema::{Logp, Point};
use super::surface::{plural, size};
use crate::measured::datum;

/// The signatures of several lengths, of one at least, as one figure (LogP paper, figures 8 and 9 at their largest M).
pub(super) fn figure(signatures: &[&Logp]) -> Figure {
    let mut series: Vec<Series> = signatures.iter().map(|logp| curve(logp)).collect();
    let delays = || series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let (least, most) = (delays().fold(f64::INFINITY, f64::min), delays().fold(0.0, f64::max));
    if least < most {
        let points = vec![Datum::exact(least, least), Datum::exact(most, most)];
        series.push(Series { name: "Δ alone".into(), points, style: Style::Dashed, twin: None });
    }
    let first = signatures[0];
    let conditions = match one_state(signatures.iter().map(|logp| Some(logp.state.label.as_str())))
    {
        Some(label) => format!("state {label}"),
        None => "several states of the machine".to_owned(),
    };
    let axis =
        |label: &str| Axis { label: label.into(), scale: Scale::Log10, dimension: Dimension::Time };
    Figure {
        title: format!("signature of {} over {}", plural(first), first.transport),
        subtitle: format!("{}; {conditions}", first.participants("→")),
        x: axis("delay per request Δ"),
        y: axis("time per transfer at the largest M"),
        legend: "size n".into(),
        series,
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: notes(signatures),
    }
}

/// Of each Δ the point with the largest M, Δ ascending.
fn longest(logp: &Logp) -> Vec<&Point> {
    let mut points: Vec<&Point> =
        logp.points.iter().filter(|point| point.measure == Kind::Issue).collect();
    points.sort_by(|a, b| {
        a.delay.ns().0.total_cmp(&b.delay.ns().0).then(b.messages.cmp(&a.messages))
    });
    points.dedup_by_key(|point| point.delay.ns().0);
    points
}

fn curve(logp: &Logp) -> Series {
    let longest = longest(logp);
    let raised = longest.iter().filter(|point| point.delay.ns() > Ns::ZERO);
    let points = raised.map(|point| datum(point.delay.ns().0, &point.cost));
    Series { name: size(logp), points: points.collect(), style: Style::Line, twin: None }
}

fn notes(signatures: &[&Logp]) -> Vec<String> {
    let mut notes = vec![
        "A curve is level where the transport or the replier limits the rate, and rises with Δ where \
         os + or + Δ does. Bars are confidence intervals where these are larger than the mark."
            .to_owned(),
    ];
    let at_zero = signatures.iter().filter_map(|logp| {
        let points = longest(logp);
        let first = points.first().filter(|point| point.delay.ns() == Ns::ZERO)?;
        Some(format!("{} ({})", Ns::from_secs(first.cost.value.0), size(logp)))
    });
    let at_zero: Vec<String> = at_zero.collect();
    if !at_zero.is_empty() {
        let costs = at_zero.join(", ");
        notes.push(format!("Δ = 0 has no place on a logarithmic axis; there the time is {costs}."));
    }
    notes
}
