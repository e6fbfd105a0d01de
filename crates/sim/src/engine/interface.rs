//! Where messages leave a rank and reach it: one at a time each way, and both ways at once.

/// The side of an interface that sends, or the one that receives.
#[derive(Debug, Default)]
pub(super) struct Side {
    free_from: u64,
}

impl Side {
    /// When the interface begins with a message that is there at `time` and occupies it for `long`.
    #[inline]
    pub(super) fn occupy(&mut self, time: u64, long: u64) -> u64 {
        let start = time.max(self.free_from);
        self.free_from = start.saturating_add(long);
        start
    }

    /// When it begins with a message that is there at `time`.
    #[inline]
    pub(super) fn free_at(&self, time: u64) -> u64 {
        time.max(self.free_from)
    }
}
