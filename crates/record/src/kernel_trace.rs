//! Reads the kernel's own text of a trace: its events in the order of time.
//!
//! ```text
//!          bandgap-2961    [000] ..... 158169874674215: sys_sendto -> 0x10
//!          bandgap-2962    [001] ..s1. 158169874694468: sk_data_ready: family=2 protocol=6 func=sock_def_readable
//! CPU:1 [LOST 123 EVENTS]
//! ##### CPU 1 buffer started ####
//! ```
//!
//! A line has the thread's name and number, the processor, marks, the time, the event and its fields. Lines that begin with
//! `#` are comments, but for what they say of events that were lost. Events are handed on one by one: memory does not grow with the trace.
//!
//! *Source*: the kernel's `kernel/trace/trace_output.c`; of calls of the system, `trace_syscalls.c`.

use std::io::Read;

use bandgap_model::kernel_path::{Call, Event, What, event};

use crate::TableError;
use crate::table_lines::{Lines, Result};
use bandgap_import::shortened;

/// Events are read no further: many times what a run makes.
const MOST: u64 = 20_000_000;

/// Reads a trace to its end and hands its events to `take`. Its times are in ticks of so many nanoseconds, or in seconds where
/// there is no tick. The text `batch` in it begins a batch. Events that are none of a message's way are left out.
///
/// # Errors
/// Every defect is one, with its line. Lines that are not in the order of time are one too.
pub fn read_kernel_trace(
    source: impl Read,
    ns_per_tick: Option<f64>,
    batch: &str,
    mut take: impl FnMut(&Event),
) -> Result {
    let mut lines = Lines::new(source);
    let mut clock = Clock { ns_per_tick, first: None, last: (0, 0) };
    loop {
        let number = lines.number() + 1;
        let Some(text) = lines.next_line()? else { return Ok(()) };
        let text = text.trim();
        let wrong = |why: String| TableError::Line { line: number, why };
        if number > MOST {
            return Err(wrong(format!("a trace is read no further than {MOST} lines")));
        }
        if let Some(lost) = lost(text) {
            take(&Event { thread: 0, ns: 0.0, what: What::Lost(lost.map_err(wrong)?) });
            continue;
        }
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let line = Line::of(text).map_err(wrong)?;
        let ns = clock.at(number, line.time).map_err(wrong)?;
        if let Some(what) = what(line.event, batch).map_err(wrong)? {
            take(&Event { thread: line.thread, ns, what });
        }
    }
}

type Found<T> = std::result::Result<T, String>;

/// The parts of a line.
struct Line<'a> {
    thread: u32,
    time: &'a str,
    event: &'a str,
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Found<Self> {
        let expected = || {
            format!(
                "'{}' is no event: expected NAME-NUMBER [CPU] MARKS TIME: EVENT",
                shortened(text)
            )
        };
        // A thread's name may hold brackets too.
        let is_cpu = |text: &&str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let parts = text.match_indices(" [").find_map(|(at, bracket)| {
            let (cpu, rest) = text[at + bracket.len()..].split_once(']')?;
            Some((&text[..at], Some(cpu).filter(is_cpu)?, rest))
        });
        let (task, _, rest) = parts.ok_or_else(expected)?;
        let (_, thread) = task.trim_end().rsplit_once('-').ok_or_else(expected)?;
        let (before, event) = rest.split_once(": ").ok_or_else(expected)?;
        let time = before.split_whitespace().next_back().ok_or_else(expected)?;
        let thread = thread.parse().map_err(|_| expected())?;
        Ok(Self { thread, time, event: event.trim() })
    }
}

/// The times of lines, which ascend.
struct Clock {
    ns_per_tick: Option<f64>,
    first: Option<u64>,
    /// The time of the last line, and its number.
    last: (u64, u64),
}

impl Clock {
    /// Nanoseconds since the first line.
    fn at(&mut self, line: u64, text: &str) -> Found<f64> {
        let (time, ns) = match self.ns_per_tick {
            Some(ns) => (text.parse().ok(), ns),
            // Seconds, and microseconds of six digits.
            None => (microseconds(text), 1e3),
        };
        let expected = if self.ns_per_tick.is_some() { "ticks" } else { "seconds with six digits" };
        let time =
            time.ok_or_else(|| format!("its time is '{}': expected {expected}", shortened(text)))?;
        let first = *self.first.get_or_insert(time);
        let (last, before) = self.last;
        if time < last {
            return Err(format!(
                "it is {} ns earlier than line {before}: events must be in the order of time",
                (last - time) as f64 * ns
            ));
        }
        self.last = (time, line);
        Ok((time - first) as f64 * ns)
    }
}

fn microseconds(text: &str) -> Option<u64> {
    let (seconds, parts) = text.split_once('.')?;
    let parts: u64 = parts.parse().ok().filter(|_| parts.len() == 6)?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(parts)
}

/// How many events were lost, of a line that says so: one among the events, or the header, or the line before the first event of
/// a processor of which earlier ones were overwritten. How many these were says the header.
fn lost(text: &str) -> Option<Found<u64>> {
    let number = |text: &str| {
        let text = text.trim();
        text.parse::<u64>().map_err(|_| format!("'{}' events are no number", shortened(text)))
    };
    if let Some(header) = text.strip_prefix("# entries-in-buffer/entries-written: ") {
        let (kept, written) = header.split_whitespace().next()?.split_once('/')?;
        let lost = number(kept).and_then(|kept| Ok(number(written)?.saturating_sub(kept)));
        return Some(lost).filter(|lost| *lost != Ok(0));
    }
    if text.starts_with("##### CPU ") && text.ends_with(" buffer started ####") {
        return Some(Ok(0));
    }
    let count = text.strip_prefix("CPU:")?.split_once(" [LOST ")?.1;
    Some(match count.strip_suffix("EVENTS]").map(str::trim) {
        // The kernel does not always know how many.
        Some("") => Ok(1),
        Some(count) => number(count),
        None => Err(format!("'{}' does not say what was lost", shortened(text))),
    })
}

/// What a line says happened; nothing where that is not on a message's way.
fn what(text: &str, batch: &str) -> Found<Option<What>> {
    if let Some(said) = text.strip_prefix("tracing_mark_write: ") {
        return Ok((said.trim() == batch).then_some(What::Batch));
    }
    if let Some(call) = text.strip_prefix("sys_") {
        return of_call(call);
    }
    let (name, _) = text.split_once(':').unwrap_or((text, ""));
    Ok(event(name).map(What::Passes))
}

/// `sendto(fd: 7, buff: 0x7fff3ee08eb0, len: 0x28, …)`, or `sendto -> 0x28`.
fn of_call(text: &str) -> Found<Option<What>> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (call, length) = match name {
        "sendto" => (Call::Send, "len: "),
        "recvfrom" => (Call::Receive, "size: "),
        _ => return Ok(None),
    };
    if let Some(returned) = rest.strip_prefix(" -> ") {
        // Negative numbers are errors.
        let returned = hexadecimal(returned.trim()).map(|bits| bits as i64);
        return Ok(Some(What::Returns(call, returned?)));
    }
    let fields = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let length =
        fields.and_then(|fields| fields.split(", ").find_map(|field| field.strip_prefix(length)));
    match length {
        Some(length) => Ok(Some(What::Enters(call, hexadecimal(length)?))),
        None => Err(format!("'{}' does not say of how many bytes it is", shortened(text))),
    }
}

fn hexadecimal(text: &str) -> Found<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16)
        .map_err(|_| format!("'{}' is no hexadecimal number", shortened(text)))
}

#[cfg(test)]
mod tests;
