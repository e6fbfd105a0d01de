//! Barriers of ranks 0 to n − 1.

use super::handlers::HandlerOffset;
use super::mail::Mail;
use super::{HoldsMail, Passing};
use crate::active::Expected;
use crate::ring::{after, before, rounds};
use crate::{ActiveMessages, Bulk, CommError, Message, Rank, Result, Watch, Word};

const WAITING_FOR: &str = "ranks to reach a barrier";
/// Checks for a signal between two polls; a poll takes as long as several checks.
const LOOKS: u32 = 8;

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Waits until each of the first `ranks` ranks has called it. In round k of ⌈log₂ ranks⌉ a rank
    /// notifies the rank 2ᵏ after it and waits for the rank 2ᵏ before it (Hensgen, Finkel and
    /// Manber, "Two algorithms for barrier synchronization", 1988). Ranks that share several
    /// barriers must call them in the same order.
    ///
    /// # Errors
    /// As [`Passing::send`]; or this rank is not among the first `ranks` ranks of the run.
    pub fn barrier(&mut self, ranks: usize) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        if ranks > size {
            return Err(CommError::NoSuchPeer { peer: ranks - 1, size });
        }
        if rank >= ranks {
            return Err(CommError::NoSuchPeer { peer: rank, size: ranks });
        }
        let signals = self.am.endpoint().signals();
        for round in 0..rounds(ranks) {
            let distance = 1 << round;
            let (next, last) = (after(rank, distance, ranks), before(rank, distance, ranks));
            if signals {
                self.meet_by_signals(next, last)?;
            } else {
                self.meet_by_requests(next, last, Word::from(round) | (ranks as Word) << 32)?;
            }
        }
        Ok(())
    }

    /// Notifies `next`, and waits for `last`.
    #[inline(always)]
    fn meet_by_signals(&mut self, next: Rank, last: Rank) -> Result<()> {
        self.am.parts().0.signal(next);
        let came =
            |am: &ActiveMessages<E, S, W>| (0..LOOKS).any(|_| am.endpoint().signalled(last) > 0);
        self.turns(WAITING_FOR, &mut Expected::none(), |_| false, came)?;
        self.am.parts().0.take_signal(last);
        Ok(())
    }

    /// As [`Passing::meet_by_signals`], with requests that carry the round and the number of ranks.
    fn meet_by_requests(&mut self, next: Rank, last: Rank, word: Word) -> Result<()> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        let handler = HandlerOffset::Barrier.after(mail.first);
        mail.tell(endpoint, next, Message::new(handler, [word]))?;
        let mut expected = Expected::new::<1>(last, handler, word);
        let came = |am: &ActiveMessages<E, S, W>| am.state().mail().barriers[last] > 0;
        self.turns(WAITING_FOR, &mut expected, |_| true, came)?;
        if !expected.came {
            self.mail_mut().barriers[last] -= 1;
        }
        Ok(())
    }

    /// Messages that arrived and that no receive took, and barriers that peers have reached and
    /// this rank has not. 0 when ranks have ended all that they do together.
    pub fn unclaimed(&self) -> u64 {
        let (mail, endpoint) = (self.mail(), self.am.endpoint());
        let peers = (0..self.size()).filter(|&peer| peer != self.rank());
        let here = mail.arrivals.len() as u64 + mail.barriers.iter().sum::<u64>();
        // A peer may have stored any number, so the sum saturates.
        peers.map(|peer| endpoint.signalled(peer)).fold(here, u64::saturating_add)
    }
}

impl Mail {
    /// Takes the notice that a peer has reached a round of a barrier of the first ranks.
    pub(super) fn at_barrier(&mut self, from: Rank, word: Word) {
        let (round, ranks) = (word as u32, (word >> 32) as usize);
        let known = ranks <= self.lanes.len() && self.rank < ranks && round < rounds(ranks);
        // Two ranks reach the barriers that they share in the same order, so a count for each peer
        // is enough.
        if known && before(self.rank, 1 << round, ranks) == from {
            self.barriers[from] += 1;
        } else {
            self.garbage(from, format!("round {round} of a barrier of {ranks} ranks"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Mail, Tuning};
    use super::*;
    use crate::HandlerId;

    #[test]
    fn a_barrier_takes_what_each_round_sends_and_nothing_else() {
        const SIZE: usize = 9;
        let tuning = Tuning { chunk: 64, slots: 1, request: 1 };
        let mail =
            |rank| Mail::new(rank, SIZE, 64 * SIZE, Some((0, &tuning)), HandlerId(0)).unwrap();
        for rank in 0..SIZE {
            for from in (0..SIZE).filter(|&from| from != rank) {
                for ranks in 0..=SIZE + 1 {
                    for round in 0..70 {
                        let mut mail = mail(rank);
                        mail.at_barrier(from, round | (ranks as Word) << 32);
                        // By its definition: distances 1, 2, 4, … below the number of ranks.
                        let distance = 1_usize.checked_shl(round as u32).unwrap_or(SIZE);
                        let expected = ranks <= SIZE
                            && rank.max(from) < ranks
                            && distance < ranks
                            && (from + distance) % ranks == rank;
                        let came = mail.barriers[from] == 1;
                        assert_eq!(came, expected, "{from} to {rank} of {ranks}, round {round}");
                        assert_eq!(mail.fault.is_none(), expected);
                    }
                }
            }
        }
    }
}
