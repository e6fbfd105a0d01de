//! Where messages leave a rank and reach it: one at a time each way, and both ways at once.

#[derive(Debug, Default)]
pub(super) struct Interface {
    /// When the next message may begin to leave, and to be taken in.
    leave_from: u64,
    accept_from: u64,
}

impl Interface {
    /// When a message begins to leave that is ready at `time` and occupies the sending side for
    /// `long`.
    #[inline]
    pub(super) fn leave(&mut self, time: u64, long: u64) -> u64 {
        occupy(&mut self.leave_from, time, long)
    }

    /// When the interface begins to take in a message that comes at `time` and occupies the
    /// receiving side for `long`.
    #[inline]
    pub(super) fn accept(&mut self, time: u64, long: u64) -> u64 {
        occupy(&mut self.accept_from, time, long)
    }
}

#[inline]
fn occupy(free_from: &mut u64, time: u64, long: u64) -> u64 {
    let start = time.max(*free_from);
    *free_from = start.saturating_add(long);
    start
}
