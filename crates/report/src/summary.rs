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

/// A signature's column: its heading, then a cell for each row.
struct Column<'a> {
    heading: &'a str,
    cells: Vec<String>,
}

impl<'a> Column<'a> {
    fn of(logp: &Logp, heading: &'a str, further: &[Row<'_>]) -> Column<'a> {
        let parameters =
            PARAMETERS.iter().map(|parameter| match (parameter.of)(&logp.parameters) {
                Some(quantity) => both(quantity),
                None => parameter.missing(logp.regime).to_owned(),
            });
        let further = further.iter().map(|row| (row.cell)(logp));
        Column { heading, cells: parameters.chain(further).collect() }
    }

    /// With the blanks to the next.
    fn width(&self) -> usize {
        let lines = self.cells.iter().flat_map(|cell| cell.lines());
        lines.chain([self.heading]).map(|line| line.chars().count()).max().unwrap_or(0) + 3
    }
}

/// Width of the symbols with their blanks.
const SYMBOLS: usize = 8;

/// The parameters of signatures in columns, with further rows below, and what they were estimated by;
/// below one another where there is no room for all.
pub(crate) fn side_by_side(
    signatures: &[&Logp],
    headings: &[&str],
    further: &[Row<'_>],
    layout: &Layout,
) -> String {
    let columns = signatures.iter().zip(headings);
    let columns: Vec<Column<'_>> =
        columns.map(|(logp, heading)| Column::of(logp, heading, further)).collect();
    let mut tables: Vec<Vec<&Column<'_>>> = Vec::new();
    let mut left = 0;
    for column in &columns {
        let width = column.width();
        match tables.last_mut().filter(|_| width <= left) {
            Some(table) => {
                table.push(column);
                left -= width;
            }
            None => {
                tables.push(vec![column]);
                left = layout.columns().saturating_sub(SYMBOLS + width);
            }
        }
    }
    let widths = |columns: &Vec<&Column<'_>>| columns.iter().map(|column| column.width()).sum();
    let numbers: usize = tables.iter().map(widths).max().unwrap_or(0);
    let names = PARAMETERS.iter().map(|parameter| parameter.name);
    let names = names.chain(further.iter().map(|row| row.name)).map(|name| name.chars().count());
    // Names stand there whole or not at all, and give way to columns of numbers.
    let named = layout.columns() >= SYMBOLS + names.max().unwrap_or(0) + 3 + numbers;
    let tables = tables.iter().map(|columns| beside(columns, further, named, layout));
    let quantities = || signatures.iter().flat_map(|logp| determined(&logp.parameters));
    tables.collect::<Vec<_>>().join("\n")
        + &footnote(layout, quantities().map(|(_, quantity)| quantity))
        + &estimated(layout, once_each(quantities()))
}

/// One table of columns.
fn beside(columns: &[&Column<'_>], further: &[Row<'_>], named: bool, layout: &Layout) -> String {
    let names = |symbol, name| [symbol, name].into_iter().take(if named { 2 } else { 1 });
    let headings = names("", "parameter").chain(columns.iter().map(|column| column.heading));
    let first = if named { 2 } else { 1 };
    let mut rows = table(layout, headings, &(first..columns.len() + first).collect::<Vec<_>>());
    let parameters = PARAMETERS.iter().map(|parameter| (parameter.symbol, parameter.name));
    let further = further
        .iter()
        .map(|row| (if named && row.symbol == row.name { "" } else { row.symbol }, row.name));
    for (index, (symbol, name)) in parameters.chain(further).enumerate() {
        let cells = columns.iter().map(|column| Cell::new(&column.cells[index]));
        rows.add_row(names(symbol, name).map(Cell::new).chain(cells));
    }
    finish(&rows)
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
