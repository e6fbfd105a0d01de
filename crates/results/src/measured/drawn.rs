//! What pages and figures of several kinds have in common.

use bandgap_record::{Quantity, Unit};
use bandgap_report::{Datum, Figure, Gnuplot, Layout, gnuplot, plot};

use crate::kind::File;

/// An estimate in a figure, times in nanoseconds.
pub(crate) fn datum(x: f64, quantity: &Quantity) -> Datum {
    let unit = |value: f64| if quantity.unit == Unit::Second { value * 1e9 } else { value };
    let interval = quantity.interval().map(|(low, high)| (unit(low), unit(high)));
    Datum { x, y: unit(quantity.value.0), interval, convergence: quantity.convergence() }
}

/// A distance in words: `1 hop`.
pub(crate) fn distant(hops: u32) -> String {
    if hops == 1 { "1 hop".to_owned() } else { format!("{hops} hops") }
}

/// Figures as data and a script for gnuplot, in a folder of their own.
pub(crate) fn for_gnuplot(figures: &[Figure], name: &str) -> [File; 2] {
    let Gnuplot { data, script } = gnuplot(figures, name);
    let file = |ending: &str, text: String| File::new(format!("gnuplot/{name}.{ending}"), text);
    [file("dat", data), file("gp", script)]
}

/// `a, b and c`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Sentences as a list below a table; nothing where there are none.
pub(crate) fn sentences(all: &[String], layout: &Layout) -> String {
    if all.is_empty() {
        return String::new();
    }
    format!("\n{}", layout.bullets(all.iter().map(String::as_str)))
}

/// A page with its plots below, and a blank line before what follows.
pub(crate) fn with_plots(page: String, figures: &[Figure], layout: &Layout) -> String {
    let plots = figures.iter().map(|figure| format!("\n{}", plot(figure, layout)));
    page + &plots.collect::<String>() + "\n"
}
