//! Records bulk transfers, of which only the number of bytes matters.

use bandgap_comm::{Rank, Transfer, Verb};

use super::{Recorded, Recorder, length};
use crate::Op;

impl Transfer for Recorder {
    fn store(&mut self, peer: Rank, verb: Verb, _index: u64, bytes: usize) -> Recorded {
        let (peer, bytes) = (self.peer(peer)?, length(bytes, "record a store")?);
        self.ops.push(Op::Request { peer, replies: verb.replies, bytes: Some(bytes) });
        Ok(())
    }

    fn get(&mut self, peer: Rank, _index: u64, bytes: usize) -> Recorded {
        let (peer, bytes) = (self.peer(peer)?, length(bytes, "record a get")?);
        self.ops.push(Op::Get { peer, bytes });
        Ok(())
    }

    /// Does nothing: there are no bytes to write.
    fn refresh(&mut self, _blocks: u64, _bytes: usize) -> Recorded {
        Ok(())
    }

    /// Does nothing: there are no bytes to read.
    fn check(&mut self, _blocks: u64, _bytes: usize) -> Recorded {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::{Am, HandlerId, Processor};

    use super::*;
    use crate::{SimError, record};

    const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };

    #[test]
    fn stores_and_gets_become_operations_and_what_is_not_timed_none() {
        let schedule = record(2, |am| {
            if am.rank() == 1 {
                return am.check(2, 64).and_then(|()| am.serve(2));
            }
            am.refresh(2, 64)?;
            am.store(1, ECHO, 0, 64)?;
            am.store(1, Verb { replies: false, ..ECHO }, 1, 0)?;
            am.get(1, 7, 9)?;
            am.await_replies()
        })
        .unwrap();
        let requester = [
            Op::Request { peer: 1, replies: true, bytes: Some(64) },
            Op::Request { peer: 1, replies: false, bytes: Some(0) },
            Op::Get { peer: 1, bytes: 9 },
            Op::AwaitReplies,
        ];
        assert!(schedule.operations(0).eq(requester));
        assert!(schedule.operations(1).eq([Op::Serve { requests: 2 }]));
    }

    #[test]
    fn peers_and_lengths_that_cannot_be_are_errors_with_the_rank() {
        for wrong in [0, 2] {
            let store = record(2, |am| am.store(wrong, ECHO, 0, 1)).unwrap_err();
            let get = record(2, |am| am.get(wrong, 0, 1)).unwrap_err();
            for error in [store, get] {
                assert!(matches!(error, SimError::Program(0, _)), "{error}");
            }
        }
        let long = 1 << 32;
        let store = record(2, |am| am.store(1 - am.rank(), ECHO, 0, long)).unwrap_err();
        let get = record(2, |am| am.get(1 - am.rank(), 0, long)).unwrap_err();
        for error in [store, get] {
            assert!(matches!(error, SimError::Program(0, _)), "{error}");
            let text = error.to_string();
            assert!(text.contains("4294967296") && text.contains("4294967295"), "{text}");
        }
    }
}
