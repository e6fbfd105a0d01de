//! Time and bandwidth against the message size, with the fitted segments.

use bandgap_record::{Hockney, Quantity, Segment, SegmentLine, Series, Weighting};
use bandgap_units::{Bytes, Fraction, Ns};

use super::{Group, Received, TABLE, fits_of, groups, over_ranks, participants, subject};
use crate::figure::{
    Axis, Datum, Dimension, Figure, Mark, Reference, Region, Scale, Series as Curve, Style,
};
use crate::hockney::breakpoint;
use crate::table::length;

/// Points that a fitted line is drawn through: on these axes it is a curve.
const STEPS: u32 = 24;

/// The figures of a series: its time, and its bandwidth where it has one; none of a single point
/// without bytes.
///
/// Drawn with them are the fits among `fits` that are of this series; the segments, and the marks at
/// n½ where that lies inside the measured sizes, are those of the relative fit if there is one.
pub fn series_figures(series: &Series, fits: &[&Hockney]) -> Vec<Figure> {
    // Nothing has a place on an axis of sizes but sizes.
    if !over_ranks(series) && series.points.iter().all(|point| point.bytes == 0) {
        return Vec::new();
    }
    let fits = fits_of(series, fits);
    let mut figures = vec![time_figure(series, &fits)];
    if series.points.iter().any(|point| point.bandwidth.is_some()) {
        figures.push(bandwidth_figure(series, &fits));
    }
    figures
}

fn time_figure(series: &Series, fits: &[&Hockney]) -> Figure {
    let over_ranks = over_ranks(series);
    let mut curves = measured(series, fits, |point| Some(&point.time), |ns| ns * 1e9);
    let overhead = |group: &Group<'_>| {
        let points = group.points.iter().filter_map(|point| {
            Some(datum(point.bytes as f64, point.send_overhead.as_ref()?, |ns| ns * 1e9))
        });
        points.collect::<Vec<_>>()
    };
    let mut notes = notes(series, fits);
    let mut what = "time";
    for group in groups(series) {
        let points = overhead(&group);
        if !points.is_empty() {
            curves.push(Curve { name: "o(n)".into(), points, style: Style::Line });
            what = "time and send overhead";
        }
    }
    if what != "time" {
        notes.push("What lies between o(n) and t(n) is left for computation.".to_owned());
    }
    curves.extend(fits.iter().map(|fit| fitted(fit, |_, time| time)));
    let mark = |segment: &Segment| {
        let (size, text) = half_inside(segment)?;
        Some(Mark { name: text, x: size, y: at(segment.line.as_ref()?, size) })
    };
    Figure {
        title: format!("{}: {what}", subject(&series.name, &series.transport)),
        subtitle: subtitle(series),
        x: abscissa(over_ranks),
        y: Axis { label: "time t".into(), scale: Scale::Log10, dimension: Dimension::Time },
        legend: series.name.clone(),
        references: Vec::new(),
        regions: regions(fits),
        marks: segments(fits).filter_map(mark).collect(),
        notes,
        series: curves,
    }
}

fn bandwidth_figure(series: &Series, fits: &[&Hockney]) -> Figure {
    let mut curves = measured(series, fits, |point| point.bandwidth.as_ref(), |rate| rate);
    let rate = |size: f64, time: f64| size * 1e9 / time;
    curves.extend(fits.iter().map(|fit| fitted(fit, rate)));
    let mark = |segment: &Segment| {
        let (size, text) = half_inside(segment)?;
        Some(Mark { name: text, x: size, y: rate(size, at(segment.line.as_ref()?, size)) })
    };
    // Beyond what was measured, r∞ is the fit's promise, and would squeeze the plot.
    let last = segments(fits).last().filter(|segment| half_inside(segment).is_some());
    let asymptote = last.and_then(|segment| segment.r_inf.as_ref());
    Figure {
        title: "bandwidth r(n) = n/t(n)".to_owned(),
        subtitle: match series.name.as_str() {
            "comms3" => "of all ranks together".to_owned(),
            _ => "of one message".to_owned(),
        },
        x: abscissa(false),
        y: Axis { label: "bandwidth r".into(), scale: Scale::Linear, dimension: Dimension::Rate },
        legend: series.name.clone(),
        references: asymptote
            .map(|rate| Reference { name: "r∞".into(), y: rate.value.0, series: None })
            .into_iter()
            .collect(),
        // Named above, where there is more room.
        regions: regions(fits)
            .into_iter()
            .map(|region| Region { label: String::new(), ..region })
            .collect(),
        marks: segments(fits).filter_map(mark).collect(),
        notes: Vec::new(),
        series: curves,
    }
}

fn subtitle(series: &Series) -> String {
    if series.transport == TABLE {
        return format!("{} times from a table", series.points.len());
    }
    format!(
        "{}; state {}, {} of the batches{}",
        participants(series, "→"),
        series.state.label,
        Fraction(series.state.share.0),
        match Received::of(series) {
            Received::Nothing => "",
            Received::Virtual => "; virtual time",
            Received::Checked => "; data verified",
            Received::Unchecked => "; data not verified",
        }
    )
}

fn abscissa(over_ranks: bool) -> Axis {
    let (label, dimension) = match over_ranks {
        true => ("ranks", Dimension::Count),
        false => ("message size n", Dimension::Size),
    };
    Axis { label: label.into(), scale: Scale::Log2, dimension }
}

/// The curves of what was measured: without a line where a fit runs through the points.
fn measured(
    series: &Series,
    fits: &[&Hockney],
    of: fn(&bandgap_record::SeriesPoint) -> Option<&Quantity>,
    unit: fn(f64) -> f64,
) -> Vec<Curve> {
    let groups = groups(series);
    let over_ranks = over_ranks(series);
    let several_ranks = groups.iter().any(|group| group.ranks != groups[0].ranks);
    let several_distances = groups.iter().any(|group| group.distance != groups[0].distance);
    let curve = |group: &Group<'_>| {
        let x = |point: &bandgap_record::SeriesPoint| match over_ranks {
            true => f64::from(point.ranks),
            false => point.bytes as f64,
        };
        let points = group.points.iter().filter_map(|point| {
            let quantity = of(point)?;
            Some(Datum { converged: point.converged, ..datum(x(point), quantity, unit) })
        });
        let ranks = several_ranks.then(|| format!("{} ranks", group.ranks));
        let distance = group.distance.filter(|_| several_distances).map(str::to_owned);
        let names: Vec<String> = ranks.into_iter().chain(distance).collect();
        let name = if names.is_empty() { "measured".to_owned() } else { names.join(", ") };
        let fitted = fits.iter().any(|fit| group.is_fitted_by(fit));
        let style = if fitted { Style::Points } else { Style::Line };
        Curve { name, points: points.collect(), style }
    };
    groups.iter().map(curve).collect()
}

fn datum(x: f64, quantity: &Quantity, unit: fn(f64) -> f64) -> Datum {
    let interval = quantity.interval().map(|(low, high)| (unit(low), unit(high)));
    Datum { x, y: unit(quantity.value.0), interval, converged: quantity.converged }
}

/// The fitted time of `size` bytes in nanoseconds.
fn at(line: &SegmentLine, size: f64) -> f64 {
    line.intercept.ns().0 + size * line.per_byte.ns().0
}

/// A fit as a curve, interrupted between its segments.
fn fitted(fit: &Hockney, of: impl Fn(f64, f64) -> f64) -> Curve {
    let mut points = Vec::new();
    for segment in &fit.segments {
        let Some(line) = &segment.line else { continue };
        // 0 bytes have no place on the axis.
        let (from, to) = (segment.from_bytes.max(1) as f64, segment.to_bytes.max(1) as f64);
        for step in 0..=STEPS {
            let size = from * (to / from).powf(f64::from(step) / f64::from(STEPS));
            // A line may begin below zero, and no time does.
            points.push(match at(line, size) {
                time if time > 0.0 => Datum::exact(size, of(size, time)),
                _ => Datum::gap(size),
            });
        }
        points.push(Datum::gap(to));
    }
    let style = match fit.weighting {
        Weighting::Relative => Style::Dashed,
        Weighting::Ordinary => Style::Dotted,
    };
    Curve { name: name(fit.weighting).to_owned(), points, style }
}

fn name(weighting: Weighting) -> &'static str {
    match weighting {
        Weighting::Ordinary => "ordinary fit",
        Weighting::Relative => "relative fit",
    }
}

/// The segments that are named: those of the first fit.
fn segments<'a>(fits: &[&'a Hockney]) -> impl Iterator<Item = &'a Segment> {
    fits.first().into_iter().flat_map(|fit| &fit.segments)
}

/// n½ and its name, where it is inside its own segment.
fn half_inside(segment: &Segment) -> Option<(f64, String)> {
    let size = segment.n_half.as_ref()?.value.0;
    let inside = (segment.from_bytes as f64..=segment.to_bytes as f64).contains(&size);
    inside.then(|| (size, format!("n½ = {}", length(size))))
}

/// The segments as ranges of sizes, divided at the breakpoints.
fn regions(fits: &[&Hockney]) -> Vec<Region> {
    let Some(fit) = fits.first().filter(|fit| !fit.breakpoints.is_empty()) else {
        return Vec::new();
    };
    let mut ends: Vec<f64> = fit.breakpoints.iter().map(|point| point.bytes.0).collect();
    ends.push(f64::INFINITY);
    let mut from = f64::NEG_INFINITY;
    let region = |(index, to): (usize, f64)| {
        let region = Region { from, to, label: format!("segment {}", index + 1) };
        from = to;
        region
    };
    ends.into_iter().enumerate().map(region).collect()
}

fn notes(series: &Series, fits: &[&Hockney]) -> Vec<String> {
    let mut notes =
        vec!["Bars are confidence intervals where these are larger than the mark.".to_owned()];
    if let Some(fit) = fits.first().filter(|fit| !fit.breakpoints.is_empty()) {
        let list: Vec<String> = fit.breakpoints.iter().map(breakpoint).collect();
        let fit = name(fit.weighting);
        notes.push(format!("Segments of the {fit} meet at {}.", list.join(", ")));
    }
    if let Some(empty) = series.points.iter().find(|point| point.bytes == 0)
        && !over_ranks(series)
    {
        let time = empty.time.as_time().unwrap_or(Ns::ZERO);
        let empty = Bytes(0);
        notes.push(format!("{empty} (t = {time}) has no place on a logarithmic axis."));
    }
    notes
}
