//! How long a side may be silent.

use std::thread;
use std::time::{Duration, Instant};

use crate::SocketError;

/// Fruitless calls between two readings of the clock; a call costs several times a reading.
const CALLS: u32 = 1 << 10;

/// Counts fruitless calls, and ends a wait that takes too long.
#[derive(Debug)]
pub(super) struct Silence {
    patience: Duration,
    calls: u32,
    since: Option<Instant>,
}

impl Silence {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, calls: 0, since: None }
    }

    /// Call this after a call that did nothing. Now and then it returns how long that has been so.
    #[inline(always)]
    pub(super) fn goes_on(&mut self) -> Result<Option<Duration>, SocketError> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS) { self.look().map(Some) } else { Ok(None) }
    }

    /// Call this after a call that did something.
    #[inline(always)]
    pub(super) fn ends(&mut self) {
        self.calls = 0;
        self.since = None;
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<Duration, SocketError> {
        // The other side may need this core. If it had its own, it would long have answered.
        thread::yield_now();
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        if waited > self.patience { Err(SocketError::Silent { waited }) } else { Ok(waited) }
    }
}
