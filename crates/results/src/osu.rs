//! A run as text of the OSU benchmarks, for what reads theirs.

use std::fmt::Write;

use bandgap_record::{Place, Row, Rows};

use crate::run::{Run, context};

/// Columns under a heading of OSU's: ours, with the factor to its unit.
type Columns = (&'static str, &'static [(&'static str, f64)]);
const LATENCY: Columns = ("# Size          Latency (us)", &[("time", 1e6)]);
const MEAN: Columns = ("# Size       Avg Latency(us)", &[("time", 1e6)]);
const BANDWIDTH: Columns = ("# Size      Bandwidth (MB/s)", &[("bandwidth", 1e-6)]);
const RATE: Columns =
    ("# Size                  MB/s        Messages/s", &[("bandwidth", 1e-6), ("rate", 1.0)]);

/// Series, and the title and the columns of OSU's test of the same operation.
#[rustfmt::skip]
const TESTS: [(&str, &str, Columns); 15] = [
    ("comms1", "Latency", LATENCY),
    ("echo", "Latency", LATENCY),
    ("stream", "Bandwidth", BANDWIDTH),
    ("bidirectional", "Bi-Directional Bandwidth", BANDWIDTH),
    ("broadcast", "Broadcast Latency", MEAN),
    ("all_reduce", "Allreduce Latency", MEAN),
    ("global_sum", "Allreduce Latency", MEAN),
    ("all_gather", "Allgather Latency", MEAN),
    ("all_to_all", "All-to-All Personalized Exchange Latency", MEAN),
    ("reduce_scatter", "Reduce_scatter Latency", MEAN),
    ("reduce", "Reduce Latency", MEAN),
    ("gather", "Gather Latency", MEAN),
    ("scatter", "Scatter Latency", MEAN),
    ("barrier", "Barrier Latency", MEAN),
    ("synch1", "Barrier Latency", MEAN),
];

/// The series with whose size OSU means the block of a rank, where ours is of all blocks.
const OF_BLOCKS: [&str; 4] = ["all_gather", "all_to_all", "gather", "scatter"];

/// All series that are tests of OSU too, one table for each number of ranks and algorithm; empty
/// without any. The columns are those of version 5.9, with more digits.
pub fn osu(run: &Run) -> String {
    let mut text = String::new();
    for rows in context(run).of::<Rows>().filter(|rows| rows.kind == "series") {
        let Some(test) = TESTS.iter().find(|(series, ..)| *series == rows.name) else { continue };
        let other = |row: &Row| {
            let places = rows.axes.iter().zip(&row.place);
            let places = places.filter(|(axis, _)| *axis != "bytes");
            places.map(|(axis, at)| format!("{axis} {at}")).collect::<Vec<_>>().join(", ")
        };
        for (which, of) in crate::by_key(rows.rows.iter().map(|row| (other(row), row))) {
            table(rows, test, &which, &of, &mut text);
        }
    }
    text
}

fn table(
    rows: &Rows,
    &(series, title, columns): &(&str, &str, Columns),
    which: &str,
    of: &[&Row],
    text: &mut String,
) {
    let number = |row, axis: &str| rows.place(row, axis).and_then(Place::number);
    let ranks = of.first().and_then(|row| number(row, "ranks")).unwrap_or(2);
    let several = series == "stream" && ranks > 2;
    let title = if several { "Multiple Bandwidth / Message Rate" } else { title };
    let (heading, columns) = if several { RATE } else { columns };
    let size = |row| {
        let blocks = if OF_BLOCKS.contains(&series) { ranks.max(1) } else { 1 };
        number(row, "bytes").filter(|of| of.is_multiple_of(blocks)).map(|of| of / blocks)
    };
    let sized = of.iter().any(|row| size(row).is_some());
    let mut lines = format!("\n# OSU MPI {title} Test v5.9\n# bandgap: {} {which}\n", rows.id());
    if several {
        let window = of.first().and_then(|row| rows.label(row, "window"));
        let window = window.and_then(Place::number).unwrap_or_default();
        lines += &format!("# [ pairs: {} ] [ window size: {window} ]\n", ranks / 2);
    }
    lines += if sized { heading } else { "# Avg Latency(us)" };
    for row in of {
        let cells = columns.iter().map(|(name, times)| Some(rows.cell(row, name)?.value.0 * times));
        let Some(cells) = cells.collect::<Option<Vec<_>>>() else { continue };
        let size = size(row).map(|size| size.to_string());
        // OSU's sizes are whole blocks.
        let Some(size) = size.or((!sized).then(String::new)) else { continue };
        let _ = write!(lines, "\n{size:<10}");
        cells.iter().for_each(|cell| {
            let _ = write!(lines, "{cell:>20.6}");
        });
    }
    *text += &lines;
    text.push('\n');
}
