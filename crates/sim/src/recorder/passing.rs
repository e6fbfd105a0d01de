//! Records message passing: an exchange as a send and a receive, a barrier as its rounds.

use bandgap_comm::{Comm, Part, Pending, Rank};

use super::{Recorded, Recorder, length};
use crate::{Context, Op, Progress};

impl Recorder {
    #[inline(always)]
    fn message(&mut self, op: impl Fn(u32, u32) -> Op, peer: Rank, bytes: usize) -> Recorded {
        let peer = self.peer(peer)?;
        let bytes = length(bytes, "record a message")?;
        self.wait_for(op(peer, bytes));
        Ok(())
    }
}

/// What a program holds for a message that it has begun: for a receive the arguments, which are
/// recorded when it is waited for; for a send nothing.
#[derive(Debug)]
pub struct Begun(Option<(Rank, u32, Part)>);

impl Comm for Recorder {
    type Pending = Begun;

    /// Records the send now if messages move by themselves: the processor is free while the bytes
    /// are on their way. Otherwise it is recorded later.
    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Recorded<Pending<Begun>> {
        let (context, peer) = (Context::Messages, self.peer(peer)?);
        let send = Op::Send { context, peer, tag, bytes: length(from.len, "record a message")? };
        self.nonblocking();
        match self.progress {
            Progress::Asynchronous => self.ops.push(send),
            Progress::Synchronous => self.begun.push(send),
        }
        Ok(Pending(Begun(None)))
    }

    /// Records nothing yet: a receive is recorded when the program waits for it.
    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Recorded<Pending<Begun>> {
        self.peer(peer)?;
        self.nonblocking();
        Ok(Pending(Begun(Some((peer, tag, into)))))
    }

    fn wait(&mut self, pending: Pending<Begun>) -> Recorded {
        match pending.0.0 {
            Some((peer, tag, into)) => self.recv(peer, tag, into)?,
            None => self.move_begun(),
        }
        self.nonblocking();
        Ok(())
    }

    /// None: the machine has no time for what a rank does in its memory.
    fn own(&mut self) -> Option<&mut [u8]> {
        None
    }

    fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Recorded {
        let context = Context::Messages;
        self.message(|peer, bytes| Op::Send { context, peer, tag, bytes }, peer, from.len)
    }

    fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Recorded {
        let context = Context::Messages;
        self.message(|peer, bytes| Op::Recv { context, peer, tag, bytes }, peer, into.len)
    }

    fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Recorded {
        self.send(peer, tag, from)?;
        self.recv(peer, tag, into)
    }

    /// In round k of ⌈log₂ size⌉ a rank notifies the rank 2ᵏ after it and waits for the rank 2ᵏ
    /// before it (Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988).
    /// Message passing over a transport does the same.
    fn barrier(&mut self) -> Recorded {
        let (rank, size, context) = (self.rank, self.size, Context::Barrier);
        if std::mem::take(&mut self.leaves_out) && self.ops.is_empty() && self.begun.is_empty() {
            self.left_out += 1;
            return Ok(());
        }
        // Faster than a remainder.
        let within = |rank: usize| if rank < size { rank } else { rank - size };
        let mut distance = 1;
        for tag in 0..size.next_power_of_two().ilog2() {
            let (to, from) = (within(rank + distance), within(rank + size - distance));
            self.message(|peer, bytes| Op::Send { context, peer, tag, bytes }, to, 0)?;
            self.message(|peer, bytes| Op::Recv { context, peer, tag, bytes }, from, 0)?;
            distance *= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::{Am, Processor};

    use super::*;
    use crate::{Machine, SimError, record, record_for, record_once};

    fn part(len: usize) -> Part {
        Part::new(0, len)
    }

    fn send(context: Context, peer: u32, tag: u32, bytes: u32) -> Op {
        Op::Send { context, peer, tag, bytes }
    }

    fn recv(context: Context, peer: u32, tag: u32, bytes: u32) -> Op {
        Op::Recv { context, peer, tag, bytes }
    }

    #[test]
    fn a_receive_is_where_it_is_waited_for_and_a_send_where_it_begins() {
        let schedule = record(2, |comm| {
            let peer = 1 - comm.rank();
            let receive = comm.irecv(peer, 1, part(5))?;
            let send = comm.isend(peer, 1, part(5))?;
            comm.mark();
            comm.copy(part(8), part(8))?;
            comm.add(part(8), part(8))?;
            comm.wait(send)?;
            comm.wait(receive)
        })
        .unwrap();
        let tagged = Context::Messages;
        let expected = [send(tagged, 1, 1, 5), Op::Mark, recv(tagged, 1, 1, 5)];
        assert!(schedule.operations(0).eq(expected));
    }

    #[test]
    fn where_messages_do_not_move_by_themselves_sends_are_at_the_next_call_that_waits() {
        let text = "name = 'm'\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\n\
                    latency_ns = 1\nprogress = 'synchronous'";
        let machine = Machine::parse(text, "m").unwrap();
        let tagged = Context::Messages;
        let (first, second) = (send(tagged, 1, 1, 5), send(tagged, 1, 2, 6));
        // Whatever waits moves both, in the order in which they began.
        type Waits = fn(&mut Recorder, Pending<Begun>, Pending<Begun>) -> Recorded;
        let calls: [(Waits, Vec<Op>); 5] = [
            (|comm, first, _| comm.wait(first), vec![]),
            (|comm, _, second| comm.wait(second), vec![]),
            (|comm, _, _| comm.recv(1, 3, part(7)), vec![recv(tagged, 1, 3, 7)]),
            (|comm, _, _| comm.send(1, 3, part(7)), vec![send(tagged, 1, 3, 7)]),
            (|comm, _, _| comm.await_replies(), vec![Op::AwaitReplies]),
        ];
        for (waits, then) in calls {
            let schedule = record_for(&machine, 2, |comm| {
                if comm.rank() == 1 {
                    return Ok(());
                }
                let begun = comm.isend(1, 1, part(5))?;
                let further = comm.isend(1, 2, part(6))?;
                comm.mark();
                waits(comm, begun, further)?;
                comm.mark();
                Ok(())
            });
            let ops = [vec![Op::Mark, first, second], then, vec![Op::Mark]].concat();
            assert!(schedule.unwrap().operations(0).eq(ops));
        }
    }

    #[test]
    fn calls_that_do_not_block_cost_what_the_machine_says_and_blocking_ones_nothing_more() {
        let text = "name = 'm'\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\n\
                    latency_ns = 1\nnonblocking_ns = 7";
        let machine = Machine::parse(text, "m").unwrap();
        assert_eq!(machine.nonblocking, 7_000);
        let schedule = record_for(&machine, 2, |comm| {
            let peer = 1 - comm.rank();
            let receive = comm.irecv(peer, 1, part(5))?;
            let send = comm.isend(peer, 1, part(5))?;
            comm.wait(send)?;
            comm.wait(receive)?;
            comm.mark();
            comm.exchange(peer, 2, part(5), part(5))
        });
        let (tagged, call) = (Context::Messages, Op::Compute { picoseconds: 7_000 });
        // A receive is there when its wait begins to cost something.
        let begun = [call, call, send(tagged, 1, 1, 5), call, recv(tagged, 1, 1, 5), call];
        let blocking = [Op::Mark, send(tagged, 1, 2, 5), recv(tagged, 1, 2, 5)];
        assert!(schedule.unwrap().operations(0).eq(begun.into_iter().chain(blocking)));
    }

    #[test]
    fn a_barrier_that_all_ranks_begin_with_is_left_out_of_a_single_replay() {
        let machine = Machine::load("myrinet").unwrap();
        let recorded = |program: fn(&mut Recorder) -> Recorded| {
            [record_once(&machine, 4, program), record_for(&machine, 4, program)]
                .map(Result::unwrap)
        };
        // The second one is not.
        let [once, other] = recorded(|comm| {
            comm.barrier()?;
            comm.barrier()
        });
        assert_eq!(other.operations(0).count(), 8);
        assert!(once.operations(0).eq(other.operations(0).skip(4)));
        // Rank 0 would wait for the others, which have none.
        let [once, other] = recorded(|comm| {
            if comm.rank() > 0 {
                comm.mark();
            }
            comm.barrier()
        });
        assert_eq!(once, other);
    }

    #[test]
    fn peers_and_lengths_that_cannot_be_are_errors_with_the_rank() {
        for wrong in [0, 2] {
            let error = record(2, |comm| comm.exchange(wrong, 0, part(1), part(1))).unwrap_err();
            assert!(matches!(error, SimError::Program(0, _)), "{error}");
        }
        let error = record(2, |comm| comm.send(1 - comm.rank(), 0, part(1 << 32))).unwrap_err();
        assert!(matches!(error, SimError::Program(0, _)), "{error}");
        assert!(error.to_string().contains("4294967296"), "{error}");
    }
}
