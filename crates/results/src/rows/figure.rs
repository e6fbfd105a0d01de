//! The pictures of rows: their columns over an axis, and heat maps of pairs.

use bandgap_record::{Column, Place, Row, Rows, Unit};
use bandgap_report::{Axis, Datum, Figure, Heat, Reference, Scale, Series};

use super::{Curve, along, curves, evenly, fit, growth, is_of_all, spelled, title};
use crate::hockney::Hockney;
use crate::shown::Context;

/// What is drawn: columns over the axis of curves or a named one. Several columns have a figure in common, for each curve
/// its own, and a name.
const DRAWN: [(&str, &[&str], Option<&str>); 9] = [
    ("", &["time"], None),
    ("", &["time"], Some("ranks")),
    ("", &["bandwidth"], None),
    ("", &["bus_bandwidth"], None),
    ("time of the sender", &["send_overhead", "free"], None),
    ("", &["gap"], None),
    ("", &["slowdown"], None),
    ("time", &["blocking", "non_blocking", "computation"], Some("elements")),
    ("", &["hidden"], None),
];
/// The most curves in a figure, and figures of several columns.
const MOST_CURVES: usize = 12;
const PANELS: usize = 4;
/// The size whose time is drawn over ranks, in bytes.
const SHORT: u64 = 8;
/// Points of a fitted line.
const STEPS: i32 = 24;

/// What an axis shows, with its symbol.
fn in_words(rows: &Rows, name: &str) -> String {
    let words = match name {
        "bytes" => "message size, n",
        "dimension" => "dimension, N",
        "elements" => "vector length",
        "ranks" => "ranks, P",
        "time" => "time, t",
        "bandwidth" if is_of_all(rows, name) => "bandwidth of all ranks",
        "bandwidth" => "bandwidth, n/t",
        "send_overhead" => "busy, o(n)",
        "free" => "free, T − o(n)",
        "gap" => "gap, g(n)",
        "blocking" => "without overlap",
        "non_blocking" => "with overlap",
        "computation" => "DAXPY alone",
        _ => return spelled(name),
    };
    words.to_owned()
}

/// All figures.
pub(super) fn figures(rows: &Rows, context: &Context<'_>) -> Vec<Figure> {
    let Some(usual) = along(rows) else { return Vec::new() };
    let mut all = Vec::new();
    for (name, columns, over) in DRAWN {
        let columns: Vec<&str> =
            columns.iter().copied().filter(|name| rows.column(name).is_some()).collect();
        let (axis, is_one) = (over.unwrap_or(usual), name.is_empty());
        if columns.is_empty() || rows.axis(axis).is_none() || is_one && over == Some(usual) {
            continue;
        }
        let curves = match over {
            Some(_) if is_one => short(curves(rows, axis)),
            _ => curves(rows, axis),
        };
        let panels = if is_one {
            vec![&curves[..]]
        } else {
            evenly(&curves, PANELS).map(std::slice::from_ref).collect()
        };
        all.extend(
            panels.into_iter().map(|of| figure(rows, (name, &columns), (axis, of), context)),
        );
    }
    all.retain(|figure| figure.series.iter().any(|of| of.points.len() > 1));
    all
}

/// The curves of the greatest size up to [`SHORT`], or else of the least: longer messages would hide them.
fn short<'a>(mut curves: Vec<Curve<'a>>) -> Vec<Curve<'a>> {
    let size = |curve: &Curve<'a>| {
        let place = curve.which.iter().find(|(axis, _)| *axis == "bytes");
        place.and_then(|(_, at)| at.number()).unwrap_or(0)
    };
    let all = || curves.iter().map(size);
    let shown = all().filter(|bytes| *bytes <= SHORT).max().or(all().min());
    curves.retain(|curve| Some(size(curve)) == shown);
    curves
}

/// Columns over an axis, in one figure.
fn figure(
    rows: &Rows,
    (name, columns): (&str, &[&str]),
    (axis, all): (&str, &[Curve<'_>]),
    context: &Context<'_>,
) -> Figure {
    let is_one = name.is_empty();
    let Column { unit, meaning, .. } = &rows.columns[rows.column(columns[0]).unwrap_or(0)];
    let (mut series, mut lines) = (Vec::<Series>::new(), Vec::<Series>::new());
    let (mut asymptotes, mut fitted) = (Vec::new(), Vec::new());
    let shown: Vec<&Curve<'_>> = evenly(all, MOST_CURVES).collect();
    for (curve, name) in shown.iter().flat_map(|curve| columns.iter().map(move |of| (curve, of))) {
        let points = curve.points(rows, name, context);
        if points.is_empty() {
            continue;
        }
        let fit = fit(rows, &curve.which, context).filter(|_| axis == "bytes");
        asymptotes.extend(fit.filter(|_| *name == "bandwidth").and_then(asymptote));
        let (words, line) = match (fit, law(rows, curve, axis, context)) {
            (Some(fit), _) => ("t0 + n/r∞".to_owned(), line(fit, name)),
            (_, Some((words, of))) if *name == "time" => {
                (words, points.iter().filter_map(|point| of(point.x)).collect())
            }
            _ => Default::default(),
        };
        if !line.is_empty() {
            fitted.push(words);
            lines.push(Series { name: String::new(), points: line, twin: Some(series.len()) });
        }
        let name = if is_one { curve.name() } else { in_words(rows, name) };
        series.push(Series { name, points, twin: None });
    }
    let what = if is_one { in_words(rows, columns[0]) } else { name.to_owned() };
    let over = in_words(rows, axis);
    let which = all.first().filter(|_| !is_one).map(Curve::name).unwrap_or_default();
    let which = if which.is_empty() { which } else { format!(", {which}") };
    let is_linear = *unit == Unit::One || ["elements", "ranks"].contains(&axis);
    let scale_y = if is_linear { Scale::Linear } else { Scale::Log10 };
    let (x, scale) = match axis {
        "bytes" => (Unit::Byte, Scale::Log2),
        "requesters" | "elements" => (Unit::One, Scale::Linear),
        _ => (Unit::One, Scale::Log2),
    };
    let left_out = match all.len() - shown.len() {
        0 => String::new(),
        _ => format!("; {} of {} curves", shown.len(), all.len()),
    };
    let references = levels(&asymptotes);
    fitted.dedup();
    let line = match &fitted[..] {
        [line] => format!("; dashed: {line} as fitted"),
        _ => String::new(),
    };
    let level = if references.is_empty() { "" } else { "; levels: r∞, and half of it up to n½" };
    let both = format!("{} over {}{which}", plain(&what), plain(&over));
    let names: Vec<&str> = series.iter().map(|of| plain(&of.name)).collect();
    let names = if is_one { String::new() } else { format!(": {}", names.join(", ")) };
    series.extend(lines);
    Figure {
        title: format!("{}: {both}", title(rows)),
        caption: if is_one { meaning.to_owned() + &left_out } else { left_out },
        says: format!("{}{names}{line}{level}.", capital(&both)),
        x: Axis { label: over, scale, unit: x },
        y: Axis { label: what, scale: scale_y, unit: *unit },
        references,
        series,
        ..Figure::default()
    }
}

/// Words without a symbol.
fn plain(words: &str) -> &str {
    words.split(", ").next().unwrap_or_default()
}

/// A sentence's beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |of| of.to_uppercase().chain(letters).collect())
}

/// The law by which a curve grows along an axis, if decided, in words, and its points where it holds.
fn law<'a>(
    rows: &Rows,
    curve: &Curve<'_>,
    axis: &str,
    context: &Context<'a>,
) -> Option<(String, impl Fn(f64) -> Option<Datum> + use<'a>)> {
    let has = |of: &str, at: &Place| of != axis && curve.which.contains(&(of, at));
    let (laws, row, law, words) = growth(rows, context.of::<Rows>(), has)?;
    let cell = |name| laws.cell(row, name).map(|of| of.value.0);
    let (slope, start) = (cell("slope")?, cell("intercept")?);
    let end = |end| laws.label(row, end).and_then(Place::number).map(|at| at as f64);
    let range = end("from")?..=end("to")?;
    let at = move |x| range.contains(&x).then(|| Datum::exact(x, start + slope * law.of(x)));
    Some((format!("a + b·{words}"), at))
}

/// r∞, in bytes per second of all messages, and n½ of the longest messages.
fn asymptote(fit: &Hockney) -> Option<(f64, f64)> {
    let last = fit.segments.last()?;
    let rate = last.r_inf.as_ref()?.value.0 * fit.messages as f64;
    Some((rate, last.n_half.as_ref()?.value.0))
}

/// The level of r∞, and half of it as far as n½, where there is one curve.
///
/// *Source*: Hockney and Berry (editors), "PARKBENCH Report" (1994), low-level benchmarks.
fn levels(asymptotes: &[(f64, f64)]) -> Vec<Reference> {
    let [(rate, half)] = *asymptotes else { return Vec::new() };
    let known = rate.is_finite() && half.is_finite() && half >= 1.0;
    let to_half = Reference { to: half, ..Reference::across("n½", rate / 2.0) };
    if known { vec![Reference::across("r∞", rate), to_half] } else { Vec::new() }
}

/// The fitted lines of times, or of bandwidths, with a gap between segments.
fn line(fit: &Hockney, column: &str) -> Vec<Datum> {
    let mut points = Vec::new();
    for segment in &fit.segments {
        let (from, to) = (segment.from_bytes.max(1) as f64, segment.to_bytes.max(1) as f64);
        for step in 0..=STEPS {
            let bytes = from * (to / from).powf(f64::from(step) / f64::from(STEPS));
            let Some(time) = segment.time(bytes).filter(|time| *time > 0.0) else { continue };
            match column {
                "time" => points.push(Datum::exact(bytes, time)),
                "bandwidth" => points.push(Datum::exact(bytes, fit.messages as f64 * bytes / time)),
                _ => {}
            }
        }
        if let Some(last) = points.last().copied() {
            points.push(Datum::gap(last.x));
        }
    }
    points
}

/// A heat map of each column.
pub fn heats(rows: &Rows, title: &str) -> Vec<Heat> {
    let names = names(rows);
    let map = |at: usize| Heat {
        title: format!("{title}: {}", rows.columns[at].name),
        says: format!(
            "{} between each two ranks; the worst are dark.",
            capital(&rows.columns[at].name)
        ),
        names: names.clone(),
        unit: rows.columns[at].unit,
        cells: rows
            .rows
            .iter()
            .filter_map(|row| Some((ends(rows, row)?, row.cells[at].as_ref()?.value.0)))
            .filter(|(_, value)| *value > 0.0)
            .collect(),
    };
    (0..rows.columns.len()).map(map).collect()
}

fn ends(rows: &Rows, row: &Row) -> Option<[usize; 2]> {
    let at = |axis| rows.place(row, axis).and_then(Place::number).map(|rank| rank as usize);
    Some([at("from")?, at("to")?])
}

/// The names of the ranks, with their hosts if known.
fn names(rows: &Rows) -> Vec<String> {
    let mut names = Vec::new();
    for row in &rows.rows {
        let Some(ends) = ends(rows, row) else { continue };
        let hosts = rows.label(row, "hosts").map_or(&[][..], Place::names);
        for (at, rank) in ends.into_iter().enumerate() {
            let host = hosts.get(at).map_or("", String::as_str);
            names.resize(names.len().max(rank + 1), String::new());
            names[rank] = format!("{rank} {host}").trim_end().to_owned();
        }
    }
    names
}
