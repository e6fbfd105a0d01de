//! Positions of values on an axis, and the ticks.

use bandgap_record::Unit;
use bandgap_units::{Bytes, significant_short};

use crate::figure::{Axis, Datum, Scale, Series};
use crate::number::{self, multiple};

/// The two axes of a figure, with fixed ends.
pub(crate) struct Plane {
    pub x: Placed,
    pub y: Placed,
}

impl Plane {
    /// Whether both axes can show a point.
    pub fn shows(&self, x: f64, y: f64) -> bool {
        self.x.shows(x) && self.y.shows(y)
    }

    /// The points that both axes can show.
    pub fn shown<'a>(&self, points: &'a [Datum]) -> impl Iterator<Item = &'a Datum> {
        points.iter().filter(|point| self.shows(point.x, point.y))
    }

    /// The lines of a series, as positions of points.
    pub fn lines(&self, series: &Series) -> impl Iterator<Item = Vec<(f64, f64)>> {
        let place = |point: &Datum| (self.x.place(point.x), self.y.place(point.y));
        series.stretches().map(move |stretch| self.shown(stretch).map(place).collect())
    }
}

/// An axis with fixed ends.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    scale: Scale,
    low: f64,
    high: f64,
    /// What its numbers count; `size` for bytes.
    unit: String,
    /// Label with the unit.
    pub title: String,
    /// Labelled ticks.
    pub ticks: Vec<Tick>,
    /// Positions of ticks without a label.
    pub minor: Vec<f64>,
}

/// A labelled tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Position, from 0 at the low end to 1 at the high end.
    pub place: f64,
    /// The number, in the axis' unit.
    pub label: String,
}

impl Placed {
    /// Chooses ends of `axis` around `extent`, and about `most` ticks or fewer.
    pub fn new(axis: &Axis, extent: Option<(f64, f64)>, most: usize) -> Placed {
        let scale = axis.scale;
        let (low, high) = extent.unwrap_or((1.0, 10.0));
        let most = most.max(2);
        let (low, high, major, minor) = match scale {
            Scale::Linear => linear(low, high, most),
            Scale::Log2 => log2(low, high, most),
            Scale::Log10 => log10(low, high, most),
        };
        // Over many decades each tick has its own unit.
        let far = scale != Scale::Linear && high / low > FAR;
        let is_shared = axis.unit == Unit::One || axis.unit != Unit::Byte && !far;
        let unit = multiple(axis.unit, high);
        let title = match unit.symbol {
            symbol if is_shared && !symbol.is_empty() => format!("{} ({symbol})", axis.label),
            _ => axis.label.clone(),
        };
        let counted = match axis.unit {
            _ if is_shared => unit.size.to_string(),
            Unit::Byte => "size".to_owned(),
            Unit::Second => "time".to_owned(),
            _ => "rate".to_owned(),
        };
        let mut placed =
            Placed { scale, low, high, unit: counted, title, ticks: Vec::new(), minor: Vec::new() };
        let label = |value: f64| match axis.unit {
            _ if is_shared => significant_short(unit.count(value), 4),
            // Only ticks below one byte are not whole.
            Unit::Byte if value.fract() == 0.0 && value >= 0.0 => Bytes(value as u64).to_string(),
            unit => number::scaled(value, unit),
        };
        placed.ticks = major
            .iter()
            .map(|&value| Tick { place: placed.place(value), label: label(value) })
            .collect();
        placed.minor = minor.iter().map(|&value| placed.place(value)).collect();
        placed
    }

    /// Its scale, its ends as values and on paper, and what its numbers count.
    pub fn told(&self, (from, to): (f64, f64)) -> String {
        let Placed { scale, low, high, unit, .. } = self;
        format!("{scale} {low} {high} {from:.1} {to:.1} {unit}")
    }

    /// Position of `value`: 0 at or below the low end, 1 at or above the high end.
    pub fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log2 | Scale::Log10 if value <= 0.0 => 0.0,
            Scale::Log2 | Scale::Log10 => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        place.clamp(0.0, 1.0)
    }

    /// Whether the axis can show `value`.
    pub fn shows(&self, value: f64) -> bool {
        self.scale.shows(value)
    }
}

/// The ratio of the ends of an axis above which each tick has its own unit.
const FAR: f64 = 1e3;

/// What ends and ticks may be off by rounding.
const ROUNDING: f64 = 1e-9;

type Ends = (f64, f64, Vec<f64>, Vec<f64>);

/// Steps of 1, 2 or 5 times a power of ten, including 0.
fn linear(low: f64, high: f64, most: usize) -> Ends {
    let (low, mut high) = (low.min(0.0), high.max(0.0));
    if low == high {
        high = low + 1.0;
    }
    let rough = (high - low) / most as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    // An end may be a tick but for its last digits.
    let (first, last) = ((low / step + ROUNDING).floor(), (high / step - ROUNDING).ceil());
    let count = (last - first) as usize;
    let major = (0..=count).map(|index| (first + index as f64) * step).collect();
    (first * step, last * step, major, Vec::new())
}

/// Powers of two. If there are many, only every second, third, … has a label, and the last one.
fn log2(low: f64, high: f64, most: usize) -> Ends {
    let first = low.log2().floor() as i32;
    let last = (high.log2().ceil() as i32).max(first + 1);
    let span = (last - first) as usize;
    let stride =
        [1, 2, 3, 4, 5, 10, 20, 50].into_iter().find(|stride| span / stride < most).unwrap_or(100);
    let power = |exponent: i32| 2f64.powi(exponent);
    let labelled = |exponent: &i32| (last - exponent).rem_euclid(stride as i32) == 0;
    let (major, minor): (Vec<i32>, Vec<i32>) = (first..=last).partition(labelled);
    let powers = |exponents: Vec<i32>| exponents.into_iter().map(power).collect();
    (power(first), power(last), powers(major), powers(minor))
}

/// 1, 2 and 5 times powers of ten, or the powers alone if there are too many.
fn log10(low: f64, high: f64, most: usize) -> Ends {
    let decades = |factors: &[f64]| -> Vec<f64> {
        let exponents = low.log10().floor() as i32 - 1..=high.log10().ceil() as i32 + 1;
        let factors = |exponent| factors.iter().map(move |factor| scaled(*factor, exponent));
        exponents.flat_map(factors).collect()
    };
    let slack = 1.0 + ROUNDING;
    // A point on the frame is hard to see.
    let room = 1.06;
    // Both ends have a label, so little of the axis is empty where there are few decades.
    let choices: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let of = |factors: &&[f64]| {
        let ends = decades(factors);
        let first = ends.iter().rev().find(|end| **end * room <= low).copied().unwrap_or(low);
        let last = ends.iter().find(|end| **end >= high * room).copied().unwrap_or(high * 10.0);
        let within = first / slack..=last * slack;
        (first, last, ends.into_iter().filter(|end| within.contains(end)).collect::<Vec<_>>())
    };
    let fits = |(.., ticks): &(f64, f64, Vec<f64>)| ticks.len() <= most;
    let (first, last, major) = choices.iter().map(of).find(fits).unwrap_or_else(|| {
        let (first, last, ticks) = of(&choices[2]);
        let stride = ticks.len().div_ceil(most).max(1);
        let mut labelled: Vec<f64> = ticks.into_iter().rev().step_by(stride).collect();
        labelled.reverse();
        (first, last, labelled)
    });
    let inside = |values: Vec<f64>| -> Vec<f64> {
        values.into_iter().filter(|value| (first / slack..=last * slack).contains(value)).collect()
    };
    let minor = inside(decades(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]));
    (first, last, major, minor)
}

/// `factor`·10^`exponent`. A negative power is a division, so that the result is exact if possible.
fn scaled(factor: f64, exponent: i32) -> f64 {
    if exponent < 0 { factor / 10f64.powi(-exponent) } else { factor * 10f64.powi(exponent) }
}

#[cfg(test)]
mod tests;
