//! The headline table: the parameters of messages, with a column for each transport.

use bandgap_record::{Quantity, Rows, Unit};
use bandgap_report::{Block, Cell, Head, Shown as Drawn, Table, multiple};
use bandgap_units::{Bytes, significant_short};

use crate::hockney::Hockney;
use crate::logp::{Logp, ONE_TO_ONE, SIGNATURE, limit};
use crate::shown::Context;

/// A column of the table.
struct Column<'a> {
    /// Its head.
    head: String,
    /// The signature in it.
    logp: Option<&'a Logp>,
    /// The transport whose r∞ and n½ it shows.
    transport: Option<&'a str>,
}

/// The headline of a run: the parameters over each transport, and the ratios of half round trips between transports.
/// Empty for a run without signatures and fits.
pub fn headline(context: &Context<'_>) -> Vec<Block> {
    let own = |logp: &&Logp| logp.name == SIGNATURE;
    let mut columns: Vec<Column<'_>> = context.of::<Logp>().filter(own).map(column).collect();
    for fit in fits(context) {
        if !columns.iter().any(|column| column.transport == Some(&fit.transport)) {
            let (head, transport) = (fit.transport.clone(), Some(fit.transport.as_str()));
            columns.push(Column { head, logp: None, transport });
        }
    }
    if columns.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(parameters(context, &columns))];
    if let Some(text) = meaning(&columns) {
        blocks.extend([Block::section("meaning", ""), Block::Text(text)]);
    }
    blocks
}

fn column(logp: &Logp) -> Column<'_> {
    let (transport, is_usual) = (logp.transport.as_str(), logp.pattern == ONE_TO_ONE);
    let head = match is_usual {
        true => transport.to_owned(),
        false => format!("{transport} {}", logp.pattern.replace('_', " ")),
    };
    Column { head, logp: Some(logp), transport: is_usual.then_some(transport) }
}

/// The parameters of transfers, with a column for each length.
pub fn surface(context: &Context<'_>, name: &str, transport: &str) -> Vec<Block> {
    let own = |logp: &&Logp| logp.name == name && logp.transport == transport;
    let head = |logp: &Logp| logp.bytes.map_or(String::new(), |bytes| Bytes(bytes).to_string());
    let columns: Vec<Column<'_>> = context
        .of::<Logp>()
        .filter(own)
        .map(|logp| Column { head: head(logp), logp: Some(logp), transport: None })
        .collect();
    let table = (!columns.is_empty()).then(|| Block::Table(parameters(context, &columns)));
    table.into_iter().collect()
}

/// The text of a cell whose parameter could not be estimated.
const UNKNOWN: &str = "not known";

fn parameters(context: &Context<'_>, columns: &[Column<'_>]) -> Table {
    let heads = columns.iter().map(|column| Head::shared(&column.head));
    let first = [Head::new(""), Head::new("").optional()];
    let mut table = Table::new(first.into_iter().chain(heads));
    let mut push = |symbol: &str, name: &str, cells: Vec<Cell>| {
        if cells.iter().any(|cell| *cell != Cell::Empty) {
            table.push([symbol.into(), name.into()].into_iter().chain(cells));
        }
    };
    let of_logp = |cell: &dyn Fn(&Logp) -> Option<Cell>| -> Vec<Cell> {
        let known = |logp: &Logp| cell(logp).unwrap_or(UNKNOWN.into());
        columns.iter().map(|column| column.logp.map(known).into()).collect()
    };
    let rows = [
        ("os", "send overhead", "send_overhead"),
        ("or", "receive overhead", "recv_overhead"),
        ("g", "gap", "gap"),
        ("L", "latency", "latency"),
        ("os+L", "send overhead and latency", "sent_latency"),
        ("RTT/2", "half round trip", "rtt"),
    ];
    for (symbol, name, field) in rows {
        let cell = |logp: &Logp| {
            let of = match field {
                "rtt" => half(logp)?,
                "sent_latency" if logp.parameters.sent_latency.is_none() => {
                    return Some(Cell::Empty);
                }
                _ => logp.parameters.named().into_iter().find(|of| of.0 == field)?.2?.clone(),
            };
            let id = format!("{}/{field}", logp.id());
            let needs: &[&str] = match field {
                "latency" => &["latency", "send_overhead", "recv_overhead"],
                own => &[own],
            };
            let known = |of: &&str| {
                let id = format!("{}/{of}", logp.id());
                !context.notes.iter().any(|note| note.code == "not_known" && note.about == id)
            };
            needs.iter().all(known).then(|| context.cell(&id, &of))
        };
        push(symbol, name, of_logp(&cell));
    }
    let over = |logp: &Logp| {
        let Some(over) = &logp.over_floor else { return Some(Cell::Empty) };
        let precision = context.precision(&format!("{}/over_floor", logp.id()), &over.ratio);
        Some(Drawn { apart: true, ..Drawn::new(&over.ratio, precision) }.into())
    };
    push("", "over its floor", of_logp(&over));
    for (symbol, name) in [("r∞", "r_inf"), ("n½", "n_half")] {
        let fits = || columns.iter().map(|column| fit(context, column.transport?));
        let of_last = |fit: Option<&Hockney>| {
            let (id, of) = fit?.last(name)?;
            Some(Drawn::new(of, context.precision(&id, of)))
        };
        let (unit, cells) = in_one_unit(fits().map(of_last).collect());
        let cells = fits().zip(cells).map(|(fit, cell)| match cell {
            Cell::Empty if fit.is_some() => UNKNOWN.into(),
            cell => cell,
        });
        push(symbol, &unit, cells.collect());
    }
    push("", "rate limited by", of_logp(&|logp| Some(limit(logp.regime).into())));
    table
}

fn half(logp: &Logp) -> Option<Quantity> {
    logp.parameters.rtt.as_ref()?.scaled(0.5, Unit::Second).ok()
}

/// The fits whose last segments give r∞ and n½.
fn fits<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a Hockney> {
    let series: Vec<&Rows> = context.of::<Rows>().filter(|rows| rows.form.is_headline()).collect();
    let all = context.of::<Hockney>().filter(|fit| fit.is_relative());
    all.filter(move |fit| series.iter().any(|rows| fit.is_of(&rows.name, &rows.transport)))
}

/// The fit of a transport, where it has segments.
fn fit<'a>(context: &Context<'a>, transport: &str) -> Option<&'a Hockney> {
    fits(context).find(|fit| fit.transport == transport && !fit.segments.is_empty())
}

/// Cells in the unit of the greatest; the unit is returned for the head of the row.
fn in_one_unit(cells: Vec<Option<Drawn>>) -> (String, Vec<Cell>) {
    let greatest =
        cells.iter().flatten().copied().reduce(|a, b| if b.value > a.value { b } else { a });
    let Some(greatest) = greatest else { return (String::new(), vec![Cell::Empty; cells.len()]) };
    let unit = multiple(greatest.unit, greatest.value);
    let own = |drawn: Drawn| Drawn {
        value: unit.count(drawn.value),
        interval: drawn.interval.map(|(low, high)| (unit.count(low), unit.count(high))),
        unit: Unit::One,
        apart: true,
        ..drawn
    };
    let name = format!("({})", unit.symbol);
    (name, cells.into_iter().map(|cell| cell.map(own).into()).collect())
}

/// The half round trips of the other transports as multiples of the shortest.
fn meaning(columns: &[Column<'_>]) -> Option<String> {
    let mut all: Vec<(&Logp, f64)> = columns
        .iter()
        .filter_map(|column| Some((column.logp?, half(column.logp?)?.value.0)))
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((first, shortest), others) = all.split_first()?;
    let longer: Vec<String> = others
        .iter()
        .map(|(of, time)| {
            format!("over {} {} ×", of.transport, significant_short(time / shortest, 2))
        })
        .collect();
    let all = longer.join(", ");
    (!all.is_empty()).then(|| format!("Half a round trip: {all} that over {}.", first.transport))
}

#[cfg(test)]
mod tests;
