//! Message passing as the programs see it, on a transport.

use bandgap_comm::passing::{FirstHandlers, HoldsMail, Mail, add_handlers};
use bandgap_comm::{Bulk, Comm, CommError, Handlers, Rank, Timer, Watch};

use crate::handlers::{RankState, handlers};
use crate::memory::{differs, fill, salt};
use crate::passing::{pass, received};
use crate::reduce::Samples;
use crate::{Executor, Job};

/// The state that the handlers of a rank work on that also passes messages.
#[derive(Debug)]
pub struct MessageState {
    rank: RankState,
    mail: Mail,
}

impl MessageState {
    /// The state of a rank with this mail.
    pub fn new(mail: Mail) -> Self {
        Self { rank: RankState::default(), mail }
    }
}

impl AsRef<RankState> for MessageState {
    #[inline(always)]
    fn as_ref(&self) -> &RankState {
        &self.rank
    }
}

impl AsMut<RankState> for MessageState {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut RankState {
        &mut self.rank
    }
}

impl HoldsMail for MessageState {
    #[inline(always)]
    fn mail(&self) -> &Mail {
        &self.mail
    }

    #[inline(always)]
    fn mail_mut(&mut self) -> &mut Mail {
        &mut self.mail
    }
}

/// The table of handlers of such a rank, and what its mail is to be told.
pub fn message_handlers() -> (Handlers<MessageState>, FirstHandlers) {
    let mut table = handlers();
    let first = add_handlers(&mut table);
    (table, first)
}

/// The bytes that a rank sends, and where those that it receives go.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) send: Vec<u8>,
    pub(crate) recv: Vec<u8>,
    /// Messages received in this job.
    received: u64,
    jobs: u64,
}

/// What the bytes of all messages of a job are, whoever sends them.
const SENDER: Rank = 0;

impl Buffers {
    fn begin(&mut self, bytes: usize) {
        self.jobs += 1;
        self.received = 0;
        self.send.resize(bytes, 0);
        fill(&mut self.send, salt(SENDER, self.jobs, 0), 0, 0);
        self.recv.clear();
        self.recv.resize(bytes, 0);
    }
}

impl<E, T, W> Executor<E, T, W, MessageState>
where
    E: Bulk,
    T: Timer,
    W: Watch,
{
    /// Runs this rank's part of `job`, which may be one of message passing. What the last message
    /// brought is compared with what was sent.
    ///
    /// # Errors
    /// As [`Executor::execute`].
    pub fn execute_messages(&mut self, job: &Job) -> Result<Samples, CommError> {
        if !job.passes_messages() {
            return self.execute(job);
        }
        self.buffers.begin(job.bytes as usize);
        let samples = self.complete(job, |executor| {
            pass(executor, job)?;
            // Between jobs nobody moves on what message passing still owes.
            executor.passing.settle()
        })?;
        let (rank, size) = (Comm::rank(self), Comm::size(self));
        let expected = received(job, rank, size);
        let peer = job.timed(size).1;
        if self.buffers.received != expected {
            let got = self.buffers.received;
            let what = format!("{got} messages of {expected}");
            return Err(CommError::Garbage { peer, what });
        }
        if expected > 0
            && let Some(at) = differs(&self.buffers.recv, &self.buffers.send)
        {
            let (got, wanted) = (self.buffers.recv[at], self.buffers.send[at]);
            let what = format!(
                "byte {at} of a message of {} bytes: expected {wanted:#04x}, got {got:#04x}",
                job.bytes
            );
            return Err(CommError::Garbage { peer, what });
        }
        Ok(samples)
    }
}

impl<E, T, W> Comm for Executor<E, T, W, MessageState>
where
    E: Bulk,
    T: Timer,
    W: Watch,
{
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.passing.rank()
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.passing.size()
    }

    #[inline(always)]
    fn send(&mut self, peer: Rank, tag: u32, bytes: usize) -> Result<(), CommError> {
        self.passing.send(peer, tag, &self.buffers.send[..bytes])
    }

    #[inline(always)]
    fn recv(&mut self, peer: Rank, tag: u32, bytes: usize) -> Result<(), CommError> {
        let status = self.passing.recv(peer, tag, &mut self.buffers.recv[..bytes])?;
        self.buffers.received += u64::from(status.bytes == bytes);
        Ok(())
    }

    #[inline(always)]
    fn exchange(&mut self, peer: Rank, tag: u32, bytes: usize) -> Result<(), CommError> {
        let (send, recv) = (&self.buffers.send[..bytes], &mut self.buffers.recv[..bytes]);
        let status = self.passing.exchange(peer, tag, send, recv)?;
        self.buffers.received += u64::from(status.bytes == bytes);
        Ok(())
    }

    #[inline(always)]
    fn barrier(&mut self) -> Result<(), CommError> {
        self.passing.barrier()
    }

    #[inline(always)]
    fn mark(&mut self) {
        self.marks.push(self.timer.stamp());
    }
}
