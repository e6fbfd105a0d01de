//! When messages move that a program has begun and not yet waited for.

use serde::Deserialize;

/// Whether messages move while a processor computes.
///
/// It concerns sends that a program begins and does not wait for at once
/// ([`Comm::isend`](bandgap_comm::Comm::isend)). Where messages move by themselves, the time under
/// way and the time for bytes hide behind a computation; overheads never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// They move by themselves: a send leaves when it begins.
    #[default]
    Asynchronous,
    /// They move only in calls that wait: all sends begun so far leave at the next wait, blocking
    /// send or receive, exchange, or barrier, in the order in which they began. So an exchange that
    /// both ranks have begun hides nothing behind a computation.
    Synchronous,
}
