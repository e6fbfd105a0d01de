//! Times over several distances: t(n, k) = t_startup + n·t_byte + (k − 1)·h.

use std::collections::BTreeMap;

use bandgap_campaign::signature::judge;
use bandgap_model::Estimate;
use bandgap_model::hockney::{HockneyOptions, SizedTimes, fit as fit_line};
use bandgap_model::hops::{HopTimes, fit};
use bandgap_record::{Column, Form, Labels, Note, Unit};
use bandgap_stats::Convergence;

use crate::Result;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};
use crate::points::{Curve, Points, number};

/// The kind of rows that hold fits over distances.
pub const HOPS: &str = "hops";

/// The fit of a series measured over several distances, with a row for each segment of the shortest distance's line;
/// empty for other series.
///
/// # Errors
/// A number cannot be recorded.
pub(crate) fn hops(of: &Measured<'_>, points: &Points<'_>) -> Result<Made> {
    if !points.axes().contains(&"hops") {
        return Ok(Made::default());
    }
    let second = |name, meaning| Column::new(name, Unit::Second, meaning).counting();
    let columns = vec![
        second("t_startup", "the time of an empty message over one hop"),
        second("t_byte", "of each further byte"),
        second("h", "of each further hop"),
    ];
    let mut rows = Builder::new(HOPS, points.name, &of.setting.transport, &["from"], columns);
    let [title, hop] = ["each further hop", "h"].map(str::to_owned);
    rows.rows.form = Form::Ranges { title, of: hop };
    let mut launches = BTreeMap::<u32, Vec<HopTimes>>::new();
    let curves = points.along(&["bytes"]);
    let hops = |curve: &&Curve<'_>| number(curve.points[0].1.1, "hops");
    for curve in &curves {
        let Some(hops) = hops(&curve) else { continue };
        for (launch, times) in of.sized(curve) {
            let at =
                |SizedTimes { bytes, times_ns }| HopTimes { bytes, hops: hops as u32, times_ns };
            launches.entry(launch).or_default().extend(times.into_iter().map(at));
        }
    }
    let line = curves.iter().min_by_key(hops).and_then(|curve| {
        let times = of.sized(curve);
        let launches: Vec<&[SizedTimes]> = times.values().map(Vec::as_slice).collect();
        let confidence = of.judged.confidence;
        fit_line(&launches, &HockneyOptions { confidence, ..HockneyOptions::default() }).ok()
    });
    let (breaks, left_out) =
        line.map_or_else(Default::default, |line| (line.breakpoints, line.left_out));
    for times in launches.values_mut() {
        times.retain(|of| !left_out.contains(&of.bytes));
    }
    let ends: Vec<u64> = breaks.iter().map(|point| point.last_below).collect();
    let launches = of.by_launch(launches).into_iter().map(Option::unwrap_or_default);
    let launches: Vec<Vec<HopTimes>> = launches.collect();
    let launches: Vec<&[HopTimes]> = launches.iter().map(Vec::as_slice).collect();
    let Ok(fit) = fit(&launches, &ends, of.judged.confidence) else {
        let note = Note::new("hops_unfitted", rows.rows.id());
        return Ok(Made { notes: vec![note], ..Made::default() });
    };
    let rule = of.judged.rule();
    let mut lower = 0;
    for segment in &fit {
        let parameter = |at: usize, estimate: &Option<Estimate>, rule| {
            estimate.as_ref().map(|found| {
                // The interval means nothing if the points do not follow the plane.
                let judged = if segment.misfit { Convergence::No } else { judge(found, rule) };
                let launches = segment.launches.iter().map(|own| own.map(|own| own[at]));
                Estimated::of_model(found, judged).with_launches(launches.collect())
            })
        };
        // Slopes come from many bytes and hops, so the clock does not limit them.
        let slopes = rule.without_clock();
        let cells = [
            parameter(0, &segment.startup, &rule),
            parameter(1, &segment.per_byte, &slopes),
            parameter(2, &segment.per_hop, &slopes),
        ];
        let mut labels = Labels::from([("from_bytes".to_owned(), segment.from_bytes.into())]);
        labels.insert("to_bytes".to_owned(), segment.to_bytes.into());
        labels.insert("points".to_owned(), (segment.points as u64).into());
        if segment.misfit {
            let about = format!("{}/from={lower}", rows.rows.id());
            rows.notes.push(Note::new("hops_misfit", about));
        }
        rows.push(vec![lower.into()], labels, &cells, None)?;
        lower = segment.to_bytes;
    }
    Ok(rows.made())
}
