//! NetPIPE: the lines that it prints, and its `np.out`.

use crate::lines::{Line, Result};
use crate::table::{Family, MICROSECONDS, Sections, Unit, last_digit};
use crate::{TableError, shortened};

/// The two sides of a line of results: `  1:   2 bytes  9000 times -->   1.23 Mbps in   12.40 usec`,
/// and with prefixes from version 5 on: `  1:   1.024 KB   9000 times -->   1.230 Gbps  in   6.660
/// usecs`.
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
            return Err(line.wrong("it must have a size, its unit and a count before 'times -->'"));
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
            return Err(line.wrong("it is cut: no 'in … usec' at its end"));
        };
        let unit = Unit::named(unit)
            .filter(|unit| matches!(unit, Unit::Time(_)))
            .ok_or_else(|| unknown_unit(line, "time", unit))?;
        let row = line.cell("time", time).row(bytes, unit)?;
        // Three decimals of a megabyte do not give the bytes: neighbouring sizes look the same.
        if factor > 1e3 {
            tests.row(dialect, true, row.of_rounded_size(factor * 1e-3));
            if let Some(last) = tests.list.last_mut() {
                (last.repeats, last.rounded) = (true, true);
            }
        } else {
            tests.row(dialect, true, row);
        }
    }
    Ok(())
}

fn unknown_unit(line: &Line, of: &str, unit: &str) -> TableError {
    line.wrong(format!("the {of}'s unit '{}' is not known", shortened(unit)))
}

/// Bits per second and the unit of time that the columns of `np.out` may count. Up to version 3 they
/// are bytes, Mbit/s and seconds; later bytes, three rates and a time, from version 5 on in Gbit/s
/// and microseconds. The file does not say which. But rate × time must give the size, and it does so for
/// one pair of units only.
const UNITS: [(f64, Unit); 3] =
    [(1_048_576.0, Unit::Time(1e9)), (1e6, Unit::Time(1e9)), (1e9, MICROSECONDS)];

/// Allowed besides rounding: the time and the rate may be of different trials.
const TOLERANCE: f64 = 0.03;

/// The pair of units in which most rows of `np.out` make sense, if all lines are numbers.
pub(crate) fn units(lines: &[Line]) -> Option<(f64, Unit)> {
    let rows = || lines.iter().map(Line::words).filter(|words| !words.is_empty());
    let agreeing = |units| rows().filter(|words| agrees(words, units)).count();
    let numbers = rows().flatten().all(|word| word.parse::<f64>().is_ok());
    let count = rows().count();
    UNITS.into_iter().find(|units| numbers && 2 * agreeing(*units) > count)
}

/// Whether rate × time may be the size, given how both were rounded.
fn agrees(words: &[&str], (rate_unit, time_unit): (f64, Unit)) -> bool {
    let ([bytes, rate, time] | [bytes, rate, _, _, time]) = words else { return false };
    let numbers = [bytes, rate, time].map(|word| word.parse::<f64>().unwrap_or(f64::NAN));
    let ([bytes, ..], Unit::Time(nanoseconds)) = (numbers, time_unit) else { return false };
    // What rounding to the last digit may hide.
    let open = [0.0, last_digit(rate) / 2.0, last_digit(time) / 2.0];
    let least = (numbers[1] - open[1]).max(0.0) * (numbers[2] - open[2]).max(0.0);
    let most = (numbers[1] + open[1]) * (numbers[2] + open[2]);
    let bytes_of = |product: f64| product * rate_unit * (nanoseconds * 1e-9) / 8.0;
    (bytes_of(least) * (1.0 - TOLERANCE)..=bytes_of(most) * (1.0 + TOLERANCE)).contains(&bytes)
}

/// Reads `np.out`.
pub(crate) fn read_np_out(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    let Some(units) = units(lines) else { return Ok(()) };
    for line in lines.iter().filter(|line| !line.text.trim().is_empty()) {
        let words = line.words();
        let ([bytes, _, time] | [bytes, _, _, _, time]) = words.as_slice() else {
            let count = words.len();
            return Err(line.wrong(format!("{count} columns, where np.out has 3 or 5: it is cut")));
        };
        let bytes = line.cell("bytes", bytes).size()?;
        let row = line.cell("time", time).row(bytes, units.1)?;
        if !agrees(&words, units) {
            return Err(line.wrong("its rate times its time is not its size, as in other rows"));
        }
        tests.row(&family.dialects[0], true, row);
    }
    Ok(())
}
