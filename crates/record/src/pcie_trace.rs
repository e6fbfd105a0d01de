//! Reads the trace of a PCIe analyser: CSV with a row for each packet, in time order.
//!
//! | column | content |
//! |---|---|
//! | `time_ns` | when the analyser saw the packet, from any origin |
//! | `direction` | `down` from the root complex to the network interface, or `up` |
//! | `type` | `MWr`, `MRd`, `CplD`, `ACK`, `UpdateFC`, …, in upper or lower case |
//! | `bytes` | bytes of data; may be empty, except for an `MWr` |
//! | `address` | hexadecimal; optional |
//! | `sequence` | number of the data link layer, modulo 4096 or not; for an `ACK` the last acknowledged; optional |
//!
//! Columns may have any order. Other columns, blank lines, and lines that begin with `#` are ignored.
//! Rows are processed one by one, so memory does not grow with the trace. A last row without a line end is left
//! out, since its last field may be truncated.

use std::io::Read;

use bandgap_model::pcie::{Direction, Packet, PacketKind, Trace};

use crate::TableError;
use crate::table_lines::{Cell, Header, Line, Lines, Result};

const EXPECTED: &str = "CSV whose first line names the columns \
                        time_ns,direction,type,bytes,address,sequence";

/// Reads a trace to its end.
///
/// # Errors
/// Any defect, with its line if it has one, including rows out of time order.
pub fn read_pcie_trace(source: impl Read) -> Result<Trace> {
    let mut lines = Lines::new(source);
    let mut next = || -> Result<Option<(Line, bool)>> {
        loop {
            let number = lines.number + 1;
            let Some(text) = lines.next_line()? else { return Ok(None) };
            let line = Line { number, text: text.to_owned() };
            if !line.is_comment() {
                return Ok(Some((line, lines.is_ended())));
            }
        }
    };
    let (first, _) = next()?.ok_or(TableError::Empty(EXPECTED))?;
    let header = Header::new(&first, ',')?;
    let columns = Columns::of(&header)?;
    let mut trace = Trace::default();
    // Times of the first row and of the last one.
    let mut times: Option<(i128, i128)> = None;
    while let Some((line, ended)) = next()? {
        let row = header.row(&line);
        if !ended && (trace.rows > 0 || row.is_err()) {
            let cut = |_| line.wrong("the trace ends in the middle of it");
            row.and_then(|row| columns.packet(&line, &row)).map_err(cut)?;
            break;
        }
        let (time, packet) = columns.packet(&line, &row?)?;
        let (begin, last) = times.unwrap_or((time, time));
        if time < last {
            return Err(
                line.wrong("it is earlier than the row before: rows must be in the order of time")
            );
        }
        times = Some((begin, time));
        // 2⁶⁴ ps are 213.504 days.
        let time = u64::try_from(time - begin)
            .map_err(|_| line.wrong("it is more than 213.5 days after the first row"))?;
        trace.take(Packet { time, ..packet });
    }
    if trace.rows == 0 {
        return Err(TableError::NoRows);
    }
    trace.finish();
    let still = trace.streams().into_iter().flatten().find(|of| of.1.mean() == Some(0.0));
    if let Some((name, _)) = still {
        let why = format!("until here no time passes between packets ({name})");
        return Err(TableError::Line(lines.number, why));
    }
    Ok(trace)
}

/// Places of the columns.
struct Columns {
    time: usize,
    direction: usize,
    kind: usize,
    bytes: usize,
    address: Option<usize>,
    number: Option<usize>,
}

impl Columns {
    fn of(header: &Header<'_>) -> Result<Columns> {
        let [time, direction, kind, bytes] =
            header.needs(["time_ns", "direction", "type", "bytes"])?;
        let (address, number) = (header.find("address")?, header.find("sequence")?);
        Ok(Columns { time, direction, kind, bytes, address, number })
    }

    /// The time of a row in picoseconds, and its packet.
    fn packet(&self, line: &Line, row: &csv::StringRecord) -> Result<(i128, Packet)> {
        let time = line.cell("time_ns", &row[self.time]);
        let time =
            picoseconds(time.text).ok_or_else(|| time.wrong("it must be a decimal number"))?;
        let kind = kind(&row[self.kind]);
        let direction = match row[self.direction].to_ascii_lowercase().as_str() {
            "down" | "downstream" => Direction::Down,
            "up" | "upstream" => Direction::Up,
            _ => {
                let cell = line.cell("direction", &row[self.direction]);
                return Err(cell.wrong("it must be down (to the network interface) or up"));
            }
        };
        let cell = |name, at: Option<usize>| line.cell(name, at.map_or("", |at| &row[at]));
        let bytes = whole(cell("bytes", Some(self.bytes)), 10)?;
        if kind == PacketKind::Write && bytes.is_none() {
            return Err(cell("bytes", Some(self.bytes)).wrong("a write has some"));
        }
        let packet = Packet {
            time: 0,
            direction,
            kind,
            bytes: bytes.unwrap_or(0).min(u64::from(u32::MAX)) as u32,
            address: whole(cell("address", self.address), 16)?,
            number: whole(cell("sequence", self.number), 10)?,
        };
        Ok((time, packet))
    }
}

/// A whole number, hexadecimal after `0x`; `None` for an empty cell or `-`.
fn whole(cell: Cell<'_>, radix: u32) -> Result<Option<u64>> {
    let text = cell.text;
    if matches!(text, "" | "-") {
        return Ok(None);
    }
    let parsed = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(&digits.replace([':', '_'], ""), 16),
        None => u64::from_str_radix(text, radix),
    };
    parsed.map(Some).map_err(|_| cell.wrong("it must be a whole number"))
}

/// The kind of a packet. Unknown types do not matter.
fn kind(text: &str) -> PacketKind {
    /// Prefixes of the types of the transaction layer.
    const TRANSACTIONS: [&str; 12] =
        ["mrd", "cpl", "msg", "io", "cfg", "fetchadd", "swap", "cas", "mem", "tlp", "dmwr", "tcfg"];
    let text = text.to_ascii_lowercase();
    match () {
        () if text.starts_with("mwr") => PacketKind::Write,
        () if text.starts_with("ack") => PacketKind::Ack,
        () if TRANSACTIONS.iter().any(|begin| text.starts_with(begin)) => PacketKind::Transaction,
        () => PacketKind::Other,
    }
}

/// A decimal number of nanoseconds in whole picoseconds, rounded towards zero.
fn picoseconds(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    // So many digits always fit.
    if !all(whole) || !all(fraction) || whole.len() + fraction.len() == 0 || whole.len() > 24 {
        return None;
    }
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    let time: i128 = format!("0{whole}{fraction}").parse().ok()?;
    Some(if negative { -time } else { time })
}
