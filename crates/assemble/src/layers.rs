//! The extra cost of each layer over the one before.

use bandgap_campaign::beside::WORD;
use bandgap_record::{Column, Form, Place, Quantity, Row, Rows, Unit};
use bandgap_results::Outcome;

use crate::Result;
use crate::floors::FLOOR;
use crate::made::{Made, SERIES};

/// The times of a kernel over each transport, and how much longer each is than over the one before, unless it is not known
/// to stand on that one; empty if none was measured. The floor on which a transport stands is a layer too, `floor:way`, at
/// the length of its own messages, and the lowest of those that follow. `transports` are names, each with its floor and
/// whether the former is known.
///
/// *Formula*: cost = t − t of the layer before; its half-width is the root of the sum of their squares: the two were
/// measured one after the other. It is precise if that is at most the share `precision` of it.
///
/// # Errors
/// A number cannot be recorded.
pub fn layers(
    results: &[Outcome],
    kernel: &str,
    transports: &[(&str, Option<&str>, bool)],
    precision: f64,
) -> Result<Made> {
    let all = results.iter().filter_map(Outcome::as_rows);
    let series: Vec<&Rows> = all.filter(|rows| rows.name == kernel).collect();
    let of = |name| series.iter().find(|rows| rows.transport == name).copied();
    let floor = |transport: &str, name: &str| {
        let mut all = results.iter().filter_map(Outcome::as_rows).filter(|rows| rows.kind == FLOOR);
        let rows = all.find(|rows| rows.name == name && rows.transport == transport)?;
        let way = transport.split(':').next_back()?;
        Some((format!("{name}:{way}"), rows.cell(rows.rows.first()?, "time")?))
    };
    let mut axes = series.first().map_or_else(Vec::new, |rows| rows.axes.clone());
    axes.retain(|axis| axis != "variant");
    let place = |rows: &Rows, row: &Row| -> Vec<Place> {
        axes.iter().filter_map(|axis| rows.place(row, axis).cloned()).collect()
    };
    let mut found = Vec::new();
    let mut before: Option<&Rows> = None;
    for &(name, on, stands) in transports {
        let Some(rows) = of(name) else { continue };
        for row in &rows.rows {
            let at = place(rows, row);
            let Some(time) = rows.cell(row, "time") else { continue };
            let mut below = before.filter(|_| stands && on.is_none()).and_then(|below| {
                let row = below.rows.iter().find(|row| place(below, row) == at)?;
                below.cell(row, "time")
            });
            let is_word = rows.place(row, "bytes").and_then(Place::number) == Some(WORD);
            let floor = on.filter(|_| is_word).and_then(|on| floor(name, on));
            let both = floor.iter().map(|(name, time)| (&**name, *time)).chain([(name, time)]);
            for (name, time) in both {
                let cost = below.map(|below| cost(time, below, precision)).transpose()?;
                let place = [&at[..], &[name.into()]].concat();
                found.push(Row { place, cells: vec![Some(time.clone()), cost], ..Row::default() });
                below = Some(time);
            }
        }
        before = Some(rows);
    }
    if found.is_empty() {
        return Ok(Made::default());
    }
    axes.push("transport".to_owned());
    let rows = Rows {
        kind: SERIES.to_owned(),
        name: "layers".to_owned(),
        form: Form::SideBySide {
            tables: ["time", "cost"].map(|of| vec![of.to_owned()]).into(),
            by: None,
            alone: true,
        },
        axes,
        columns: vec![
            Column::new("time", Unit::Second, "time of the kernel over this transport"),
            Column::new("cost", Unit::Second, "time added to that of the layer before"),
        ],
        rows: found,
        ..Rows::default()
    };
    Ok(Made { results: vec![rows.into()], ..Made::default() })
}

fn cost(time: &Quantity, below: &Quantity, precision: f64) -> Result<Quantity> {
    let value = time.value.0 - below.value.0;
    let wide = time.half_width().zip(below.half_width()).map(|(a, b)| a.hypot(b));
    let interval = wide.map(|wide| (value - wide, value + wide));
    let samples = time.samples.min(below.samples);
    let both = time.converged && below.converged;
    let precise = wide.map_or(both, |wide| wide <= precision * value.abs());
    let evidence = ("difference", samples, precise);
    Ok(Quantity::new(value, interval, Unit::Second, evidence)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(ns: f64) -> Quantity {
        let ends = Some(((ns - 3.0) * 1e-9, (ns + 3.0) * 1e-9));
        Quantity::new(ns * 1e-9, ends, Unit::Second, ("", 5, true)).unwrap()
    }

    fn rows(kind: &str, name: &str, transport: &str, axes: &[&str], all: &[(u64, f64)]) -> Outcome {
        let row = |&(bytes, ns): &(u64, f64)| Row {
            place: axes.iter().map(|_| bytes.into()).collect(),
            cells: vec![Some(time(ns))],
            ..Row::default()
        };
        let columns = vec![Column::new("time", Unit::Second, "")];
        let axes = axes.iter().map(|&axis| axis.to_owned()).collect();
        let [kind, name, transport] = [kind, name, transport].map(str::to_owned);
        let rows = all.iter().map(row).collect();
        Rows { kind, name, transport, axes, columns, rows, ..Rows::default() }.into()
    }

    #[test]
    fn a_layer_stands_on_its_floor_and_on_the_layer_before_if_it_is_known_to() {
        let results = [
            rows(SERIES, "echo", "ucx:posix", &["bytes"], &[(8, 400.0), (1024, 900.0)]),
            rows(FLOOR, "uct_put", "ucx:posix", &[], &[(8, 100.0)]),
            rows(FLOOR, "uct_short", "ucx:posix", &[], &[(8, 300.0)]),
            rows(SERIES, "echo", "mpi", &["bytes"], &[(8, 450.0), (1024, 920.0)]),
        ];
        let costs = |stands| {
            let all = [("ucx:posix", Some("uct_short"), true), ("mpi", None, stands)];
            let made = layers(&results, "echo", &all, 0.5).unwrap();
            let all = made.results[0].as_rows().unwrap();
            let of = |row: &Row| {
                let cost = all.cell(row, "cost").map(|of| (of.value.0 * 1e9).round());
                (row.place[0].number().unwrap(), row.place[1].to_string(), cost)
            };
            all.rows.iter().map(of).collect::<Vec<_>>()
        };
        let expected = |small: Option<f64>, large: Option<f64>| {
            let of = |bytes, name: &str, cost| (bytes, name.to_owned(), cost);
            vec![
                of(8, "uct_short:posix", None),
                of(8, "ucx:posix", Some(100.0)),
                of(1024, "ucx:posix", None),
                of(8, "mpi", small),
                of(1024, "mpi", large),
            ]
        };
        assert_eq!(costs(true), expected(Some(50.0), Some(20.0)));
        assert_eq!(costs(false), expected(None, None));
        // A floor does not stand on the transport that is named before.
        let all = [("mpi", None, true), ("ucx:posix", Some("uct_short"), true)];
        let made = layers(&results, "echo", &all, 0.5).unwrap();
        let all = made.results[0].as_rows().unwrap();
        let has_cost = |row: &&Row| all.cell(row, "cost").is_some();
        let places: Vec<_> = all.rows.iter().filter(has_cost).map(|row| &row.place).collect();
        assert_eq!(places, [&vec![8_u64.into(), "ucx:posix".into()]]);
    }
}
