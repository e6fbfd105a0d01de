//! How requests arrive that are sent as fast as possible.

use bandgap_report::{Axis, Datum, Dimension, Figure, Scale, Series, Style};

use super::schema::Breakdown;

/// The shares of the intervals between arrivals that are no longer than a time; nothing where there are none.
///
/// *Source*: "Breaking Band", figure 7.
pub(super) fn arrivals(breakdown: &Breakdown) -> Option<Figure> {
    let measured = breakdown.measured.as_ref()?;
    let arrivals = measured.arrivals.as_ref()?;
    let points = arrivals.quantiles.iter().map(|(share, time)| Datum::exact(time.ns().0, share.0));
    let axis = |label: &str, scale, dimension| Axis { label: label.into(), scale, dimension };
    Some(Figure {
        title: format!("Requests over {}: how they arrive", measured.transport),
        subtitle: "the share of the intervals between arrivals that are no longer".to_owned(),
        x: axis("interval", Scale::Log10, Dimension::Time),
        y: axis("share", Scale::Linear, Dimension::Count),
        legend: "sent".to_owned(),
        series: vec![Series {
            name: "as fast as possible".to_owned(),
            points: points.collect(),
            style: Style::Line,
            twin: None,
        }],
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: Vec::new(),
    })
}
