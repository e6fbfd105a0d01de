//! Tables with one look, and quantities as their cells.

use bandgap_record::{Convergence, Quantity, Unit};
use bandgap_units::{Bytes, Ns, Rate, SharedUnit, significant};
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle,
};

use crate::Layout;

/// An empty table under `headings`; the columns listed in `numbers` are aligned to the right.
pub fn table<'a>(
    layout: &Layout,
    headings: impl IntoIterator<Item = &'a str>,
    numbers: &[usize],
) -> Table {
    let mut table = Table::new();
    table
        .load_style(rules(if layout.ascii { '-' } else { '─' }))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(layout.columns() as u16)
        .set_header(headings.into_iter().map(Cell::new));
    for &column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
            // A number must not be broken over two lines, unless there are too many columns.
            if numbers.len() <= 3 && layout.columns() >= 60 {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    table
}

/// The state of several results, if all are of the same.
pub fn one_state<'a>(states: impl IntoIterator<Item = Option<&'a str>>) -> Option<&'a str> {
    let mut states = states.into_iter();
    let first = states.next()??;
    states.all(|state| state == Some(first)).then_some(first)
}

/// Rules above and below the table and under its head, as in a printed one.
fn rules(rule: char) -> TableStyle {
    let rule = LineStyle::none().fill(rule).junction(rule);
    TableStyle::new().top_border(rule).header_separator(rule).bottom_border(rule)
}

/// The table as text, without blanks at the ends of its lines.
pub fn finish(table: &Table) -> String {
    table.trim_fmt() + "\n"
}

/// The mark of an estimate that is less precise than was asked for; none for one that has converged.
pub fn mark(convergence: Convergence) -> Option<char> {
    match convergence {
        Convergence::Converged => None,
        Convergence::ClockLimited => Some('~'),
        Convergence::No => Some('*'),
    }
}

/// What the marks of these quantities mean, as lines below a table; empty if all converged.
pub fn footnote<'a>(layout: &Layout, quantities: impl IntoIterator<Item = &'a Quantity>) -> String {
    let found: Vec<Convergence> = quantities.into_iter().map(Quantity::convergence).collect();
    let meanings = [
        (Convergence::No, "not converged: too few values, or an interval wider than asked for"),
        (
            Convergence::ClockLimited,
            "at the clock's limit: the interval is wider than asked for, but within that share of \
             what reading the clock costs",
        ),
    ];
    let used = meanings.into_iter().filter(|(convergence, _)| found.contains(convergence));
    let line = |(convergence, meaning)| {
        Some(layout.paragraph(&format!("{} {meaning}", mark(convergence)?)))
    };
    used.filter_map(line).collect()
}

/// From this width on, a table has a column for the estimators; below it, they follow as a list.
pub const ROOMY: usize = 118;

/// How each name was estimated, and from how many values: those of batches mostly, so not samples. Names with the same estimator are listed
/// together.
pub fn estimated<'a, 'b>(
    layout: &Layout,
    entries: impl IntoIterator<Item = (&'a str, &'b Quantity)>,
) -> String {
    let mut groups: Vec<(&'b str, Vec<&'a str>, u64, u64)> = Vec::new();
    for (name, quantity) in entries {
        let samples = quantity.samples;
        match groups.iter_mut().find(|group| group.0 == quantity.estimator) {
            Some((_, names, least, most)) => {
                if !names.contains(&name) {
                    names.push(name);
                }
                (*least, *most) = ((*least).min(samples), (*most).max(samples));
            }
            None => groups.push((&quantity.estimator, vec![name], samples, samples)),
        }
    }
    let count = |least: u64, most: u64| match least == most {
        true if least == 1 => "1 value".to_owned(),
        true => format!("{least} values"),
        false => format!("{least} to {most} values"),
    };
    let text = match groups.as_slice() {
        [] => return String::new(),
        [(estimator, _, least, most)] => {
            format!("Estimator: {estimator}; {}.", count(*least, *most))
        }
        groups => {
            let text = |(estimator, names, least, most): &(&str, Vec<&str>, u64, u64)| {
                format!("{}: {estimator}, {}", names.join(", "), count(*least, *most))
            };
            format!("Estimated: {}.", groups.iter().map(text).collect::<Vec<_>>().join("; "))
        }
    };
    layout.paragraph(&text)
}

/// The estimate with its unit, and its mark if it did not converge.
pub fn value(quantity: &Quantity) -> String {
    let number = in_ladder(quantity.value.0, quantity.unit);
    let text = shared(quantity).map_or_else(|| plain(number), |unit| unit.write(number));
    mark(quantity.convergence()).map_or(text.clone(), |mark| format!("{text} {mark}"))
}

/// Value and interval in one cell, below one another.
pub fn both(quantity: &Quantity) -> String {
    format!("{}\n{}", value(quantity), interval(quantity))
}

/// The interval in the unit of the value.
pub fn interval(quantity: &Quantity) -> String {
    let Some((low, high)) = quantity.interval() else { return "unknown".to_owned() };
    let ends = [low, high].map(|end| in_ladder(end, quantity.unit));
    match shared(quantity) {
        Some(unit) => unit.range(ends),
        None => format!("{} to {}", plain(low), plain(high)),
    }
}

const BYTES: [(f64, &str); 4] =
    [(1.0, "B"), (1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB")];

const PER_SECOND: [(f64, &str); 4] = [(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s"), (1e9, "G/s")];

/// A recorded number as a ladder has it: times in nanoseconds.
fn in_ladder(number: f64, unit: Unit) -> f64 {
    if unit == Unit::Second { Ns::from_secs(number).0 } else { number }
}

/// The multiple of its unit in which an estimate and its interval are written; none of one without a
/// unit.
fn shared(quantity: &Quantity) -> Option<SharedUnit> {
    let written = |number| in_ladder(number, quantity.unit);
    let value = written(quantity.value.0);
    let (low, high) = quantity.interval().unwrap_or((quantity.value.0, quantity.value.0));
    let ends = [low, high].map(written);
    match quantity.unit {
        Unit::Second => Some(Ns(value).unit_with(ends.map(Ns))),
        Unit::BytePerSecond => Some(Rate(value).unit_with(ends.map(Rate))),
        Unit::Byte => Some(SharedUnit::of_estimate(value, ends, &BYTES)),
        Unit::PerSecond => Some(SharedUnit::of_estimate(value, ends, &PER_SECOND)),
        Unit::One => None,
    }
}

/// A length that may be an exact one: in full if it is, and with three digits if not.
pub fn length(bytes: f64) -> String {
    let exact = bytes.fract() == 0.0 && (0.0..1e15).contains(&bytes);
    let whole = Bytes(bytes as u64).to_string();
    // A length with a prefix is short. One without is short only below 1024.
    if exact && (bytes < 1024.0 || !whole.ends_with(" B")) {
        whole
    } else {
        SharedUnit::of(bytes, &BYTES).write(bytes)
    }
}

/// The estimator and the number of values behind it.
pub fn evidence(quantity: &Quantity) -> String {
    format!("{}, {} values", quantity.estimator, quantity.samples)
}

/// A number without a unit; whole ones without a point.
pub fn plain(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e6 {
        format!("{number}")
    } else {
        significant(number, 3)
    }
}

#[cfg(test)]
mod tests {
    use bandgap_record::Evidence;

    use super::*;

    fn time(value: f64, low: f64, high: f64) -> Quantity {
        Quantity::time(Ns(value), Some((Ns(low), Ns(high))), Evidence::new("mean", 5, false))
            .unwrap()
    }

    #[test]
    fn each_mark_that_is_used_is_explained() {
        let of = |known: Convergence| {
            Quantity::number(2.0, Some((1.0, 3.0)), Evidence::new("mean", 5, known)).unwrap()
        };
        use Convergence::{ClockLimited, Converged, No};
        let said = |all: &[Convergence]| {
            let all: Vec<Quantity> = all.iter().copied().map(of).collect();
            (all.iter().map(value).collect::<Vec<_>>(), footnote(&Layout::default(), &all))
        };
        assert_eq!(said(&[Converged]), (vec!["2".to_owned()], String::new()));
        let (values, note) = said(&[Converged, ClockLimited]);
        assert_eq!(values, ["2", "2 ~"]);
        assert!(note.starts_with("~ at the clock's limit: ") && !note.contains('*'), "{note}");
        let (values, note) = said(&[ClockLimited, No]);
        assert_eq!(values, ["2 ~", "2 *"]);
        assert!(note.starts_with("* not converged: ") && note.contains("\n~ at the"), "{note}");
    }

    #[test]
    fn value_and_interval_share_one_unit() {
        // The value's, so that all three can be compared at sight.
        assert_eq!(interval(&time(950.0, 900.0, 1100.0)), "900 to 1100 ns");
        assert_eq!(value(&time(950.0, 900.0, 1100.0)), "950 ns *");
        assert_eq!(interval(&time(1100.0, 900.0, 1300.0)), "0.900 to 1.30 µs");
        assert_eq!(interval(&time(-0.35, -2.0, 1.5)), "-2.00 to 1.50 ns");
        assert_eq!(interval(&time(820.0, 819.96, 820.1)), "820.0 to 820.1 ns");
        let half = |value, low, high| {
            let fit = Evidence::new("fit", 9, true);
            both(&Quantity::new(value, Some((low, high)), Unit::Byte, fit).unwrap())
        };
        // 2469 / 1024 = 2.41, 1000 / 1024 = 0.977.
        assert_eq!(half(2469.0, 1000.0, 3000.0), "2.41 KiB\n0.977 to 2.93 KiB");
        assert_eq!(half(813.0, 440.0, 4905.0), "813 B\n440 to 4905 B");
        // An end that would be 10 000 or more decides.
        assert_eq!(half(813.0, 440.0, 20_480.0), "0.794 KiB\n0.430 to 20.0 KiB");
        let often = Evidence::new("fit", 9, true);
        let often = Quantity::new(999_700.0, None, Unit::PerSecond, often).unwrap();
        assert_eq!(value(&often), "1.00 M/s");
        let capacity = Quantity::number(64.0, None, Evidence::new("count", 1, true)).unwrap();
        assert_eq!((value(&capacity), interval(&capacity)), ("64".into(), "unknown".into()));
    }
}
