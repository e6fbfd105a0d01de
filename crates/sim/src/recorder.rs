//! Records a rank program instead of executing it.

mod passing;
mod transfer;

use std::io;

use bandgap_comm::{Am, CommError, Processor, Rank, Verb, Word, Work, check_peer};

use crate::error::Result;
use crate::fold::Folder;
use crate::schedule::Builder;
use crate::{Machine, Op, Progress, Schedule, SimError};

/// Result of a recorded call.
type Recorded<T = ()> = Result<T, CommError>;

/// An [`Am`], a [`Transfer`](bandgap_comm::Transfer) and a [`Comm`](bandgap_comm::Comm) that
/// records what a rank does. It sends nothing, no call waits, and it has no memory: only the length
/// of a [`Part`](bandgap_comm::Part) matters, not its offset.
#[derive(Debug, Default)]
pub struct Recorder {
    rank: Rank,
    size: usize,
    ops: Folder,
    progress: Progress,
    /// Cost of a call that begins a message or waits for one, in picoseconds.
    nonblocking: u64,
    /// Sends that the program has begun, and that move at the next call that waits.
    begun: Vec<Op>,
    /// Whether a barrier may be left out now, since the rank has done nothing yet; and the number
    /// of ranks that left one out.
    leaves_out: bool,
    left_out: usize,
}

/// Runs `program` once for each of `size` ranks, and returns what they do on a machine where
/// messages move by themselves ([`Progress::Asynchronous`]) and beginning one costs nothing besides
/// its overhead.
///
/// # Errors
/// `size` is 0 or above 2³² − 1; or the program returned an error. It does so for a request or
/// message to the rank itself or to a rank that does not exist, and for a message, store or get of
/// 4 GiB or more.
pub fn record(size: usize, program: impl FnMut(&mut Recorder) -> Recorded) -> Result<Schedule> {
    Ok(recorded(size, Progress::Asynchronous, 0, false, program)?.0)
}

/// As [`record`], for `machine`: whether messages move while its processors compute decides where a
/// nonblocking send is placed in the schedule. The cost of nonblocking calls
/// ([`Machine::nonblocking`]) is in the schedule as a computation.
///
/// # Errors
/// As [`record`].
pub fn record_for(
    machine: &Machine,
    size: usize,
    program: impl FnMut(&mut Recorder) -> Recorded,
) -> Result<Schedule> {
    Ok(recorded(size, machine.progress, machine.nonblocking, false, program)?.0)
}

/// As [`record_for`], for a single replay: a barrier with which all ranks begin is left out, since
/// all begin at time 0.
///
/// # Errors
/// As [`record`].
pub fn record_once(
    machine: &Machine,
    size: usize,
    mut program: impl FnMut(&mut Recorder) -> Recorded,
) -> Result<Schedule> {
    let Machine { progress, nonblocking, .. } = *machine;
    let (schedule, left_out) = recorded(size, progress, nonblocking, true, &mut program)?;
    // If only some ranks begin with a barrier, they must wait for the others.
    if left_out % size == 0 { Ok(schedule) } else { record_for(machine, size, program) }
}

fn recorded(
    size: usize,
    progress: Progress,
    nonblocking: u64,
    once: bool,
    mut program: impl FnMut(&mut Recorder) -> Recorded,
) -> Result<(Schedule, usize)> {
    if size == 0 || u32::try_from(size).is_err() {
        let most = u32::MAX as usize;
        return Err(SimError::Ranks(size, "of any kind".into(), most));
    }
    let mut recorder = Recorder { size, progress, nonblocking, ..Recorder::default() };
    let mut builder = Builder::new(size as u32);
    for rank in 0..size {
        recorder.rank = rank;
        recorder.leaves_out = once;
        program(&mut recorder).map_err(|source| SimError::Program(rank, source))?;
        builder.add(recorder.ops.finish());
        recorder.ops.clear();
        recorder.begun.clear();
    }
    Ok((builder.schedule, recorder.left_out))
}

impl Recorder {
    /// Number of another rank, as stored in an operation.
    #[inline(always)]
    fn peer(&self, peer: Rank) -> Recorded<u32> {
        check_peer(peer, self.rank, self.size)?;
        Ok(u32::try_from(peer).expect("below size, which fits"))
    }

    /// Records a call that waits, after the sends that move only in such a call.
    #[inline(always)]
    fn wait_for(&mut self, op: Op) {
        if !self.begun.is_empty() {
            self.move_begun();
        }
        self.ops.push(op);
    }

    /// Records the cost of a call that begins a message or waits for one.
    fn nonblocking(&mut self) {
        if self.nonblocking > 0 {
            self.ops.push(Op::Compute { picoseconds: self.nonblocking });
        }
    }

    #[cold]
    fn move_begun(&mut self) {
        for op in self.begun.drain(..) {
            self.ops.push(op);
        }
    }
}

/// Number of bytes, as stored in an operation. `operation` names what failed if it is too large.
#[inline(always)]
fn length(bytes: usize, operation: &'static str) -> Recorded<u32> {
    u32::try_from(bytes).map_err(|_| too_long(bytes, operation))
}

#[cold]
fn too_long(bytes: usize, operation: &'static str) -> CommError {
    CommError::System {
        operation,
        source: io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{bytes} bytes are too many (limit {})", u32::MAX),
        ),
    }
}

impl Processor for Recorder {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn mark(&mut self) {
        self.ops.push(Op::Mark);
    }

    /// The time that the work stands for, whatever the work.
    fn compute(&mut self, work: Work) {
        let picoseconds = work.delay().picoseconds;
        if picoseconds > 0 {
            self.ops.push(Op::Compute { picoseconds });
        }
    }
}

impl Am for Recorder {
    fn request(&mut self, peer: Rank, verb: Verb, _word: Word) -> Recorded {
        let peer = self.peer(peer)?;
        self.ops.push(Op::Request { peer, replies: verb.replies, bytes: None });
        Ok(())
    }

    fn await_replies(&mut self) -> Recorded {
        self.wait_for(Op::AwaitReplies);
        Ok(())
    }

    fn serve(&mut self, requests: u64) -> Recorded {
        self.wait_for(Op::Serve { requests });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::{Delay, HandlerId};

    use super::*;

    const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };

    fn program(am: &mut impl Am, word: Word) -> Result<(), CommError> {
        if am.rank() > 0 {
            return am.serve(2);
        }
        am.mark();
        am.request(1, ECHO, word)?;
        am.compute(Work::Chain(Delay { iterations: 9, picoseconds: 16 }));
        am.compute(Work::Chain(Delay::NONE));
        am.compute(Work::Daxpy(Delay { iterations: 9, picoseconds: 17 }));
        am.request(1, Verb { replies: false, ..ECHO }, word)?;
        am.await_replies()
    }

    #[test]
    fn every_call_becomes_its_operation_and_no_delay_none() {
        let schedule = record(2, |am| program(am, 1)).unwrap();
        let requester = [
            Op::Mark,
            Op::Request { peer: 1, replies: true, bytes: None },
            Op::Compute { picoseconds: 16 },
            Op::Compute { picoseconds: 17 },
            Op::Request { peer: 1, replies: false, bytes: None },
            Op::AwaitReplies,
        ];
        assert!(schedule.operations(0).eq(requester));
        assert!(schedule.operations(1).eq([Op::Serve { requests: 2 }]));
    }

    #[test]
    fn a_request_to_itself_or_beyond_the_last_rank_is_an_error_with_the_rank() {
        for wrong in [0, 2] {
            let error = record(2, |am| am.request(wrong, ECHO, 0)).unwrap_err();
            assert!(matches!(error, SimError::Program(0, _)), "{error}");
        }
        assert!(matches!(record(0, |_| Ok(())), Err(SimError::Ranks(0, ..))));
    }
}
