//! What Intel's MPI Benchmarks print for PingPong: `#bytes #repetitions t[usec] Mbytes/sec`.

use super::rows::{Rows, nanoseconds, size, time};
use super::text::{Line, Text};
use super::{HockneyTable, Timing, Tool};
use crate::TableError;
use crate::table_error::shortened;

/// The line of headings.
pub(super) fn tells(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("#bytes") && words.next() == Some("#repetitions")
}

/// The table of one benchmark.
struct Section<'a> {
    /// Its name; empty where none was printed.
    name: &'a str,
    heading: &'a Line,
    rows: Vec<&'a Line>,
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let sections = sections(text);
    let wanted = |section: &&Section| ["PingPong", ""].contains(&section.name);
    let name = match sections.iter().find(wanted) {
        Some(section) => section.name,
        None => "PingPing",
    };
    let mut rows = Rows::default();
    for section in &sections {
        let line = section.heading.number;
        if section.name == name {
            let timing = if name == "PingPing" { Timing::Exchange } else { Timing::HalfRoundTrip };
            rows.timed(line, timing)?;
            if timing == Timing::HalfRoundTrip {
                rows.note("IMB's PingPong prints half of a round trip.");
            }
            add(&mut rows, section)?;
        } else if sections.iter().all(|section| section.name != name) {
            return Err(section.heading.wrong(format!(
                "the IMB benchmark '{}' has no time of a single message (use PingPong)",
                shortened(section.name)
            )));
        } else {
            let other = shortened(section.name);
            rows.note(format!("The file holds {other} too; it is left out."));
        }
    }
    if name.is_empty() {
        rows.note("The benchmark is not named in the file: its times are taken for PingPong's.");
    }
    rows.finish(Tool::Imb)
}

fn sections(text: &Text) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut name = "";
    let mut open = false;
    for line in &text.lines {
        let comment = line.text.trim_start_matches(['#', ' ']);
        if let Some(benchmark) = comment.strip_prefix("Benchmarking ") {
            name = benchmark.split_whitespace().next().unwrap_or("");
            open = false;
        } else if tells(&line.text) {
            sections.push(Section { name, heading: line, rows: Vec::new() });
            open = true;
        } else if line.is_row()
            && open
            && let Some(section) = sections.last_mut()
        {
            section.rows.push(line);
        }
    }
    sections
}

fn add(rows: &mut Rows, section: &Section<'_>) -> Result<(), TableError> {
    let heading = section.heading.words();
    let line = section.heading.number;
    let unit = |word: &&str| {
        word.strip_prefix("t[").and_then(|unit| unit.strip_suffix(']')).and_then(nanoseconds)
    };
    let time_at = heading.iter().position(|word| unit(word).is_some());
    let Some((place, factor)) = time_at.and_then(|place| Some((place, unit(&heading[place])?)))
    else {
        let found = shortened(&heading.join(", "));
        return Err(TableError::MissingColumn { line, column: "t[usec]", found });
    };
    for line in &section.rows {
        let words = line.words();
        let [bytes, ..] = words.as_slice() else { continue };
        let Some(number) = words.get(place) else {
            return Err(line.wrong(format!(
                "it is cut: {} of {} columns",
                words.len(),
                heading.len()
            )));
        };
        let bytes = size(line.number, "#bytes", bytes)?;
        rows.once(line.number, bytes, time(line.number, "t", number, factor)?)?;
    }
    Ok(())
}
