//! The ranks of one host, as the launcher deals with them.

use rustix::event::{PollFd, PollFlags};

use crate::cause::Noted;
use crate::message::{FromRank, ToRank};

/// What has come from a rank.
pub enum Heard {
    /// What it said.
    Said(Vec<FromRank>),
    /// It has ended: with this status, as the system has it, and how it failed, if that is known and no news.
    Ended(i32, Option<Noted>),
}

/// The ranks of one host: children of this process, or an agent's.
pub trait Group {
    /// What to wait for.
    fn awaited(&self) -> Vec<PollFd<'_>>;

    /// Takes what has come, after a wait for what [`Group::awaited`] names that ended with `found`, or in vain. Called at
    /// least once a second.
    fn attend(&mut self, found: &[PollFlags], heard: &mut dyn FnMut(usize, Heard));

    /// Sends a message to one of its ranks, which need not read it now. One that has ended is passed over.
    fn tell(&mut self, rank: usize, message: &ToRank);

    /// Whether this is one of its ranks.
    fn has(&self, rank: usize) -> bool;

    /// The host's name, where it is another one's.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Tells its ranks that one, of this group or another, failed with this status.
    fn poison(&mut self, rank: usize, status: i32);

    /// Asks its ranks to end.
    fn stop(&mut self);

    /// Its ranks that are stopped, with their processes.
    fn stopped(&self) -> Vec<(usize, u32)>;

    /// Whether more may come from any of its ranks.
    fn is_open(&self) -> bool;

    /// Ends all of its ranks that have not ended, and says of those that had by themselves how.
    fn end(&mut self, heard: &mut dyn FnMut(usize, Heard));
}
