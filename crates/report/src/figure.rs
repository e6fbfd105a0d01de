//! A figure as data: what is drawn, not how.

use bandgap_units::{Ns, SharedUnit};

/// Curves over two axes, with reference lines and named regions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What is shown.
    pub title: String,
    /// What its values are, or under which conditions, in a few words.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Heading of the legend.
    pub legend: String,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
    /// Values to compare with, drawn where they hold.
    pub references: Vec<Reference>,
    /// Ranges of x that have a name, from left to right.
    pub regions: Vec<Region>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it shows, without the unit.
    pub label: String,
    /// How values are spaced.
    pub scale: Scale,
    /// What the values are.
    pub dimension: Dimension,
}

/// How values are spaced along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly; 0 is shown.
    #[default]
    Linear,
    /// Logarithmically, with ticks at powers of two.
    Log2,
    /// Logarithmically, with ticks at 1, 2 and 5.
    Log10,
}

/// What an axis' values are, and so which unit its label names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dimension {
    /// A plain number.
    #[default]
    Count,
    /// Nanoseconds.
    Time,
    /// Bytes; every tick names its own unit.
    Size,
    /// Bytes per second.
    Rate,
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by ascending x. A point whose y is not a number interrupts the line.
    pub points: Vec<Datum>,
    /// The curve that it is a fit of, whose colour it takes: a dashed line without markers, and not in the legend.
    pub twin: Option<usize>,
}

/// How well a drawn value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Its interval is wider than asked for.
    No,
    /// The same, and the clock allows no narrower one.
    ClockLimited,
    /// Its interval is as narrow as asked for.
    Converged,
}

impl Precision {
    /// The mark behind a value: `*`, `~`, or none.
    pub fn mark(self) -> Option<char> {
        match self {
            Precision::Converged => None,
            Precision::ClockLimited => Some('~'),
            Precision::No => Some('*'),
        }
    }

    /// In words, with the mark behind values.
    pub fn named(self) -> &'static str {
        match self {
            Precision::Converged => "as precise as asked for",
            Precision::ClockLimited => "at the clock's limit (~)",
            Precision::No => "in doubt (*)",
        }
    }
}

/// A point with the interval of its y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datum {
    /// Abscissa.
    pub x: f64,
    /// Ordinate.
    pub y: f64,
    /// Lower and upper end of the ordinate's interval.
    pub interval: Option<(f64, f64)>,
    /// Whether it is as precise as was asked for. If not, it is drawn hollow, and with a dot inside where
    /// the clock allows no more.
    pub precision: Precision,
}

/// A level of y with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Its name, written at the line's end.
    pub name: String,
    /// The level.
    pub y: f64,
    /// The series it belongs to, whose colour it takes.
    pub series: Option<usize>,
    /// Where on the horizontal axis it begins; negative infinity for the axis' own end.
    pub from: f64,
    /// Where it ends; infinity for the axis' own end.
    pub to: f64,
}

impl Reference {
    /// A level over the whole axis.
    pub fn across(name: impl Into<String>, y: f64) -> Reference {
        let (from, to) = (f64::NEG_INFINITY, f64::INFINITY);
        Reference { name: name.into(), y, series: None, from, to }
    }
}

/// A range of x with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Where it begins; negative infinity for the axis' own end.
    pub from: f64,
    /// Where it ends; infinity for the axis' own end.
    pub to: f64,
    /// Its name; may be empty.
    pub label: String,
}

impl Datum {
    /// A point without an interval.
    pub fn exact(x: f64, y: f64) -> Datum {
        Datum { x, y, interval: None, precision: Precision::Converged }
    }

    /// An interruption of the line at `x`.
    pub fn gap(x: f64) -> Datum {
        Datum::exact(x, f64::NAN)
    }
}

impl Series {
    /// The stretches without interruption.
    pub fn stretches(&self) -> impl Iterator<Item = &[Datum]> {
        self.points.split(|point| point.y.is_nan())
    }
}

impl Figure {
    /// Whether it has a point that is known this well.
    pub(crate) fn has(&self, precision: Precision) -> bool {
        let mut points = self.series.iter().flat_map(|series| &series.points);
        points.any(|point| point.precision == precision)
    }

    /// The place of a curve among those of the legend, and how many these are; of a twin, that of the
    /// curve that it belongs to. Colours and letters go by it.
    pub(crate) fn place(&self, curve: usize) -> (usize, usize) {
        let own = |curve: &usize| self.series[*curve].twin.is_none();
        let named = match self.series[curve].twin {
            Some(twin) if twin < self.series.len() => twin,
            _ => curve,
        };
        ((0..named).filter(own).count(), (0..self.series.len()).filter(own).count())
    }

    /// The curves of the legend, with their places.
    pub(crate) fn named(&self) -> impl Iterator<Item = (usize, &Series)> {
        self.series.iter().filter(|series| series.twin.is_none()).enumerate()
    }

    /// The least and greatest x and y that are drawn, intervals and references included. Values
    /// that the scale cannot show (not finite, or not positive on a logarithmic one) do not count.
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
    /// Whether `value` has a place on this scale.
    pub(crate) fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Scale::Linear || value > 0.0)
    }
}

/// Rates have SI prefixes: 1 GB/s is 10⁹ bytes per second.
pub(crate) const RATES: &[(f64, &str)] =
    &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")];

impl Dimension {
    /// The unit for an axis from `low` to `high`: that of the geometric middle on a logarithmic
    /// scale, where both ends matter alike, and that of the upper end on a linear one.
    pub(crate) fn unit(self, low: f64, high: f64, scale: Scale) -> Option<SharedUnit> {
        let typical = match scale {
            Scale::Linear => high.abs().max(low.abs()),
            Scale::Log2 | Scale::Log10 => (low * high).sqrt(),
        };
        match self {
            Dimension::Count | Dimension::Size => None,
            Dimension::Time => Some(Ns(typical).unit()),
            Dimension::Rate => Some(SharedUnit::of(typical, RATES)),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
