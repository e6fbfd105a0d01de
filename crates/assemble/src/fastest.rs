//! Which algorithm is the fastest from which size on.

use std::collections::BTreeMap;

use bandgap_record::{Column, Form, Labels, Place, Unit};
use bandgap_stats::Interval;

use crate::Result;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};
use crate::points::{Points, number, size};

/// The kind of rows that are ranges of sizes with one fastest algorithm.
pub const FASTEST: &str = "fastest";

/// What is the fastest at a size; `None` where intervals do not tell.
type Winner = Option<Place>;

/// The times of the variants at each size.
type Times = BTreeMap<u64, BTreeMap<String, Estimated>>;

/// For each number of ranks the ranges of sizes, ascending, each with its fastest variant and where it begins.
///
/// Where all variants were measured, one is the fastest where its interval is below those of all others; it begins where
/// the lines between the times of both cross, between the last size of the one before and its own first. Where a first
/// look chose, it begins there.
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

/// The one whose interval is below those of all others.
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
    /// The last size at which the one before is the fastest; 0 of the first.
    lower: u64,
    /// Where it begins, of all but the first.
    begins: Option<Estimated>,
}

/// The ranges of sizes that are decided.
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

/// Where the times of the second come below those of the first, on lines between measured sizes.
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
