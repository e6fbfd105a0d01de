//! NetPIPE's `np.out`: bare columns. Up to version 3 bytes, Mbit/s and seconds; later bytes, three
//! rates and a time, from version 5 on in Gbit/s and microseconds. Nothing in the file says which:
//! but rate × time must give the size, and that holds for one pair of units only.

use super::rows::{Rows, size, time};
use super::text::{Line, Text};
use super::{HockneyTable, Timing, Tool};
use crate::TableError;

/// Bits per second and seconds that the columns may count.
const UNITS: [(f64, f64); 3] = [(1_048_576.0, 1.0), (1e6, 1.0), (1e9, 1e-6)];

/// Beyond rounding in print: the time and the rate may be of different trials.
const TOLERANCE: f64 = 0.03;

/// Whether all rows are numbers, and the first of them agree with one pair of units.
pub(super) fn tells(text: &Text) -> bool {
    let lines: Vec<&Line> = written(text).collect();
    let numbers = |line: &&Line| line.words().iter().all(|word| word.parse::<f64>().is_ok());
    !lines.is_empty() && lines.iter().all(numbers) && units(&lines).is_some()
}

fn written(text: &Text) -> impl Iterator<Item = &Line> {
    text.lines.iter().filter(|line| !line.text.trim().is_empty())
}

/// The pair of units in which most rows make sense.
fn units(lines: &[&Line]) -> Option<(f64, f64)> {
    UNITS.into_iter().find(|units| {
        2 * lines.iter().filter(|line| agrees(&line.words(), *units)).count() > lines.len()
    })
}

/// Whether rate × time may be the size, given how both were rounded.
fn agrees(words: &[&str], (rate_unit, time_unit): (f64, f64)) -> bool {
    let ([bytes, rate, time] | [bytes, rate, _, _, time]) = words else { return false };
    let (Ok(bytes), Some(rate), Some(time)) = (bytes.parse::<f64>(), printed(rate), printed(time))
    else {
        return false;
    };
    let size = |rate: f64, time: f64| rate * rate_unit * time * time_unit / 8.0;
    let (least, most) = (size(rate.0, time.0), size(rate.1, time.1));
    (least * (1.0 - TOLERANCE)..=most * (1.0 + TOLERANCE)).contains(&bytes)
}

/// The least and the greatest number that is printed so.
fn printed(word: &str) -> Option<(f64, f64)> {
    let number: f64 = word.parse().ok()?;
    let decimals = word.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 * 10f64.powi(-(decimals.min(300) as i32));
    Some(((number - half).max(0.0), number + half))
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let lines: Vec<&Line> = written(text).collect();
    let Some(units) = units(&lines) else { return Err(TableError::NoRows) };
    let mut rows = Rows::default();
    for line in lines {
        let words = line.words();
        let ([bytes, _, elapsed] | [bytes, _, _, _, elapsed]) = words.as_slice() else {
            let count = words.len();
            return Err(line.wrong(format!("{count} columns, where np.out has 3 or 5: it is cut")));
        };
        let bytes = size(line.number, "bytes", bytes)?;
        let time = time(line.number, "time", elapsed, units.1 * 1e9)?;
        if !agrees(&words, units) {
            return Err(line.wrong("its rate times its time is not its size, as in other rows"));
        }
        rows.timed(line.number, Timing::HalfRoundTrip)?;
        rows.once(line.number, bytes, time)?;
    }
    rows.note(super::netpipe::HALF);
    rows.finish(Tool::NetPipe)
}
