//! A [`Link`] between the threads of one process, for tests and examples.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use crate::{CommError, Frame, Link, Posted, Rank};

/// One rank's end: a bounded queue of frames to each peer, and one from each.
///
/// A peer whose end was dropped is gone.
#[derive(Debug)]
pub struct InprocLink {
    rank: Rank,
    /// By peer; none to this rank itself.
    to: Vec<Option<SyncSender<Frame>>>,
    /// By peer; none from this rank itself.
    from: Vec<Option<Receiver<Frame>>>,
}

/// The ends of `size` ranks, each channel between two of them with room for `frames_per_channel`
/// frames.
///
/// # Panics
/// `frames_per_channel` is 0: a frame would only pass while its receiver waits for it.
pub fn links(size: usize, frames_per_channel: usize) -> Vec<InprocLink> {
    assert!(frames_per_channel > 0, "a channel without room takes no frame");
    let mut ends: Vec<InprocLink> = (0..size)
        .map(|rank| InprocLink {
            rank,
            to: (0..size).map(|_| None).collect(),
            from: (0..size).map(|_| None).collect(),
        })
        .collect();
    for sender in 0..size {
        for receiver in (0..size).filter(|&receiver| receiver != sender) {
            let (into, out_of) = sync_channel(frames_per_channel);
            ends[sender].to[receiver] = Some(into);
            ends[receiver].from[sender] = Some(out_of);
        }
    }
    ends
}

fn gone(peer: Rank) -> CommError {
    CommError::PeerGone { peer, detail: String::new() }
}

impl Link for InprocLink {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError> {
        let Some(Some(channel)) = self.to.get(peer) else {
            return Err(CommError::NoSuchPeer { peer, size: self.to.len() });
        };
        match channel.try_send(*frame) {
            Ok(()) => Ok(Posted::Yes),
            Err(TrySendError::Full(_)) => Ok(Posted::Busy),
            Err(TrySendError::Disconnected(_)) => Err(gone(peer)),
        }
    }

    fn receive<F: FnMut(Rank, Frame)>(&mut self, mut deliver: F) -> Result<usize, CommError> {
        let mut frames = 0;
        for (peer, channel) in self.from.iter().enumerate() {
            let Some(channel) = channel else { continue };
            // One frame of each peer in a call: no peer keeps the others waiting.
            match channel.try_recv() {
                Ok(frame) => {
                    deliver(peer, frame);
                    frames += 1;
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return Err(gone(peer)),
            }
        }
        Ok(frames)
    }
}
