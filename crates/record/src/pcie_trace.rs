//! Reads the trace of a PCIe analyser: CSV, a row for each packet, in the order of time.
//!
//! | column | content |
//! |---|---|
//! | `time_ns` | when the analyser saw the packet; also `time_ps`, `time_us`, `time_ms` or `time_s`, from any begin |
//! | `direction` | `down` from the root complex to the network interface, `up` from there |
//! | `type` | `MWr`, `MRd`, `CplD`, `ACK`, `UpdateFC`, …, in letters of either case |
//! | `bytes` | of data; may be empty where there are none, but not of an `MWr` |
//! | `address` | hexadecimal; the column may be missing, and a cell be empty |
//! | `sequence` or `tag` | may be missing; see [`Numbers`] |
//!
//! Columns may stand in any order; further ones, blank lines, and lines that begin with `#` are ignored.
//! Rows are handed on one by one: memory does not grow with the trace. A last row without a line end is left out,
//! since its last field may be cut.

mod columns;
mod values;

use std::io::Read;

use bandgap_model::pcie::{Given, Kind, Packet, Trace};

use crate::TableError;
use crate::table_lines::{Line, Lines, Result};
use columns::Columns;
use values::{Value, address, bytes, direction, kind, number, picoseconds};

#[cfg(doc)]
use bandgap_model::pcie::Numbers;

const EXPECTED: &str = "CSV whose first line names the columns \
                        time_ns,direction,type,bytes,address,sequence";

/// Why a single row that may be cut is no trace.
const ALONE: &str = "the line has no end, so its last field may be cut, and there is no other row";

/// Reads a trace to its end. Posts, completions and payloads are told apart by these addresses, or by
/// themselves.
///
/// # Errors
/// Every defect is one, with its line where it has one. Rows that are not in the order of time are one too. A last row
/// without a line end is none, unless it is the only one: it is left out.
pub fn read_pcie_trace(source: impl Read, given: Given) -> Result<Trace> {
    let mut lines = Lines::new(source);
    let columns = loop {
        let number = lines.number() + 1;
        let Some(text) = lines.next_line()? else {
            return Err(TableError::Empty { expected: EXPECTED });
        };
        let line = Line { number, text: text.to_owned() };
        if !line.is_comment() {
            break Columns::of(&line)?;
        }
    };
    let mut trace = Trace::new(given, columns.numbers);
    let mut clock = Clock::default();
    let mut any = false;
    loop {
        let number = lines.number() + 1;
        let Some(text) = lines.next_line()? else { break };
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let packet = columns.row(text).and_then(|row| {
            let (time, packet) = packet(&columns, &row)?;
            Ok(Packet { time: clock.at(number, time)?, ..packet })
        });
        match packet {
            Ok(packet) if lines.is_ended() => {
                trace.take(number, packet);
                any = true;
            }
            Ok(_) if any => trace.leave_out(number),
            Ok(_) => return Err(TableError::Line { line: number, why: ALONE.to_owned() }),
            Err(why) => {
                let cut = match lines.is_ended() {
                    true => "",
                    false => "; the trace ends in the middle of this line",
                };
                return Err(TableError::Line { line: number, why: why + cut });
            }
        }
    }
    if !any {
        return Err(TableError::NoRows);
    }
    Ok(trace)
}

/// What a row says, its time apart; or what is wrong with it.
fn packet(columns: &Columns, row: &columns::Row<'_>) -> Value<(i128, Packet)> {
    let kind = kind(row.kind);
    let packet = Packet {
        time: 0,
        direction: direction(row.direction)?,
        kind,
        bytes: bytes(row.bytes, kind == Kind::Write)?,
        address: address(row.address)?,
        number: number(columns.number_name(), row.number)?,
    };
    Ok((picoseconds(columns.time, row.time)?, packet))
}

/// The times of rows, which ascend.
#[derive(Default)]
struct Clock {
    first: Option<i128>,
    /// The time of the last row, and its line.
    last: (i128, u64),
}

impl Clock {
    /// Picoseconds since the first row.
    fn at(&mut self, line: u64, time: i128) -> Value<u64> {
        let first = *self.first.get_or_insert(time);
        let (last, before) = self.last;
        if before > 0 && time < last {
            return Err(format!(
                "it is {} ns earlier than line {before}: rows must be in the order of time",
                (last - time) as f64 / 1e3
            ));
        }
        self.last = (time, line);
        // 2⁶⁴ ps are 213.504 days.
        u64::try_from(time - first).map_err(|_| {
            "it is more than 213.5 days after the first row: times are read no further".to_owned()
        })
    }
}
