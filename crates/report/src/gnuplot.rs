//! Figures, bars and heat maps as data and script files for gnuplot.

use std::fmt::Write as _;

use bandgap_record::Unit;

use crate::Precision;
use crate::block::{Bars, Block, Heat};
use crate::figure::{Axis, Datum, Figure, Scale, Series};
use crate::number::scaled;
use crate::svg::{STEPS, tint, tint_of_pair};

/// The two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gnuplot {
    /// The data: blocks with two blank lines between them, as `index` expects; one for each curve, bar and heat map.
    /// Columns of a curve: x, y, the ends of y's interval (or twice y), whether y converged, and whether it is at the
    /// clock's limit (1 or 0). Of a bar: where each part begins and ends, as shares of the whole or in seconds, and its
    /// name. Of a heat map: column, row, value. Times are in seconds, rates in bytes per second.
    pub data: String,
    /// The script. It draws the pictures below one another, and does not set a terminal.
    pub script: String,
}

/// Files `NAME.dat` and `NAME.gp` for figures, bars and heat maps.
pub fn gnuplot(blocks: &[Block], name: &str) -> Gnuplot {
    let mut data: Data<'_> = (name, Vec::new());
    let panels: Vec<String> = blocks.iter().filter_map(|block| panel(&mut data, block)).collect();
    let script = head(name, panels.len().max(1)) + &panels.concat() + "unset multiplot\n";
    Gnuplot { data: data.1.join("\n\n"), script }
}

/// The name of the files, and the blocks of data.
type Data<'a> = (&'a str, Vec<String>);

/// Appends a block, and gives how a script names it.
fn append((name, data): &mut Data<'_>, block: String) -> String {
    data.push(block);
    format!("'{name}.dat' index {}", data.len() - 1)
}

/// Writes a picture's data, and gives its part of the script; `None` if there is nothing to draw.
fn panel(data: &mut Data<'_>, block: &Block) -> Option<String> {
    let (settings, plots) = match block {
        Block::Figure(figure) => self::figure(data, figure),
        Block::Bars(bars) => self::bars(data, bars),
        Block::Heat(heat) => self::heat(data, heat),
        _ => return None,
    };
    let title = quoted(block.picture()?.0);
    let plots = plots.join(", \\\n  ");
    (!plots.is_empty())
        .then(|| format!("\nreset\nset title '{title}' noenhanced\n{settings}plot \\\n  {plots}\n"))
}

fn figure(data: &mut Data<'_>, figure: &Figure) -> (String, Vec<String>) {
    let curves = figure.series.iter().enumerate().filter(|(_, series)| has_points(series));
    let plots = curves
        .map(|(curve, series)| plot(figure, curve, &append(data, self::curve(figure, series))));
    let plots = plots.collect();
    let axes = [("x", &figure.x), ("y", &figure.y)].map(|(name, of)| axis(name, of));
    (format!("set key outside right top\nset grid\n{}", axes.concat()), plots)
}

fn axis(name: &str, axis: &Axis) -> String {
    let scale = match axis.scale {
        Scale::Linear => String::new(),
        Scale::Log2 => format!("set logscale {name} 2\n"),
        Scale::Log10 => format!("set logscale {name} 10\n"),
    };
    // Ticks of a logarithmic axis are whole numbers.
    let decimals = if axis.scale == Scale::Linear { ".1" } else { ".0" };
    let format = unit(axis.unit).1.replace(".0", decimals);
    let label = quoted(&axis.label);
    format!("{scale}set format {name} '{format}'\nset {name}label '{label}' noenhanced\n")
}

/// The most parts of bars that are in a key. Where there are more, wide ones have their names inside.
const KEYS: usize = 30;

fn bars(data: &mut Data<'_>, bars: &Bars) -> (String, Vec<String>) {
    let (mut plots, mut names) = (Vec::new(), Vec::new());
    let is_keyed = bars.bars.iter().map(|bar| bar.parts.len()).sum::<usize>() <= KEYS;
    for (row, bar) in bars.bars.iter().enumerate() {
        let length = if bars.to_scale { bar.whole } else { 1.0 };
        let (title, name) = (bare(&bars.title), bare(&bar.name));
        let mut text = format!("# {title}: {name}\n# from | to | part\n");
        for (_, part, ends) in bar.drawn() {
            let [from, to] = ends.map(|end| length * end);
            let _ = writeln!(text, "{from} {to} \"{}\"", bare(&part.name).replace('"', "'"));
        }
        let block = append(data, text);
        names.push(format!("'{}' {row}", quoted(&bar.name)));
        plots.extend(bar.drawn().enumerate().map(|(at, (part, of, _))| {
            let (tint, legend) = (tint(bar, part), quoted(&bars.legend(bar, of)));
            let (low, high) = (row as f64 - 0.35, row as f64 + 0.35);
            format!(
                "{block} every ::{at}::{at} using 1:({row}):1:2:({low}):({high}) with boxxyerror \
                 fillcolor rgb '{tint}' title '{legend}' noenhanced"
            )
        }));
        if !is_keyed {
            let name = format!("(strlen(strcol(3)) < 80 * ($2 - $1) / {length} ? strcol(3) : '')");
            let place = format!("(($1 + $2) / 2):({row}):{name}");
            plots.push(format!("{block} using {place} with labels font ',7' noenhanced notitle"));
        }
    }
    let key = if is_keyed { "set key outside right top font ',8'" } else { "unset key" };
    let (label, format) = if bars.to_scale { ("time", "%.1s %cs") } else { ("share", "%g") };
    let settings = format!(
        "{key}\nset style fill solid border rgb 'white'\n\
         set xrange [0:*]\nset format x '{format}'\nset xlabel '{label}'\n\
         set yrange [{}:-0.5]\nset ytics ({}) noenhanced font ',8'\n",
        bars.bars.len() as f64 - 0.5,
        names.join(", "),
    );
    (settings, plots)
}

fn heat(data: &mut Data<'_>, heat: &Heat) -> (String, Vec<String>) {
    let count = heat.names.len();
    let mut text = format!("# {}\n# column | row | value\n", bare(&heat.title));
    for (row, column) in (0..count).flat_map(|row| (0..count).map(move |column| (row, column))) {
        let value = heat.cells.get(&[row.min(column), row.max(column)]).unwrap_or(&f64::NAN);
        let _ = writeln!(text, "{column} {row} {value}");
    }
    let plots = match heat.cells.is_empty() {
        true => Vec::new(),
        false => vec![append(data, text) + " using 1:2:3 with image notitle"],
    };
    let tics = heat.names.iter().enumerate().map(|(at, name)| format!("'{}' {at}", quoted(name)));
    let tics = tics.collect::<Vec<_>>().join(", ");
    let colours = (0..STEPS).map(|step| step as f64 / (STEPS - 1) as f64);
    let colours: Vec<String> =
        colours.map(|at| format!("{at} '{}'", tint_of_pair(heat, at))).collect();
    let [low, high] = heat.ends();
    let tics_of = [low, high].map(|end| format!("'{}' {end}", scaled(end, heat.unit)));
    let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
    let (end, size) = (count as f64 - 0.5, (360 / count.max(1)).clamp(2, 10));
    let settings = format!(
        "set size ratio 1\nset xrange [-0.5:{end}]\nset yrange [{end}:-0.5]\n\
         set xtics ({tics}) rotate noenhanced font ',{size}'\n\
         set ytics ({tics}) noenhanced font ',{size}'\n\
         set palette defined ({})\nset logscale cb\nset cbrange [{low}:{high}]\n\
         set cbtics ({})\n",
        colours.join(", "),
        tics_of.join(", "),
    );
    (settings, plots)
}

fn has_points(series: &Series) -> bool {
    series.points.iter().any(|point| point.y.is_finite() && point.x.is_finite())
}

/// A curve: a comment, and a line for each point. A blank line interrupts the curve.
fn curve(figure: &Figure, series: &Series) -> String {
    let mut data = String::new();
    let [x, y] = [&figure.x, &figure.y].map(|axis| axis.label.clone() + unit(axis.unit).0);
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
        let Datum { x, y, .. } = point;
        let _ = writeln!(data, "{x} {y} {low} {high} {converged} {limited}");
        is_open = true;
    }
    if !is_open && data.ends_with("\n\n") {
        data.pop();
    }
    data
}

fn head(name: &str, count: usize) -> String {
    format!(
        "# gnuplot -p {name}.gp, in this folder\n\
         # set terminal pngcairo size 900,{height}\n\
         # set output '{name}.png'\n\
         set encoding utf8\n\
         set multiplot layout {count},1\n",
        height = 500 * count,
    )
}

/// The `plot` clause of a curve.
fn plot(figure: &Figure, curve: usize, block: &str) -> String {
    let (series, (place, _)) = (&figure.series[curve], figure.place(curve));
    let (columns, with, title) = match series.twin {
        Some(_) => ("1:2", "lines dashtype 2", "notitle".to_owned()),
        None => {
            let title = format!("title '{}' noenhanced", quoted(&series.name));
            ("1:2:3:4", "yerrorlines", title)
        }
    };
    format!("{block} using {columns} with {with} linetype {} {title}", place + 1)
}

/// A unit in the data, and the format of ticks, with SI or binary prefixes.
fn unit(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::One | Unit::PerSecond => ("", "%g"),
        Unit::Second => (" (s)", "%.0s %cs"),
        Unit::Byte => (" (bytes)", "%.0b %BB"),
        Unit::BytePerSecond => (" (bytes/s)", "%.0s %cB/s"),
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
