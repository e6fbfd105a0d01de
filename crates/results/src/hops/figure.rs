//! Time against the message size, for each distance.

use bandgap_report::{Axis, Datum, Dimension, Figure, Scale, Series as Curve, Style};

use super::schema::Hops;
use crate::measured::{datum, distant};
use crate::series::Series;

/// Points that a fitted line is drawn through.
const STEPS: u32 = 24;

/// What was measured, if it is known, with the fit through it; nothing without any fit.
pub(super) fn figure(hops: &Hops, series: Option<&Series>) -> Option<Figure> {
    let mut curves: Vec<Curve> = Vec::new();
    for &distance in &hops.distances {
        let fit = fitted(hops, distance);
        let points = series.map_or(Vec::new(), |series| {
            let there = series.points.iter().filter(|point| point.hops == Some(distance));
            there.map(|point| datum(point.bytes as f64, &point.time)).collect()
        });
        let name = distant(distance);
        if points.is_empty() {
            curves.push(Curve { name, points: fit, style: Style::Dashed, twin: None });
            continue;
        }
        let twin = Some(curves.len());
        curves.push(Curve { name, points, style: Style::Points, twin: None });
        let name = format!("fit, {}", distant(distance));
        curves.push(Curve { name, points: fit, style: Style::Dashed, twin });
    }
    let has_fit = hops.segments.iter().any(|segment| segment.plane.is_some());
    let axis = |label: &str, scale, dimension| Axis { label: label.into(), scale, dimension };
    has_fit.then(|| Figure {
        title: format!("{}: time by distance", hops.subject()),
        subtitle: "t(n, k) = t_startup + n·t_byte + (k − 1)·h".to_owned(),
        x: axis("message size n", Scale::Log2, Dimension::Size),
        y: axis("time t", Scale::Log10, Dimension::Time),
        legend: hops.name.clone(),
        series: curves,
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: vec!["Dashed: the fit.".to_owned()],
    })
}

/// The fit at a distance as a curve, interrupted between its segments.
fn fitted(hops: &Hops, distance: u32) -> Vec<Datum> {
    let mut points = Vec::new();
    for segment in &hops.segments {
        let Some(plane) = &segment.plane else { continue };
        // 0 bytes have no place on the axis.
        let (from, to) = (segment.from_bytes.max(1) as f64, segment.to_bytes.max(1) as f64);
        for step in 0..=STEPS {
            let size = from * (to / from).powf(f64::from(step) / f64::from(STEPS));
            points.push(match plane.at(size, distance) {
                time if time > 0.0 => Datum::exact(size, time),
                _ => Datum::gap(size),
            });
        }
        points.push(Datum::gap(to));
    }
    points
}
