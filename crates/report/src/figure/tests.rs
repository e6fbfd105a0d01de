//! A figure for tests.

use bandgap_record::Unit;

use crate::{Axis, Datum, Figure, Precision, Reference, Region, Scale, Series};

/// Message costs of a machine with os = 1.4, g = 7.6 µs, in seconds: two curves of 13 points, of which
/// the eighth did not converge.
pub(crate) fn figure() -> Figure {
    let curve = |name: &str, delay: f64| {
        let point = |exponent: i32| {
            let x = 2f64.powi(exponent);
            let y = (7600.0 - 6200.0 / x + delay) * 1e-9;
            let spread = if exponent == 7 { 0.16 } else { 0.01 } * y;
            let interval = Some((y - spread, y + spread));
            Datum {
                x,
                y,
                interval,
                precision: if exponent == 7 { Precision::No } else { Precision::Converged },
            }
        };
        Series { name: name.into(), points: (0..13).map(point).collect(), twin: None }
    };
    let axis = |label: &str, scale, unit| Axis { label: label.into(), scale, unit };
    Figure {
        title: "cost of messages".into(),
        caption: "2 ranks".into(),
        says: "What a message costs.".into(),
        x: axis("messages M", Scale::Log2, Unit::One),
        y: axis("time per message", Scale::Log10, Unit::Second),
        legend: "delay per request".into(),
        series: vec![curve("Δ = 0", 0.0), curve("Δ = 16.0 µs", 16_000.0)],
        references: vec![Reference::across("g", 7600e-9)],
        regions: vec![Region { from: 512.0, to: f64::INFINITY, label: "steady state".into() }],
    }
}
