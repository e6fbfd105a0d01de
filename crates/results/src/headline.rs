//! The headline table: what was measured and the parameters of messages, with a column for each transport.

use bandgap_record::{Note, Quantity, Rows, Unit, Value};
use bandgap_report::{Block, Cell, Head, Shown as Drawn, Table, multiple};
use bandgap_units::Bytes;

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

/// The headline of a run: what was measured over each transport, and the parameters that follow. Empty for a run without
/// signatures and fits.
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
    let none = fits(context).next().is_some() && !fits(context).any(holds);
    let lineless = none.then(|| Block::Text(LINELESS.to_owned()));
    [Block::Table(parameters(context, &columns))].into_iter().chain(lineless).collect()
}

/// The sentence in place of r∞ and n½, where no transport has them.
const LINELESS: &str =
    "No line through the times of long messages holds: bandgap comms1 shows each size.";

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

/// The lengths whose bandwidth is shown.
const LENGTHS: [u64; 2] = [64 << 10, 4 << 20];

fn parameters(context: &Context<'_>, columns: &[Column<'_>]) -> Table {
    let heads = columns.iter().map(|column| Head::shared(&column.head));
    let first = [Head::new(""), Head::new("").optional()];
    let mut table = Table::new(first.into_iter().chain(heads));
    let mut push = |symbol: &str, name: &str, cells: Vec<Cell>| {
        if cells.iter().any(|cell| *cell != Cell::Empty) {
            table.push([symbol.into(), name.into()].into_iter().chain(cells));
        }
    };
    let of_logp = |cell: &dyn Fn(&Logp) -> Cell| -> Vec<Cell> {
        columns.iter().map(|column| column.logp.map(cell).into()).collect()
    };
    let field = |field: &str| of_logp(&|logp| parameter(context, logp, field));
    push("RTT/2", "half round trip", field("rtt"));
    let over = |logp: &Logp| {
        let over = logp.over_floor.as_ref().map(|over| {
            let precision = context.precision(&format!("{}/over_floor", logp.id()), &over.ratio);
            Drawn { apart: true, ..Drawn::new(&over.ratio, precision) }
        });
        over.into()
    };
    push("", "over its floor", of_logp(&over));
    let (unit, cells) = in_one_unit(columns.iter().map(|of| rate(context, of)).collect());
    push("1/g", &format!("messages {unit}"), cells);
    for bytes in LENGTHS {
        let of = columns.iter().map(|column| bandwidth(context, column.transport?, bytes));
        let of: Vec<Option<Result<Drawn, Cell>>> = of.collect();
        let known = of.iter().map(|of| of.clone()?.ok()).collect();
        let (unit, cells) = in_one_unit(known);
        let cells =
            of.into_iter().zip(cells).map(|(of, cell)| of.and_then(Result::err).unwrap_or(cell));
        push(&Bytes(bytes).to_string(), &format!("bandwidth {unit}"), cells.collect());
    }
    let rows = [
        ("os", "send overhead", "send_overhead"),
        ("or", "receive overhead", "recv_overhead"),
        ("os+or", "both overheads", "overheads"),
        ("g", "gap", "gap"),
        ("L", "latency", "latency"),
        ("os+L", "send overhead and latency", "sent_latency"),
    ];
    for (symbol, name, of) in rows {
        push(symbol, name, field(of));
    }
    for (symbol, name) in [("r∞", "r_inf"), ("n½", "n_half")] {
        let fits = || columns.iter().map(|column| fit(context, column.transport?));
        let of_last = |fit: Option<&Hockney>| {
            let (id, of) = fit.filter(|fit| holds(fit))?.last(name)?;
            Some(Drawn::new(of, context.precision(&id, of)))
        };
        let all: Vec<Option<Drawn>> = fits().map(of_last).collect();
        if all.iter().any(Option::is_some) {
            let (unit, cells) = in_one_unit(all);
            let cells = fits().zip(cells).map(|(fit, cell)| match cell {
                Cell::Empty if fit.is_some() => UNKNOWN.into(),
                cell => cell,
            });
            push(symbol, &unit, cells.collect());
        }
    }
    push("", "rate limited by", of_logp(&|logp| limit(logp.regime).into()));
    table
}

/// Half-width, as a share of the value, up to which os and or are told apart.
const APART: f64 = 0.25;

/// A parameter as a cell. Where the data do not tell os and or apart, their sum stands for them, and
/// there is no L.
fn parameter(context: &Context<'_>, logp: &Logp, field: &str) -> Cell {
    let id = |field: &str| format!("{}/{field}", logp.id());
    let find = |field: &str| {
        let all = logp.parameters.named();
        let (_, _, of, _) = all.into_iter().find(|of| of.0 == field)?;
        let (id, of) = (id(field), of?);
        let is_it = |note: &Note| note.code == "not_known" && note.about == id;
        (!context.notes.iter().any(is_it)).then_some(of)
    };
    let is_apart = |field: &&str| {
        let is_narrow = |of: &Quantity| {
            of.interval().is_some_and(|(low, high)| high - low <= 2.0 * APART * of.value.0.abs())
        };
        find(field).is_some_and(is_narrow)
    };
    let both = ["send_overhead", "recv_overhead"];
    let summed = find("overheads").is_some() && !both.iter().all(is_apart);
    let is_empty = match field {
        "sent_latency" => find(field).is_none(),
        "overheads" => !summed,
        "send_overhead" | "recv_overhead" | "latency" => summed,
        _ => false,
    };
    if is_empty {
        return Cell::Empty;
    }
    let needs = if field == "latency" { &both[..] } else { &[] };
    let of = if field == "rtt" { half(logp) } else { find(field).cloned() };
    match of.filter(|_| needs.iter().all(|of| find(of).is_some())) {
        Some(of) => context.cell(&id(field), &of),
        None => context.unknown(id(field), UNKNOWN),
    }
}

/// Messages a second: 1/g.
fn rate(context: &Context<'_>, column: &Column<'_>) -> Option<Drawn> {
    let logp = column.logp.filter(|logp| logp.bytes.is_none())?;
    let gap = logp.parameters.gap.as_ref().filter(|gap| gap.value.0 > 0.0)?;
    let precision = context.precision(&format!("{}/gap", logp.id()), gap);
    context.drawn.borrow_mut().insert(format!("{}/rate", logp.id()), precision);
    let over = |(low, high): (f64, f64)| (1.0 / high, 1.0 / low);
    let interval = gap.interval().filter(|of| of.0 > 0.0).map(over);
    Some(Drawn {
        value: 1.0 / gap.value.0,
        interval,
        unit: Unit::PerSecond,
        precision,
        apart: true,
    })
}

/// The bandwidth at a length; a cell with words where it is not known, or launches are of several kinds.
fn bandwidth(context: &Context<'_>, transport: &str, bytes: u64) -> Option<Result<Drawn, Cell>> {
    let mut all = context.of::<Rows>().filter(|rows| rows.form.is_headline());
    let rows = all.find(|rows| rows.transport == transport)?;
    let row = rows.rows.iter().find(|row| rows.place(row, "bytes") == Some(&bytes.into()))?;
    let id = rows.row_id(row);
    let time = format!("{id}/time");
    let is_kinds = |note: &&Note| note.code == "launches_of_kinds" && note.about == time;
    let id = format!("{id}/bandwidth");
    if let Some(kinds) = context.notes.iter().find(is_kinds) {
        let Some(Value::Number(count)) = kinds.values.get("kinds") else { return None };
        return Some(Err(context.unknown(id, &format!("{:.0} kinds", count.0))));
    }
    let known = rows.cell(row, "bandwidth").map(|of| Drawn::new(of, context.precision(&id, of)));
    Some(known.ok_or_else(|| context.unknown(id, UNKNOWN)))
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

/// Whether the line through the longest messages fits well enough for its r∞ to be known.
fn holds(fit: &Hockney) -> bool {
    fit.last("r_inf").is_some_and(|(_, of)| of.converged)
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

#[cfg(test)]
mod tests;
