//! The parameters over several transports on one page.

use bandgap_record::Logp;
use comfy_table::Cell;

use crate::Layout;
use crate::parameter::{PARAMETERS, determined};
use crate::table::{estimated, finish, footnote, interval, table, value};

/// One column per signature, one row per parameter: value and interval.
pub fn summary(signatures: &[&Logp], layout: &Layout) -> String {
    let confidence = format!("{} interval", layout.confidence);
    // Names give way to columns of numbers, which must not be broken.
    let named = layout.columns() >= 30 + 22 * signatures.len();
    let names = |symbol, name| [symbol, name].into_iter().take(if named { 2 } else { 1 });
    let transports = signatures.iter().map(|logp| logp.transport.as_str());
    let headings = names("", "parameter").chain(transports);
    let first = if named { 2 } else { 1 };
    let numbers: Vec<usize> = (first..signatures.len() + first).collect();
    let mut rows = table(layout, headings, &numbers);
    for parameter in &PARAMETERS {
        let cell = |logp: &&Logp| match (parameter.of)(&logp.parameters) {
            Some(quantity) => format!("{}\n{}", value(quantity), interval(quantity)),
            None => parameter.missing(logp.regime).to_owned(),
        };
        let names = names(parameter.symbol, parameter.name).map(Cell::new);
        rows.add_row(names.chain(signatures.iter().map(|logp| Cell::new(cell(logp)))));
    }
    let states = names(if named { "" } else { "state" }, "state").map(Cell::new);
    rows.add_row(states.chain(signatures.iter().map(|logp| Cell::new(&logp.state.label))));
    let quantities = || signatures.iter().flat_map(|logp| determined(&logp.parameters));
    // All signatures name the same estimator for a parameter: the first one's is enough.
    let estimators = signatures.first().into_iter().flat_map(|logp| determined(&logp.parameters));
    layout
        .paragraph(&format!("LogP parameters of small messages, with the {confidence} below each:"))
        + &finish(&rows)
        + &footnote(layout, quantities().map(|(_, quantity)| quantity))
        + &estimated(layout, estimators)
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
