//! Time against the number of ranks, a curve for each of a few sizes.

use std::collections::BTreeMap;

use bandgap_report::{Axis, Datum, Dimension, Figure, Scale, Series as Curve, Style};

use super::growth::few_sizes;
use super::schema::{Series, SeriesPoint};
use crate::measured::datum;

/// The figure of a series over several numbers of ranks and several sizes; `None` of another, and
/// over dimensions, where a message shrinks as the ranks grow.
pub(super) fn figure(series: &Series) -> Option<Figure> {
    let has_place = series.has_several_ranks()
        && !series.has_one_size()
        && series.points.iter().all(|point| point.dimension.is_none());
    if !has_place {
        return None;
    }
    let curve = |size: u64| {
        let there: Vec<&SeriesPoint> =
            series.points.iter().filter(|point| point.size() == size).collect();
        // Of several variants, the fastest on so many ranks.
        let mut best: BTreeMap<u32, &SeriesPoint> = BTreeMap::new();
        for point in &there {
            let known = best.entry(point.ranks).or_insert(point);
            if point.time.value.0 < known.time.value.0 {
                *known = point;
            }
        }
        let points: Vec<Datum> =
            best.iter().map(|(ranks, point)| datum(f64::from(*ranks), &point.time)).collect();
        let name = there.first().map_or(String::new(), |point| point.size_in_words());
        Curve { name, points, style: Style::Line, twin: None }
    };
    let subtitle = match series.has_several_variants() {
        true => "each point by its fastest algorithm",
        false => "at a few sizes",
    };
    let axis = |label: &str, scale, dimension| Axis { label: label.into(), scale, dimension };
    Some(Figure {
        title: format!("{}: time over ranks", series.subject()),
        subtitle: subtitle.to_owned(),
        x: axis("ranks P", Scale::Log2, Dimension::Count),
        y: axis("time t", Scale::Log10, Dimension::Time),
        legend: series.name.clone(),
        series: few_sizes(series).into_iter().map(curve).collect(),
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: Vec::new(),
    })
}
