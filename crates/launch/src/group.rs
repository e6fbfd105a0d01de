//! The ranks of one host, as the launcher handles them.

use rustix::event::{PollFd, PollFlags};

use crate::cause::Noted;
use crate::message::{FromRank, ToRank};

/// News of a rank.
pub enum Heard {
    /// Messages from it.
    Said(Vec<FromRank>),
    /// It ended with this raw status; and its failure, unless it reported one before.
    Ended(i32, Option<Noted>),
}

/// The ranks of one host: children of this process or of an agent.
pub trait Group {
    /// The descriptors to wait for.
    fn awaited(&self) -> Vec<PollFd<'_>>;

    /// Takes the news of its ranks. `found` are the events on the descriptors of [`Group::awaited`]. The launcher calls it
    /// at least once a second.
    fn attend(&mut self, found: &[PollFlags]) -> Vec<(usize, Heard)>;

    /// Sends a message to one of its ranks without waiting until the rank reads it; does nothing if the rank has ended.
    fn tell(&mut self, rank: usize, message: &ToRank);

    /// Whether `rank` is one of its ranks.
    fn has(&self, rank: usize) -> bool;

    /// The name of the host, unless it is this one.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Tells its ranks that `rank`, of any group, failed with this status.
    fn poison(&mut self, rank: usize, status: i32);

    /// Asks its ranks to end.
    fn stop(&mut self);

    /// Its stopped ranks, with their processes.
    fn stopped(&self) -> Vec<(usize, u32)>;

    /// Whether any of its ranks may still send news.
    fn is_open(&self) -> bool;

    /// Ends its remaining ranks, and reports how others failed meanwhile.
    fn end(&mut self) -> Vec<(usize, Heard)>;
}
