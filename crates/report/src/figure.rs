//! A figure as data, independent of the renderer.

use bandgap_record::Unit;
use derive_more::Display;

use crate::number::{Precision, Shown, scaled, written};
use crate::printable::{NAME, told};

/// Curves over two axes, with reference lines and named regions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Title.
    pub title: String,
    /// The values or their conditions, in a few words.
    pub caption: String,
    /// What it shows, in a sentence.
    pub says: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Heading of the legend.
    pub legend: String,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
    /// Levels to compare with.
    pub references: Vec<Reference>,
    /// Named ranges of x, from left to right.
    pub regions: Vec<Region>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Label without the unit.
    pub label: String,
    /// Spacing of the values.
    pub scale: Scale,
    /// Unit of the values; its multiple is in the label, or in each tick.
    pub unit: Unit,
}

/// Spacing of the values along an axis.
#[derive(Clone, Copy, Debug, Default, Display, PartialEq, Eq)]
#[display(rename_all = "lowercase")]
pub enum Scale {
    /// Linear, including 0.
    #[default]
    Linear,
    /// Logarithmic, with ticks at powers of two.
    Log2,
    /// Logarithmic, with ticks at 1, 2 and 5.
    Log10,
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by ascending x. A NaN as y interrupts the line.
    pub points: Vec<Datum>,
    /// The measured curve, if this is its fit: a dashed line in the same colour, without markers or legend entry.
    pub twin: Option<usize>,
}

/// A point with the interval of its y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datum {
    /// Abscissa.
    pub x: f64,
    /// Ordinate.
    pub y: f64,
    /// Ends of the ordinate's interval.
    pub interval: Option<(f64, f64)>,
    /// Precision. A point that did not converge is hollow, with a dot inside if it is at the clock's limit.
    pub precision: Precision,
}

/// A named level of y.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Its name, at the end of the line.
    pub name: String,
    /// The level.
    pub y: f64,
    /// The series that gives the colour.
    pub series: Option<usize>,
    /// Least x; negative infinity for the end of the axis.
    pub from: f64,
    /// Greatest x; infinity for the end of the axis.
    pub to: f64,
}

impl Reference {
    /// A level along the whole axis.
    pub fn across(name: impl Into<String>, y: f64) -> Reference {
        let (from, to) = (f64::NEG_INFINITY, f64::INFINITY);
        Reference { name: name.into(), y, series: None, from, to }
    }
}

/// A named range of x.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Lower end; negative infinity for the end of the axis.
    pub from: f64,
    /// Greatest x; infinity for the end of the axis.
    pub to: f64,
    /// Its name; may be empty.
    pub label: String,
}

impl Datum {
    /// A point without an interval.
    pub fn exact(x: f64, y: f64) -> Datum {
        Datum { x, y, interval: None, precision: Precision::Converged }
    }

    /// A gap in the line at `x`.
    pub fn gap(x: f64) -> Datum {
        Datum::exact(x, f64::NAN)
    }
}

impl Series {
    /// The stretches between gaps.
    pub fn stretches(&self) -> impl Iterator<Item = &[Datum]> {
        self.points.split(|point| point.y.is_nan())
    }
}

impl Figure {
    /// With names that are [`printable`](crate::printable()) and not longer than a line or two.
    pub(crate) fn printable(&self) -> Figure {
        let mut figure = self.clone();
        let Figure { title, caption, says, x, y, legend, series, references, regions } =
            &mut figure;
        let names = [title, caption, says, &mut x.label, &mut y.label, legend].into_iter();
        let names = names.chain(series.iter_mut().map(|of| &mut of.name));
        let names = names.chain(references.iter_mut().map(|of| &mut of.name));
        for name in names.chain(regions.iter_mut().map(|of| &mut of.label)) {
            *name = told(name, NAME);
        }
        figure
    }

    /// A point in words: `64 KiB: 11.4 ±0.3 µs`.
    pub(crate) fn told(&self, point: &Datum) -> String {
        let Datum { x, y, interval, precision } = *point;
        let y = Shown { value: y, interval, unit: self.y.unit, precision, apart: false };
        format!("{}: {}", self.place_of(x), written(&y))
    }

    /// A place on the horizontal axis in words: `64 KiB`.
    pub(crate) fn place_of(&self, x: f64) -> String {
        scaled(x, self.x.unit)
    }

    /// Whether any point has this precision.
    pub(crate) fn has(&self, precision: Precision) -> bool {
        let mut points = self.series.iter().flat_map(|series| &series.points);
        points.any(|point| point.precision == precision)
    }

    /// The index of a curve in the legend, and the length of the legend. A fit has the index of its measured curve.
    /// Colours and letters depend on the index.
    pub(crate) fn place(&self, curve: usize) -> (usize, usize) {
        let own = |curve: &usize| self.series[*curve].twin.is_none();
        let named = match self.series[curve].twin {
            Some(twin) if twin < self.series.len() => twin,
            _ => curve,
        };
        ((0..named).filter(own).count(), (0..self.series.len()).filter(own).count())
    }

    /// The curves of the legend, with their indices.
    pub(crate) fn named(&self) -> impl Iterator<Item = (usize, &Series)> {
        self.series.iter().filter(|series| series.twin.is_none()).enumerate()
    }

    /// The ranges of x and y, including intervals and references, but not values that the scale cannot show: those not
    /// finite, or not positive on a logarithmic scale.
    pub(crate) fn extent(&self) -> [Option<(f64, f64)>; 2] {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let ends = |point: &Datum| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            [point.y, low, high]
        };
        let y = points().flat_map(ends).chain(self.references.iter().map(|reference| reference.y));
        [bounds(points().map(|point| point.x), self.x.scale), bounds(y, self.y.scale)]
    }
}

fn bounds(values: impl Iterator<Item = f64>, scale: Scale) -> Option<(f64, f64)> {
    values.filter(|value| scale.shows(*value)).fold(None, |bounds, value| match bounds {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

impl Scale {
    /// Whether the scale can show `value`.
    pub(crate) fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Scale::Linear || value > 0.0)
    }
}

#[cfg(test)]
pub(crate) mod tests;
