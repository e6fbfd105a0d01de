//! Finds which of several failures caused the others.

use serde::{Deserialize, Serialize};

use crate::Exit;

/// The kind of a failure. A kind that may be a consequence of another is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cause {
    /// A signal ended the process.
    Killed,
    /// Wrong data arrived.
    Wrong,
    /// The process ended without a message.
    Ended,
    /// The process is stopped.
    Stopped,
    /// Another failure at the rank itself.
    Own,
    /// Nothing came from its peers.
    Waited,
    /// A peer was lost.
    LostPeer,
}

/// A failure of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    /// Its kind.
    pub cause: Cause,
    /// What happened, in a few words.
    pub what: String,
    /// The class of failure.
    pub exit: Exit,
}

/// The failure to report, with its rank: the first of the least kind.
pub fn named(noted: &[(usize, Noted)]) -> Option<&(usize, Noted)> {
    noted.iter().min_by_key(|(_, noted)| noted.cause)
}

/// The failure of the first of the stopped `ranks`, each given with its process. It names the other stopped ranks and
/// what `followed`.
pub fn stopped(ranks: &[(usize, u32)], followed: &str) -> Option<(usize, Noted)> {
    let (&(first, process), others) = ranks.split_first()?;
    let others: String = others.iter().map(|(rank, _)| format!(", rank {rank} too")).collect();
    let what = format!("its process {process} is stopped{others}; {followed}");
    Some((first, Noted { cause: Cause::Stopped, what, exit: Exit::Communication }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_those_that_can_be_the_cause_is_named() {
        let noted = |rank, cause| (rank, Noted { cause, what: String::new(), exit: Exit::Rank });
        let of = |causes: &[(usize, Cause)]| {
            let all: Vec<_> = causes.iter().map(|&(rank, cause)| noted(rank, cause)).collect();
            named(&all).map(|(rank, _)| *rank)
        };
        use Cause::{Ended, Killed, LostPeer, Own, Stopped, Waited, Wrong};
        assert_eq!(of(&[]), None);
        // Of one kind, the first in time rather than the lowest rank.
        assert_eq!(of(&[(3, Killed), (1, Killed)]), Some(3));
        assert_eq!(of(&[(2, Own), (0, Own)]), Some(2));
        // A lost peer or a wait is a consequence, even if it arrives first.
        assert_eq!(of(&[(0, LostPeer), (1, Waited), (2, Own), (3, Killed)]), Some(3));
        assert_eq!(of(&[(0, LostPeer), (1, Waited), (2, Own)]), Some(2));
        assert_eq!(of(&[(0, LostPeer), (1, Waited), (2, Stopped)]), Some(2));
        assert_eq!(of(&[(0, LostPeer), (1, Waited)]), Some(1));
        assert_eq!(of(&[(0, Ended), (1, Wrong)]), Some(1));
    }

    #[test]
    fn of_stopped_ranks_the_first_is_the_cause() {
        let of = |ranks: &[(usize, u32)]| stopped(ranks, "").map(|(rank, of)| (rank, of.cause));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(1, 70), (2, 71), (5, 9)]), Some((1, Cause::Stopped)));
    }
}
