//! Requests in a row, then their replies.

use bandgap_comm::{Am, CommError, Delay, Rank, Work};
use serde::{Deserialize, Serialize};

use super::asking::{Asking, Role};
use crate::kernel::messages_in_range;
use crate::{ECHO, Expects, Kernel, Needs, OverAm, Refused, Round, Seat, Words};

/// M × {request; compute for Δ}, then the replies: one point of the LogP signature. With one
/// message it is the round trip.
///
/// Marks of a requester, in each sample: begin, last request issued, last reply handled.
/// *Source*: "Assessing Fast Network Interfaces", section Microbenchmark signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Who asks whom.
    pub asking: Asking,
    /// Messages of a sample (M).
    pub messages: u32,
    /// Computation after each request (Δ).
    pub delay: Delay,
}

impl Kernel for Burst {
    const NAME: &'static str = "burst";

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, 0)?;
        self.asking.check(size)
    }

    fn timed(&self, size: usize) -> [Rank; 2] {
        self.asking.timed(size)
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs { words: self.messages.into(), ..Needs::default() }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        self.asking.expects(seat, self.messages.into())
    }
}

impl OverAm for Burst {
    #[inline(never)]
    fn run<A: Am>(&self, am: &mut A, round: Round) -> Result<(), CommError> {
        let (rank, size) = (am.rank(), am.size());
        match self.asking.role(rank, size, self.messages.into()) {
            Role::Requester { first, peers: 1 } => issue(am, *self, round, |_| first),
            Role::Requester { first, peers } => {
                let mut peer = peers - 1;
                issue(am, *self, round, |index| {
                    peer = if index == 0 || peer + 1 == peers { 0 } else { peer + 1 };
                    first + peer
                })
            }
            Role::Replier(words) => am.serve(u64::from(round.samples) * words.count),
            Role::Idle => Ok(()),
        }
    }
}

#[inline(always)]
fn issue<A: Am>(
    am: &mut A,
    burst: Burst,
    round: Round,
    mut peer: impl FnMut(u64) -> Rank,
) -> Result<(), CommError> {
    let words = Words::new(am.rank(), round.turn);
    let work = Work::Chain(burst.delay);
    for _ in 0..round.samples {
        am.mark();
        for index in 0..u64::from(burst.messages) {
            let to = peer(index);
            am.request(to, ECHO, words.word(to, index))?;
            am.compute(work);
        }
        am.mark();
        am.await_replies()?;
        am.mark();
    }
    Ok(())
}
