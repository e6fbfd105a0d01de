//! Active Messages, as programs use them, on a transport.

use bandgap_comm::{Am, Bulk, Rank, Result, Source, Timer, Transfer, Verb, Watch, Word};

use super::Executor;
use crate::handlers::ECHOED;
use crate::verify::blocks;

impl<E: Bulk, T: Timer, W: Watch> Am for Executor<E, T, W> {
    #[inline(always)]
    fn request(&mut self, peer: Rank, verb: Verb, word: Word) -> Result<()> {
        self.passing.active().request(peer, verb.handler, [word])?;
        // A stream, which has no replies, polls only when there is no room to send.
        if verb.replies {
            self.passing.active().poll()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn await_replies(&mut self) -> Result<()> {
        self.passing.active().await_replies()
    }

    #[inline(always)]
    fn serve(&mut self, requests: u64) -> Result<()> {
        self.served += requests;
        let target = self.served;
        self.passing.active().serve_until(|state| state.tally.served >= target)
    }
}

impl<E: Bulk, T: Timer, W: Watch> Transfer for Executor<E, T, W> {
    #[inline(always)]
    fn store(&mut self, peer: Rank, verb: Verb, index: u64, bytes: usize) -> Result<()> {
        let into = blocks::target(self.endpoint(), index, bytes)?;
        let at = blocks::source_of(self.endpoint(), index, bytes)?;
        let from = Source::Exposed { at, len: bytes };
        let word = self.blocks.words.word(peer, index);
        self.passing.active().store(peer, into, from, verb.handler, [word])?;
        if verb.replies {
            self.passing.active().poll()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn get(&mut self, peer: Rank, index: u64, bytes: usize) -> Result<()> {
        let into = blocks::target(self.endpoint(), index, bytes)?;
        let at = blocks::source_of(self.endpoint(), index, bytes)?;
        // The word that the replier's echo would carry.
        let word = !self.blocks.words.word(peer, index);
        self.passing.active().get(peer, at, into, bytes, ECHOED, [word])?;
        self.passing.active().poll()?;
        Ok(())
    }

    fn refresh(&mut self, blocks: u64, bytes: usize) -> Result<()> {
        self.blocks.refresh(self.passing.active(), blocks, bytes)
    }

    fn check(&mut self, blocks: u64, bytes: usize) -> Result<()> {
        self.blocks.check(self.passing.as_active(), blocks, bytes)
    }
}
