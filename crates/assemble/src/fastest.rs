//! Which algorithm is the fastest from which size on.

use std::collections::BTreeMap;

use bandgap_record::{Column, Form, Labels, Place, Unit};
use bandgap_stats::Interval;

use crate::Result;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};
use crate::points::{Points, number, size};

/// The kind of rows that hold ranges of sizes, each with its fastest algorithm.
pub const FASTEST: &str = "fastest";

/// The fastest variant at a size; `None` if the intervals leave it open.
type Winner = Option<Place>;

/// The times of the variants at each size.
type Times = BTreeMap<u64, BTreeMap<String, Estimated>>;

/// For each number of ranks: ascending ranges of sizes, each with its fastest variant and the size at which it begins.
///
/// If all variants were measured, a variant is the fastest at a size if its interval lies below all others. Its range
/// begins where its time, interpolated linearly, crosses that of the variant before it: between the last size of that
/// variant and its own first. If a first look chose the variant, the range begins at the first size chosen.
///
/// # Errors
/// A number cannot be recorded.
pub(crate) fn fastest(of: &Measured<'_>, points: &Points<'_>) -> Result<Made> {
    let axes = points.axes();
    let is_axis = axes.contains(&"variant");
    let is_label = points.all.iter().any(|(_, of)| of.labels.contains_key("variant"));
    let ranks = axes.contains(&"ranks");
    if !ranks || !(is_axis || is_label) {
        return Ok(Made::default());
    }
    let unit = if axes.contains(&"bytes") { Unit::Byte } else { Unit::One };
    let begins = Column::new("begins", unit, "the size from which on it is the fastest");
    let mut rows =
        Builder::new(FASTEST, points.name, &of.setting.transport, &["ranks", "from"], vec![begins]);
    let mut groups: BTreeMap<u64, (Times, Vec<(u64, Winner)>)> = BTreeMap::new();
    for (key, point) in &points.all {
        let Some((ranks, time)) = number(point, "ranks").zip(of.time(key)) else { continue };
        let (times, chosen) = groups.entry(ranks).or_default();
        let at = size(point).unwrap_or(0);
        match (point.place("variant"), point.labels.get("variant")) {
            (Some(variant), _) => {
                times.entry(at).or_default().insert(variant.to_string(), time);
            }
            (None, label) => chosen.push((at, label.cloned())),
        }
    }
    // Between two ranks algorithms hardly differ.
    rows.rows.form = match groups.keys().next_back() {
        Some(3..) => {
            let [title, variant] = ["algorithms", "variant"].map(str::to_owned);
            Form::Ranges { title, of: variant }
        }
        _ => Form::Details,
    };
    for (ranks, (times, mut sizes)) in groups {
        if is_axis {
            sizes = times.iter().map(|(size, of)| (*size, winner(of))).collect();
        }
        sizes.sort_unstable();
        for Range { variant, lower, begins } in found(&sizes, &times) {
            let labels = Labels::from([("variant".to_owned(), variant)]);
            rows.push(vec![ranks.into(), lower.into()], labels, &[begins], None)?;
        }
    }
    Ok(rows.made())
}

/// The variant whose interval lies below all others.
fn winner(times: &BTreeMap<String, Estimated>) -> Winner {
    let high = |of: &Estimated| of.interval.map_or(f64::INFINITY, |interval| interval.high);
    let low = |of: &Estimated| of.interval.map_or(f64::NEG_INFINITY, |interval| interval.low);
    let (name, best) = times.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let mut others = times.iter().filter(|(other, _)| *other != name);
    others.all(|(_, other)| low(other) > high(best)).then(|| name.as_str().into())
}

/// A range of sizes with one fastest variant.
struct Range {
    variant: Place,
    /// The last size at which the variant before is the fastest; 0 for the first range.
    lower: u64,
    /// The size at which it begins; `None` for the first range.
    begins: Option<Estimated>,
}

/// The ranges of sizes whose fastest variant is decided.
fn found(sizes: &[(u64, Winner)], times: &Times) -> Vec<Range> {
    let decided: Vec<(u64, &Place)> =
        sizes.iter().filter_map(|(size, winner)| Some((*size, winner.as_ref()?))).collect();
    let mut found: Vec<Range> = Vec::new();
    for (at, &(size, variant)) in decided.iter().enumerate() {
        let (lower, begins) = match at.checked_sub(1).map(|before| decided[before]) {
            None => (0, None),
            Some((_, before)) if before == variant => continue,
            Some((last, before)) => {
                let (low, high) = (last as f64, size as f64);
                let value = crossing([before, variant], last..=size, times).unwrap_or(high);
                let interval = Some(Interval { low, high });
                let between = sizes.iter().filter(|(at, _)| last < *at && *at < size).count();
                let how = ("where the lines between the times of both cross", sizes.len() as u64);
                (last, Some(Estimated::new(value, interval, (between == 0).into(), how)))
            }
        };
        found.push(Range { variant: variant.clone(), lower, begins });
    }
    found
}

/// The size at which the second variant becomes faster than the first, by linear interpolation between sizes.
fn crossing(
    variants: [&Place; 2],
    between: std::ops::RangeInclusive<u64>,
    times: &Times,
) -> Option<f64> {
    let [first, second] = variants.map(ToString::to_string);
    let ahead: Vec<(f64, f64)> = times
        .range(between)
        .filter_map(|(size, of)| {
            Some((*size as f64, of.get(&second)?.value - of.get(&first)?.value))
        })
        .collect();
    let pair = ahead.windows(2).find(|pair| pair[0].1 > 0.0 && pair[1].1 <= 0.0)?;
    let [(a, by_a), (b, by_b)] = [pair[0], pair[1]];
    Some(a + (b - a) * by_a / (by_a - by_b))
}

#[cfg(test)]
mod tests;
