//! NetPIPE's output.

use crate::lines::{Line, Result};
use crate::table::{Family, Sections, Unit};
use crate::{TableError, shortened};

/// The parts of a result line before and after the arrow: `  1:   2 bytes  9000 times -->   1.23
/// Mbps in   12.40 usec`, and since version 5 with prefixes: `  1:   1.024 KB   9000 times -->
/// 1.230 Gbps  in   6.660 usecs`.
fn sides(text: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let (before, after) = text.split_once("times -->")?;
    let (_, sent) = before.rsplit_once(':')?;
    Some((sent.split_whitespace().collect(), after.split_whitespace().collect()))
}

pub(crate) fn tells(text: &str) -> bool {
    sides(text).is_some()
}

pub(crate) fn read(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    let dialect = &family.dialects[0];
    for (line, (sent, took)) in lines.iter().filter_map(|line| Some((line, sides(&line.text)?))) {
        let [number, prefix, _repeats] = sent.as_slice() else {
            return Err(
                line.wrong("the line needs a size, its unit and a count before 'times -->'")
            );
        };
        // Version 5's prefixes are powers of ten.
        let factor = match *prefix {
            "bytes" | "B" => 1.0,
            "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            _ => return Err(unknown_unit(line, "size", prefix)),
        };
        let (bytes, _) = line.cell("size", number).scaled_size(factor)?;
        let [_, _, "in", time, unit, ..] = took.as_slice() else {
            return Err(line.wrong("the line is cut off: no 'in … usec' at its end"));
        };
        let unit = Unit::named(unit)
            .filter(|unit| matches!(unit, Unit::Time(_)))
            .ok_or_else(|| unknown_unit(line, "time", unit))?;
        let row = line.cell("time", time).row(bytes, unit)?;
        // Three decimals of a megabyte do not give the exact bytes, so neighbouring sizes look the
        // same.
        if factor > 1e3 {
            tests.row(dialect, true, row.of_rounded_size(factor * 1e-3));
            if let Some(last) = tests.list.last_mut() {
                last.repeats = true;
            }
        } else {
            tests.row(dialect, true, row);
        }
    }
    Ok(())
}

fn unknown_unit(line: &Line, of: &str, unit: &str) -> TableError {
    line.wrong(format!("unknown unit '{}' of the {of}", shortened(unit)))
}
