//! The two standard streams, whose readers may be gone.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};

use bandgap_host::standard_output;
use bandgap_launch::{Exit, Failure, Result};
use bandgap_report::{ascii, printable};

use crate::layout::is_ascii;

/// Writes to standard output; a reader that closed it early has read enough.
///
/// # Errors
/// Standard output is closed or fails in another way.
pub fn print(text: &[u8]) -> Result<()> {
    if text.is_empty() { Ok(()) } else { printed(|| io::stdout().write_all(text)) }
}

/// As [`print`], for a function that writes by itself.
///
/// # Errors
/// As [`print`].
pub fn printed(write: impl FnOnce() -> io::Result<()>) -> Result<()> {
    let failed = |why: &dyn fmt::Display| {
        Failure::new(Exit::Output, format!("write to standard output: {why}"))
    };
    if standard_output::was_closed() {
        return Err(failed(&"it is closed"));
    }
    // A flush at the end of the program would fail silently.
    match write().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(failed(&error)),
        _ => Ok(()),
    }
}

/// Writes a line to standard error, and ignores failures so that no measurement is lost. Names in the line may come from a
/// file or a peer, so it is made printable.
pub fn tell(what: fmt::Arguments<'_>) {
    tell_lines([what.to_string()]);
}

/// Prints a failure and its hint.
pub fn tell_failure(failure: &Failure) {
    let hint = failure.hint.iter().map(|hint| format!("  {hint}"));
    tell_lines([format!("bandgap: failed to {}", failure.what)].into_iter().chain(hint));
}

/// Writes lines at once: a launcher may end this process, or mix its lines with those of others.
fn tell_lines(lines: impl IntoIterator<Item = String>) {
    let is_ascii = is_ascii(io::stderr().is_terminal());
    let line = |of: String| {
        let of = of.replace('\u{a0}', " ");
        printable(&if is_ascii { ascii(&of) } else { of }).to_string() + "\n"
    };
    let _ = io::stderr().write_all(lines.into_iter().map(line).collect::<String>().as_bytes());
}
