//! What the curves of a series are expected to be.

use bandgap_report::{Datum, Series as Curve, Style};

use super::growth;
use super::schema::{Series, SeriesPoint};
use crate::measured::Which;

/// What each curve is expected to be, as its twin: the algorithm's cost, or the fit over dimensions,
/// drawn through so many steps.
pub(super) fn expected(series: &Series, steps: u32) -> Vec<Curve> {
    let curve = |(at, (which, points)): (usize, (Which, Vec<&SeriesPoint>))| {
        let place = |point: &SeriesPoint| match series.is_over_ranks() {
            true => f64::from(point.ranks),
            false => point.size() as f64,
        };
        let modelled = points.iter().filter_map(|point| {
            let time = point.modelled()?.as_time().filter(|time| time.0 > 0.0)?;
            Some(Datum::exact(place(point), time.0))
        });
        let mut drawn: Vec<Datum> = modelled.collect();
        if let Some(growth) = growth::of_curve(series, &which) {
            let (from, to) = (growth.from as f64, growth.to as f64);
            drawn.extend((0..=steps).map(|step| {
                let size = from * (to / from).powf(f64::from(step) / f64::from(steps));
                Datum::exact(size, growth::at(growth, size))
            }));
        }
        let name = format!("expected, {}", which.words());
        (!drawn.is_empty()).then_some(Curve {
            name,
            points: drawn,
            style: Style::Dashed,
            twin: Some(at),
        })
    };
    series.curves().into_iter().enumerate().filter_map(curve).collect()
}
