//! The two standard streams. Whoever reads one of them may be gone.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bandgap_host::standard_output;
use bandgap_launch::{Exit, Failure};
use bandgap_report::printable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};

/// Writes to standard output; a reader that closed it early has read enough.
///
/// # Errors
/// Standard output is closed or fails in another way.
pub fn print(text: &[u8]) -> Result<(), Failure> {
    if text.is_empty() { Ok(()) } else { printed(|| write_all(text)) }
}

/// Writes to standard output. Whoever it is shared with may have made it one that does not wait: then this does.
fn write_all(mut text: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.flush()?;
    while !text.is_empty() {
        match retry_on_intr(|| rustix::io::write(&output, text)) {
            Ok(written) => text = &text[written..],
            Err(Errno::AGAIN) => {
                retry_on_intr(|| poll(&mut [PollFd::new(&output, PollFlags::OUT)], None))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The same for what prints by itself.
///
/// # Errors
/// As [`print`].
pub fn printed(write: impl FnOnce() -> io::Result<()>) -> Result<(), Failure> {
    let failed = |why: &dyn fmt::Display| {
        Failure::new(Exit::Output, format!("write to standard output: {why}"))
    };
    if standard_output::was_closed() {
        return Err(failed(&"it is closed"));
    }
    // What is left in the buffer at the end of the program fails without a word.
    match write().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(failed(&error)),
        _ => Ok(()),
    }
}

/// How long a message waits for a reader of standard error who does not read: a stopped terminal, a full pipe.
const PATIENCE: Duration = Duration::from_secs(1);
/// Where a pipe or a terminal has room at all, it has room for so many bytes.
const AT_ONCE: usize = 200;

/// What standard error had no room for. It is told first as soon as there is room.
static UNREAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Tells whoever reads standard error. A reader who is gone, or who does not read for a second, is no reason to lose what
/// was measured. Names in it may come from a file or a peer.
pub fn tell(what: fmt::Arguments<'_>) {
    let mut unread = UNREAD.lock().unwrap_or_else(PoisonError::into_inner);
    let patience = if unread.is_empty() { PATIENCE } else { Duration::ZERO };
    unread.extend(printable(&what.to_string()).as_bytes());
    unread.push(b'\n');
    show(&mut unread, patience);
}

/// The same, unless it would wait for a reader: for threads that may not.
pub fn tell_at_once(what: fmt::Arguments<'_>) {
    if UNREAD.try_lock().is_ok() && error_has_room(Duration::ZERO) {
        tell(what);
    }
}

/// Writes to standard error what there is room for. It waits so long for each piece.
fn show(unread: &mut Vec<u8>, patience: Duration) {
    while !unread.is_empty() && error_has_room(patience) {
        let piece = unread.len().min(AT_ONCE);
        if io::stderr().write_all(&unread[..piece]).is_err() {
            unread.clear();
        } else {
            unread.drain(..piece);
        }
    }
}

/// Whether a write of [`AT_ONCE`] bytes to standard error would not wait, or not longer than that. What is closed or gone
/// does not wait either.
pub fn error_has_room(patience: Duration) -> bool {
    let error = io::stderr();
    let mut room = [PollFd::new(&error, PollFlags::OUT)];
    let patience = Timespec::try_from(patience).unwrap_or_default();
    retry_on_intr(|| poll(&mut room, Some(&patience))).is_ok_and(|ready| ready > 0)
}

/// Tells what was not done, and what to do about it.
pub fn tell_failure(failure: &Failure) {
    tell(format_args!("bandgap: failed to {}", failure.what));
    if let Some(hint) = &failure.hint {
        tell(format_args!("  {hint}"));
    }
}
