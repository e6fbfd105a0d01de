//! Times against vector length, a pair of curves for each size; and the hidden share.

use bandgap_record::Quantity;
use bandgap_report::{Axis, Datum, Dimension, Figure, Reference, Scale, Series as Curve, Style};
use bandgap_units::{Bytes, Ns};

use super::schema::{Overlap, OverlapPoint};
use crate::measured::{datum, of_ranks};

/// The times, and the share where there is one.
pub(super) fn figures(overlap: &Overlap) -> Vec<Figure> {
    let drawn = overlap.points.iter().any(|point| point.elements > 0);
    let shared = overlap.points.iter().any(|point| point.share.is_some());
    let times = drawn.then(|| times(overlap));
    times.into_iter().chain(shared.then(|| shares(overlap))).collect()
}

/// The points size by size.
pub(super) fn by_size(overlap: &Overlap) -> impl Iterator<Item = (String, &[OverlapPoint])> {
    let sizes = overlap.points.chunk_by(|a, b| a.bytes == b.bytes);
    sizes.map(|points| (Bytes(points[0].bytes).to_string(), points))
}

fn curve(
    name: String,
    points: &[OverlapPoint],
    style: Style,
    y: impl Fn(&OverlapPoint) -> Option<Datum>,
) -> Curve {
    // 0 has no place on a logarithmic axis.
    let points = points.iter().filter(|point| point.elements > 0).filter_map(y).collect();
    Curve { name, points, style, twin: None }
}

fn at(point: &OverlapPoint, quantity: &Quantity) -> Datum {
    datum(point.elements as f64, quantity)
}

fn times(overlap: &Overlap) -> Figure {
    let series = by_size(overlap).flat_map(|(size, points)| {
        let blocking = |point: &OverlapPoint| Some(at(point, &point.blocking));
        let begun = |point: &OverlapPoint| Some(at(point, &point.non_blocking));
        [
            curve(format!("{size}, blocking"), points, Style::Points, blocking),
            curve(format!("{size}, non-blocking"), points, Style::Line, begun),
        ]
    });
    let mut notes = vec![
        "Marks alone are an exchange and then a computation; lines are the computation between the \
         begin of the exchange and its wait."
            .to_owned(),
    ];
    let at_zero: Vec<String> = by_size(overlap)
        .filter_map(|(size, points)| {
            let first = points.iter().find(|point| point.elements == 0)?;
            let [blocking, begun] =
                [&first.blocking, &first.non_blocking].map(|time| Ns::from_secs(time.value.0));
            Some(format!("{blocking} and {begun} ({size})"))
        })
        .collect();
    if !at_zero.is_empty() {
        notes.push(format!("Without a computation the two times are {}.", at_zero.join(", ")));
    }
    let y = Axis { label: "time".into(), scale: Scale::Log10, dimension: Dimension::Time };
    Figure { notes, ..figure(overlap, "time", y, series.collect()) }
}

fn shares(overlap: &Overlap) -> Figure {
    let percent = |point: &OverlapPoint| {
        let Datum { x, y, interval, convergence } = at(point, point.share.as_ref()?);
        let interval = interval.map(|(low, high)| (100.0 * low, 100.0 * high));
        Some(Datum { x, y: 100.0 * y, interval, convergence })
    };
    let series = by_size(overlap)
        .map(|(size, points)| curve(size, points, Style::Line, percent))
        .filter(|curve| !curve.points.is_empty());
    let y =
        Axis { label: "hidden share, %".into(), scale: Scale::Linear, dimension: Dimension::Count };
    Figure {
        references: vec![Reference::across("all", 100.0), Reference::across("nothing", 0.0)],
        notes: vec!["Below 0 the non-blocking way is the slower one.".to_owned()],
        ..figure(overlap, "hidden share", y, series.collect())
    }
}

fn figure(overlap: &Overlap, what: &str, y: Axis, series: Vec<Curve>) -> Figure {
    let ranks = of_ranks(overlap.ranks, Some(overlap.pair), overlap.cores, "→");
    Figure {
        title: format!("overlap over {}: {what}", overlap.transport),
        subtitle: format!("{ranks}; state {}", overlap.state.label),
        x: Axis { label: "elements v".into(), scale: Scale::Log2, dimension: Dimension::Count },
        y,
        legend: "size n".into(),
        series,
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: Vec::new(),
    }
}
