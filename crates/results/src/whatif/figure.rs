//! Speed-up against reduction.

use bandgap_model::breakdown::insights::spoken;
use bandgap_record::{Convergence, Number};
use bandgap_report::{Axis, Datum, Dimension, Figure, Scale, Series, Style};

use super::schema::{SpeedUpPoint, SpeedUps, WhatIf};

/// The curves of one model.
pub(super) fn figure(whatif: &WhatIf, speed_ups: &SpeedUps) -> Figure {
    let percent = |share: Number| share.0 * 100.0;
    let datum = |point: &SpeedUpPoint| Datum {
        x: percent(point.reduction),
        y: percent(point.speedup),
        interval: point.low.zip(point.high).map(|(low, high)| (percent(low), percent(high))),
        convergence: Convergence::Converged,
    };
    let series = speed_ups.curves.iter().map(|curve| Series {
        name: spoken(&curve.of).to_owned(),
        points: curve.points.iter().map(datum).collect(),
        style: Style::Line,
        twin: None,
    });
    let axis = |label: &str| Axis {
        label: label.to_owned(),
        scale: Scale::Linear,
        dimension: Dimension::Count,
    };
    // Each is reduced by itself.
    let beside = if whatif.changes.is_empty() { "" } else { ", without the changes" };
    Figure {
        title: format!("{}: what a reduction saves", speed_ups.title),
        subtitle: format!("{}, model {}{beside}", whatif.name, speed_ups.model),
        x: axis("reduction of each, %"),
        y: axis("time saved, %"),
        legend: "reduced".to_owned(),
        series: series.collect(),
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: Vec::new(),
    }
}
