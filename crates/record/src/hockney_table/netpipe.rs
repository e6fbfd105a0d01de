//! The lines that NetPIPE prints: `  1:   2 bytes  9000 times -->   1.23 Mbps in   12.40 usec`, and
//! with prefixes from version 5 on: `  1:   1.024 KB   9000 times -->   1.230 Gbps  in   6.660 usecs`.

use super::rows::{Rows, nanoseconds, scaled_size, time};
use super::text::Text;
use super::{HockneyTable, Timing, Tool};
use crate::TableError;
use crate::table_error::shortened;

/// What NetPIPE's times are.
pub(super) const HALF: &str =
    "NetPIPE prints half of a round trip, unless it was asked to stream or to send both ways.";

const ARROW: &str = "times -->";

/// Any line of results.
pub(super) fn tells(line: &str) -> bool {
    line.split_once(ARROW).is_some_and(|(before, _)| before.trim_start().contains(':'))
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let mut rows = Rows::default();
    let mut rounded = false;
    for line in text.lines.iter().filter(|line| tells(&line.text)) {
        let Some((before, after)) = line.text.split_once(ARROW) else { continue };
        let Some((_, sent)) = before.split_once(':') else { continue };
        let sent: Vec<&str> = sent.split_whitespace().collect();
        let [number, prefix, _repeats] = sent.as_slice() else {
            return Err(line.wrong("it must have a size, its unit and a count before 'times -->'"));
        };
        // Version 5's prefixes are powers of ten.
        let factor_of_size = match *prefix {
            "bytes" | "B" => 1.0,
            "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            other => {
                let unit = shortened(other);
                return Err(line.wrong(format!("the size's unit '{unit}' is not known")));
            }
        };
        let (bytes, _) = scaled_size(line.number, "size", number, factor_of_size)?;
        let results: Vec<&str> = after.split_whitespace().collect();
        let [_, _, "in", elapsed, unit, ..] = results.as_slice() else {
            return Err(line.wrong("it is cut: no 'in … usec' at its end"));
        };
        let Some(factor) = nanoseconds(unit) else {
            let unit = shortened(unit);
            return Err(line.wrong(format!("the time's unit '{unit}' is not known")));
        };
        rows.timed(line.number, Timing::HalfRoundTrip)?;
        let time = time(line.number, "time", elapsed, factor)?;
        // Of a size in megabytes the three decimals are not its bytes: neighbours look alike.
        if matches!(*prefix, "MB" | "GB") {
            rounded = true;
            rows.repetition(line.number, bytes, time.of_rounded_size(bytes, factor_of_size * 1e-3));
        } else {
            rows.once(line.number, bytes, time)?;
        }
    }
    if rounded {
        rows.note("NetPIPE printed sizes from 1 MB on rounded to kilobytes; np.out has them all.");
    }
    rows.note(HALF);
    rows.finish(Tool::NetPipe)
}
