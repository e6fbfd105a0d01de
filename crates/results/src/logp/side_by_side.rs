//! The parameters of several signatures, or of several states, in columns.

use bandgap_model::Regime;
use bandgap_record::Quantity;
use bandgap_report::Layout;
use bandgap_report::table::{both, estimated, finish, footnote, table};

use super::parameter::{PARAMETERS, Parameter, determined};
use super::schema::{Logp, Parameters};

/// A column: its heading, the parameters, and cells for further rows below.
pub(super) struct Column<'a> {
    pub heading: String,
    pub parameters: &'a Parameters,
    pub regime: Regime,
    pub further: Vec<String>,
}

impl<'a> Column<'a> {
    /// The column of a signature.
    pub(super) fn of(logp: &'a Logp, heading: String, further: Vec<String>) -> Column<'a> {
        Column { heading, parameters: &logp.parameters, regime: logp.regime, further }
    }

    fn cells(&self) -> Vec<String> {
        let cell = |row: &Parameter| match (row.of)(self.parameters) {
            Some(quantity) => both(quantity),
            None => row.missing(self.regime).to_owned(),
        };
        PARAMETERS.iter().map(cell).chain(self.further.iter().cloned()).collect()
    }

    /// With the blanks to the next.
    fn width(&self) -> usize {
        let cells = self.cells();
        let lines = cells.iter().flat_map(|cell| cell.lines()).chain([self.heading.as_str()]);
        lines.map(|line| line.chars().count()).max().unwrap_or(0) + 3
    }
}

/// A row below those of the parameters: its symbol, which is all that stands where there is little
/// room, and its name.
pub(super) type Row = (&'static str, &'static str);

/// Width of the symbols with their blanks.
const SYMBOLS: usize = 8;

/// The columns with further rows below; below one another where there is no room for all.
pub(super) fn side_by_side(columns: &[Column<'_>], further: &[Row], layout: &Layout) -> String {
    let mut tables: Vec<(usize, Vec<&Column<'_>>)> = Vec::new();
    for column in columns {
        let width = column.width();
        match tables.last_mut() {
            Some((used, table)) if *used + width <= layout.columns() => {
                *used += width;
                table.push(column);
            }
            _ => tables.push((SYMBOLS + width, vec![column])),
        }
    }
    let used = tables.iter().map(|(used, _)| *used).max().unwrap_or(0);
    let names = PARAMETERS.iter().map(|parameter| parameter.name);
    let names = names.chain(further.iter().map(|row| row.1)).map(|name| name.chars().count());
    // Names stand there whole or not at all, and give way to columns of numbers.
    let named = layout.columns() >= names.max().unwrap_or(0) + 3 + used;
    let tables = tables.iter().map(|(_, columns)| beside(columns, further, named, layout));
    let quantities = columns.iter().flat_map(|column| determined(column.parameters));
    tables.collect::<Vec<_>>().join("\n")
        + &footnote(layout, quantities.map(|(_, quantity)| quantity))
}

/// One table of columns.
fn beside(columns: &[&Column<'_>], further: &[Row], named: bool, layout: &Layout) -> String {
    let first = if named { 2 } else { 1 };
    let names = |symbol, name| [symbol, name].into_iter().take(first);
    let headings = names("", "parameter").chain(columns.iter().map(|it| it.heading.as_str()));
    let mut rows = table(layout, headings, &(first..columns.len() + first).collect::<Vec<_>>());
    let parameters = PARAMETERS.iter().map(|parameter| (parameter.symbol, parameter.name));
    let further =
        further.iter().map(|row| (if named && row.0 == row.1 { "" } else { row.0 }, row.1));
    let cells: Vec<Vec<String>> = columns.iter().map(|column| column.cells()).collect();
    for (index, (symbol, name)) in parameters.chain(further).enumerate() {
        let cells = cells.iter().map(|cells| cells[index].as_str());
        rows.add_row(names(symbol, name).chain(cells));
    }
    finish(&rows)
}

/// What the parameters of signatures were estimated by; of those that share a symbol and an
/// estimator, the first.
pub(super) fn estimators(signatures: &[&Logp], layout: &Layout) -> String {
    let mut kept: Vec<(&str, &Quantity)> = Vec::new();
    for (symbol, quantity) in signatures.iter().flat_map(|logp| determined(&logp.parameters)) {
        let alike = |(other, known): &(&str, &Quantity)| {
            *other == symbol && known.estimator == quantity.estimator
        };
        if !kept.iter().any(alike) {
            kept.push((symbol, quantity));
        }
    }
    estimated(layout, kept)
}

/// The parameters over several transports on one page: one column per signature.
pub(crate) fn summary(signatures: &[&Logp], layout: &Layout) -> String {
    let state = |logp: &Logp| vec![logp.state.label.clone()];
    let columns =
        signatures.iter().map(|logp| Column::of(logp, logp.transport.clone(), state(logp)));
    let columns: Vec<Column<'_>> = columns.collect();
    let below = format!("{} interval below each", layout.confidence);
    layout.paragraph(&format!("LogP parameters of small messages, with the {below}:"))
        + &side_by_side(&columns, &[("state", "state")], layout)
        + &estimators(signatures, layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logp::tests::example;

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

    #[test]
    fn names_stand_whole_or_not_at_all() {
        let mut shm = example("shm", 2.05, 14.0, 27.1, 120.0, &[0.0, 50.0]);
        shm.state.label = "cache line 141 ns, slowed".to_owned();
        let mut named = 0;
        for width in 60..=140 {
            let text = summary(&[&shm, &shm, &shm], &Layout { width, ..Layout::default() });
            let table = text.split('*').next().unwrap();
            // The end of a name that was broken would stand by itself.
            let whole = table.contains(" receive overhead ");
            assert!(whole || !table.contains("rece"), "{width}: {text}");
            named += u32::from(whole);
        }
        assert!((1..=80).contains(&named), "{named}");
    }
}
