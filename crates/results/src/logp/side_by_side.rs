//! The parameters of several signatures, or of several states, in columns.

use bandgap_model::Regime;
use bandgap_report::Layout;
use bandgap_report::table::{both, estimated, finish, footnote, table};

use super::parameter::{PARAMETERS, Parameter, determined};
use super::schema::{Logp, Parameters};

/// A row of a column: the symbol, which is all that stands before it where there is little room, the
/// name, and the cell.
pub(super) type Row = (&'static str, &'static str, String);

/// A column: its heading, the parameters, and further rows below.
pub(super) struct Column<'a> {
    pub heading: String,
    pub parameters: &'a Parameters,
    pub regime: Regime,
    pub further: Vec<Row>,
}

impl<'a> Column<'a> {
    /// The column of a signature.
    pub(super) fn of(logp: &'a Logp, heading: String, further: Vec<Row>) -> Column<'a> {
        Column { heading, parameters: &logp.parameters, regime: logp.regime, further }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |row: &Parameter| {
            let cell = match (row.of)(self.parameters) {
                Some(quantity) => both(quantity),
                None => row.missing(self.regime).to_owned(),
            };
            (row.symbol, row.name, cell)
        };
        PARAMETERS.iter().map(row).chain(self.further.iter().cloned()).collect()
    }

    /// With the blanks to the next.
    fn width(&self) -> usize {
        let rows = self.rows();
        let lines = rows.iter().flat_map(|row| row.2.lines()).chain([self.heading.as_str()]);
        lines.map(|line| line.chars().count()).max().unwrap_or(0) + 3
    }
}

/// Width of the symbols with their blanks.
const SYMBOLS: usize = 8;

/// The columns, which have the same rows; below one another where there is no room for all.
pub(super) fn side_by_side(columns: &[Column<'_>], layout: &Layout) -> String {
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
    let rows = columns.iter().flat_map(Column::rows);
    let name = rows.map(|(_, name, _)| name.chars().count()).max().unwrap_or(0);
    // Names stand there whole or not at all, and give way to columns of numbers.
    let named = layout.columns() >= name + 3 + used;
    let tables = tables.iter().map(|(_, columns)| beside(columns, named, layout));
    let quantities = columns.iter().flat_map(|column| determined(column.parameters));
    tables.collect::<Vec<_>>().join("\n")
        + &footnote(layout, quantities.map(|(_, quantity)| quantity))
}

/// One table of columns.
fn beside(columns: &[&Column<'_>], named: bool, layout: &Layout) -> String {
    let first = if named { 2 } else { 1 };
    let names = |symbol, name| [symbol, name].into_iter().take(first);
    let headings = names("", "parameter").chain(columns.iter().map(|it| it.heading.as_str()));
    let mut table = table(layout, headings, &(first..columns.len() + first).collect::<Vec<_>>());
    let columns: Vec<Vec<Row>> = columns.iter().map(|column| column.rows()).collect();
    for (index, (symbol, name, _)) in columns[0].iter().enumerate() {
        // What has no symbol is not named twice.
        let symbol = if named && symbol == name { "" } else { symbol };
        let cells = columns.iter().map(|rows| rows[index].2.as_str());
        table.add_row(names(symbol, *name).chain(cells));
    }
    finish(&table)
}

/// What the parameters of signatures were estimated by, and from how many values over all of them.
pub(super) fn estimators(signatures: &[&Logp], layout: &Layout) -> String {
    estimated(layout, signatures.iter().flat_map(|logp| determined(&logp.parameters)))
}

/// The parameters over several transports on one page: one column per signature. Below, the transports without one,
/// each with the reason.
pub(crate) fn summary(signatures: &[&Logp], without: &[(&str, &str)], layout: &Layout) -> String {
    let state = |logp: &Logp| vec![("state", "state", logp.state.label.clone())];
    let columns =
        signatures.iter().map(|logp| Column::of(logp, logp.transport.clone(), state(logp)));
    let columns: Vec<Column<'_>> = columns.collect();
    let none = without.iter().map(|(transport, reason)| {
        layout.paragraph(&format!("{transport}: no signature: {reason}."))
    });
    let below = format!("{} interval below each", layout.confidence);
    layout.paragraph(&format!("LogP parameters of small messages, with the {below}:"))
        + &side_by_side(&columns, layout)
        + &estimators(signatures, layout)
        + &none.collect::<String>()
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
        let all = [&shm, &unix, &tcp];
        insta::assert_snapshot!("summary_80", summary(&all, &[], &Layout::default()));
        let wide = Layout { width: 110, ..Layout::default() };
        insta::assert_snapshot!("summary_110", summary(&all, &[], &wide));
    }

    #[test]
    fn counts_of_values_are_those_of_all_transports() {
        let delays = [0.0, 50.0];
        let shm = example("shm", 2.05, 14.0, 27.1, 120.0, &delays);
        let mut unix = shm.clone();
        unix.parameters.rtt.as_mut().unwrap().samples = 7;
        let most = shm.parameters.rtt.as_ref().unwrap().samples;
        let text = summary(&[&shm, &unix], &[], &Layout { width: 200, ..Layout::default() })
            .replace("\n", " ");
        assert!(
            text.contains(&format!("RTT: median of batch medians, 7 to {most} values")),
            "{text}"
        );
    }

    #[test]
    fn names_stand_whole_or_not_at_all() {
        let mut shm = example("shm", 2.05, 14.0, 27.1, 120.0, &[0.0, 50.0]);
        shm.state.label = "cache line 141 ns, slowed".to_owned();
        let mut named = 0;
        for width in 60..=140 {
            let text = summary(&[&shm, &shm, &shm], &[], &Layout { width, ..Layout::default() });
            let table = text.split('*').next().unwrap();
            // The end of a name that was broken would stand by itself.
            let whole = table.contains(" receive overhead ");
            assert!(whole || !table.contains("rece"), "{width}: {text}");
            named += u32::from(whole);
        }
        assert!((1..=80).contains(&named), "{named}");
    }
}
