//! What pages and figures of several kinds have in common.

use bandgap_record::{Quantity, Unit};
use bandgap_report::{Datum, Figure, Layout, plot};

/// An estimate in a figure, times in nanoseconds.
pub(crate) fn datum(x: f64, quantity: &Quantity) -> Datum {
    let unit = |value: f64| if quantity.unit == Unit::Second { value * 1e9 } else { value };
    let interval = quantity.interval().map(|(low, high)| (unit(low), unit(high)));
    Datum { x, y: unit(quantity.value.0), interval, converged: quantity.converged }
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
