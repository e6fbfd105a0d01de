//! Time and bandwidth against the message size, with the fitted segments.

use std::ops::RangeInclusive;

use bandgap_kernels::in_series;
use bandgap_model::hockney::Weighting;
use bandgap_record::Quantity;
use bandgap_report::table::length;
use bandgap_report::{
    Axis, Datum, Dimension, Figure, Mark, Reference, Region, Scale, Series as Curve, Style,
};
use bandgap_units::{Bytes, Ns};

use super::expected::expected;
use super::ranks_figure;
use super::schema::{Series, SeriesPoint};
use crate::hockney::{Hockney, Segment, SegmentLine, breakpoints, weighting};
use crate::measured::{Checked, TABLE, Which, datum, of_ranks};

/// Points that a fitted line is drawn through: on these axes it is a curve.
const STEPS: u32 = 24;

/// The figures of a series: its time, and its bandwidth where it has one; none of a single point
/// without bytes.
///
/// Drawn with them are the fits among `fits` that are of this series; the segments, and the marks at
/// n½ where that lies inside the measured sizes, are those of the relative fit if there is one.
pub(super) fn figures(series: &Series, fits: &[&Hockney]) -> Vec<Figure> {
    // Nothing has a place on an axis of sizes but sizes.
    if !series.is_over_ranks() && !series.has_bytes() {
        return Vec::new();
    }
    let ours = |fit: &&&Hockney| fit.name == series.name && fit.transport == series.transport;
    let mut fits: Vec<&Hockney> = fits.iter().filter(ours).copied().collect();
    // The relative fit first: that is the one that holds over all sizes.
    fits.sort_by_key(|fit| fit.weighting == Weighting::Ordinary);
    // Of several curves each has that one only. Where the model says what is to be expected, it is
    // drawn in their place.
    let several = series.has_several_curves();
    let is_modelled = series.points.iter().any(|point| point.modelled().is_some());
    fits.retain(|fit| !is_modelled && (!several || fit.weighting == Weighting::Relative));
    let over_ranks = ranks_figure::figure(series);
    if series.has_several_ranks() && series.has_several_variants() && !series.is_over_ranks() {
        // Too many curves for one picture: one for each number of ranks.
        return by_ranks(series).iter().map(|of| time_figure(of, &[])).chain(over_ranks).collect();
    }
    let bandwidth = series.points.iter().any(|point| point.bandwidth.is_some());
    let bandwidth = bandwidth.then(|| bandwidth_figure(series, &fits));
    std::iter::once(time_figure(series, &fits)).chain(bandwidth).chain(over_ranks).collect()
}

/// The series on each of its numbers of ranks.
fn by_ranks(series: &Series) -> Vec<Series> {
    let mut ranks: Vec<u32> = series.points.iter().map(|point| point.ranks).collect();
    ranks.dedup();
    let of = |ranks: u32| {
        let points = series.points.iter().filter(|point| point.ranks == ranks);
        Series { ranks, points: points.cloned().collect(), ..series.clone() }
    };
    ranks.into_iter().map(of).collect()
}

fn time_figure(series: &Series, fits: &[&Hockney]) -> Figure {
    let mut curves = measured(series, fits, |point| Some(&point.time));
    let expected = expected(series, STEPS);
    let overheads = measured(series, &[], |point| point.send_overhead.as_ref());
    let mut notes = notes(series, fits);
    let what = if overheads.is_empty() { "time" } else { "time and send overhead" };
    if !overheads.is_empty() {
        notes.push("What lies between o(n) and t(n) is left for computation.".to_owned());
    }
    let has =
        |of: fn(&SeriesPoint) -> &Option<Quantity>| series.points.iter().any(|p| of(p).is_some());
    if has(|point| &point.modelled_loggp) {
        notes.push("Dashed: what the algorithm costs in LogGP's terms.".to_owned());
    } else if has(|point| &point.modelled_hockney) {
        notes.push("Dashed: what the algorithm costs in Hockney's terms.".to_owned());
    }
    if !series.growth.is_empty() {
        notes.push("Dashed: the fit t = a + b·Nᵉ.".to_owned());
    }
    // Of transfers, which have them, there is but one number of ranks.
    curves.extend(overheads.into_iter().map(|curve| Curve { name: "o(n)".to_owned(), ..curve }));
    let y = Axis { label: "time t".into(), scale: Scale::Log10, dimension: Dimension::Time };
    Figure {
        title: format!("{}: {what}", series.subject()),
        subtitle: subtitle(series),
        notes,
        ..figure(series, fits, y, [curves, expected].concat(), |_, _, time| time)
    }
}

fn bandwidth_figure(series: &Series, fits: &[&Hockney]) -> Figure {
    let curves = measured(series, fits, |point| point.bandwidth.as_ref());
    let y = Axis { label: "bandwidth r".into(), scale: Scale::Linear, dimension: Dimension::Rate };
    let drawn =
        figure(series, fits, y, curves, |messages, bytes, time| messages * bytes * 1e9 / time);
    // Beyond what was measured, r∞ is the fit's promise, and would squeeze the plot.
    let last = segments(fits).last().filter(|segment| half_inside(segment).is_some());
    let asymptote = last.and_then(|segment| segment.r_inf.as_ref());
    // Run files that do not say what r∞ counts have that of one message.
    let uncounted = |fit: &Hockney| messages(series, &fit.which) / fit.messages as f64;
    let times = named(fits).map_or(1.0, uncounted);
    let line = |rate: &Quantity| Reference::across("r∞", times * rate.value.0);
    // Named above, where there is more room.
    let unnamed = |region| Region { label: String::new(), ..region };
    Figure {
        references: asymptote.map(line).into_iter().collect(),
        regions: drawn.regions.into_iter().map(unnamed).collect(),
        ..drawn
    }
}

/// Curves and the fits beside them, which are drawn as `of` messages, their bytes, and the time.
fn figure(
    series: &Series,
    fits: &[&Hockney],
    y: Axis,
    mut curves: Vec<Curve>,
    of: impl Fn(f64, f64, f64) -> f64,
) -> Figure {
    let scale = bytes_of_one(series);
    let several = series.has_several_curves();
    let room = room(&curves);
    for fit in fits {
        let moved = messages(series, &fit.which);
        // The curve that it runs through has the same place among the curves.
        let twin = series.curves().iter().position(|(which, _)| *which == fit.which);
        let fitted = fitted(fit, scale, &room, |bytes, time| of(moved, bytes, time));
        if fitted.points.iter().any(|point| point.y.is_finite()) {
            curves.push(Curve { twin: twin.filter(|_| several), ..fitted });
        }
    }
    let mark = |segment: &Segment| {
        let (size, name) = half_inside(segment)?;
        let moved = named(fits).map_or(1.0, |fit| messages(series, &fit.which));
        Some(Mark { name, x: size / scale, y: of(moved, size, at(segment.line.as_ref()?, size)) })
    };
    let of_all = in_series(&series.name).is_ok_and(|(_, series)| series.of_all);
    let both = in_series(&series.name).is_ok_and(|(_, of)| !of.of_all && (of.moves)(2) > 1);
    let all = match (of_all, both) {
        (true, _) => "of all ranks together",
        (_, true) => "of both messages together",
        _ => "of one message",
    };
    Figure {
        title: if of_all || both { "bandwidth r(n)" } else { "bandwidth r(n) = n/t(n)" }.to_owned(),
        subtitle: all.to_owned(),
        x: abscissa(series),
        y,
        legend: series.name.clone(),
        references: Vec::new(),
        regions: regions(fits, scale),
        marks: segments(fits).filter_map(mark).collect(),
        notes: Vec::new(),
        series: curves,
    }
}

fn subtitle(series: &Series) -> String {
    if series.transport == TABLE {
        return format!("{} times from a table", series.points.len());
    }
    let who = of_ranks(series.ranks, series.pair, series.cores, "→");
    let in_part = series.checked.as_ref().and_then(Checked::in_part);
    let bytes = match (series.has_bytes(), series.is_virtual(), series.verified, in_part) {
        (false, ..) => String::new(),
        (_, true, ..) => "; virtual time".to_owned(),
        (_, _, true, _) => "; data verified in checked batches".to_owned(),
        (_, _, false, Some(part)) => format!("; data verified in checked batches of {part}"),
        (_, _, false, None) => "; data not verified".to_owned(),
    };
    format!("{who}; state {}{bytes}", series.state.share())
}

fn abscissa(series: &Series) -> Axis {
    let first = series.points.first();
    let has = |of: fn(&SeriesPoint) -> Option<u64>| first.is_some_and(|point| of(point).is_some());
    let (label, dimension) = if series.is_over_ranks() {
        ("ranks", Dimension::Count)
    } else if has(|point| point.dimension) {
        ("matrix dimension N", Dimension::Count)
    } else if has(|point| point.elements) {
        ("vector length n", Dimension::Count)
    } else {
        ("message size n", Dimension::Size)
    };
    Axis { label: label.into(), scale: Scale::Log2, dimension }
}

/// The curves of what was measured, where there is anything: without a line where a fit runs through
/// the points.
fn measured(
    series: &Series,
    fits: &[&Hockney],
    of: fn(&SeriesPoint) -> Option<&Quantity>,
) -> Vec<Curve> {
    let over_ranks = series.is_over_ranks();
    let curve = |(which, group): (Which, Vec<&SeriesPoint>)| {
        let point = |point: &&SeriesPoint| {
            let x = if over_ranks { f64::from(point.ranks) } else { point.size() as f64 };
            Some(datum(x, of(point)?))
        };
        let points: Vec<Datum> = group.iter().filter_map(point).collect();
        let fitted = fits.iter().any(|fit| fit.which == which);
        let style = if fitted { Style::Points } else { Style::Line };
        let name = Some(series.curve_in_words(&which)).filter(|words| !words.is_empty());
        let name = name.unwrap_or_else(|| "measured".to_owned());
        (!points.is_empty()).then_some(Curve { name, points, style, twin: None })
    };
    series.curves().into_iter().filter_map(curve).collect()
}

/// Bytes of one unit of the axis: 8 of an element.
fn bytes_of_one(series: &Series) -> f64 {
    let one = |point: &SeriesPoint| {
        (point.elements? > 0).then(|| point.bytes as f64 / point.size() as f64)
    };
    series.points.iter().find_map(one).unwrap_or(1.0)
}

/// Messages of a point's length that its bandwidth counts, on a curve.
fn messages(series: &Series, which: &Which) -> f64 {
    let of = |point: &SeriesPoint| {
        let rate = point.bandwidth.as_ref()?.value.0;
        (series.which(point) == *which).then(|| rate * point.time.value.0 / point.bytes as f64)
    };
    series.points.iter().find_map(of).unwrap_or(1.0)
}

/// The fitted time of `size` bytes in nanoseconds.
fn at(line: &SegmentLine, size: f64) -> f64 {
    line.intercept.ns().0 + size * line.per_byte.ns().0
}

/// How far beyond the points a fitted line is drawn, as a factor.
const ROOM: f64 = 1.25;

/// Where fitted lines are drawn: about what was measured, which the axis is for. A line that misses the
/// points by far would squeeze them.
fn room(curves: &[Curve]) -> RangeInclusive<f64> {
    let ends = |point: &Datum| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high]
    };
    let drawn = || curves.iter().flat_map(|curve| &curve.points).flat_map(ends);
    let drawn = || drawn().filter(|y| *y > 0.0 && y.is_finite());
    drawn().fold(f64::INFINITY, f64::min) / ROOM..=drawn().fold(0.0, f64::max) * ROOM
}

/// A fit as a curve, interrupted between its segments and where it is outside of `room`.
fn fitted(
    fit: &Hockney,
    scale: f64,
    room: &RangeInclusive<f64>,
    of: impl Fn(f64, f64) -> f64,
) -> Curve {
    let mut points = Vec::new();
    for segment in &fit.segments {
        let Some(line) = &segment.line else { continue };
        // 0 bytes have no place on the axis.
        let (from, to) = (segment.from_bytes.max(1) as f64, segment.to_bytes.max(1) as f64);
        for step in 0..=STEPS {
            let size = from * (to / from).powf(f64::from(step) / f64::from(STEPS));
            // A line may begin below zero, and no time does.
            let time = at(line, size);
            let y = of(size, time);
            points.push(match time > 0.0 && room.contains(&y) {
                true => Datum::exact(size / scale, y),
                false => Datum::gap(size / scale),
            });
        }
        points.push(Datum::gap(to / scale));
    }
    let style = match fit.weighting {
        Weighting::Relative => Style::Dashed,
        Weighting::Ordinary => Style::Dotted,
    };
    Curve { name: name(fit), points, style, twin: None }
}

/// `relative fit`, and of which points where the series has several curves.
fn name(fit: &Hockney) -> String {
    let which = match fit.which.words() {
        none if none.is_empty() => none,
        words => format!(", {words}"),
    };
    format!("{} fit{which}", weighting(fit))
}

/// The fit whose segments are named: the first, unless there are fits of several numbers of ranks.
fn named<'a>(fits: &[&'a Hockney]) -> Option<&'a Hockney> {
    let first = fits.first()?;
    fits.iter().all(|fit| fit.is_beside(first)).then_some(first)
}

/// The segments that are named.
fn segments<'a>(fits: &[&'a Hockney]) -> impl Iterator<Item = &'a Segment> {
    named(fits).into_iter().flat_map(|fit| &fit.segments)
}

/// n½ and its name, where it is inside its own segment.
fn half_inside(segment: &Segment) -> Option<(f64, String)> {
    let size = segment.n_half.as_ref()?.value.0;
    let inside = (segment.from_bytes as f64..=segment.to_bytes as f64).contains(&size);
    inside.then(|| (size, format!("n½ = {}", length(size))))
}

/// The segments as ranges of sizes, divided at the breakpoints.
fn regions(fits: &[&Hockney], scale: f64) -> Vec<Region> {
    let Some(fit) = named(fits).filter(|fit| !fit.breakpoints.is_empty()) else {
        return Vec::new();
    };
    let mut ends: Vec<f64> = fit.breakpoints.iter().map(|point| point.bytes.0 / scale).collect();
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
    if let Some(fit) = named(fits).filter(|fit| !fit.breakpoints.is_empty()) {
        notes.push(format!("Segments of the {} meet at {}.", name(fit), breakpoints(fit)));
    }
    if series.has_several_curves() && !fits.is_empty() {
        notes.push("Dashed: the relative fit t = t0 + n/r∞ of each curve.".to_owned());
    }
    if let Some(empty) = series.points.iter().find(|point| point.bytes == 0)
        && !series.is_over_ranks()
    {
        let time = empty.time.as_time().unwrap_or(Ns::ZERO);
        let empty = Bytes(0);
        notes.push(format!("{empty} (t = {time}) has no place on a logarithmic axis."));
    }
    notes
}
