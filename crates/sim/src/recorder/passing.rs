//! Message passing, written down: an exchange as a send and a receive, a barrier as its rounds.

use bandgap_comm::{Comm, CommError, Rank};

use super::{Recorder, length};
use crate::{Context, Op};

impl Recorder {
    fn message(&mut self, op: impl Fn(u32, u32) -> Op, peer: Rank, bytes: usize) -> Recorded {
        let peer = self.peer(peer)?;
        let bytes = length(bytes, "record a message")?;
        self.ops.push(op(peer, bytes));
        Ok(())
    }
}

type Recorded = Result<(), CommError>;

impl Comm for Recorder {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, peer: Rank, tag: u32, bytes: usize) -> Recorded {
        let context = Context::Messages;
        self.message(|peer, bytes| Op::Send { context, peer, tag, bytes }, peer, bytes)
    }

    fn recv(&mut self, peer: Rank, tag: u32, bytes: usize) -> Recorded {
        let context = Context::Messages;
        self.message(|peer, bytes| Op::Recv { context, peer, tag, bytes }, peer, bytes)
    }

    fn exchange(&mut self, peer: Rank, tag: u32, bytes: usize) -> Recorded {
        Comm::send(self, peer, tag, bytes)?;
        Comm::recv(self, peer, tag, bytes)
    }

    /// In round k of ⌈log₂ size⌉ a rank tells the one 2ᵏ further, and waits for the one 2ᵏ before
    /// (Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988), which is
    /// how message passing does it over transports.
    fn barrier(&mut self) -> Recorded {
        let (rank, size, context) = (self.rank, self.size, Context::Barrier);
        let mut distance = 1;
        for tag in 0..size.next_power_of_two().ilog2() {
            let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
            self.message(|peer, bytes| Op::Send { context, peer, tag, bytes }, to, 0)?;
            self.message(|peer, bytes| Op::Recv { context, peer, tag, bytes }, from, 0)?;
            distance *= 2;
        }
        Ok(())
    }

    fn mark(&mut self) {
        self.ops.push(Op::Mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SimError, record};

    fn send(context: Context, peer: u32, tag: u32, bytes: u32) -> Op {
        Op::Send { context, peer, tag, bytes }
    }

    fn recv(context: Context, peer: u32, tag: u32, bytes: u32) -> Op {
        Op::Recv { context, peer, tag, bytes }
    }

    #[test]
    fn an_exchange_is_a_send_and_a_receive() {
        let schedule = record(2, |comm| {
            comm.exchange(1 - comm.rank(), 7, 64)?;
            comm.mark();
            comm.recv(1 - comm.rank(), u32::MAX, 9)
        })
        .unwrap();
        let tagged = Context::Messages;
        let expected = [
            send(tagged, 1, 7, 64),
            recv(tagged, 1, 7, 64),
            Op::Mark,
            recv(tagged, 1, u32::MAX, 9),
        ];
        assert!(schedule.operations(0).eq(expected));
    }

    #[test]
    fn a_barrier_has_one_round_for_each_doubling() {
        let barrier = Context::Barrier;
        let schedule = record(5, Comm::barrier).unwrap();
        // Five ranks: 1, 2 and 4 further and before.
        let expected = [(1, 4), (2, 3), (4, 1)]
            .into_iter()
            .zip(0..)
            .flat_map(|((to, from), k)| [send(barrier, to, k, 0), recv(barrier, from, k, 0)]);
        assert!(schedule.operations(0).eq(expected));
        assert_eq!(record(1, Comm::barrier).unwrap().operations(0).count(), 0);
        assert_eq!(record(8, Comm::barrier).unwrap().operations(7).count(), 6);
    }

    #[test]
    fn repeated_rounds_of_messages_take_the_room_of_one() {
        let schedule = record(4, |comm| {
            let next = (comm.rank() + 1) % 4;
            let last = (comm.rank() + 3) % 4;
            for _ in 0..1000 {
                comm.mark();
                comm.send(next, 1, 100)?;
                comm.recv(last, 1, 100)?;
                comm.exchange(next ^ 2, 2, 8)?;
                comm.barrier()?;
            }
            Ok(())
        })
        .unwrap();
        // A stamp, a send and a receive, an exchange, two rounds, and the repetition.
        assert_eq!(schedule.folded(2).len(), 1 + 2 + 2 + 4 + 1);
        assert_eq!(schedule.operations(2).count(), 9000);
    }

    #[test]
    fn peers_and_lengths_that_cannot_be_are_errors_with_the_rank() {
        for wrong in [0, 2] {
            let error = record(2, |comm| comm.exchange(wrong, 0, 1)).unwrap_err();
            assert!(matches!(error, SimError::Program { rank: 0, .. }), "{error}");
        }
        let error = record(2, |comm| comm.send(1 - comm.rank(), 0, 1 << 32)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("record a message: 4294967296 bytes") && text.contains("rank 0"));
    }
}
