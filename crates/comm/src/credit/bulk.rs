//! Stores and gets over a [`Link`] that writes into exposed memory.

use super::Credited;
use super::ledger::Asked;
use crate::{
    Begun, Bulk, Endpoint, Frame, FrameKind, HandlerId, Link, Message, Posted, Rank, Result,
    Source, check_peer, exposed_range,
};

impl<L: Link> Credited<L> {
    /// The frame that announces a store.
    #[inline]
    fn announcing(&self, peer: Rank, into: usize, from: Source<'_>) -> Result<Frame> {
        check_peer(peer, self.link.rank(), self.link.size())?;
        let len = from.len();
        exposed_range(self.ledger.exposed, into, len)?;
        if let Source::Exposed { at, .. } = from {
            exposed_range(self.ledger.exposed, at, len)?;
        }
        Ok(Frame::announcing(FrameKind::Stored, into, len))
    }

    /// Answers peers' gets, as far as the link takes the bytes.
    #[cold]
    #[inline(never)]
    pub(super) fn answer_gets(&mut self) -> Result<()> {
        for (to, peer) in self.ledger.peers.iter_mut().enumerate() {
            while let Some(&get) = peer.gets.front() {
                let frame = Frame::announcing(FrameKind::Got, get.into, get.len);
                let from = Source::Exposed { at: get.at, len: get.len };
                let done = &mut peer.answered;
                if self.link.try_write(to, &[&frame], from, done, None)? == Posted::Busy {
                    break;
                }
                peer.gets.pop_front();
                peer.answered = 0;
                self.ledger.unanswered -= 1;
            }
        }
        Ok(())
    }
}

impl<L: Link> Bulk for Credited<L> {
    fn exposed(&self) -> usize {
        self.ledger.exposed
    }

    fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<()> {
        let range = exposed_range(self.ledger.exposed, at, into.len())?;
        into.copy_from_slice(&self.link.exposed()[range]);
        Ok(())
    }

    fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<()> {
        let range = exposed_range(self.ledger.exposed, at, from.len())?;
        self.link.exposed_mut()[range].copy_from_slice(from);
        Ok(())
    }

    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted> {
        let frame = self.announcing(peer, into, from)?;
        if from.len() == 0 {
            return Ok(Posted::Yes);
        }
        self.link.try_write(peer, &[&frame], from, done, None)
    }

    fn try_store_then(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
        message: Message,
    ) -> Result<Posted> {
        let stored = self.announcing(peer, into, from)?;
        if *done == from.len() {
            return self.try_request(peer, message);
        }
        if self.ledger.peers[peer].credits == 0 {
            let written = self.link.try_write(peer, &[&stored], from, done, None);
            return written.map(|_| Posted::Busy);
        }
        self.send_on_credit(peer, FrameKind::Request, message, |link, request| {
            link.try_write(peer, &[&stored], from, done, Some(request))
        })
    }

    fn try_carry(
        &mut self,
        peer: Rank,
        message: Message,
        bytes: &[u8],
        done: &mut usize,
    ) -> Result<Posted> {
        check_peer(peer, self.link.rank(), self.link.size())?;
        let account = &mut self.ledger.peers[peer];
        // The link keeps the frame once it has begun, so the first attempt settles the account.
        let credits = match account.carried {
            Some(credits) => credits,
            None if account.credits == 0 => return Ok(Posted::Busy),
            None => {
                account.credits -= 1;
                self.ledger.outstanding += 1;
                let credits = std::mem::take(&mut account.owed);
                self.ledger.owed -= usize::from(credits);
                credits
            }
        };
        let request = Frame { kind: FrameKind::Request, credits, message };
        let frames = [&request, &Frame::carrying(&message, bytes.len())];
        let posted = self.link.try_write(peer, &frames, Source::Bytes(bytes), done, None)?;
        self.ledger.peers[peer].carried = (posted == Posted::Busy).then_some(credits);
        Ok(posted)
    }

    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun> {
        exposed_range(self.ledger.exposed, at, len)?;
        exposed_range(self.ledger.exposed, into, len)?;
        let asking = Message::new(HandlerId(0), [at, into, len].map(|word| word as u64));
        let posted =
            self.send_on_credit(peer, FrameKind::Get, asking, |link, it| link.try_send(peer, it))?;
        if posted == Posted::Busy {
            return Ok(Begun::Busy);
        }
        self.ledger.peers[peer].asked.push_back(Asked { into, len, message });
        Ok(Begun::Yes)
    }
}

#[cfg(test)]
mod tests;
