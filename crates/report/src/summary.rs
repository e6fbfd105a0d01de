//! The parameters over several transports on one page.

use bandgap_record::{Logp, Quantity};
use comfy_table::Cell;

use crate::Layout;
use crate::parameter::{PARAMETERS, determined};
use crate::table::{estimated, finish, footnote, interval, table, value};

/// One column per signature, one row per parameter: value and interval.
pub fn summary(signatures: &[&Logp], layout: &Layout) -> String {
    let confidence = format!("{} interval", layout.confidence);
    let transports: Vec<&str> = signatures.iter().map(|logp| logp.transport.as_str()).collect();
    let states = Row { symbol: "state", name: "state", cell: &|logp| logp.state.label.clone() };
    layout
        .paragraph(&format!("LogP parameters of small messages, with the {confidence} below each:"))
        + &side_by_side(signatures, &transports, &[states], layout)
}

/// A row below those of the parameters.
pub(crate) struct Row<'a> {
    /// What stands where there is little room.
    pub symbol: &'a str,
    /// What stands where there is more.
    pub name: &'a str,
    /// What a signature's column says.
    pub cell: &'a dyn Fn(&Logp) -> String,
}

/// The parameters of signatures in columns, with further rows below, and what they were estimated by.
pub(crate) fn side_by_side(
    signatures: &[&Logp],
    headings: &[&str],
    further: &[Row<'_>],
    layout: &Layout,
) -> String {
    // Names give way to columns of numbers, which must not be broken.
    let named = layout.columns() >= 30 + 22 * signatures.len();
    let names = |symbol, name| [symbol, name].into_iter().take(if named { 2 } else { 1 });
    let headings = names("", "parameter").chain(headings.iter().copied());
    let first = if named { 2 } else { 1 };
    let numbers: Vec<usize> = (first..signatures.len() + first).collect();
    let mut rows = table(layout, headings, &numbers);
    for parameter in &PARAMETERS {
        let cell = |logp: &&Logp| match (parameter.of)(&logp.parameters) {
            Some(quantity) => both(quantity),
            None => parameter.missing(logp.regime).to_owned(),
        };
        let names = names(parameter.symbol, parameter.name).map(Cell::new);
        rows.add_row(names.chain(signatures.iter().map(|logp| Cell::new(cell(logp)))));
    }
    for row in further {
        let symbol = if named && row.symbol == row.name { "" } else { row.symbol };
        let names = names(symbol, row.name).map(Cell::new);
        rows.add_row(names.chain(signatures.iter().map(|logp| Cell::new((row.cell)(logp)))));
    }
    let quantities = || signatures.iter().flat_map(|logp| determined(&logp.parameters));
    finish(&rows)
        + &footnote(layout, quantities().map(|(_, quantity)| quantity))
        + &estimated(layout, once_each(quantities()))
}

/// Of those that share a symbol and an estimator, the first.
fn once_each<'a>(
    quantities: impl Iterator<Item = (&'static str, &'a Quantity)>,
) -> Vec<(&'static str, &'a Quantity)> {
    let mut kept: Vec<(&'static str, &Quantity)> = Vec::new();
    for (symbol, quantity) in quantities {
        let alike = |(other, known): &(&str, &Quantity)| {
            *other == symbol && known.estimator == quantity.estimator
        };
        if !kept.iter().any(alike) {
            kept.push((symbol, quantity));
        }
    }
    kept
}

/// Value and interval in one cell.
pub(crate) fn both(quantity: &Quantity) -> String {
    format!("{}\n{}", value(quantity), interval(quantity))
}

#[cfg(test)]
mod tests {
    use bandgap_record::Regime;

    use super::*;
    use crate::signature::tests::example;

    #[test]
    fn transports_stand_side_by_side() {
        let delays = [0.0, 50.0];
        let shm = example("shm", 2.05, 14.0, 27.1, 120.0, &delays);
        let unix = example("unix", 820.0, 640.0, 1900.0, 3900.0, &delays);
        let mut tcp = example("tcp", 1800.0, 1200.0, 3000.0, 8040.0, &delays);
        tcp.regime = Regime::ProcessorBound;
        tcp.parameters.gap = None;
        tcp.parameters.idle = None;
        let all = [&shm, &unix, &tcp];
        insta::assert_snapshot!("summary_80", summary(&all, &Layout::default()));
        let wide = Layout { width: 110, ..Layout::default() };
        insta::assert_snapshot!("summary_110", summary(&all, &wide));
    }
}
