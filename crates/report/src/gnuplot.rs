//! Figures as data and script files for gnuplot.

use std::fmt::Write as _;

use crate::Precision;
use bandgap_units::Ns;

use crate::figure::{Axis, Dimension, Figure, Scale, Series};

/// The two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gnuplot {
    /// The data: a block for each curve, with two blank lines between blocks, as `index` expects. Columns: x, y, the
    /// ends of y's interval (or twice y), whether y converged, and whether it is at the clock's limit (1 or 0). Times
    /// are in seconds, rates in bytes per second.
    pub data: String,
    /// The script. It draws the figures below one another, and does not set a terminal.
    pub script: String,
}

/// Files `NAME.dat` and `NAME.gp` for figures.
pub fn gnuplot(figures: &[Figure], name: &str) -> Gnuplot {
    let (mut data, mut script) = (String::new(), head(name, figures));
    let mut index = 0;
    for figure in figures {
        let mut plots = Vec::new();
        let curves = figure.series.iter().enumerate();
        for (curve, series) in curves.filter(|(_, series)| has_points(series)) {
            if index > 0 {
                data.push_str("\n\n");
            }
            block(&mut data, figure, series);
            plots.push(plot(figure, curve, name, index));
            index += 1;
        }
        if !plots.is_empty() {
            script += &panel(figure, &plots);
        }
    }
    script.push_str("unset multiplot\n");
    Gnuplot { data, script }
}

fn has_points(series: &Series) -> bool {
    series.points.iter().any(|point| point.y.is_finite() && point.x.is_finite())
}

/// Writes a curve: a comment, and a line for each point. A blank line interrupts the curve.
fn block(data: &mut String, figure: &Figure, series: &Series) {
    let [x, y] = [&figure.x, &figure.y].map(|axis| axis.label.clone() + unit(axis).0);
    let _ = writeln!(data, "# {}: {}", bare(&figure.title), bare(&series.name));
    let _ =
        writeln!(data, "# {} | {} | low | high | converged | clock_limited", bare(&x), bare(&y));
    let mut is_open = false;
    for point in &series.points {
        if !point.y.is_finite() || !point.x.is_finite() {
            // Two blank lines would end the block.
            if std::mem::take(&mut is_open) {
                data.push('\n');
            }
            continue;
        }
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        let is = |precision| u8::from(point.precision == precision);
        let (converged, limited) = (is(Precision::Converged), is(Precision::ClockLimited));
        let [x, y, low, high] =
            [(&figure.x, point.x), (&figure.y, point.y), (&figure.y, low), (&figure.y, high)]
                .map(|(axis, value)| in_si(axis, value));
        let _ = writeln!(data, "{x} {y} {low} {high} {converged} {limited}");
        is_open = true;
    }
    if !is_open && data.ends_with("\n\n") {
        data.pop();
    }
}

fn head(name: &str, figures: &[Figure]) -> String {
    let drawn = figures.iter().filter(|figure| figure.series.iter().any(has_points));
    format!(
        "# gnuplot -p {name}.gp, in this folder\n\
         # set terminal pngcairo size 900,{height}\n\
         # set output '{name}.png'\n\
         set encoding utf8\n\
         set multiplot layout {count},1\n",
        height = 500 * drawn.clone().count().max(1),
        count = drawn.count().max(1),
    )
}

fn panel(figure: &Figure, plots: &[String]) -> String {
    let axis = |name: &str, axis: &Axis| {
        let scale = match axis.scale {
            Scale::Linear => format!("unset logscale {name}\nset {name}range [*:*]\n"),
            Scale::Log2 => format!("set logscale {name} 2\n"),
            Scale::Log10 => format!("set logscale {name} 10\n"),
        };
        let (_, format) = unit(axis);
        let label = quoted(&axis.label);
        format!("{scale}set format {name} '{format}'\nset {name}label '{label}' noenhanced\n")
    };
    format!(
        "\nset title '{}' noenhanced\nset key outside right top\nset grid\n{}{}plot \\\n  {}\n",
        quoted(&figure.title),
        axis("x", &figure.x),
        axis("y", &figure.y),
        plots.join(", \\\n  "),
    )
}

/// The `plot` clause of a curve.
fn plot(figure: &Figure, curve: usize, name: &str, index: usize) -> String {
    let (series, (place, _)) = (&figure.series[curve], figure.place(curve));
    let (columns, with, title) = match series.twin {
        Some(_) => ("1:2", "lines dashtype 2", "notitle".to_owned()),
        None => {
            let title = format!("title '{}' noenhanced", quoted(&series.name));
            ("1:2:3:4", "yerrorlines", title)
        }
    };
    format!("'{name}.dat' index {index} using {columns} with {with} linetype {} {title}", place + 1)
}

/// A value of an axis in SI units.
fn in_si(axis: &Axis, value: f64) -> f64 {
    if axis.dimension == Dimension::Time { Ns(value).as_secs() } else { value }
}

/// The unit of an axis in the data, and the format of its ticks, with SI or binary prefixes.
fn unit(axis: &Axis) -> (&'static str, &'static str) {
    match axis.dimension {
        Dimension::Count => ("", "%g"),
        Dimension::Time => (" (s)", "%.0s %cs"),
        Dimension::Size => (" (bytes)", "%.0b %BB"),
        Dimension::Rate => (" (bytes/s)", "%.0s %cB/s"),
    }
}

/// A text on one line.
fn bare(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A text for single quotes.
fn quoted(text: &str) -> String {
    bare(text).replace('\'', "''")
}

#[cfg(test)]
mod tests;
