//! NetPIPE's output.

use crate::lines::{Line, Result};
use crate::table::{Family, Sections, Unit, last_digit};
use crate::{TableError, shortened};

/// The parts of a result line before and after the arrow: `  1:   2 bytes  9000 times -->   1.23
/// Mbps in   12.40 usec`, and since version 5 with prefixes: `  1:   1.024 KB   9000 times -->
/// 1.230 Gbps  in   6.660 usecs`.
fn sides(text: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let (before, after) = text.split_once("times -->")?;
    let (_, sent) = before.rsplit_once(':')?;
    Some((sent.split_whitespace().collect(), after.split_whitespace().collect()))
}

/// The size and time of a line of np.out: bytes, 2²⁰ bit/s and seconds; since version 5 bytes, 10⁹
/// bit/s three times, and microseconds. That the rate is 8·bytes over the time shows which.
fn kept(text: &str) -> Option<(&str, &str, Unit)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (time, ns, bits) = match words[..] {
        [_, _, time] => (time, 1e9, 1_048_576.0),
        [_, _, _, _, time, ..] => (time, 1e3, 1e9),
        _ => return None,
    };
    let [size, rate, took] = [words[0], words[1], time].map(|word| word.parse::<f64>().ok());
    let (expected, took) = (8e9 * size? / (rate? * bits), took? * ns);
    let rounding = last_digit(time) * ns + expected * last_digit(words[1]) / rate?;
    let is_close = (took - expected).abs() <= 0.6 * rounding && rounding < expected;
    is_close.then_some((words[0], time, Unit::Time(ns)))
}

pub(crate) fn tells(text: &str) -> bool {
    sides(text).is_some() || kept(text).is_some()
}

/// Words of a mode, also of command lines, and why it is not read.
#[rustfmt::skip]
const MODES: [([&str; 4], &str); 3] = [
    (["integrity check", "Integrity check", " --integrity", " failures"], "a check of the data, or wrong data that it found, has no times"),
    (["both directions", "idirectional mode", "i-directional mode", " --bidir"], "the times are of messages both ways at once (run it without -2 or --bidir)"),
    (["treaming data in", "treaming in", "streaming mode", " --stream"], ""),
];

pub(crate) fn read(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    let mut dialect = &family.dialects[0];
    let has_kept = lines.iter().any(|line| kept(&line.text).is_some());
    for line in lines {
        match MODES.iter().find(|(texts, _)| texts.iter().any(|of| line.text.contains(of))) {
            Some((_, "")) => dialect = &family.dialects[1],
            Some((_, why)) => return Err(line.wrong(*why)),
            None => {}
        }
        if let Some((bytes, time, unit)) = kept(&line.text) {
            let bytes = line.cell("size", bytes).size()?;
            tests.row(&family.dialects[2], true, line.cell("time", time).row(bytes, unit)?);
        } else if has_kept && line.words().iter().all(|word| word.parse::<f64>().is_ok()) {
            return Err(line.wrong("the rate is not that of this size in this time"));
        }
        let Some((sent, took)) = sides(&line.text) else { continue };
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
        // Three decimals of a megabyte do not give the exact bytes, so neighbouring sizes look the
        // same.
        let step = if factor > 1e3 { factor * 1e-3 } else { 0.0 };
        let row = line.cell("time", time).row(bytes, unit)?.of_rounded_size(step);
        tests.row(dialect, true, row).repeats |= step > 0.0;
    }
    Ok(())
}

fn unknown_unit(line: &Line, of: &str, unit: &str) -> TableError {
    line.wrong(format!("unknown unit '{}' of the {of}", shortened(unit)))
}
