//! Work on another thread, with progress and signals.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bandgap_launch::{Classify, Exit, Result, signalled};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `work` on another thread, and calls `show` now and then; `None` if a signal came first.
///
/// # Errors
/// The work failed.
pub fn watched<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
    mut show: impl FnMut(),
) -> Result<Option<T>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    loop {
        if signalled().is_some() {
            return Ok(None);
        }
        match receiver.recv_timeout(LOOK) {
            Ok(done) => return done.map(Some),
            Err(RecvTimeoutError::Timeout) => show(),
            Err(gone) => return Err(gone).class(Exit::Defect),
        }
    }
}
