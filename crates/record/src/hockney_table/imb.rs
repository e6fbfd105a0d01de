//! What Intel's MPI Benchmarks print: `#bytes #repetitions t[usec] Mbytes/sec` for one benchmark
//! after another.

use super::Timing;
use super::headed::{self, Columns};
use super::table::{Meaning, Table, Unit};
use crate::table_error::shortened;
use crate::table_lines::{Line, Result};

const PING_PONG: Meaning = Meaning::half("IMB", "IMB's PingPong prints half of a round trip.");

const PING_PING: Meaning = Meaning::new("IMB", Timing::Exchange, "");

/// The line of headings.
pub(super) fn tells(line: &Line) -> bool {
    line.words().starts_with(&["#bytes", "#repetitions"])
}

/// The benchmark that begins with a line.
fn benchmark(line: &Line) -> Option<&str> {
    let name = line.text.trim_start_matches(['#', ' ']).strip_prefix("Benchmarking ")?;
    Some(name.split_whitespace().next().unwrap_or(""))
}

/// Reads PingPong, or PingPing where there is no PingPong.
pub(super) fn read(lines: &[Line], table: &mut Table) -> Result {
    let sections = lines.chunk_by(|_, next| benchmark(next).is_none()).filter_map(|lines| {
        let headings = lines.iter().find(|line| tells(line))?;
        Some((benchmark(&lines[0]).unwrap_or(""), headings, lines))
    });
    let sections: Vec<(&str, &Line, &[Line])> = sections.collect();
    let first = |names: &[&str]| sections.iter().map(|s| s.0).find(|name| names.contains(name));
    let wanted = first(&["PingPong", ""]).or_else(|| first(&["PingPing"]));
    let meaning = if wanted == Some("PingPing") { &PING_PING } else { &PING_PONG };
    for (name, headings, lines) in &sections {
        let shown = shortened(name);
        if wanted == Some(name) {
            headed::read(|line| columns(line, meaning), lines, table)?;
        } else if wanted.is_some() {
            table.note(format!("The file holds {shown} too; it is left out."));
        } else {
            return Err(headings.wrong(format!(
                "the IMB benchmark '{shown}' has no time of a single message (use PingPong)"
            )));
        }
    }
    if wanted == Some("") {
        table.note("The benchmark is not named in the file: its times are taken for PingPong's.");
    }
    Ok(())
}

fn columns(line: &Line, meaning: &'static Meaning) -> Result<Option<Columns>> {
    if !tells(line) {
        return Ok(None);
    }
    let words = line.words();
    let unit = |word: &&str| Unit::of_time(word.strip_prefix("t[")?.strip_suffix(']')?);
    let time = words.iter().enumerate().find_map(|(place, word)| Some((place, unit(word)?)));
    let Some((place, unit)) = time else { return Err(line.lacks("t[usec]", words)) };
    let (bytes, time, count) = (("#bytes", 0), ("t", place), words.len()..=usize::MAX);
    Ok(Some(Columns { bytes, time, unit, count, prefixed: None, meaning }))
}
